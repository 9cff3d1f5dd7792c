#pragma once

// In the header, so that outrider-doctor, which runs on any CPU, links nothing for it.

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ext/stdio_sync_filebuf.h>
#include <iostream>
#include <stdexcept>
#include <string>

namespace outrider {

namespace detail {
inline int first_output_error = 0;  ///< errno of the first write to standard output that failed

inline ssize_t write_standard_output(void*, const char* text, std::size_t n) {
  const char* at = text;
  while (at != text + n) {
    const ssize_t written = ::write(STDOUT_FILENO, at, static_cast<std::size_t>(text + n - at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && first_output_error == 0) first_output_error = errno;
    if (written < 0) return 0;  // what fopencookie() calls a failure
    at += written;
  }
  return static_cast<ssize_t>(n);
}
}  // namespace detail

/// Makes writes that fail say why. Every program calls it first.
///
/// A write beyond the limit of a file's size (RLIMIT_FSIZE: ulimit -f, LimitFSIZE of systemd,
/// Slurm) fails with EFBIG, as a full disk fails with ENOSPC. Otherwise SIGXFSZ would end the
/// process, and a switch stop forwarding because its capture has grown.
///
/// stdout and std::cout keep the errno of the first write that fails. The C library keeps only that
/// one has failed, and what is longer than its buffer fails long before flush_standard_output().
inline void keep_cause_of_failed_writes() {
  signal(SIGXFSZ, SIG_IGN);
  static FILE* kept =
      fopencookie(nullptr, "w", {nullptr, detail::write_standard_output, nullptr, nullptr});
  if (kept == nullptr || stdout == kept) return;
  std::setvbuf(kept, nullptr, isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, BUFSIZ);
  std::fflush(stdout);
  stdout = kept;  // glibc allows it
  // Never destroyed: std::cout is flushed after all that is.
  std::cout.rdbuf(new __gnu_cxx::stdio_sync_filebuf<char>(kept));
}

/// Writes what standard output still holds. A program calls it before it ends, so that results
/// which are redirected to a full disk are not lost in silence. A reader that has gone has read
/// what it wanted: that is no error.
/// @throws std::runtime_error with the cause if anything that was printed could not be written
inline void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  const int error = detail::first_output_error != 0 ? detail::first_output_error : errno;
  if (!failed || error == EPIPE) return;
  throw std::runtime_error(
      "standard output: cannot be written: " +
      (error == 0 ? "an earlier write has failed"
                  : std::string(std::strerror(error)) + " (errno " + std::to_string(error) + ')'));
}

}  // namespace outrider
