#pragma once

#include <cstdint>
#include <string>

#include "switch/config/config.h"
#include "trafficgen/config/config.h"

namespace outrider {

/// One switch with hosts on both sides and one bottleneck port, in the PCN
/// paper's regime: what most behavioural tests vary.
struct Dumbbell {
  std::uint32_t workers = 1;
  std::uint32_t background_flows = 3;
  BitRate bottleneck{200'000'000};
  BitRate host_rate{1'000'000'000};
  Duration rtt = std::chrono::microseconds(3500);  ///< propagation, all of it
  sw::SwitchPortConfig bottleneck_port{};          ///< queue, marker, regulation of the bottleneck
  bool accept_signals = true;
  tg::JobConfig job{};  ///< workers and servers are filled in
  tg::TcpConfig ddl_tcp{};
  tg::TcpConfig background_tcp{};
  std::uint64_t seed = 1;

  /// Defaults: queue of 60, K = 40, DCTCP on both sides, fixed schedule, 1 MB bursts.
  Dumbbell();

  /// Hosts: workers w0.., senders b0.. left; server s0, receivers c0.. right.
  /// The job and every long flow cross "left.trunk" towards switch "right".
  [[nodiscard]] sw::SwitchProcessConfig switches() const;
  [[nodiscard]] tg::GeneratorConfig traffic() const;
};

}  // namespace outrider
