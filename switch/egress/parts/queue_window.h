#pragma once

#include <cstdint>

#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "switch/aqm/marker.h"
#include "switch/regulation/policy/window_policy.h"
#include "switch/regulation/windows/window_clamp.h"

namespace outrider::sw {

static_assert(static_cast<unsigned>(WindowTreatment::kFallback) == 0 &&
              static_cast<unsigned>(WindowTreatment::kHeld) <=
                  3);  // two bits of SwitchNotes, 0 at first

/// The clamp's verdict on a packet. It stays with the packet, as marking may happen when it leaves.
inline WindowTreatment treatment_of(const PacketMeta& m) noexcept {
  return static_cast<WindowTreatment>(m.notes.treatment);
}
inline void set_treatment(PacketMeta& m, WindowTreatment treatment) noexcept {
  m.notes.treatment = static_cast<std::uint8_t>(treatment) & 3;
}

/// Applies the window clamp of one egress queue to packets. It shows the clamp the packets
/// that pass, and it alone rewrites window fields.
///
/// On a port with several queues the clamp knows only its own queue. It therefore measures
/// round trips that are too long by the time that higher queues send in between.
///
/// Time does not decrease. Not thread-safe: the lcore of the egress port owns it, and
/// packets that arrive at the port must pass it on that lcore.
class QueueWindow {
 public:
  /// @param max_bursts  announced bursts that can be tracked separately
  /// @param drain_rate  of the bottleneck, which is this port's if `bottleneck` is kLocal
  QueueWindow(const WindowPolicy& policy, std::uint32_t max_bursts, BitRate drain_rate,
              RateLayer layer,
              WindowClamp::Bottleneck bottleneck = WindowClamp::Bottleneck::kLocal);

  /// Call when a START was armed, so that a burst will come.
  void on_announced(Time now) noexcept { clamp_.on_announced(now); }
  /// Call when regulation for an announced burst begins.
  void on_start(const FlowKey& flow, std::uint32_t sequence, std::uint64_t bytes,
                Time now) noexcept {
    clamp_.on_start(flow, sequence, bytes, now);
  }
  /// Call when regulation for a predicted burst begins.
  void on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept {
    clamp_.on_prediction(address, bytes, now);
  }
  /// Shows the clamp a packet that is about to enter the queue. @pre parsed and classified
  /// @param waiting  in the queue. @param threshold h, while regulated
  WindowTreatment on_arrival(Packet& packet, Occupancy waiting,
                             const std::optional<std::uint16_t>& threshold, Time now) noexcept;
  /// Shows the clamp a packet that has arrived at the port, and rewrites its window field if
  /// the clamp says so. Parameters as for on_arrival(). @pre parsed and classified
  void on_return(Packet& packet, Occupancy waiting, const std::optional<std::uint16_t>& threshold,
                 Time now) noexcept;

  /// See WindowClamp::lead().
  [[nodiscard]] std::optional<WindowLead> lead(double h_packets, double standing_packets,
                                               Time now) noexcept {
    return clamp_.lead(h_packets, standing_packets, now);
  }
  void note_told_lead() noexcept { clamp_.note_told_lead(); }
  void note_spared_mark() noexcept { clamp_.note_spared_mark(); }
  [[nodiscard]] const WindowCounters& counters() const noexcept { return clamp_.counters(); }
  [[nodiscard]] std::uint32_t flows() const noexcept { return clamp_.flows(); }
  /// kRemote: Returns what waits in the queue further on, as an argument for the functions above.
  [[nodiscard]] Occupancy remote_backlog(Time now) noexcept {
    return {0, clamp_.remote_backlog_bytes(now)};
  }
  [[nodiscard]] std::uint64_t in_flight_bytes() const noexcept { return clamp_.in_flight_bytes(); }

 private:
  [[gnu::noinline]] WindowTreatment on_other_data(Packet& packet, const WindowClamp::Queue& queue,
                                                  Time now) noexcept;
  [[gnu::noinline]] std::optional<std::uint16_t> on_other_answer(Packet& packet,
                                                                 const WindowClamp::Queue& queue,
                                                                 Time now) noexcept;
  [[nodiscard]] WindowClamp::Queue queue_of(
      Occupancy waiting, const std::optional<std::uint16_t>& threshold) const noexcept {
    return {waiting.bytes + std::uint64_t{waiting.packets} * overhead_bytes_, threshold};
  }

  std::uint32_t overhead_bytes_;
  WindowClamp clamp_;
};

}  // namespace outrider::sw
