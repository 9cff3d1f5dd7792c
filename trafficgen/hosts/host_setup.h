#pragma once

#include <cstdint>
#include <string>

#include "common/core/units.h"
#include "trafficgen/core/siphash.h"
#include "trafficgen/frames/payload_kind.h"
#include "trafficgen/hosts/pause_storm.h"

namespace outrider::tg {

/// What a host is made of. Its parts read it too.
struct HostSetup {
  std::string name;
  std::uint32_t address = 0;
  BitRate rate{};
  std::uint32_t mtu_bytes = 1500;
  std::uint32_t tso_bytes = 0;  ///< 0: segments of connections take turns
  PauseStormConfig pause_storm{};
  double send_jitter = 0;  ///< share of an MTU's time, see GeneratorConfig
  std::uint64_t seed = 1;
  SipKey sequence_key{};    ///< of initial sequence numbers
  std::uint32_t index = 0;  ///< entity of the host's random streams
  bool full_payload = false;
  Payload payload = Payload::kZeros;       ///< kPattern needs full_payload
  std::uint32_t expected_connections = 0;  ///< at once; more of them allocate during the run
  /// Connections that a SYN has opened and whose handshake is not over, at most. A SYN beyond
  /// takes the place of the oldest one; established ones are never touched. > 0
  std::uint32_t max_half_open = 16'384;
  /// Highest owner id for attribution; 0: attribution is off. Otherwise all packets must come
  /// from a pool with attribution.
  std::uint32_t owners = 0;
};

}  // namespace outrider::tg
