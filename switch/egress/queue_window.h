#pragma once

#include <cstdint>

#include "common/core/units.h"
#include "common/dpdk/packet.h"
#include "common/regulation/regulation_policy.h"
#include "common/regulation/window_clamp.h"

namespace outrider::sw {

/// The window clamp of one egress queue, on packets: it shows the clamp what passes, and
/// is the one place that rewrites a window field.
///
/// With several queues the clamp knows of its own alone: a round trip is measured too
/// long by what higher queues send in between.
///
/// Time does not decrease. Not thread-safe: the lcore of the egress port owns it, and
/// packets that come in by the port have to pass it on that lcore.
class QueueWindow {
 public:
  QueueWindow(const RegulationPolicy& policy, BitRate drain_rate, RateLayer layer);

  /// A START was armed: bursts are to be expected, sooner or later.
  void on_announced(Time now) noexcept { clamp_.on_announced(now); }
  /// Regulation for an announced burst begins.
  void on_start(const FlowKey& flow, std::uint32_t sequence, std::uint64_t bytes,
                Time now) noexcept {
    clamp_.on_start(flow, sequence, bytes, now);
  }
  /// Regulation for a predicted burst begins.
  void on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept {
    clamp_.on_prediction(address, bytes, now);
  }
  /// A packet is about to enter the queue. @pre parsed and classified
  /// @param packets,frame_bytes that wait there; @param threshold h, while regulated
  WindowTreatment on_arrival(Packet& packet, std::uint32_t packets, std::uint64_t frame_bytes,
                             std::optional<std::uint16_t> threshold, Time now) noexcept;
  /// A packet has come in by the port. @pre parsed and classified
  void on_return(Packet& packet, std::uint32_t packets, std::uint64_t frame_bytes,
                 std::optional<std::uint16_t> threshold, Time now) noexcept;

  void note_spared_mark() noexcept { clamp_.note_spared_mark(); }
  [[nodiscard]] const WindowCounters& counters() const noexcept { return clamp_.counters(); }
  [[nodiscard]] std::uint32_t flows() const noexcept { return clamp_.flows(); }

 private:
  [[nodiscard]] WindowClamp::Queue view_of(std::uint32_t packets, std::uint64_t frame_bytes,
                                           std::optional<std::uint16_t> threshold) const noexcept {
    return {frame_bytes + std::uint64_t{packets} * overhead_bytes_, threshold};
  }

  std::uint32_t overhead_bytes_;
  WindowClamp clamp_;
};

}  // namespace outrider::sw
