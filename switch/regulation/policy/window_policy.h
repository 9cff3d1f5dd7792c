#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider {

/// Rules for how much background in flight a regulated queue allows.
enum class WindowRule : std::uint8_t {
  kComplement,  ///< what the bursts leave of the path's capacity and the queue's threshold
  kStrict,      ///< the floor only, from START to the end of the bursts
};

/// The way in which a background packet is marked, given the state of its flow's window.
enum class WindowTreatment : std::uint8_t {
  kFallback,    ///< its window is not controlled: it is marked as without the clamp
  kControlled,  ///< its window is limited, which replaces marks at the low threshold
  kHeld,        ///< its window is held, so it is already small
};

/// Bottlenecks beyond one queue, at most.
inline constexpr std::size_t kMostRemote = 8;

/// A queue further on that a port leads to, where nothing regulates: background is held for the
/// bursts that go there. Validated before use.
struct RemotePolicy {
  std::string name{};                       ///< unique within the queue, for reports
  std::vector<std::string> destinations{};  ///< IPv4 prefixes of all hosts beyond it, >= 1
  BitRate rate{};                           ///< of its link, in the layer of the port's rate
};

/// Settings of the window clamp of one egress queue. Validated before use.
struct WindowPolicy {
  WindowRule rule = WindowRule::kComplement;
  /// Rate of background in flight while it is held, as a share of the drain rate, in [0, 1).
  /// Every flow keeps at least `least_segments`.
  double floor = 0.05;
  /// Smallest window that a held flow gets, >= 1. With fewer than two segments, the receiver's
  /// delayed ACK decides when the flow continues (RFC 5681, 4.2).
  std::uint32_t least_segments = 2;
  /// kComplement: bytes of background that one byte of a burst in flight displaces, > 0. A
  /// burst in slow start doubles in the round trip until an edge takes effect, and doubles
  /// again while data in flight drains. A switch half-way sees two thirds of it.
  double gain = 6;
  /// Window of a flow that is not held, as a multiple of its recent largest flight, >= 1.
  double standing_clamp = 1.5;
  /// Packets of held flows are not marked: the switch already controls their window.
  bool spare_marks = true;
  /// Round trip without queueing. Zero: measured for each flow.
  Duration base_rtt{};
  std::uint32_t max_flows = 1024;  ///< > 0; flows beyond it are left alone
  /// No concern of the clamp, which regulates one bottleneck: the switch makes one for each.
  std::vector<RemotePolicy> beyond{};
};

}  // namespace outrider
