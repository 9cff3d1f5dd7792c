#pragma once

#include <cstddef>
#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/memory/tcp_context.h"
#include "trafficgen/transport/sender/congestion_window.h"
#include "trafficgen/transport/sender/loss_recovery.h"
#include "trafficgen/transport/sender/persistence.h"
#include "trafficgen/transport/sender/rack_detector.h"
#include "trafficgen/transport/sender/retransmission_timer.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sender/segment_bursts.h"
#include "trafficgen/transport/sender/send_pacing.h"
#include "trafficgen/transport/sender/send_stream.h"
#include "trafficgen/transport/sender/tail_loss_probe.h"

namespace outrider::tg {

/// The sending half of a connection. It decides what may leave, what is lost and when to time out,
/// and obeys the controller's window and the peer's. Not thread-safe. Nothing allocates after
/// construction: the state of data in flight is in memory borrowed from the context's pools, which
/// is given back when all is acknowledged. A sender that finds no memory waits for its own ACKs or,
/// with nothing in flight, asks again after kMemoryRetry. A paced sender waits for pace_release().
///
/// Each part of the state has one owner, which decides. Many methods: each is a step in which the
/// sender asks the owners in turn and tells each what the others have found:
///   SendStream           numbers, what is written, the peer's window
///   Scoreboard           what is in flight, and what of it is lost (RFC 6675)
///   RackDetector, Rack   when segments are lost by time (RFC 8985); NewReno without SACK
///   LossRecovery         whether and until when losses are recovered from
///   CongestionWindow     the window and its reductions
///   RetransmissionTimer  the deadline and the RTO
///   TailLossProbe        probes of the tail (RFC 8985, 7)
///   Persistence          probes of a closed window, and when to give up
///   SendPacing           the rate, where it is paced
///   SegmentBursts        how many segments leave at once, where they are joined
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
  ~TcpSender() { scoreboard_.release(context_.memory); }
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
    timer_.on_handshake_loss(context_.config);
    window_.on_handshake_loss();
  }

  // -- sending
  /// Returns true if a segment may leave now. If only memory is missing, a deadline is set.
  [[nodiscard]] bool can_send(Time now) noexcept {
    if (tail_probe_.due()) [[unlikely]]
      return true;
    const bool may = scoreboard_.lost_pending() == 0 ? can_send_new(now) : can_resend();
    if (shaped_) [[unlikely]]
      return departs(may, now);
    return may;
  }
  /// Returns when pacing lets the next segment leave; kNever if pacing is not what holds it.
  [[nodiscard]] Time pace_release() const noexcept { return pacing_.release(); }
  /// Returns true if a probe of the peer's closed window is due; take_probe() notes that it leaves.
  [[nodiscard]] bool probe_due() const noexcept { return persistence_.probe_due(); }
  void take_probe() noexcept {
    persistence_.take_probe();
    ++context_.memory.events.window_probes;
  }
  /// Writes sequence number, length, flags and ECN of the segment, which leaves now.
  /// @pre can_send(now)
  void fill(TcpSegment& s, Time now) noexcept;
  /// @param current the segment's window counts even if it takes back what was offered
  /// @return false if the acknowledgment is impossible (RFC 5961, 5.2): nothing changed
  bool on_ack(const TcpSegment& s, Time now, bool current) noexcept {
    if (!is_idle_ack(s)) return on_any_ack(s, now, current);
    stream_.take_window(stream_.window_edge(stream_.una(), s.window), current);
    persistence_.on_answer();
    return true;
  }
  /// @return false if the peer has been silent for Persistence::kMaxTimeouts time-outs
  [[nodiscard]] bool on_timer(Time now) noexcept;
  /// Returns the timer. The handshake uses it too: nothing else is timed before the handshake ends.
  [[nodiscard]] RetransmissionTimer& timer() noexcept { return timer_; }
  [[nodiscard]] const RetransmissionTimer& timer() const noexcept { return timer_; }

  /// Starts to fetch the flight.
  void prefetch_flight() const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(scoreboard_.flight());
    if (bytes == nullptr) return;
    for (std::size_t i = 0; i < 256; i += 64) __builtin_prefetch(bytes + i, 1);
  }

  // -- state
  [[nodiscard]] TcpContext& context() noexcept { return context_; }
  [[nodiscard]] const TcpContext& context() const noexcept { return context_; }
  /// Returns the stream, to which the application writes.
  [[nodiscard]] SendStream& stream() noexcept { return stream_; }
  [[nodiscard]] const SendStream& stream() const noexcept { return stream_; }
  [[nodiscard]] const CongestionWindow& window() const noexcept { return window_; }
  [[nodiscard]] std::uint32_t in_flight_bytes() const noexcept { return scoreboard_.pipe_bytes(); }

  /// Returns the largest number of segments in flight, a power of two: a whole window of full
  /// segments, and some short ones. The peer's buffer is assumed to be as large as ours.
  [[nodiscard]] static std::uint32_t segments_limit(const TcpConfig& config) noexcept;

  static constexpr Duration kMemoryRetry = std::chrono::milliseconds(10);

 private:
  [[nodiscard]] bool can_send_new(Time now) noexcept {
    const std::uint32_t payload = stream_.new_payload(scoreboard_);
    if (payload == 0 && !stream_.fin_is_next()) {
      if (stream_.window_closed()) [[unlikely]]
        prepare_probe(now);
      return false;
    }
    if (scoreboard_.pipe_bytes() + payload > window_.bytes()) return false;
    return scoreboard_.has_room() || can_borrow(now);
  }
  [[nodiscard]] bool can_resend() const noexcept {
    return recovery_.resends_first() ||
           scoreboard_.pipe_bytes() + stream_.mss_bytes() <= window_.bytes();
  }
  [[gnu::noinline]] void prepare_probe(Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool can_borrow(Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool departs(bool may, Time now) noexcept;
  [[gnu::noinline]] void note_departure(std::uint32_t payload_bytes, Time now) noexcept;
  [[nodiscard]] bool may_join(Time now) noexcept;
  [[gnu::always_inline]] inline void fill_new(TcpSegment& s, Time now) noexcept;
  [[gnu::noinline]] void lower_unused_window(Time now) noexcept;
  [[gnu::noinline]] void fill_tail_probe(TcpSegment& s, Time now) noexcept;
  [[gnu::noinline]] void resend_segment(const SentSegment& sent, TcpSegment& s, Time now) noexcept;
  [[gnu::noinline]] void arm_tail_probe(Time now) noexcept;

  // Processing of acknowledgments: sender_ack.cc
  /// Returns true if a segment acknowledges nothing new, and this end has nothing in flight and
  /// nothing to remember of an earlier flight. Most data of a one-way stream arrives like that, and
  /// then on_any_ack() would change nothing but the peer's window.
  [[nodiscard]] bool is_idle_ack(const TcpSegment& s) const noexcept {
    return scoreboard_.flight() == nullptr && s.acknowledgment == stream_.wire(stream_.una()) &&
           !s.has(kTcpEce) && s.sack_blocks == 0 && recovery_.open() && !by_time_;
  }
  bool on_any_ack(const TcpSegment& s, Time now, bool current) noexcept;
  void on_advance(std::uint64_t una, Duration rtt, Time now) noexcept;
  [[gnu::noinline]] std::int64_t on_ack_without_sack(std::uint64_t una_before, bool duplicate,
                                                     std::uint32_t departed) noexcept;
  [[gnu::noinline]] void on_rack_ack(bool duplicate, Time now) noexcept;
  [[gnu::noinline]] void take_probe_answer(const TcpSegment& s, std::int64_t ack, bool advances,
                                           bool duplicate, std::uint32_t base, Time now) noexcept;
  void detect_losses_by_time(Time now) noexcept;
  void reduce(CongestionWindow::Cause cause, std::uint32_t base, Time now) noexcept;
  void update_window(std::int64_t delivered, bool advances) noexcept {
    if (window_.reducing()) [[unlikely]]
      take_step(delivered, advances);
    else window_.update();
  }
  [[gnu::noinline]] void take_step(std::int64_t delivered, bool advances) noexcept;
  [[gnu::noinline]] void enter_recovery(std::uint32_t base, Time now) noexcept;
  [[gnu::noinline]] void obey_ece(std::uint32_t base, Time now) noexcept;
  [[gnu::noinline]] void end_flight() noexcept;

  [[nodiscard]] bool on_idle_timer(Time now) noexcept;
  [[nodiscard]] bool on_aux_timer(Time now) noexcept;
  void on_timeout(Time now) noexcept;

  [[nodiscard]] int past_reduction() const noexcept {
    return window_.past_reduction(scoreboard_.flight(), stream_.una());
  }

  // Members are in the order of use: those that every segment touches share cache lines. A member
  // with [[no_unique_address]] lends its tail padding to the members that follow it.
  TcpContext context_;  ///< shared by both halves of the connection
  [[no_unique_address]] SendStream stream_;
  bool sack_ : 1 = false;  ///< negotiated
  bool timestamps_ : 1 = false;
  bool by_time_ : 1 = false;  ///< RACK-TLP is in use
  bool joins_ : 1 = false;    ///< segments are joined to bursts
  bool shaped_ : 1 = false;   ///< they are, or paced
  Scoreboard scoreboard_;
  RetransmissionTimer timer_;
  [[no_unique_address]] CongestionWindow window_;
  LossRecovery recovery_;
  RackDetector rack_;
  Time last_sent_{};  ///< when data was last sent
  [[no_unique_address]] SendPacing pacing_;
  Persistence persistence_;
  TailLossProbe tail_probe_;
};

}  // namespace outrider::tg
