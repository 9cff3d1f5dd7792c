#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/dpdk/packet/packet.h"
#include "trafficgen/streams/engine/stream_config.h"

namespace outrider {

/// A valid stream of 1 Mpps of 64 B on device "d" that begins at once.
inline tg::StreamConfig stream(std::string name = "s", std::string source = "10.0.0.1") {
  tg::StreamConfig s;
  s.name = std::move(name);
  s.device = "d";
  s.rate = tg::StreamRate{tg::StreamRate::Unit::kPackets, 1'000'000};
  s.source = std::move(source);
  s.destination = "10.1.0.1";
  s.start = Duration::zero();
  return s;
}

/// Takes what it is told to take, keeps the bytes and releases the packets.
struct FakeDevice {
  mutable std::vector<std::vector<std::uint8_t>> frames{};
  mutable std::uint64_t room = ~0ULL;  ///< packets that it will still take

  std::uint16_t tx(Packet** packets, std::uint16_t n) const {
    const auto taken = static_cast<std::uint16_t>(std::min<std::uint64_t>(n, room));
    room -= taken;
    for (std::uint16_t i = 0; i < taken; ++i) {
      const auto bytes = buffer(*packets[i]);
      frames.emplace_back(bytes.begin(), bytes.end());
      release(packets[i]);
    }
    return taken;
  }
};

}  // namespace outrider
