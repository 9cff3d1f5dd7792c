#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/units.h"
#include "switch/regulation/policy/window_policy.h"
#include "switch/regulation/windows/remote_wait.h"
#include "switch/regulation/windows/tcp_view.h"
#include "switch/regulation/windows/window_counters.h"
#include "switch/regulation/windows/window_flow.h"
#include "switch/regulation/windows/window_flows.h"
#include "switch/regulation/windows/window_lead.h"
#include "switch/regulation/windows/window_path.h"
#include "switch/regulation/windows/window_room.h"

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
/// a round trip of their flow once the last announced (or expected) byte has entered the queue
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
/// HoldPhase says when windows are held, window_room.h how much they allow, and WindowFlows follows
/// the flows and writes the windows.
///
/// Time never decreases. O(1) per segment; nothing allocates after construction.
/// Not thread-safe: the lcore of the egress port owns it.
///
/// Prior art: windows are rewritten on the way by PacketShaper (a product), RWNDQ
/// (CloudNet 2015), IQM and HyGenICC, FairQ (arXiv 2401.04850, 2012.00339), AC/DC TCP (SIGCOMM
/// 2016) and TFC (EuroSys 2016), and at a receiver by RateMon (2026). They hold windows at all
/// times, or when a queue has grown. New here: windows are held for a burst that was announced,
/// until it has passed, and each is released by its flow's own round trip; hosts need nothing for
/// it. Rules of windows: RFC 9293, 3.8.6; scale: RFC 7323.
class WindowClamp {
 public:
  /// The queue that the clamp regulates.
  enum class Bottleneck : std::uint8_t {
    kLocal,   ///< the egress queue that the packets are about to enter
    kRemote,  ///< further on, where only the time until answers come back tells how long it is
  };

  using Queue = BottleneckQueue;

  /// @param overhead_bytes what a frame costs beyond its own bytes at the drain rate
  /// @param max_bursts announced bursts that can be tracked separately, > 0
  WindowClamp(const WindowPolicy& policy, BitRate drain_rate, std::uint32_t overhead_bytes,
              std::uint32_t max_bursts, Bottleneck bottleneck = Bottleneck::kLocal);

  /// Notes that a burst was announced, even if it is not regulated yet. Standing windows then
  /// shrink towards what flows have in flight, so that their edges take effect soon.
  void on_announced(Time now) noexcept { state_.phase.on_announced(now); }
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
    state_.phase.on_burst_ack(flow, acknowledgment);
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

  /// kRemote: Returns what waits in the queue, in the layer of the drain rate [bytes]: the
  /// shortest time by which answers of the last round trip or two came later than they ever
  /// did. One late answer may be the receiver's own delay; all of them are the queue's.
  [[nodiscard]] std::uint64_t remote_backlog_bytes(Time now) noexcept;
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
  [[nodiscard]] bool holding() const noexcept { return state_.phase.holding(); }
  /// For tests and reports. Returns nullptr if the flow is not in the table.
  [[nodiscard]] const WindowFlow* flow(const FlowKey& data_flow) const noexcept {
    return flows_.find(data_flow);
  }

 private:
  /// Takes over the state of the queue and goes on to the next phase if it is time.
  void follow(const Queue& queue, Time now) noexcept {
    if (state_.phase.note_threshold(queue.threshold)) move_on(queue, now);
  }
  void move_on(const Queue& queue, Time now) noexcept;
  WindowTreatment treat(WindowFlow& f, std::uint64_t fresh, const Queue& queue, Time now) noexcept;
  /// Takes over that the flow has answered. @pre f.known()
  void note_answer(WindowFlow& f, double own_rtt_ns, Time now) noexcept {
    if (state_.rounds.note(f, own_rtt_ns, state_.phase.standing(), now)) note_told(f, own_rtt_ns);
  }
  [[gnu::noinline]] void note_told(const WindowFlow& f, double own_rtt_ns) noexcept;

  WindowState state_;
  WindowFlows flows_;
  RemoteWait wait_;  ///< kRemote
};

// -- What each packet needs: inline, as in window_flow.h.

[[gnu::always_inline]] inline WindowTreatment WindowClamp::on_open_data(WindowFlow& f,
                                                                        const TcpView& s,
                                                                        const Queue& queue,
                                                                        Time now) noexcept {
  follow(queue, now);
  const std::uint64_t sent_before = f.sent_bytes;
  if (!f.on_data(s, now, timed_from(state_, queue, now))) [[unlikely]] {
    ++flows_.counters().segments_out_of_window;
    return WindowTreatment::kFallback;
  }
  return treat(f, f.sent_bytes - sent_before, queue, now);
}

/// @param fresh payload that the flow's segment has brought [bytes]
[[gnu::always_inline]] inline WindowTreatment WindowClamp::treat(WindowFlow& f, std::uint64_t fresh,
                                                                 const Queue& queue,
                                                                 Time now) noexcept {
  if (state_.phase.standing()) {
    f.limited |= f.at_edge();
    return WindowTreatment::kControlled;
  }
  if (f.held_bytes == 0) return WindowTreatment::kControlled;
  if (state_.phase.holding() && fresh > 0) pay_floor(state_, f, fresh, queue, now);
  return state_.policy.spare_marks ? WindowTreatment::kHeld : WindowTreatment::kControlled;
}

[[gnu::always_inline]] inline std::optional<std::uint16_t> WindowClamp::on_open_answer(
    WindowFlow& f, const TcpView& s, const Queue& queue, Time now) noexcept {
  follow(queue, now);
  if (!f.on_answer(s, now)) [[unlikely]]
    return flows_.refuse(f, WindowAnswer(s), true);
  if (state_.remote) wait_.note(f, state_.rounds.rtt_ns(), now);
  const double own_rtt_ns = state_.path.rtt_ns(f);
  note_answer(f, own_rtt_ns, now);
  if (!leaves_all(state_.path, f, s.window, own_rtt_ns))
    return flows_.tell(f, WindowAnswer(s), target_of(state_, f, queue, now));
  flows_.leave(f, s);
  return std::nullopt;
}

}  // namespace outrider
