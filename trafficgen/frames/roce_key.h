#pragma once

#include <cstdint>
#include <cstring>

#include "common/core/flow_key.h"
#include "common/net/headers.h"
#include "common/net/roce.h"
#include "trafficgen/frames/datagram.h"

namespace outrider::tg {

/// Returns what identifies a queue pair of RoCEv2 at its host: all of them receive at one UDP port,
/// from source ports that only spread flows. Numbers of queue pairs have 16 bits here, of the 24
/// that they may have, so that they fit where others have their port.
[[nodiscard]] inline FlowKey roce_key(std::uint32_t own, std::uint32_t peer,
                                      std::uint16_t queue_pair) noexcept {
  return {own, peer, roce::kPort, queue_pair};
}

/// Returns the key of the endpoint that a datagram is for.
[[nodiscard]] inline FlowKey key_of(const ReceivedDatagram& datagram) noexcept {
  constexpr std::size_t kQueuePairAt = 4;  // in the BTH, with a byte of flags before it
  const FlowKey& flow = datagram.flow;
  if (flow.destination_port != roce::kPort || datagram.present.size() < roce::kBthBytes)
    return flow.reversed();
  Be32 word;
  std::memcpy(&word, datagram.present.data() + kQueuePairAt, sizeof word);
  const std::uint32_t queue_pair = word.get() & roce::kPsnMask;
  if (queue_pair > 0xFFFF) return {};
  return roce_key(flow.destination_address, flow.source_address,
                  static_cast<std::uint16_t>(queue_pair));
}

}  // namespace outrider::tg
