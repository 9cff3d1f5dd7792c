#include "common/telemetry/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace outrider {

std::string tell_ready() {
  const char* const variable = std::getenv("NOTIFY_SOCKET");
  const std::string_view name = variable == nullptr ? "" : variable;
  if (name.empty()) return {};
  const std::string cannot = "cannot tell the service manager at " + std::string(name) + ": ";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) return cannot + std::strerror(ENAMETOOLONG);
  name.copy(address.sun_path, name.size());
  if (name.front() == '@') address.sun_path[0] = '\0';  // an abstract name
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return cannot + std::strerror(errno);
  constexpr std::string_view kReady = "READY=1";
  const ssize_t sent = sendto(fd, kReady.data(), kReady.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), bytes);
  const int error = errno;
  close(fd);
  return sent < 0 ? cannot + std::strerror(error) : std::string{};
}

}  // namespace outrider
