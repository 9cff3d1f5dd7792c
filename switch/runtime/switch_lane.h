#pragma once

#include <cstdint>
#include <utility>

#include "switch/config/config.h"
#include "switch/forwarding/classifier.h"
#include "switch/forwarding/forwarder.h"
#include "switch/report/report.h"
#include "switch/signals/burst_sizes.h"
#include "switch/signals/signal_gate.h"

namespace outrider::sw {

/// The tables of a switch, which do not change while packets are forwarded. All lanes read them.
struct SwitchTables {
  /// @param config must be valid. @param index  of the switch, see RouteTable
  /// @throws EnvironmentError if there is no memory for them
  SwitchTables(const SwitchConfig& config, std::uint32_t index);

  Forwarder forwarder;
  Classifier classifier;
  BurstSizes burst_sizes;
  std::uint32_t signal_port;  ///< UDP port of signals; above 65535: the UDP form is not read
  bool predicts;              ///< a queue learns from DDL payload
};

/// The state of a switch that one lcore may write as it passes packets. Lanes share nothing:
/// a lane sends the stations that it learns to the others (ForwarderLane::news).
struct alignas(64) SwitchLane : LaneCounts {
  /// @param seed  of what is drawn. @param lossless  whether a queue of the switch is lossless
  /// @param alone  whether the switch has no other lane
  SwitchLane(const SwitchConfig& config, const SwitchTables& now_in_force, std::uint64_t seed,
             bool lossless, bool alone)
      : tables(&now_in_force),
        gate(config),
        forwarding(now_in_force.forwarder.make_lane(seed, !alone)),
        classes(now_in_force.classifier.make_lane()),
        takes_pauses(lossless) {}

  /// Returns all counters of the lane.
  [[nodiscard]] LaneCounts counts() const noexcept {
    LaneCounts all = *this;
    static_cast<FlowletCounters&>(all) = forwarding.spreading.flowlets.counters();
    return all;
  }

  const SwitchTables* tables;  ///< a reload exchanges them between two polls of the lane
  SignalGate gate;
  ForwarderLane forwarding;
  ClassifierLane classes;
  bool takes_pauses;  ///< pause frames end at the switch instead of being forwarded
};

}  // namespace outrider::sw
