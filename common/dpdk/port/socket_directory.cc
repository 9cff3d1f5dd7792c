#include "common/dpdk/port/socket_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/dpdk/eal/eal_check.h"
#include "common/dpdk/eal/error.h"

namespace outrider {
namespace {

constexpr mode_t kOwnerAlone = 0700;
constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

/// Returns whether the device's socket is named without a directory.
bool is_bare(const std::string& socket) {
  return !socket.empty() && socket.find('/') == std::string::npos;
}

}  // namespace

std::string socket_directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/' && access(runtime, W_OK | X_OK) == 0)
    return std::string(runtime) + "/outrider";
  if (geteuid() == 0) return "/run/outrider";
  return "/tmp/outrider-" + std::to_string(geteuid());
}

void make_private_directory(const std::string& path) {
  const auto refuse = [&path](const std::string& why, const std::string& remedy) {
    throw EnvironmentError("directory " + path + " of sockets: " + why + ". " + remedy);
  };
  if (mkdir(path.c_str(), kOwnerAlone) != 0 && errno != EEXIST)
    refuse(std::string("cannot be made: ") + std::strerror(errno),
           "Set XDG_RUNTIME_DIR to a directory of yours, or give each socket a path.");
  struct stat found {};
  // Not stat(): whoever comes first to /tmp may put a link of this name there.
  if (lstat(path.c_str(), &found) != 0)
    refuse(std::strerror(errno), "Set XDG_RUNTIME_DIR to a directory of yours.");
  const std::string other = "Remove it, or set XDG_RUNTIME_DIR to a directory of yours.";
  if (S_ISLNK(found.st_mode)) refuse("is a symbolic link, which another user may have made", other);
  if (!S_ISDIR(found.st_mode)) refuse("is not a directory", other);
  if (found.st_uid != geteuid())
    refuse("belongs to user " + std::to_string(found.st_uid) + ", who could replace the sockets",
           other);
  if ((found.st_mode & kWritableByOthers) != 0)
    refuse("others may write to it and could replace the sockets", "Run chmod 700 " + path + ".");
}

std::string with_socket_in(const std::string& directory, const std::string& device) {
  const std::string socket = socket_of(device);
  if (!is_bare(socket)) return device;
  const std::string key = is_virtio_user(device) ? ",path=" : ",iface=";
  std::string moved = device;
  return moved.insert(moved.find(key + socket) + key.size(), directory + '/');
}

std::string with_private_socket(const std::string& device) {
  if (!is_bare(socket_of(device))) return device;
  const std::string directory = socket_directory();
  make_private_directory(directory);
  return with_socket_in(directory, device);
}

}  // namespace outrider
