#include "switch/control/keygen.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <span>
#include <stdexcept>

#include "common/config/signal_key_file.h"
#include "common/dpdk/eal/error.h"
#include "common/runtime/poll_program.h"

namespace outrider::sw {
namespace {

void fill_with_random_bytes(std::span<std::uint8_t> bytes) {
  // Up to 256 bytes come whole once the kernel has its entropy, unless a signal comes before.
  ssize_t got = -1;
  do {
    got = getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bytes.size()))
    throw EnvironmentError(std::string("the kernel gives no random bytes: ") +
                           std::strerror(errno));
}

/// Opens a file that did not exist.
int create_file(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) return file;
  if (errno == EEXIST)
    throw UsageError(path + " exists; a key is never overwritten: choose another name.");
  if (errno == ENOENT)
    throw UsageError(path + ": the directory does not exist; make it first (mkdir -m 700).");
  throw EnvironmentError(path + " cannot be made: " + std::strerror(errno));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(file) == 0;
}

void write_new_file(const std::string& path, const std::string& text) {
  const int file = create_file(path);
  bool whole = write_all(file, text);
  int error = errno;
  if (close(file) != 0 && whole) {
    whole = false;
    error = errno;
  }
  if (whole) return;
  unlink(path.c_str());
  throw EnvironmentError(path + " cannot be written: " + std::strerror(error) +
                         "; the file was removed.");
}

}  // namespace

void generate_key_file(const std::string& path, std::optional<std::uint8_t> id, std::ostream& out) {
  SignalKey key;
  fill_with_random_bytes(key.secret);
  if (id) key.id = *id;
  else fill_with_random_bytes(std::span(&key.id, 1));
  write_new_file(path, signal_key_text(key));
  const std::string name = std::filesystem::path(path).filename().string();
  errno = 0;
  out << path << ": key " << static_cast<unsigned>(key.id) << ", readable by its owner only\n"
      << "  switch:    put \"" << name << "\" into keys of a [[switch.signals.signers]], then "
      << "reload\n"
      << "  announcer: copy the file there (scp -p keeps its mode)\n"
      << "  docs/security.md says what a signer may do and how one key follows another\n"
      << std::flush;
  if (out) return;
  const int error = errno;
  unlink(path.c_str());
  throw std::runtime_error("standard output: cannot be written" +
                           (error == 0 ? std::string() : std::string(": ") + std::strerror(error)) +
                           "; " + path + " was removed, because nobody has read which key it is.");
}

}  // namespace outrider::sw
