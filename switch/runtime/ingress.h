#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/dpdk/packet/packet.h"
#include "switch/forwarding/packet_copy.h"
#include "switch/runtime/switch_lane.h"

namespace outrider::sw {

// The ingress half of a switch, for one packet and the lane that passes it: parse, forward,
// classify. Only the lane's lcore calls these functions.

// Results of forward_packet() that are no port.
inline constexpr std::uint32_t kNoPort = 0x1'0000;  ///< larger than any port
inline constexpr std::uint32_t kDropped = kNoPort;
inline constexpr std::uint32_t kFlooded = kNoPort + 1;  ///< to all ports but the ingress port
inline constexpr std::uint32_t kPaused = kNoPort + 2;   ///< a pause frame, which ends here

/// Parses, forwards and classifies a packet, and drops it if the result is kDropped.
/// @param port  ingress port. @param now  does not decrease from call to call of a lane
/// @tparam kLinked  whether the packet comes over a link, so that its headers may be known
/// @return the egress port, or one of the results above
template <bool kLinked>
[[nodiscard]] std::uint32_t forward_packet(SwitchLane& lane, std::uint32_t port, Packet& packet,
                                           Time now) noexcept;

/// Drops a packet that has not been handed on.
[[gnu::noinline]] void drop(SwitchLane& lane, Packet& packet, DropReason reason) noexcept;
/// Drops a packet that ingress has handed on but that reached no port.
void take_back(SwitchLane& lane, Packet& packet, DropReason reason) noexcept;

/// Hands a packet to every port except the ingress port: copies to all but the last, which
/// gets the packet itself.
template <class HandOn>
void flood(SwitchLane& lane, std::uint16_t ports, std::uint32_t ingress_port, Packet* packet,
           HandOn hand_on) noexcept {
  std::optional<std::uint16_t> next;
  for (std::uint16_t p = 0; p < ports; ++p) {
    if (p == ingress_port) continue;
    if (next) {
      ++lane.copied;
      Packet* copy = copy_of(*packet);
      if (copy != nullptr) {
        ++lane.handed;
        hand_on(*next, copy);
      } else {
        ++lane.dropped[DropReason::kFloodNoBuffer];
      }
    }
    next = p;
  }
  if (!next) return drop(lane, *packet, DropReason::kFiltered);
  ++lane.handed;
  hand_on(*next, packet);
}

/// Prefetches the table entries that forward_packet() reads, so that the cache misses of a batch
/// overlap. Worth a call only if the forwarder looks at MAC addresses.
/// @pre the packet's first bytes are in the cache
inline void prefetch_stations(const SwitchLane& lane, Packet& packet) noexcept {
  if (buffer(packet).size() >= sizeof(EthernetHeader))
    lane.tables->forwarder.prefetch(buffer(packet).data(), lane.forwarding);
}

/// Returns the port behind which the sender of a packet is, as far as the lane knows: the
/// learned port, else that of the route back.
[[nodiscard]] std::optional<std::uint16_t> port_behind(const SwitchLane& lane, Packet& packet,
                                                       Time now) noexcept;

}  // namespace outrider::sw
