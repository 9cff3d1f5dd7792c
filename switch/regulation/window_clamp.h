#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/units.h"
#include "switch/regulation/burst_flights.h"
#include "switch/regulation/tcp_view.h"
#include "switch/regulation/told_windows.h"
#include "switch/regulation/window_counters.h"
#include "switch/regulation/window_flow.h"
#include "switch/regulation/window_flows.h"
#include "switch/regulation/window_lead.h"
#include "switch/regulation/window_policy.h"

namespace outrider {

/// Returns n times a round trip, or another time in nanoseconds.
inline Duration round_trips(double n, double rtt_ns) noexcept {
  return Duration{static_cast<std::int64_t>(n * rtt_ns)};
}

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
/// `release_rtts` of their flow once the last announced (or expected) byte has entered the queue
/// or regulation has ended, each so much earlier as its data need to come. Always:
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
/// Many methods: a window follows from small rules, which share the state of all flows.
///
/// Time never decreases. O(1) per segment; nothing allocates after construction.
/// Not thread-safe: the lcore of the egress port owns it.
///
/// Source: the idea is this project's. Rules of windows: RFC 9293, 3.8.6; scale: RFC 7323.
class WindowClamp {
 public:
  /// Where the queue is whose bottleneck the clamp regulates.
  enum class Place : std::uint8_t {
    kHere,    ///< the egress queue that the packets are about to enter
    kBeyond,  ///< further on, where only the time until answers come back tells how long it is
  };

  /// State of the queue at the time of a call.
  struct Queue {
    std::uint64_t waiting_bytes = 0;           ///< in the layer of the drain rate
    std::optional<std::uint16_t> threshold{};  ///< h while regulated [packets]
  };

  /// @param overhead_bytes what a frame costs beyond its own bytes at the drain rate
  /// @param max_bursts announced bursts that can be tracked separately, > 0
  WindowClamp(const WindowPolicy& policy, BitRate drain_rate, std::uint32_t overhead_bytes,
              std::uint32_t max_bursts, Place place = Place::kHere);

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
  /// Does the same for a segment without SYN. @param f open_flow() of the segment, not nullptr
  WindowTreatment on_open_data(WindowFlow& f, const TcpView& s, const Queue& queue,
                               Time now) noexcept;
  /// Handles a background segment that comes back through the port.
  /// @return the new value of its window field; nothing: leave the field unchanged
  [[nodiscard]] std::optional<std::uint16_t> on_answer(const TcpView& s, const Queue& queue,
                                                       Time now) noexcept;
  /// Does the same for a segment with ACK and without SYN and RST.
  /// @param f open_flow() of the data that it answers, not nullptr
  [[nodiscard]] std::optional<std::uint16_t> on_open_answer(WindowFlow& f, const TcpView& s,
                                                            const Queue& queue, Time now) noexcept;
  /// Returns the flow if its handshake was seen and it has not ended, else nullptr.
  [[nodiscard, gnu::always_inline]] WindowFlow* open_flow(const FlowKey& data_flow) noexcept {
    WindowFlow* f = flows_.find(data_flow);
    return f != nullptr && f->known() && !f->closing ? f : nullptr;
  }

  /// kBeyond: Returns what waits in the queue, in the layer of the drain rate [bytes]: the
  /// shortest time by which answers of the last round trip or two came later than they ever
  /// did. One late answer may be the receiver's own delay; all of them are the queue's.
  [[nodiscard]] std::uint64_t waiting_beyond_bytes(Time now) noexcept;
  /// Returns the payload of all flows that has passed and is not acknowledged [bytes]. Looks at
  /// every flow: for reports.
  [[nodiscard]] std::uint64_t in_flight_bytes() const noexcept;

  /// Returns what window_lead() says of the flows that have sent lately, by what they were told and
  /// by the round trips that were measured. Call it for a START: what it finds is counted.
  /// @param h_packets  that the START asks for
  /// @param standing_packets  largest standing queue, or the queue's limit
  /// @return nothing while windows are not standing: how far they will stand then is not known
  [[nodiscard]] std::optional<WindowLead> lead(double h_packets, double standing_packets,
                                               Time now) noexcept;

  void note_told_lead() noexcept { ++flows_.counters().leads_told; }
  void note_spared_mark() noexcept { ++flows_.counters().spared_marks; }
  [[nodiscard]] const WindowCounters& counters() const noexcept { return flows_.counters(); }
  [[nodiscard]] std::uint32_t flows() const noexcept { return flows_.size(); }
  [[nodiscard]] bool holding() const noexcept { return phase_ == Phase::kHolding; }
  /// For tests and reports. Returns nullptr if the flow is not in the table.
  [[nodiscard]] const WindowFlow* flow(const FlowKey& data_flow) const noexcept {
    return flows_.find(data_flow);
  }
  static std::size_t bytes_per_flow() noexcept { return WindowFlows::bytes_per_flow(); }

