#pragma once

#include <cstddef>
#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/memory/tcp_context.h"
#include "trafficgen/transport/sender/congestion_window.h"
#include "trafficgen/transport/sender/persistence.h"
#include "trafficgen/transport/sender/rack_detector.h"
#include "trafficgen/transport/sender/recovery.h"
#include "trafficgen/transport/sender/retransmission_timer.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sender/send_pacing.h"
#include "trafficgen/transport/sender/send_stream.h"
#include "trafficgen/transport/sender/tail_loss_probe.h"

namespace outrider::tg {

/// The sending half of a connection: what may leave, what is lost, when to time
/// out. The controller decides the window; this class obeys it and the peer's.
/// Not thread-safe; nothing allocates after construction: what is in flight is
/// kept in memory borrowed from the context's pools, and given back when all is
/// acknowledged. A sender that finds no memory waits: for its own ACKs, or with
/// nothing in flight for kMemoryRetry, after which it asks again. A paced one
/// waits for pace_release().
///
/// Each part of its state has one owner, which decides; the sender asks them in turn and
/// tells each what the others have found:
///   SendStream           numbers, what is written, the peer's window
///   Scoreboard           what is in flight, and what of it is lost (RFC 6675)
///   RackDetector, Rack   when segments are lost by time (RFC 8985); NewReno without SACK
///   Recovery             whether and until when losses are recovered from
///   CongestionWindow     the window and its reductions
///   RetransmissionTimer  the deadline and the RTO
///   TailLossProbe        probes of the tail (RFC 8985, 7)
///   Persistence          probes of a closed window, and when to give up
///   SendPacing           the rate, where it is paced
///
/// Sources: RFC 6675 (recovery: a window reduction on entry, lost segments as
/// the pipe allows, exit at the recovery point), RFC 6582 where the peer has no SACK
/// (NewReno), RFC 3042 (limited transmit: SACK takes bytes out of the pipe), RFC 6298 (RTO),
/// RFC 5681 (4.1 idle restart), RFC 3168 (6.1.2, one reduction per window over ECE and loss;
/// CWR). Deviations:
///  - NextSeg has rules 1 and 2; without RACK-TLP (RFC 8985) a resent segment that is lost
///    again waits for the RTO, and so does a lost tail;
///  - resending the oldest segment restarts the RTO, as Linux does, because with
///    a small minimum RTO the recovery itself would time out;
///  - a peer that takes its window back (RFC 9293, 3.8.6) gets nothing new; what is
///    out beyond the window is sent again at RTOs alone and is never given up while
///    the peer answers; SND.WL1 is whether a segment is below what has arrived; a probe
///    of a closed one (3.8.6.1) is a segment without data below the window, as Linux
///    sends it, which a receiver must answer with its window;
///  - without SACK every partial ACK restarts the RTO (the "slow but steady" variant of
///    RFC 6582, 4), and a full one leaves the window at ssthresh (3.2, step 3, option 2):
///    a burst waits in the host's NIC;
///  - no reduction is undone after a spurious RTO;
///  - no Nagle: the last segment of what is written may be short; into a window smaller
///    than a segment it sends what fits once nothing is in flight, without the half of
///    the largest window or the timer of RFC 9293, 3.8.6.2.1, (3) and (4).
class TcpSender {
 public:
  /// @param context what it refers to must outlive the sender, which keeps the counters
  TcpSender(const TcpContext& context, std::uint32_t initial_sequence);
  ~TcpSender() { scoreboard_.release(context_.memory); }
  TcpSender(const TcpSender&) = delete;
  TcpSender& operator=(const TcpSender&) = delete;

  // -- the handshake
  struct Peer {
    std::uint32_t mss_bytes = 0;     ///< payload that it takes, 0: not told
    std::uint32_t window_bytes = 0;  ///< as in its SYN
    std::uint8_t window_scale = 0;
    bool ecn = false;         ///< negotiated
    bool timestamps = false;  ///< negotiated
    bool sack = false;        ///< its SYN permitted SACK
  };
  void start(const Peer& peer) noexcept;
  /// RFC 5681, 3.1: data begins with one segment. RFC 6298, 5.7: and with a longer RTO.
  /// Linux does both after the second loss only.
  void on_handshake_loss() noexcept {
    timer_.on_handshake_loss(context_.config);
    window_.on_handshake_loss();
  }

