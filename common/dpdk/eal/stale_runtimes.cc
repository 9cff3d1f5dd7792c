#include "common/dpdk/eal/stale_runtimes.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace outrider {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSocket = "dpdk_telemetry.v2";
constexpr auto kStartsWithin = std::chrono::minutes(1);

/// Returns the process of "outrider-switch-1234"; 0 if it is no name of ours.
pid_t process_in(std::string_view name) {
  if (!name.starts_with("outrider-")) return 0;
  const std::string_view digits = name.substr(name.rfind('-') + 1);
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return error == std::errc{} && end == digits.data() + digits.size() ? pid : 0;
}

bool lives(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

enum class Listener { kLives, kEnded, kNone };

/// Returns whether somebody listens on the socket, if it is there.
Listener listener_of(const fs::path& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = socket_path.native();
  if (path.size() >= sizeof address.sun_path) return Listener::kLives;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Listener::kLives;
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = connected ? 0 : errno;
  close(fd);
  if (error == ENOENT) return Listener::kNone;
  return error == ECONNREFUSED ? Listener::kEnded : Listener::kLives;
}

bool is_own_directory(const fs::path& path) {
  struct stat there {};
  return lstat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode) && there.st_uid == geteuid();
}

bool is_abandoned(const fs::path& directory, fs::file_time_type newest) {
  const Listener listener = listener_of(directory / kSocket);
  if (listener != Listener::kNone) return listener == Listener::kEnded;
  return newest - fs::last_write_time(directory) >= kStartsWithin;
}

}  // namespace

std::size_t remove_stale_runtimes(const fs::path& base, fs::file_time_type newest) noexcept {
  std::size_t removed = 0;
  try {
    std::vector<fs::path> stale;
    for (const auto& entry : fs::directory_iterator(base)) {
      const pid_t pid = process_in(entry.path().filename().native());
      if (pid > 0 && !lives(pid) && is_own_directory(entry.path()) &&
          is_abandoned(entry.path(), newest))
        stale.push_back(entry.path());
    }
    for (const auto& path : stale) {
      std::error_code ignored;
      removed += fs::remove_all(path, ignored) > 0 ? 1U : 0U;
    }
  } catch (const std::exception&) {  // a directory that cannot be listed keeps what it has
  }
  return removed;
}

void remove_stale_private_runtimes(const fs::path& temporary, fs::file_time_type newest) noexcept {
  try {
    std::string prefix = fs::path(private_runtime_template(temporary)).filename();
    prefix.resize(prefix.find('X'));
    std::vector<fs::path> emptied;
    for (const auto& entry : fs::directory_iterator(temporary))
      if (entry.path().filename().native().starts_with(prefix) && is_own_directory(entry.path()) &&
          remove_stale_runtimes(entry.path() / "dpdk", newest) > 0)
        emptied.push_back(entry.path());
    for (const auto& path : emptied) {
      std::error_code ignored;  // what is not empty stays
      if (fs::remove(path / "dpdk", ignored)) fs::remove(path, ignored);
    }
  } catch (const std::exception&) {
  }
}

}  // namespace outrider
