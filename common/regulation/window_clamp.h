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

/// Limits how much background TCP has in flight through one egress queue, by the window
/// that its receivers' acknowledgments advertise on their way back through the port:
/// without a loss, a mark or a smaller congestion window, and whether or not the sender
/// knows ECN.
///
/// From the handshake on every flow has a *standing* window of `standing_clamp` times its
/// largest flight of late, so that an edge has little way to go when it is frozen: a
/// receiver advertises megabytes. It follows a sender that grows, and is a whole
/// bandwidth-delay product where no burst has been announced of late or where a sender came
/// up to it: held elsewhere, a flow must find its way back at once. While bursts that were
/// announced, or are predicted, are on their way, flows are *held*: at the floor (strict), or
/// at what the bursts leave (complement),
///
///   capacity x RTT + h - gain x bursts' flight, at least the floor,
///
/// shared in proportion to what the flows had in flight. The floor is a rate of departures,
/// kept over any ten round trips: a flow's window is that rate times its round trip, queue
/// included, or whatever more it is owed (`FloorLine`). Held windows open over
/// `release_rtts` once the last announced (or expected) byte has entered the queue or
/// regulation has ended. Always:
///  - a right edge never moves left, and is never beyond the receiver's;
///  - a window is never below `least_segments`, so that the sender hears of a release by
///    the ACK of what it has in flight, at once and not from a delayed-ACK or a persist
///    timer. The switch originates no packet;
///  - a repeated ACK stays one (RFC 5681, 2): the same field again, unless the receiver's
///    own window moved, and then never the same;
///  - flows smaller than a bandwidth-delay product, or already in loss recovery when a burst
///    is announced, are not held; the latter keep a wide window, not the receiver's, which
///    could not be taken back. One that loses something while it is held keeps twice what it
///    is held at: enough to repair it, and not its whole congestion window at once;
///  - what is not known is left alone: no handshake, no room, authenticated segments,
///    acknowledgments that go another way. Such flows fall back to marks.
///
/// Time never decreases. O(1) per segment; nothing allocates after construction.
/// Not thread-safe: owned by the lcore of the egress port.
///
/// Source: the idea is this project's. Rules of windows: RFC 9293, 3.8.6; scale: RFC 7323.
class WindowClamp {
 public:
  /// The queue at this moment.
  struct Queue {
    std::uint64_t waiting_bytes = 0;           ///< of the drain rate's layer
    std::optional<std::uint16_t> threshold{};  ///< h while regulated [packets]
  };

  /// @param overhead_bytes that a frame costs beyond its bytes at the drain rate
  /// @param max_bursts announced ones that are told apart, > 0
  WindowClamp(const WindowPolicy& policy, BitRate drain_rate, std::uint32_t overhead_bytes,
              std::uint32_t max_bursts);

  /// A burst was announced, also one that is not regulated yet: standing windows close in on
  /// what flows have in flight, so that edges have little way to go.
  void on_announced(Time now) noexcept { announced_at_ = now; }
  /// Regulation for an announced burst begins. @param bytes announced; 0: not known
  void on_start(const FlowKey& flow, std::uint32_t announced_sequence, std::uint64_t bytes,
                Time now) noexcept;
  /// Regulation for a burst of unknown flows to that address begins. @param bytes of the
  /// one before; 0: not known
  void on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept;
  /// Payload of DDL reaches the queue.
  void on_burst_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes,
                        const Queue& queue, Time now) noexcept;
  /// Acknowledgment of DDL comes back. @param flow of the data
  void on_burst_ack(const FlowKey& flow, std::uint32_t acknowledgment) noexcept {
    if (bursts_.any_open()) bursts_.on_ack(flow, acknowledgment);
  }
  /// A background segment reaches the queue.
  WindowTreatment on_data(const TcpView& s, const Queue& queue, Time now) noexcept;
  /// A background segment comes back through the port.
  /// @return what its window field must become; nothing: leave it
  [[nodiscard]] std::optional<std::uint16_t> on_answer(const TcpView& s, const Queue& queue,
                                                       Time now) noexcept;

  void note_spared_mark() noexcept { ++counters_.spared_marks; }
  [[nodiscard]] const WindowCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::uint32_t flows() const noexcept {
    return static_cast<std::uint32_t>(flows_.size());
  }
  [[nodiscard]] bool holding() const noexcept { return phase_ == Phase::kHolding; }
  /// For tests and reports; nullptr if it is not in the table.
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
  /// How long what enters now will wait.
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
  std::optional<Time> announced_at_;  ///< latest START, or begin of regulation
  std::uint16_t h_packets_ = 0;       ///< latest threshold while regulated
  // Smoothed over flows' answers; 0: none is known.
  double rtt_ns_ = 0, up_ns_ = 0;
  // Weights of the flows that answered in the last round and in this one [bytes].
  Time round_began_{};
  std::uint32_t round_ = 1;
  double weight_last_ = 0, weight_now_ = 0;
  WindowCounters counters_{};
};

}  // namespace outrider