 private:
  enum class Phase : std::uint8_t { kStanding, kHolding, kReleasing };

  void hold(Time now) noexcept;
  /// Returns the time from which an answer to a packet that enters now is timed. Of a queue
  /// further on, it is the time at which the packet passes: what waits there is to be measured.
  [[nodiscard]] Time timed_from(const Queue& queue, Time now) const noexcept {
    return place_ == Place::kBeyond ? now : now + round_trips(1, drain_ns(queue));
  }
  void note_wait(const WindowFlow& f, Time now) noexcept;
  /// Takes over the state of the queue and goes on to the next phase if it is time.
  void follow(const Queue& queue, Time now) noexcept {
    if (queue.threshold) h_packets_ = *queue.threshold;
    else if (bursts_.any_open()) bursts_.close_all();
    const bool stays = phase_ == Phase::kStanding ||
                       (phase_ == Phase::kHolding && bursts_.any_of_unknown_length());
    if (!stays) move_on(queue, now);
  }
  void move_on(const Queue& queue, Time now) noexcept;
  [[nodiscard]] bool expects_bursts(Time now) const noexcept;
  [[nodiscard]] bool bursts_end_within(double ns, const Queue& queue) const noexcept;
  [[nodiscard]] bool nearly_over(const Queue& queue) const noexcept;
  WindowTreatment treat(WindowFlow& f, std::uint64_t fresh, const Queue& queue, Time now) noexcept;
  std::optional<std::uint16_t> limit(WindowFlow& f, WindowAnswer s, const Queue& queue,
                                     Time now) noexcept;
  void note_weight(WindowFlow& f, double own_rtt_ns, Time now) noexcept;
  [[gnu::noinline]] void note_told(const WindowFlow& f, double own_rtt_ns) noexcept;
  // Of flows whose handshake was seen:
  [[nodiscard]] double rtt_ns(const WindowFlow& f) const noexcept {
    assert(f.up && f.down);
    const bool given = policy_.base_rtt > Duration::zero();
    return static_cast<double>((given ? policy_.base_rtt : *f.up + *f.down).count());
  }
  /// Returns how long a packet that enters the queue now will wait [ns].
  [[nodiscard]] double drain_ns(const Queue& queue) const noexcept {
    return static_cast<double>(static_cast<std::int64_t>(queue.waiting_bytes)) / bytes_per_ns_;
  }
  /// Returns the bandwidth-delay product of the flow's path [payload bytes].
  [[nodiscard]] double pipe_bytes(const WindowFlow& f, double own_rtt_ns) const noexcept {
    return bytes_per_ns_ * own_rtt_ns * f.payload_share(overhead_bytes_);
  }
  [[nodiscard]] bool leaves_all(const WindowFlow& f, std::uint16_t window,
                                double own_rtt_ns) const noexcept;
  [[nodiscard]] WindowTarget target(WindowFlow& f, const Queue& queue, Time now) noexcept;
  [[nodiscard]] double ahead_ns(double up_ns, double rtt_ns, const Queue& queue) const noexcept;
  [[nodiscard]] bool released_too_early(const WindowFlow& f, const Queue& queue) const noexcept;
  [[nodiscard]] bool opens(const WindowFlow& f, Time now) const noexcept;
  [[nodiscard]] double opened_bytes(const WindowFlow& f, double least, double standing,
                                    Time now) const noexcept;
  [[nodiscard]] double room_bytes(const WindowFlow& f) const noexcept;
  [[nodiscard]] double part_of(const WindowFlow& f, double total) const noexcept;
  [[nodiscard]] double floor_rate(const WindowFlow& f, double path_ns) const noexcept;
  void pay_floor(WindowFlow& f, std::uint64_t bytes, const Queue& queue, Time now) const noexcept;
  [[nodiscard]] double floor_bytes(const WindowFlow& f, const Queue& queue,
                                   Time now) const noexcept;
  [[nodiscard]] double held_bytes(const WindowFlow& f, const Queue& queue, Time now) const noexcept;
  [[nodiscard]] double releasing_bytes(const WindowFlow& f, double standing,
                                       Time now) const noexcept;

