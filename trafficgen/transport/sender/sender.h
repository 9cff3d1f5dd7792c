#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/control/controller_slot.h"
#include "trafficgen/transport/sender/pacer.h"
#include "trafficgen/transport/sender/rto_estimator.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sequence_space.h"
#include "trafficgen/transport/tcp_context.h"
#include "trafficgen/transport/timestamps.h"

namespace outrider::tg {

/// The sending half of a connection: what may leave, what is lost, when to time
/// out. The controller decides the window; this class obeys it and the peer's.
/// Not thread-safe; nothing allocates after construction: what is in flight is
/// kept in memory borrowed from the context's pools, and given back when all is
/// acknowledged. A sender that finds no memory waits: for its own ACKs, or with
/// nothing in flight for kMemoryRetry, after which it asks again. A paced one
/// (sender_pacing.cc) waits for pace_release().
///
/// Sources: RFC 6675 (recovery: a window reduction on entry, lost segments as
/// the pipe allows, exit at the recovery point), RFC 6582 where the peer has no SACK
/// (sender_newreno.cc), RFC 3042 (limited transmit: SACK
/// takes bytes out of the pipe), RFC 6298 (RTO), RFC 5681 (4.1 idle restart),
/// RFC 3168 (6.1.2, one reduction per window over ECE and loss; CWR).
/// Deviations:
///  - NextSeg has rules 1 and 2; without RACK-TLP (RFC 8985, sender_rack.cc) a resent
///    segment that is lost again waits for the RTO, and so does a lost tail;
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

  // -- the application
  void write(std::uint64_t bytes) noexcept {
    assert(!closing_);
    written_ += bytes;
  }
  void finish() noexcept { closing_ = true; }
  void watch(std::uint64_t offset) noexcept {
    watched_ = offset;
    watched_sent_ = false;
    watches_ = true;
  }

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
  void on_handshake_rtt(Duration rtt) noexcept { rto_.on_sample(rtt, rto_bounds()); }
  /// RFC 5681, 3.1: data begins with one segment. RFC 6298, 5.7: and with an RTO of 3 s
  /// where the initial one is 1 s, in proportion otherwise. Linux does both after the
  /// second loss only.
  void on_handshake_loss() noexcept {
    rto_.restart_at(3 * context_.config.initial_rto, rto_bounds());
    control_->on_handshake_loss();
    cwnd_ = control_->cwnd_bytes();
  }

  // -- sending
  /// May a segment leave now? If only memory is missing, a later rto_deadline() is set.
  [[nodiscard]] bool can_send(Time now) noexcept;
  /// When pacing lets the next segment leave; kNever if it is not pacing that holds it.
  [[nodiscard]] Time pace_release() const noexcept {
    return pace_held_ ? pacer_.next_release() : kNever;
  }
  /// A probe of the peer's closed window is due; take_probe() notes that it leaves.
  [[nodiscard]] bool probe_due() const noexcept { return probe_due_; }
  void take_probe() noexcept {
    probe_due_ = false;
    ++context_.memory.events.window_probes;
  }
  /// @pre can_send(now). Writes sequence number, length, flags and ECN; it leaves now.
  void fill(TcpSegment& s, Time now) noexcept;
  /// @return false if the acknowledgment is impossible (RFC 5961, 5.2): nothing changed
  /// @param current its window counts even if it takes back what was offered
  bool on_ack(const TcpSegment& s, Time now, bool current) noexcept;
  /// @return false if the peer has been silent for kMaxTimeouts time-outs
  [[nodiscard]] bool on_timer(Time now) noexcept;
  [[nodiscard]] Time rto_deadline() const noexcept { return rto_deadline_; }

  /// The handshake's timer is kept here: nothing else is timed before it is over.
  void set_deadline(Time at) noexcept { rto_deadline_ = at; }

