#include "tools/hostagent/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw AgentError("no lock at " + path + ": " + std::strerror(errno));
}

/// Makes the directory if necessary, and makes sure that nobody else may write to it.
std::string lock_directory() {
  const char* const given = geteuid() == 0 ? "/run" : std::getenv("XDG_RUNTIME_DIR");
  if (given == nullptr)
    throw AgentError(
        "no place for a lock: run as root, or with CAP_BPF and CAP_NET_ADMIN and XDG_RUNTIME_DIR "
        "set");
  std::string path = std::string(given) + "/outrider-hostagent";
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) refuse(path);
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0) refuse(path);
  if (!S_ISDIR(there.st_mode) || there.st_uid != geteuid() ||
      (there.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw AgentError("no lock at " + path +
                     ": it has to be a directory that only its owner, user " +
                     std::to_string(geteuid()) + ", may write to; remove it");
  return path;
}

/// Returns the number of this process's network namespace.
std::string network_namespace() {
  constexpr const char* kOwn = "/proc/self/ns/net";
  struct stat there {};
  if (stat(kOwn, &there) != 0) refuse(kOwn);
  return std::to_string(there.st_ino);
}

}  // namespace

InstanceLock::InstanceLock(const std::string& kind, const NetworkInterface& interface) {
  const std::string path = lock_directory() + "/" + kind + "-" + network_namespace() + "-" +
                           std::to_string(interface.index);
  fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd_ < 0) refuse(path);
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  close(fd_);
  errno = error;
  if (error != EWOULDBLOCK) refuse(path);
  throw AgentError("another outrider-hostagent " + kind + " is at work on " + interface.name +
                   "; stop it, or give that one all servers");
}

InstanceLock::~InstanceLock() { close(fd_); }

}  // namespace outrider::agent
