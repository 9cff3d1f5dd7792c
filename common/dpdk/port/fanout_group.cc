#include "common/dpdk/port/fanout_group.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "common/dpdk/eal/eal_check.h"

namespace outrider {
namespace {

/// A socket that receives what an interface does, as net_af_packet opens it.
class PacketSocket {
 public:
  explicit PacketSocket(unsigned interface)
      : fd_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(ETH_P_ALL);
    at.sll_ifindex = static_cast<int>(interface);
    bound_ = fd_ >= 0 && bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  ~PacketSocket() {
    if (fd_ >= 0) close(fd_);
  }
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;

  [[nodiscard]] bool is_bound() const noexcept { return bound_; }

  /// @return errno, or 0 if the socket is in the group now
  [[nodiscard]] int join(std::uint16_t group) const {
    const int number = group | PACKET_FANOUT_HASH << 16;
    return setsockopt(fd_, SOL_PACKET, PACKET_FANOUT, &number, sizeof number) == 0 ? 0 : errno;
  }

 private:
  int fd_;
  bool bound_ = false;
};

/// The kernel gives the same error for a group that another interface has, and for an interface
/// that can have none.
bool is_refused(unsigned interface, std::uint16_t group) {
  const PacketSocket socket(interface);
  return socket.is_bound() && socket.join(group) == EINVAL;
}

bool can_have_one(unsigned interface) {
  const PacketSocket socket(interface);
  constexpr std::uint16_t kTried = 64;
  for (std::uint16_t group = 0; socket.is_bound() && group < kTried; ++group)
    if (socket.join(group) == 0) return true;
  return false;
}

}  // namespace

bool fanout_group_is_taken(const std::string& device) {
  if (!device.starts_with("net_af_packet")) return false;
  const unsigned interface = if_nametoindex(argument_of(device, "iface").c_str());
  if (interface == 0) return false;
  const auto group = static_cast<std::uint16_t>(static_cast<unsigned>(getpid()) ^ interface);
  return is_refused(interface, group) && can_have_one(interface);
}

}  // namespace outrider
