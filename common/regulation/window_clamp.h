#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_table.h"
#include "common/core/tcp_view.h"
#include "common/core/units.h"
#include "common/regulation/burst_flights.h"
#include "common/regulation/window_counters.h"
#include "common/regulation/window_flow.h"
#include "common/regulation/window_policy.h"

namespace outrider {

/// Limits how much background TCP has in flight through one egress queue. It lowers the
/// window that the receivers' acknowledgments advertise on their way back through the port.
/// This needs no loss, no mark and no smaller congestion window, and works whether or not
/// the sender supports ECN.
///
/// From its handshake on, every flow has a *standing* window of `standing_clamp` times its
/// recent largest flight. A receiver advertises megabytes; a right edge that is already
/// near takes effect soon when it is frozen. The standing window grows with the sender. It
/// is at least a bandwidth-delay product where no burst was announced recently or where the
/// sender reached its edge, so that a flow that was held elsewhere recovers at once.
///
/// While announced or predicted bursts are on their way, flows are *held*: at the floor
/// (strict), or at what the bursts leave (complement),
///
///   capacity x RTT + h - gain x bursts' flight, at least the floor,
///
/// shared in proportion to what the flows had in flight. The floor is a rate of departures
/// that holds over any ten round trips: a flow's window is that rate times its round trip,
/// queueing included, or more if it is owed more (`FloorLine`). Held windows open over
/// `release_rtts` once the last announced (or expected) byte has entered the queue or
/// regulation has ended. Always:
///  - a right edge never moves left, and is never beyond the receiver's;
///  - a window is never below `least_segments`, so that the ACK of data in flight tells the
///    sender of a release at once, without a delayed-ACK or persist timer. The switch
///    originates no packet;
///  - a repeated ACK stays one (RFC 5681, 2): it gets the same window field again, but never
///    the same one if the receiver's own window moved;
///  - flows smaller than a bandwidth-delay product, or already in loss recovery when a burst
///    is announced, are not held. The latter keep a wide window instead of the receiver's,
///    which could not be taken back. A flow that loses a packet while held keeps twice its
///    held window: enough to repair the loss, and less than its whole congestion window;
///  - flows without a handshake, room in the table or acknowledgments through this port, and
///    authenticated flows, are left alone. They fall back to marks.
///
/// Time never decreases. O(1) per segment; nothing allocates after construction.
/// Not thread-safe: the lcore of the egress port owns it.
///
/// Source: the idea is this project's. Rules of windows: RFC 9293, 3.8.6; scale: RFC 7323.
class WindowClamp {
 public:
  /// State of the queue at the time of a call.
  struct Queue {
    std::uint64_t waiting_bytes = 0;           ///< in the layer of the drain rate
    std::optional<std::uint16_t> threshold{};  ///< h while regulated [packets]
  };

  /// @param overhead_bytes what a frame costs beyond its own bytes at the drain rate
  /// @param max_bursts announced bursts that can be tracked separately, > 0
  WindowClamp(const WindowPolicy& policy, BitRate drain_rate, std::uint32_t overhead_bytes,
              std::uint32_t max_bursts);

  /// Notes that a burst was announced, even if it is not regulated yet. Standing windows then
  /// shrink towards what flows have in flight, so that their edges take effect soon.
  void on_announced(Time now) noexcept { announced_at_ = now; }
  /// Begins to hold windows for an announced burst. @param bytes announced; 0: not known
  void on_start(const FlowKey& flow, std::uint32_t announced_sequence, std::uint64_t bytes,
                Time now) noexcept;
  /// Begins to hold windows for a predicted burst of unknown flows to `address`.
  /// @param bytes of the burst before; 0: not known
  void on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept;
  /// Handles DDL payload that reaches the queue.
  void on_burst_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes,
                        const Queue& queue, Time now) noexcept;
  /// Handles an acknowledgment of DDL data that comes back. @param flow of the data
  void on_burst_ack(const FlowKey& flow, std::uint32_t acknowledgment) noexcept {
    if (bursts_.any_open()) bursts_.on_ack(flow, acknowledgment);
  }
  /// Handles a background segment that reaches the queue.
  WindowTreatment on_data(const TcpView& s, const Queue& queue, Time now) noexcept;
  /// Handles a background segment that comes back through the port.
  /// @return the new value of its window field; nothing: leave the field unchanged
  [[nodiscard]] std::optional<std::uint16_t> on_answer(const TcpView& s, const Queue& queue,
                                                       Time now) noexcept;

