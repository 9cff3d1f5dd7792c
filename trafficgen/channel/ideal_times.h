#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "trafficgen/channel/channel_hosts.h"

namespace outrider::tg {

/// What a flow over a channel took.
struct FlowTimes {
  HostPair pair{};
  std::uint64_t bytes = 0;
  std::int64_t took_ns = 0;                 ///< from its arrival to the last byte in order
  std::int64_t handshake_ns = 0;            ///< from its arrival on; 0: there was none
  std::int64_t first_way_ns = 0;            ///< of its first bytes, from the sender's NIC on
  std::optional<std::int64_t> answer_ns{};  ///< from the last byte's arrival to the channel's end
};

/// The shortest times that flows between each two hosts could take, by what the flows of a group
/// have shown so far. Each is the time of the flow's frames at the slower of the two NICs' rates,
/// and what the way adds to it. What shows the way is the transport's: a handshake, or a first
/// packet and the answer to the last one. Not thread-safe. Nothing allocates after construction.
class IdealTimes {
 public:
  virtual ~IdealTimes() = default;
  virtual void on_handshake(HostPair /*pair*/, std::int64_t /*took_ns*/) noexcept {}
  /// Notes what the flow has shown. Call it when all is delivered and, if it has returned nothing,
  /// again when the channel has ended.
  /// @return the ideal of its took_ns; nothing as long as the answer is not known but needed
  virtual std::optional<std::int64_t> ideal_ns(const FlowTimes& flow) noexcept = 0;
};

/// Returns how long so many bytes on the wire (L1) take at the slower NIC of two hosts.
[[nodiscard]] inline std::int64_t frames_ns(std::uint64_t wire_bytes, const Host& near,
                                            const Host& far) noexcept {
  const BitRate rate = std::min(near.setup().rate, far.setup().rate);
  return static_cast<std::int64_t>(static_cast<double>(wire_bytes) * 8e9 /
                                   static_cast<double>(rate.bits_per_second));
}

}  // namespace outrider::tg
