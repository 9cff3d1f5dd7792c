#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/memory/tcp_context.h"
#include "trafficgen/transport/sender/loss_response.h"
#include "trafficgen/transport/sender/persistence.h"
#include "trafficgen/transport/sender/send_shaping.h"
#include "trafficgen/transport/sender/send_state.h"

namespace outrider::tg {

/// The sending half of a connection. It decides what may leave, what is lost and when to time out,
/// and obeys the controller's window and the peer's. Not thread-safe. Nothing allocates after
/// construction: the state of data in flight is in memory borrowed from the context's pools, which
/// is given back when all is acknowledged. A sender that finds no memory waits for its own ACKs or,
/// with nothing in flight, asks again after kMemoryRetry. A paced sender waits for pace_release().
///
/// Each part of the state has one owner, which decides. The sender asks the owners in turn and
/// tells each what the others have found:
///   SendState            what all ask:
///     SendStream           numbers, what is written, the peer's window
///     Scoreboard           what is in flight, and what of it is lost (RFC 6675)
///     CongestionWindow     the window and its reductions
///     RetransmissionTimer  the deadline and the RTO
///     TailLossProbe        probes of the tail (RFC 8985, 7)
///   LossResponse         what losses, marks and time-outs do:
///     RackDetector, Rack   when segments are lost by time (RFC 8985); NewReno without SACK
///     LossRecovery         whether and until when losses are recovered from
///   SendShaping          when a segment that may leave does:
///     SendPacing           the rate, where it is paced
///     SegmentBursts        how many segments leave at once, where they are joined
///   Persistence          probes of a closed window, and when to give up
///
/// Sources: RFC 6675 (recovery: a window reduction on entry, lost segments as
/// the pipe allows, exit at the recovery point), RFC 6582 where the peer has no SACK
/// (NewReno), RFC 3042 (limited transmit: SACK takes bytes out of the pipe), RFC 6298 (RTO),
/// RFC 5681 (4.1 idle restart), RFC 3168 (6.1.2, one reduction per window over ECE and loss),
/// RFC 9937 (PRR, where configured). Deviations:
///   - NextSeg has rules 1 and 2 only. Without RACK-TLP (RFC 8985) a resent segment that is lost
///     again waits for the RTO, and so does a lost tail.
///   - Resending the oldest segment restarts the RTO, as in Linux, because with a small minimum RTO
///     the recovery itself would time out.
///   - A peer that takes its window back (RFC 9293, 3.8.6) gets no new data. Data in flight beyond
///     the window is resent only at RTOs, and never given up while the peer answers. Instead of
///     SND.WL1 it is checked whether a segment is below what has arrived. A probe of a closed
///     window (3.8.6.1) is a segment without data below the window, as in Linux; a receiver must
///     answer it with its window.
///   - Without SACK every partial ACK restarts the RTO (the "slow but steady" variant of RFC 6582,
///     4), and a full ACK leaves the window at ssthresh (3.2, step 3, option 2): a burst waits in
///     the host's NIC.
///   - No reduction is undone after a spurious RTO.
///   - There is no Nagle: the last segment of the written data may be short. Into a window smaller
///     than a segment the sender sends what fits once nothing is in flight, without the half of the
///     largest window or the timer of RFC 9293, 3.8.6.2.1, (3) and (4).
class TcpSender {
 public:
  /// @param context what it refers to must outlive the sender; the copy in the sender has the
  ///   counters
  TcpSender(const TcpContext& context, std::uint32_t initial_sequence);
  ~TcpSender() { state_.scoreboard.release(state_.context.memory); }
  TcpSender(const TcpSender&) = delete;
  TcpSender& operator=(const TcpSender&) = delete;

  // -- the handshake
  struct Peer {
    std::uint32_t mss_bytes = 0;     ///< largest payload that it accepts, 0: not told
    std::uint32_t window_bytes = 0;  ///< as in its SYN
    std::uint8_t window_scale = 0;
    bool ecn = false;         ///< negotiated
    bool timestamps = false;  ///< negotiated
    bool sack = false;        ///< its SYN permitted SACK
  };
  void start(const Peer& peer) noexcept;
  /// Begins data with one segment (RFC 5681, 3.1) and with a longer RTO (RFC 6298, 5.7). Linux does
  /// both only after the second loss.
  void on_handshake_loss() noexcept {
    state_.timer.on_handshake_loss(state_.context.config);
    state_.window.on_handshake_loss();
  }

