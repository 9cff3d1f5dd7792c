#include "tools/hostagent/instance_lock.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {

// The lock is a name in the abstract namespace of Unix sockets, because a killed agent would
// leave a lock file behind.
InstanceLock::InstanceLock(const std::string& kind, const NetworkInterface& interface)
    : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) throw AgentError(std::string("no Unix socket: ") + std::strerror(errno));
  const std::string name = "outrider-hostagent/" + kind + '/' + std::to_string(interface.index);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), bytes) == 0) return;
  const int error = errno;
  close(fd_);
  if (error != EADDRINUSE) throw AgentError("no lock: " + std::string(std::strerror(error)));
  throw AgentError("another outrider-hostagent " + kind + " is at work on " + interface.name +
                   "; stop it, or give that one all servers");
}

InstanceLock::~InstanceLock() { close(fd_); }

}  // namespace outrider::agent
