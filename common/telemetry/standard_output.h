#pragma once

// In the header, so that outrider-doctor, which runs on any CPU, links nothing for it.

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>

namespace outrider {

/// Makes a write beyond the limit of a file's size (RLIMIT_FSIZE: ulimit -f, LimitFSIZE of systemd,
/// Slurm) fail with EFBIG, as a full disk fails with ENOSPC. Without it SIGXFSZ ends the process,
/// and a switch stops forwarding because its capture has grown. Every program calls it first.
inline void outlive_file_size_limits() noexcept { signal(SIGXFSZ, SIG_IGN); }

/// Writes what standard output still holds. A program calls it before it ends, so that results
/// which are redirected to a full disk are not lost in silence. A reader that has gone has read
/// what it wanted: that is no error.
/// @throws std::runtime_error with the cause if anything that was printed could not be written
inline void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  const int error = errno;
  if (!failed || error == EPIPE) return;
  const std::string text = "standard output: cannot be written";
  if (error == 0) throw std::runtime_error(text + ": an earlier write has failed");
  throw std::runtime_error(text + ": " + std::strerror(error) + " (errno " + std::to_string(error) +
                           ")");
}

}  // namespace outrider
