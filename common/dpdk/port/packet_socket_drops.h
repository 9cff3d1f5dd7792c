#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace outrider {

/// Counts the frames that the kernel drops because a ring of net_af_packet is full. The driver of
/// DPDK 22.11 does not count them. A later one does, by the same socket option, which takes what it
/// reads away: the sum of both is right. Any thread.
class PacketSocketDrops {
 public:
  /// Finds this process's packet sockets that are bound to the interface, and forgets what they
  /// have dropped so far. They must outlive this.
  explicit PacketSocketDrops(std::uint32_t interface);
  PacketSocketDrops(const PacketSocketDrops&) = delete;
  PacketSocketDrops& operator=(const PacketSocketDrops&) = delete;

  /// Returns whether there is a socket to ask.
  [[nodiscard]] bool counts() const noexcept { return !sockets_.empty(); }
  /// Returns the number since construction, but for those that the driver has counted.
  [[nodiscard]] std::uint64_t read() const noexcept;

 private:
  std::vector<int> sockets_{};
  mutable std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace outrider