  /// The peak of a saw-tooth must not be forgotten at once, nor be kept forever.
  static constexpr double kEpoch_rtts = 8;
  /// Held flows answer once per round trip, queueing included.
  static constexpr double kRound_rtts = 4;
  /// Growth of what a burst has in flight from one round trip to the next: slow start.
  static constexpr double kGrowth = 2;
  /// Windows open in steps, one per answer of a held flow, which fills the queue in lumps. These
  /// lumps say nothing about the senders' windows, so flows are spared marks for this long.
  static constexpr double kSettle_rtts = 2;
  static constexpr double kRttSmoothing = 1.0 / 16;

  WindowPolicy policy_;
  double bytes_per_ns_;
  std::uint32_t overhead_bytes_;
  Place place_;
  BurstFlights bursts_;
  WindowFlows flows_;
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
  ToldWindows told_last_, told_now_;  ///< of the same flows
  // kBeyond: the shortest wait of an answer in this round trip and in the one before.
  Time wait_began_{};
  std::optional<Duration> wait_last_, wait_now_;
};

// -- What each packet needs: inline, as in window_flow.h.

[[gnu::always_inline]] inline WindowTreatment WindowClamp::on_open_data(WindowFlow& f,
                                                                        const TcpView& s,
                                                                        const Queue& queue,
                                                                        Time now) noexcept {
  follow(queue, now);
  const std::uint64_t sent_before = f.sent_bytes;
  if (!f.on_data(s, now, timed_from(queue, now))) [[unlikely]] {
    ++flows_.counters().segments_out_of_window;
    return WindowTreatment::kFallback;
  }
  return treat(f, f.sent_bytes - sent_before, queue, now);
}

/// @param fresh payload that the flow's segment has brought [bytes]
[[gnu::always_inline]] inline WindowTreatment WindowClamp::treat(WindowFlow& f, std::uint64_t fresh,
                                                                 const Queue& queue,
                                                                 Time now) noexcept {
  if (phase_ == Phase::kStanding) {
    f.limited |= f.at_edge();
    return WindowTreatment::kControlled;
  }
  if (f.held_bytes == 0) return WindowTreatment::kControlled;
  if (phase_ == Phase::kHolding && fresh > 0) pay_floor(f, fresh, queue, now);
  return policy_.spare_marks ? WindowTreatment::kHeld : WindowTreatment::kControlled;
}

[[gnu::always_inline]] inline std::optional<std::uint16_t> WindowClamp::on_open_answer(
    WindowFlow& f, const TcpView& s, const Queue& queue, Time now) noexcept {
  follow(queue, now);
  if (!f.on_answer(s, now)) [[unlikely]]
    return flows_.refuse(f, WindowAnswer(s), true);
  if (place_ == Place::kBeyond) note_wait(f, now);
  const double own_rtt_ns = rtt_ns(f);
  note_weight(f, own_rtt_ns, now);
  if (!leaves_all(f, s.window, own_rtt_ns)) return limit(f, WindowAnswer(s), queue, now);
  flows_.leave(f, s);
  return std::nullopt;
}

/// Adds the flow to this round's sum of weights, once per round, and smooths the round trip.
inline void WindowClamp::note_weight(WindowFlow& f, double own_rtt_ns, Time now) noexcept {
  const auto up = static_cast<double>(f.up->count());
  up_ns_ = rtt_ns_ == 0 ? up : up_ns_ + kRttSmoothing * (up - up_ns_);
  rtt_ns_ = rtt_ns_ == 0 ? own_rtt_ns : rtt_ns_ + kRttSmoothing * (own_rtt_ns - rtt_ns_);
  if (const Duration round = round_trips(kRound_rtts, rtt_ns_); now - round_began_ >= round)
      [[unlikely]] {
    const bool is_next = now - round_began_ < 2 * round;
    weight_last_ = is_next ? weight_now_ : 0;
    weight_now_ = 0;
    told_last_ = is_next ? told_now_ : ToldWindows{};
    told_now_ = {};
    round_began_ = now;
    ++round_;
  }
  if (phase_ == Phase::kStanding) f.roll(now, round_trips(kEpoch_rtts, own_rtt_ns));
  if (f.summed_round == round_) return;
  f.summed_round = round_;
  weight_now_ += f.largest_flight();
  note_told(f, own_rtt_ns);
}

/// Returns whether target() and tell() certainly leave the receiver its whole window: a
/// small flow gets its bandwidth-delay product at least, and the receiver offers no more.
inline bool WindowClamp::leaves_all(const WindowFlow& f, std::uint16_t window,
                                    double own_rtt_ns) const noexcept {
  if (f.duplicate) return false;
  const double pipe = pipe_bytes(f, own_rtt_ns);
  return f.sent_less_than(pipe) && static_cast<double>(std::int32_t{window} << f.scale()) <= pipe;
}

}  // namespace outrider
