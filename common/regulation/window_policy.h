#pragma once

#include <cstdint>

#include "common/core/clock.h"

namespace outrider {

/// How much background a regulated queue leaves in flight.
enum class WindowRule : std::uint8_t {
  kComplement,  ///< what the bursts leave of the path and of the queue's threshold
  kStrict,      ///< the floor alone, from START to the bursts' end
};

/// What marking has to know of a background packet.
enum class WindowTreatment : std::uint8_t {
  kFallback,    ///< its flow's window is not under control: marked as without the clamp
  kControlled,  ///< its window does what marks at the low threshold would
  kHeld,        ///< and is small already
};

/// Settings of the window clamp of one egress queue. Validated before use.
struct WindowPolicy {
  WindowRule rule = WindowRule::kComplement;
  /// Share of the drain rate that background in flight is kept at while it is held, in
  /// [0, 1). Every flow keeps `least_segments` in any case.
  double floor = 0.05;
  /// Window below which no flow is held, >= 1. With less than two, the receiver's delayed
  /// ACK decides when the flow goes on (RFC 5681, 4.2).
  std::uint32_t least_segments = 2;
  /// Complement: bytes of background that a byte of a burst in flight displaces, > 0. A
  /// burst in slow start doubles in the round trip that an edge takes to act, and in the one
  /// in which what was in flight drains; a switch half-way sees two thirds of it.
  double gain = 6;
  /// Window of a flow that is not held, over its largest flight of late, >= 1.
  double standing_clamp = 1.5;
  double release_rtts = 1;  ///< time over which held windows open again, >= 0
  /// Flows held are spared marks: their window is the switch's already.
  bool spare_marks = true;
  /// Round trip without queueing; zero: measured for each flow.
  Duration base_rtt{};
  std::uint32_t max_flows = 1024;  ///< > 0; flows beyond it are left alone
};

}  // namespace outrider
