#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"
#include "common/net/hop_trace.h"

namespace outrider::sw {

/// Writes the hop records of one egress port into the probes that leave by it.
class HopRecorder {
 public:
  HopRecorder(std::uint16_t udp_port, std::uint16_t switch_id, std::uint8_t port) noexcept
      : udp_port_(udp_port), switch_id_(switch_id), port_(port) {}

  /// Returns whether the packet may be a probe. @param m of a packet that parse() has read
  [[nodiscard]] bool wants(const PacketMeta& m) const noexcept {
    return m.flow.destination_port == udp_port_ && m.tcp_offset == 0;
  }
  /// Appends a record to a probe that has room for it.
  /// @param left_packets, left_bytes  occupancy that the probe leaves behind in its queue
  hop_trace::Appended record(Packet& packet, std::uint8_t queue, Duration sojourn,
                             std::uint32_t left_packets, std::uint64_t left_bytes) const noexcept {
    return hop_trace::append(buffer(packet), meta(packet).ip_offset,
                             {.switch_id = switch_id_,
                              .port = port_,
                              .queue = queue,
                              .sojourn_ns = at_most_32_bits(sojourn.count()),
                              .left_packets = left_packets,
                              .left_bytes = at_most_32_bits(left_bytes)});
  }

 private:
  template <class Integer>
  static std::uint32_t at_most_32_bits(Integer value) noexcept {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(static_cast<std::uint64_t>(value), kMost));
  }

  std::uint16_t udp_port_;
  std::uint16_t switch_id_;
  std::uint8_t port_;
};

}  // namespace outrider::sw
