#include "tools/lab/run/results_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "common/dpdk/eal/error.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

std::string holder_in(int fd) {
  std::array<char, 512> text{};
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : "another outrider-lab";
}

/// Returns whether the path still leads to the open file: its last holder may have removed it
/// between our open() and flock().
bool is_at(const fs::path& path, int fd) {
  struct stat there {
  }, open_file{};
  return stat(path.c_str(), &there) == 0 && fstat(fd, &open_file) == 0 &&
         there.st_dev == open_file.st_dev && there.st_ino == open_file.st_ino;
}

/// Returns whether the process that the text names is gone. Its workers, which have the lock from
/// it, end as soon as they notice.
bool is_gone(const std::string& holder) {
  int pid = 0;
  return std::sscanf(holder.c_str(), "process %d ", &pid) == 1 && pid > 0 && kill(pid, 0) != 0 &&
         errno == ESRCH;
}

/// Opens and locks the file. @return its descriptor. @throws EnvironmentError
int locked(const fs::path& path, const fs::path& directory) {
  constexpr int kTries = 100;  // of 50 ms, for the workers of a session that was killed
  for (int tries = 1;; ++tries) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) throw EnvironmentError(path.string() + ": cannot be made: " + std::strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string holder = holder_in(fd);
      close(fd);
      if (error == EWOULDBLOCK && is_gone(holder) && tries < kTries) {
        usleep(50'000);
        continue;
      }
      if (error == EWOULDBLOCK)
        throw EnvironmentError("--out " + directory.string() + " is in use by " + holder +
                               "; wait for it, or name another directory");
      throw EnvironmentError(path.string() + ": cannot be locked: " + std::strerror(error) +
                             "; name a directory on another file system");
    }
    if (is_at(path, fd)) return fd;
    close(fd);
  }
}

}  // namespace

ResultsLock::ResultsLock(const fs::path& directory, const std::string& command)
    : path_(directory / ".outrider-lab.lock"), owner_(getpid()), fd_(locked(path_, directory)) {
  const std::string holder = "process " + std::to_string(owner_) + " (" + command + ")";
  // Without the text the lock still holds; a full disk is told by what needs the room.
  if (ftruncate(fd_, 0) == 0) [[maybe_unused]]
    const ssize_t n = pwrite(fd_, holder.data(), holder.size(), 0);
}

ResultsLock::~ResultsLock() {
  if (getpid() == owner_) unlink(path_.c_str());  // first: see is_at()
  close(fd_);
}

}  // namespace outrider::lab