  // -- sending
  /// Returns true if a segment may leave now. If only memory is missing, a deadline is set.
  [[nodiscard]] bool can_send(Time now) noexcept {
    if (state_.tail_probe.due()) [[unlikely]]
      return true;
    const bool may = state_.scoreboard.lost_pending() == 0 ? can_send_new(now) : can_resend();
    if (state_.shaped) [[unlikely]]
      return shaping_.departs(state_, !losses_.recovery().open(), may, now);
    return may;
  }
  /// Returns when pacing lets the next segment leave; kNever if pacing is not what holds it.
  [[nodiscard]] Time pace_release() const noexcept { return shaping_.release(); }
  /// Returns true if a probe of the peer's closed window is due; take_probe() notes that it leaves.
  [[nodiscard]] bool probe_due() const noexcept { return persistence_.probe_due(); }
  void take_probe() noexcept {
    persistence_.take_probe();
    ++state_.context.memory.events.window_probes;
  }
  /// Writes sequence number, length, flags and ECN of the segment, which leaves now.
  /// @pre can_send(now)
  void fill(TcpSegment& s, Time now) noexcept;
  /// @param current the segment's window counts even if it takes back what was offered
  /// @return false if the acknowledgment is impossible (RFC 5961, 5.2): nothing changed
  bool on_ack(const TcpSegment& s, Time now, bool current) noexcept {
    if (!is_idle_ack(s)) return on_any_ack(s, now, current);
    SendStream& stream = state_.stream;
    stream.take_window(stream.window_edge(stream.una(), s.window), current);
    persistence_.on_answer();
    return true;
  }
  /// @return false if the peer has been silent for Persistence::kMaxTimeouts time-outs
  [[nodiscard]] bool on_timer(Time now) noexcept;

  /// Returns the stream, to which the application writes, what is in flight, the window, and the
  /// timer. The handshake uses the timer too: nothing else is timed before the handshake ends.
  [[nodiscard]] SendState& state() noexcept { return state_; }
  [[nodiscard]] const SendState& state() const noexcept { return state_; }

  static constexpr Duration kMemoryRetry = std::chrono::milliseconds(10);

 private:
  [[nodiscard]] bool can_send_new(Time now) noexcept {
    const SendStream& stream = state_.stream;
    const Scoreboard& scoreboard = state_.scoreboard;
    const std::uint32_t payload = stream.new_payload(scoreboard);
    if (payload == 0 && !stream.fin_is_next()) {
      if (stream.window_closed()) [[unlikely]]
        prepare_probe(now);
      return false;
    }
    if (scoreboard.pipe_bytes() + payload > state_.window.bytes()) return false;
    return scoreboard.segments().has_room() || can_borrow(now);
  }
  [[nodiscard]] bool can_resend() const noexcept {
    return losses_.recovery().resends_first() ||
           state_.scoreboard.pipe_bytes() + state_.stream.mss_bytes() <= state_.window.bytes();
  }
  [[gnu::noinline]] void prepare_probe(Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool can_borrow(Time now) noexcept;
  [[gnu::always_inline]] inline void fill_new(TcpSegment& s, Time now) noexcept;
  [[gnu::noinline]] void lower_unused_window(Time now) noexcept;
  [[gnu::noinline]] void fill_tail_probe(TcpSegment& s, Time now) noexcept;
  [[gnu::noinline]] void resend_segment(const SentSegment& sent, TcpSegment& s, Time now) noexcept;

  // Processing of acknowledgments: sender_ack.cc
  /// Returns true if a segment acknowledges nothing new, and this end has nothing in flight and
  /// nothing to remember of an earlier flight. Most data of a one-way stream arrives like that, and
  /// then on_any_ack() would change nothing but the peer's window.
  [[nodiscard]] bool is_idle_ack(const TcpSegment& s) const noexcept {
    return state_.scoreboard.flight() == nullptr &&
           s.acknowledgment == state_.stream.numbers().wire(state_.stream.una()) &&
           !s.has(kTcpEce) && s.sack_blocks == 0 && losses_.recovery().open() && !state_.by_time;
  }
  bool on_any_ack(const TcpSegment& s, Time now, bool current) noexcept;
  void on_advance(std::uint64_t una, Duration rtt, Time now) noexcept;
  [[nodiscard]] bool on_idle_timer(Time now) noexcept;

  [[no_unique_address]] SendState state_;
  Persistence persistence_;
  [[no_unique_address]] SendShaping shaping_;
  LossResponse losses_;
};

/// Returns the largest number of segments in flight, a power of two: a whole window of full
/// segments, and some short ones. The peer's buffer is assumed to be as large as ours.
[[nodiscard]] std::uint32_t segments_limit(const TcpConfig& config) noexcept;

}  // namespace outrider::tg