  /// Starts to fetch what is in flight.
  void prefetch_flight() const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(scoreboard_.flight());
    if (bytes == nullptr) return;
    for (std::size_t i = 0; i < 256; i += 64) __builtin_prefetch(bytes + i, 1);
  }

  // -- what is known
  [[nodiscard]] TcpContext& context() noexcept { return context_; }
  [[nodiscard]] const TcpContext& context() const noexcept { return context_; }
  [[nodiscard]] std::uint32_t initial_sequence() const noexcept { return space_.wire(0) - 1; }
  [[nodiscard]] std::uint32_t next_sequence() const noexcept { return space_.wire(nxt_); }
  /// Sequence number of the first data byte.
  [[nodiscard]] std::uint32_t first_sequence() const noexcept { return space_.wire(0); }
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_; }
  [[nodiscard]] std::uint64_t acked_bytes() const noexcept {
    return una_ < written_ ? una_ : written_;
  }
  [[nodiscard]] bool closing() const noexcept { return closing_; }
  [[nodiscard]] bool fin_acked() const noexcept { return una_ > written_; }
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept { return cwnd_; }
  [[nodiscard]] std::uint32_t in_flight_bytes() const noexcept { return scoreboard_.pipe_bytes(); }
  [[nodiscard]] Duration srtt() const noexcept { return rto_.srtt(); }
  [[nodiscard]] std::optional<Time> watched_sent_at() const noexcept {
    if (!watched_sent_) return std::nullopt;
    return Time{Duration{static_cast<std::int64_t>(watched_)}};
  }
  [[nodiscard]] const CongestionControl& control() const noexcept { return *control_; }

  /// Most segments in flight: a whole window of full ones, and some short ones. The
  /// peer is taken to have a buffer like ours. A power of two.
  [[nodiscard]] static std::uint32_t segments_limit(const TcpConfig& config) noexcept;

  static constexpr std::uint32_t kMaxTimeouts = 15;  ///< R2 of RFC 9293, 3.8.3
  static constexpr Duration kMemoryRetry = std::chrono::milliseconds(10);
  /// Of the window per round trip, as Linux paces: in slow start below half of ssthresh,
  /// and above (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
  static constexpr double kPaceInSlowStart = 2.0;
  static constexpr double kPaceAbove = 1.2;
  /// A busy NIC's or a late poll's lateness that is made up for.
  static constexpr Duration kPaceCatchUp = std::chrono::microseconds(100);

 private:
  enum class Phase : std::uint8_t {
    kOpen,
    kRecovery,     ///< until recovery_point_; the window does not grow
    kAfterTimeout  ///< until recovery_point_; slow start
  };

  [[nodiscard]] std::uint32_t new_payload() const noexcept;
  [[nodiscard]] bool can_send_new(Time now) noexcept;
  [[nodiscard]] bool has_room(Time now) noexcept;
  // Pacing: sender_pacing.cc
  [[nodiscard]] bool pace_allows(bool may, Time now) noexcept;
  [[nodiscard]] BitRate pacing_rate() const noexcept;
  void pace(std::uint32_t payload_bytes, Time now) noexcept;
  void end_pace_hold(Time now) noexcept;
  /// Nothing is in flight, and nothing of what is written may be sent.
  [[nodiscard]] bool window_closed() const noexcept {
    return scoreboard_.empty() && nxt_ < written_ && peer_edge_ <= nxt_;
  }
  [[nodiscard]] bool on_idle_timer(Time now) noexcept;
  void fill_resent(TcpSegment& s, Time now) noexcept;
  void fill_new(TcpSegment& s, Time now) noexcept;
  [[nodiscard]] bool plausible(std::int64_t ack) noexcept;
  void take_sack(const TcpSegment& s, std::uint32_t& acked_bytes) noexcept;
  // NewReno: sender_newreno.cc
  [[nodiscard]] bool duplicates_ack(const TcpSegment& s, std::int64_t ack,
                                    std::uint64_t window_edge) const noexcept;
  void on_ack_without_sack(std::uint64_t una_before, bool duplicate,
                           std::uint32_t departed) noexcept;
  void lose_first() noexcept;
  void on_advance(std::uint64_t una, Duration rtt, Time now) noexcept;
  [[nodiscard]] Duration round_trip(const Scoreboard::Acknowledged& acked, const TcpSegment& s,
                                    Time now) const noexcept;
  void note_reduction(Time now) noexcept;
  void resend_segment(const SentSegment& sent, TcpSegment& s, Time now) noexcept;
  void on_timeout(Time now) noexcept;
  void end_phase() noexcept;

  // RACK-TLP: sender_rack.cc
  [[nodiscard]] bool reports_duplicate(const TcpSegment& s) const noexcept;
  void on_rack_ack(bool duplicate, Time now) noexcept;
  void detect_losses_by_time(Time now) noexcept;
  void take_probe_answer(const TcpSegment& s, std::int64_t ack, bool advances, bool duplicate,
                         std::uint32_t flight, Time now) noexcept;
  void arm_rto(Time at) noexcept;
  void arm_aux(Flight::Aux aux, Time at) noexcept;
  void arm_tail_probe(Time now) noexcept;
  void after_departure(Time now) noexcept;
  [[nodiscard]] bool on_aux_timer(Time now) noexcept;
  void fill_tail_probe(TcpSegment& s, Time now) noexcept;
  [[nodiscard]] bool recovering() const noexcept { return phase_ != Phase::kOpen; }
  void enter_recovery(std::uint32_t flight, Time now) noexcept;
  void obey_ece(std::uint32_t flight, Time now) noexcept;
  void note_window_use() noexcept;
  /// FlightSize of RFC 5681 without what limited transmit added [bytes].
  [[nodiscard]] std::uint32_t flight_bytes() const noexcept;

  [[nodiscard]] RtoEstimator::Bounds rto_bounds() const noexcept {
    return {context_.config.min_rto, context_.config.max_rto};
  }
  // With nothing in flight there is no Flight, and una_ == nxt_ is beyond all of these.
  [[nodiscard]] bool below_recovery_point() const noexcept {
    return scoreboard_.flight() != nullptr && una_ < scoreboard_.flight()->recovery_point;
  }
  [[nodiscard]] bool window_was_full() const noexcept {
    return scoreboard_.flight() != nullptr && una_ < scoreboard_.flight()->window_full_until;
  }
  /// -1, 0, 1: una_ is below, at, above the end of the data that the last reduction covers.
  [[nodiscard]] int past_reduction() const noexcept;
  void release_flight() noexcept;

  // The order is that of use: what every segment touches shares cache lines.
  TcpContext context_;     ///< of both halves of the connection
  std::uint64_t una_ = 0;  ///< oldest offset without cumulative ACK
  std::uint64_t nxt_ = 0;  ///< next offset that was never sent; written_ + 1 after the FIN
  std::uint64_t written_ = 0;
  std::uint64_t peer_edge_ = 0;  ///< first offset beyond the peer's window
  Time rto_deadline_ =
      kNever;  ///< with nothing in flight: of a probe, or memory is asked for again
  Scoreboard scoreboard_;
  std::uint32_t cwnd_;  ///< what control_ says, kept here
  SequenceSpace space_;
  std::uint16_t mss_;  ///< of this connection, <= the controller's
  ReorderMemory reorder_;
  std::uint8_t timeouts_ : 4 = 0;    ///< since una_ moved
  bool sack_ : 1 = false;            ///< negotiated
  bool recovered_here_ : 1 = false;  ///< nothing is in flight, the last recovery ends at una_
  bool paced_ : 1 = false;
  bool pace_held_ : 1 = false;  ///< ready but for the pace
  std::uint8_t peer_window_scale_ : 4 = 0;
  std::uint8_t probes_ : 4 = 0;  ///< since the peer's window closed
  Phase phase_ : 2 = Phase::kOpen;
  bool closing_ : 1 = false;
  bool ecn_ : 1 = false;
  bool timestamps_ : 1 = false;
  bool probe_due_ : 1 = false;
  /// One lost segment leaves whatever the pipe (RFC 6675, 5 (4.3)).
  bool resend_first_ : 1 = false;
  bool cwr_pending_ : 1 = false;   ///< the next new data segment carries CWR
  bool reduced_here_ : 1 = true;   ///< nothing is in flight, and the last reduction ends at una_
  bool watches_ : 1 = false;       ///< watched_ is an offset that has not left yet
  bool watched_sent_ : 1 = false;  ///< watched_ is a time
  bool by_time_ : 1 = false;       ///< RACK-TLP is in use
  bool tail_probe_ : 1 = false;    ///< one is to leave, whatever the window
  bool probe_spent_ : 1 = false;   ///< no round trip was measured since the last one
  bool pace_late_ : 1 = false;     ///< was, and its owner is the later one
  bool probe_here_ : 1 = false;    ///< nothing is in flight, una_ was probed by resending
  Time last_sent_{};               ///< data
  Pacer pacer_;
  RtoEstimator rto_;
  std::uint64_t watched_ = 0;  ///< stream offset, or once it has left: when [ns]
  ControllerSlot control_;
};

}  // namespace outrider::tg
