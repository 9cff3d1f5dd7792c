#include "common/telemetry/sole_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace outrider {

SoleWriter::SoleWriter(const std::string& path) {
  struct stat there {};
  if (path.empty() || (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))) return;
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    problem_ = path + ": cannot be written: " + std::strerror(errno) + " (errno " +
               std::to_string(errno) + ")";
  } else if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    problem_ = path + ": another process is writing it; choose another name";
  }
}

SoleWriter::~SoleWriter() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace outrider