  void note_spared_mark() noexcept { ++counters_.spared_marks; }
  [[nodiscard]] const WindowCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::uint32_t flows() const noexcept {
    return static_cast<std::uint32_t>(flows_.size());
  }
  [[nodiscard]] bool holding() const noexcept { return phase_ == Phase::kHolding; }
  /// For tests and reports. Returns nullptr if the flow is not in the table.
  [[nodiscard]] const WindowFlow* flow(const FlowKey& data_flow) const noexcept;
  static std::size_t bytes_per_flow() noexcept {
    return sizeof(WindowFlow) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t));
  }

 private:
  enum class Phase : std::uint8_t { kStanding, kHolding, kReleasing };
  struct Target {
    double bytes = 0;
    WindowReason reason = WindowReason::kStanding;
  };

  void hold(Time now) noexcept;
  void follow(const Queue& queue, Time now) noexcept;
  [[nodiscard]] bool expects_bursts(Time now) const noexcept;
  [[nodiscard]] bool nearly_over(const Queue& queue) const noexcept;
  WindowFlow* find(const FlowKey& data_flow) noexcept;
  WindowFlow* insert(const FlowKey& data_flow, Time now) noexcept;
  [[nodiscard]] bool evictable(const WindowFlow& f, Time now) const noexcept;
  void note_weight(WindowFlow& f, Time now) noexcept;
  [[nodiscard]] double rtt_ns(const WindowFlow& f) const noexcept;
  /// Returns how long a packet that enters the queue now will wait [ns].
  [[nodiscard]] double drain_ns(const Queue& queue) const noexcept {
    return static_cast<double>(queue.waiting_bytes) / bytes_per_ns_;
  }
  [[nodiscard]] double payload_share(const WindowFlow& f) const noexcept;
  [[nodiscard]] Target target(WindowFlow& f, const Queue& queue, Time now) noexcept;
  [[nodiscard]] double room_bytes(const WindowFlow& f) const noexcept;
  [[nodiscard]] double part_of(const WindowFlow& f, double total) const noexcept;
  [[nodiscard]] double floor_rate(const WindowFlow& f, double path_ns) const noexcept;
  void pay_floor(WindowFlow& f, std::uint64_t bytes, const Queue& queue, Time now) const noexcept;
  [[nodiscard]] double floor_bytes(const WindowFlow& f, const Queue& queue,
                                   Time now) const noexcept;
  [[nodiscard]] double held_bytes(const WindowFlow& f, const Queue& queue, Time now) const noexcept;
  [[nodiscard]] double releasing_bytes(const WindowFlow& f, double standing,
                                       Time now) const noexcept;
  [[nodiscard]] std::optional<std::uint16_t> field_for(WindowFlow& f, const TcpView& s,
                                                       Target& t) const noexcept;
  std::optional<std::uint16_t> count(WindowReason reason) noexcept;

  WindowPolicy policy_;
  double bytes_per_ns_;
  std::uint32_t overhead_bytes_;
  BurstFlights bursts_;
  std::vector<WindowFlow> flows_;   ///< dense; capacity max_flows
  FlowTable<std::uint32_t> index_;  ///< data flow -> position in flows_
  std::size_t next_victim_ = 0;
  Phase phase_ = Phase::kStanding;
  Time released_at_{};
  std::optional<Time> announced_at_;  ///< latest START or begin of regulation
  std::uint16_t h_packets_ = 0;       ///< latest threshold while the queue was regulated
  // Smoothed over the answers of all flows; 0: not known yet.
  double rtt_ns_ = 0, up_ns_ = 0;
  // Weights of the flows that answered in the last round and in this one [bytes].
  Time round_began_{};
  std::uint32_t round_ = 1;
  double weight_last_ = 0, weight_now_ = 0;
  WindowCounters counters_{};
};

}  // namespace outrider
