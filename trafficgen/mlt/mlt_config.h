#pragma once

#include <cstdint>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// [transport.mlt]: what the bounded-loss transport takes beside a controller.
struct MltConfig {
  /// Share of each tensor that a receiver may do without: of gradients that are pushed, and
  /// of parameters that are pulled, which is at most the other. In [0, 1); 0: none.
  double tolerance_push = 0.01;
  double tolerance_pull = 0;
  Duration probe_timeout = std::chrono::milliseconds(10);  ///< shortest silence that is probed
  std::uint32_t probe_limit = 10;      ///< probes without an answer before it gives up, > 0
  std::uint32_t feedback_packets = 2;  ///< DATA from one FEEDBACK to the next, > 0
  /// DSCP of each class of layers, the most urgent (front) first, layers being shared out
  /// evenly; empty: one class with DSCP 0.
  std::vector<std::uint32_t> class_dscps{};
  double front_share = 0;  ///< of the layers, from the front: Not-ECT
  double small_share = 0;  ///< of a tensor's packets, by magnitude: Not-ECT

  bool operator==(const MltConfig&) const = default;
};

void check(const Checks& at, const MltConfig& mlt);

void describe(Settings& v, MltConfig& c);

}  // namespace outrider::tg
