#include "common/config/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace outrider {
namespace {

ConfigResult<std::string> fault(std::string problem) { return {{}, {{"", std::move(problem)}}}; }

std::string errno_text(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

class Descriptor {
 public:
  /// Does not wait: opening a FIFO would last until somebody writes to it.
  explicit Descriptor(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Returns what the file is, if it has no bounded content.
std::optional<std::string> not_regular(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return errno_text("cannot be examined");
  if (S_ISREG(file.st_mode)) return std::nullopt;
  if (S_ISDIR(file.st_mode)) return "is a directory, not a file";
  if (S_ISFIFO(file.st_mode)) return "must be a regular file, and is a FIFO";
  if (S_ISSOCK(file.st_mode)) return "must be a regular file, and is a socket";
  return "must be a regular file, and is a device";
}

}  // namespace

std::string fault_of_file(const std::string& path) {
  const Descriptor file(path);
  if (file.fd() < 0) return errno_text("cannot be opened");
  return not_regular(file.fd()).value_or("");
}

ConfigResult<std::string> read_text_file(const std::string& path, std::uint32_t limit_mib) {
  const Descriptor file(path);
  if (file.fd() < 0) return fault(errno_text("cannot be opened"));
  if (auto other = not_regular(file.fd())) return fault(std::move(*other));
  const std::size_t limit = std::size_t{limit_mib} << 20;
  std::string text;
  std::array<char, 1U << 16> chunk;
  for (;;) {
    const ssize_t n = read(file.fd(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fault(errno_text("cannot be read"));
    if (n == 0) return {std::move(text), {}};
    text.append(chunk.data(), static_cast<std::size_t>(n));
    if (text.size() > limit) return fault("is larger than " + std::to_string(limit_mib) + " MiB");
  }
}

}  // namespace outrider