  // -- sending
  /// May a segment leave now? If only memory is missing, a deadline is set.
  [[nodiscard]] bool can_send(Time now) noexcept;
  /// When pacing lets the next segment leave; kNever if it is not pacing that holds it.
  [[nodiscard]] Time pace_release() const noexcept { return pacing_.release(); }
  /// A probe of the peer's closed window is due; take_probe() notes that it leaves.
  [[nodiscard]] bool probe_due() const noexcept { return persistence_.probe_due(); }
  void take_probe() noexcept {
    persistence_.take_probe();
    ++context_.memory.events.window_probes;
  }
  /// @pre can_send(now). Writes sequence number, length, flags and ECN; it leaves now.
  void fill(TcpSegment& s, Time now) noexcept;
  /// @return false if the acknowledgment is impossible (RFC 5961, 5.2): nothing changed
  /// @param current its window counts even if it takes back what was offered
  bool on_ack(const TcpSegment& s, Time now, bool current) noexcept;
  /// @return false if the peer has been silent for Persistence::kMaxTimeouts time-outs
  [[nodiscard]] bool on_timer(Time now) noexcept;
  /// The handshake uses it as well: nothing else is timed before that is over.
  [[nodiscard]] RetransmissionTimer& timer() noexcept { return timer_; }
  [[nodiscard]] const RetransmissionTimer& timer() const noexcept { return timer_; }

  /// Starts to fetch what is in flight.
  void prefetch_flight() const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(scoreboard_.flight());
    if (bytes == nullptr) return;
    for (std::size_t i = 0; i < 256; i += 64) __builtin_prefetch(bytes + i, 1);
  }

  // -- what is known
  [[nodiscard]] TcpContext& context() noexcept { return context_; }
  [[nodiscard]] const TcpContext& context() const noexcept { return context_; }
  /// The application writes to it.
  [[nodiscard]] SendStream& stream() noexcept { return stream_; }
  [[nodiscard]] const SendStream& stream() const noexcept { return stream_; }
  [[nodiscard]] const CongestionWindow& window() const noexcept { return window_; }
  [[nodiscard]] std::uint32_t in_flight_bytes() const noexcept { return scoreboard_.pipe_bytes(); }

  /// Most segments in flight: a whole window of full ones, and some short ones. The
  /// peer is taken to have a buffer like ours. A power of two.
  [[nodiscard]] static std::uint32_t segments_limit(const TcpConfig& config) noexcept;

  static constexpr Duration kMemoryRetry = std::chrono::milliseconds(10);

 private:
  [[nodiscard]] bool can_send_new(Time now) noexcept;
  [[nodiscard]] bool has_room(Time now) noexcept;
  inline void fill_new(TcpSegment& s, Time now) noexcept;
  void fill_tail_probe(TcpSegment& s, Time now) noexcept;
  void resend_segment(const SentSegment& sent, TcpSegment& s, Time now) noexcept;
  void arm_tail_probe(Time now) noexcept;

  // What an acknowledgment does: sender_ack.cc
  void on_advance(std::uint64_t una, Duration rtt, Time now) noexcept;
  void on_ack_without_sack(std::uint64_t una_before, bool duplicate,
                           std::uint32_t departed) noexcept;
  void on_rack_ack(bool duplicate, Time now) noexcept;
  void take_probe_answer(const TcpSegment& s, std::int64_t ack, bool advances, bool duplicate,
                         std::uint32_t flight, Time now) noexcept;
  void detect_losses_by_time(Time now) noexcept;
  void reduce(CongestionWindow::Cause cause, std::uint32_t flight, Time now) noexcept;
  void enter_recovery(std::uint32_t flight, Time now) noexcept;
  void obey_ece(std::uint32_t flight, Time now) noexcept;
  void end_flight() noexcept;

  [[nodiscard]] bool on_idle_timer(Time now) noexcept;
  [[nodiscard]] bool on_aux_timer(Time now) noexcept;
  void on_timeout(Time now) noexcept;

  [[nodiscard]] int past_reduction() const noexcept {
    return window_.past_reduction(scoreboard_.flight(), stream_.una());
  }

  // The order is that of use: what every segment touches shares cache lines. A member
  // without an address of its own lends its last bytes to those that follow it.
  TcpContext context_;  ///< of both halves of the connection
  [[no_unique_address]] SendStream stream_;
  bool sack_ : 1 = false;  ///< negotiated
  bool timestamps_ : 1 = false;
  bool by_time_ : 1 = false;  ///< RACK-TLP is in use
  Scoreboard scoreboard_;
  RetransmissionTimer timer_;
  [[no_unique_address]] CongestionWindow window_;
  Recovery recovery_;
  RackDetector rack_;
  Time last_sent_{};  ///< data
  [[no_unique_address]] SendPacing pacing_;
  Persistence persistence_;
  TailLossProbe tail_probe_;
};

}  // namespace outrider::tg
