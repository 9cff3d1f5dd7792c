#include "common/dpdk/port/packet_socket_drops.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace outrider {
namespace {

bool is_bound_to(int fd, std::uint32_t interface) noexcept {
  sockaddr_ll at{};
  socklen_t length = sizeof at;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length) == 0 &&
         at.sll_family == AF_PACKET && at.sll_ifindex == static_cast<int>(interface);
}

/// Takes what a socket has counted since it was asked last.
std::uint64_t take_drops(int fd) noexcept {
  tpacket_stats stats{};
  socklen_t length = sizeof stats;
  return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length) == 0 ? stats.tp_drops : 0;
}

}  // namespace

PacketSocketDrops::PacketSocketDrops(std::uint32_t interface) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename().string();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (is_bound_to(fd, interface)) sockets_.push_back(fd);
  }
  for (const int fd : sockets_) take_drops(fd);
}

std::uint64_t PacketSocketDrops::read() const noexcept {
  std::uint64_t fresh = 0;
  for (const int fd : sockets_) fresh += take_drops(fd);
  return dropped_.fetch_add(fresh, std::memory_order_relaxed) + fresh;
}

}  // namespace outrider
