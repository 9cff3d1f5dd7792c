#pragma once

#include <cstdint>
#include <string>

#include "switch/config/config.h"
#include "trafficgen/config/config.h"

namespace outrider {

/// Describes two switches with hosts behind both and one bottleneck port between them, in the
/// regime of the PCN paper. Most behavioural tests vary it.
struct Dumbbell {
  std::uint32_t workers = 1;
  std::uint32_t background_flows = 3;
  BitRate bottleneck{200'000'000};
  BitRate host_rate{1'000'000'000};
  Duration rtt = std::chrono::microseconds(3500);  ///< propagation of a round trip
  sw::SwitchPortConfig bottleneck_port{};          ///< queue, marker, regulation of the bottleneck
  bool accept_signals = true;
  tg::JobConfig job{};  ///< without workers and servers, which are filled in
  tg::TcpConfig ddl_tcp{};
  tg::TcpConfig background_tcp{};
  std::uint64_t seed = 1;

  /// Sets defaults: queue of 60 packets, K = 40, DCTCP on both sides, fixed schedule, 1 MB
  /// bursts.
  Dumbbell();

  /// Returns the configuration of the switches. On the left are workers w0, w1, ... and senders
  /// b0, b1, ...; on the right are the server s0 and receivers c0, c1, ... The job and every
  /// long flow cross "left.trunk" towards switch "right".
  [[nodiscard]] sw::SwitchProcessConfig switches() const;
  [[nodiscard]] tg::GeneratorConfig traffic() const;
};

}  // namespace outrider
