#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider {

/// What is known of a port before a burst whose background is held by its windows. Packets are
/// full segments, as the port counts them.
struct WindowLeadInput {
  BitRate rate{};                     ///< of the port, > 0
  Duration rtt{};                     ///< without queueing, > 0
  std::uint32_t packet_bytes = 1538;  ///< of a full segment in the layer of `rate`, > 0
  double standing_packets = 0;  ///< largest standing queue: K, or the queue's limit without marks
  double h_packets = 0;         ///< what background may leave in the queue
  std::uint32_t flows = 1;      ///< of background that the port carries, >= 1
  double standing_clamp = 1.5;  ///< windows over flights before regulation, >= 1
  std::uint32_t least_segments = 2;  ///< of a held flow
  /// Flows may have been told a whole path each, see WindowClamp. That is so before the first
  /// burst of a job. Later it is so for flows that have come up to their edge.
  bool whole_paths = true;
  /// What flows were told together, if that is known. Absent: it is estimated from the above.
  std::optional<double> told_packets{};
};

/// What the rule says about a port, see window_lead().
struct WindowLead {
  /// With more of path and queue than this, held background alone makes a burst take more than 1.2
  /// times as long as on an empty network.
  static constexpr double kMostKept = 1.0 / 6;

  Duration lead{};  ///< from the begin of holding until background has drained to `left_packets`
  /// What background leaves in the queue once it has drained: h, or more where `least_segments`
  /// of its flows exceed path and h.
  double left_packets = 0;
  /// Share of path and standing queue that held background fills, whatever a burst does, with
  /// `least_segments` of each flow. It is background's share of the link while the burst fills
  /// the rest.
  double kept_share = 0;
};

/// Returns how long before a burst windows must be held.
///
/// When a switch begins to hold windows, senders may still send up to the edges that they were
/// told. Together these windows are `standing_clamp` times the largest flight, or a path for each
/// flow. The largest flight fills path and standing queue, and grows by a segment of each flow in
/// the round trip until the first mark is back. All of it must leave through the port, at its
/// rate, except what may be in flight while held: a path full and h. An edge takes up to a round
/// trip to act: it goes from this switch to the sender, and the data that it allows come back.
/// How far the switch is from the sender is not known, so a whole round trip counts:
///
///   lead = rtt + (max(standing_clamp x (path + K + flows), flows x path)
///                 - max(path + h, flows x least_segments)) / rate
///
/// Derivation, what it leaves out, and measurements:
/// docs/decisions/018-lead-is-what-told-windows-take-to-drain.md.
[[nodiscard]] WindowLead window_lead(const WindowLeadInput& in) noexcept;

}  // namespace outrider
