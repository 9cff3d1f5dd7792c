#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/dpdk/packet/packet.h"
#include "common/net/udp_signal.h"

namespace outrider {

/// What an observer reads from a frame, without the switch's parser.
struct SeenFrame {
  FlowKey flow;
  std::uint8_t protocol = 0;
  std::uint8_t tos = 0;
  std::uint8_t tcp_flags = 0;
  std::int8_t window_scale = -1;  ///< of a SYN; -1: no such option
  std::uint16_t window = 0;
  std::uint16_t payload_bytes = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::optional<udp_signal::Signal> message{};  ///< of the UDP form

  [[nodiscard]] bool has(std::uint8_t flag) const { return (tcp_flags & flag) != 0; }
  [[nodiscard]] bool is_tcp() const { return protocol == kIpProtocolTcp; }
  /// Returns the flow whose burst a START announces; nothing if the frame is no START.
  [[nodiscard]] std::optional<FlowKey> announced() const;
};

/// Returns whether a message has a tag, right or wrong.
[[nodiscard]] inline bool is_signed(const SeenFrame& f) { return f.message && f.message->proof; }

/// Reads an IPv4 frame. @return nothing if it is none
[[nodiscard]] std::optional<SeenFrame> seen_frame(Packet& packet);

}  // namespace outrider
