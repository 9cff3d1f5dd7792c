#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/controller_slot.h"
#include "trafficgen/transport/rto_estimator.h"
#include "trafficgen/transport/scoreboard.h"
#include "trafficgen/transport/sequence_space.h"
#include "trafficgen/transport/tcp_config.h"
#include "trafficgen/transport/tcp_counters.h"

namespace outrider {

/// The sending half of a connection: what may leave, what is lost, when to time
/// out. The controller decides the window; this class obeys it and the peer's.
/// Not thread-safe; nothing allocates after construction.
///
/// Sources: RFC 6675 (recovery: a window reduction on entry, lost segments as
/// the pipe allows, exit at the recovery point), RFC 3042 (limited transmit: SACK
/// takes bytes out of the pipe), RFC 6298 (RTO), RFC 5681 (4.1 idle restart),
/// RFC 3168 (6.1.2, one reduction per window over ECE and loss; CWR).
/// Deviations:
///  - NextSeg has rules 1 and 2; a resent segment that is lost again waits for the
///    RTO, and so does a lost tail (no RACK-TLP, RFC 8985);
///  - resending the oldest segment restarts the RTO, as Linux does, because with
///    a small minimum RTO the recovery itself would time out;
///  - the peer's window never shrinks (RFC 9293, 3.8.6 discourages it), and there
///    is no zero-window probe: our receivers read at once;
///  - no reduction is undone after a spurious RTO;
///  - no Nagle: the last segment of what is written may be short.
class TcpSender {
 public:
  TcpSender(const TcpConfig& config, std::uint32_t initial_sequence, TcpCounters& counters);

  // -- the application
  void write(std::uint64_t bytes) noexcept {
    assert(!closing_);
    written_ += bytes;
  }
  void finish() noexcept { closing_ = true; }
  void watch(std::uint64_t offset) noexcept {
    watched_ = offset;
    watched_sent_at_.reset();
  }

  // -- the handshake
  struct Peer {
    std::uint32_t mss_bytes = 0;     ///< payload that it takes, 0: not told
    std::uint32_t window_bytes = 0;  ///< as in its SYN
    std::uint8_t window_scale = 0;
    bool ecn = false;  ///< negotiated
  };
  void start(const Peer& peer) noexcept;
  void on_handshake_rtt(Duration rtt) noexcept { rto_.on_sample(rtt); }
  /// RFC 6298, 5.7: 3 s where the initial RTO is 1 s, in proportion otherwise.
  void on_handshake_loss() noexcept { rto_.restart_at(3 * config_.initial_rto); }

  // -- sending
  [[nodiscard]] bool can_send() const noexcept;
  /// @pre can_send(). Writes sequence number, length, flags and ECN; it leaves now.
  void fill(TcpSegment& s, Time now) noexcept;
  /// @return false if the acknowledgment is impossible: nothing changed then
  bool on_ack(const TcpSegment& s, Time now) noexcept;
  /// @return false if the peer has been silent for kMaxTimeouts time-outs
  [[nodiscard]] bool on_timer(Time now) noexcept;
  [[nodiscard]] Time rto_deadline() const noexcept { return rto_deadline_; }

  // -- what is known
  [[nodiscard]] std::uint32_t next_sequence() const noexcept { return space_.wire(nxt_); }
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_; }
  [[nodiscard]] std::uint64_t acked_bytes() const noexcept {
    return una_ < written_ ? una_ : written_;
  }
  [[nodiscard]] bool closing() const noexcept { return closing_; }
  [[nodiscard]] bool fin_acked() const noexcept { return una_ > written_; }
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept { return cwnd_; }
  [[nodiscard]] std::uint32_t in_flight_bytes() const noexcept { return scoreboard_.pipe_bytes(); }
  [[nodiscard]] Duration srtt() const noexcept { return rto_.srtt(); }
  [[nodiscard]] std::optional<Time> watched_sent_at() const noexcept { return watched_sent_at_; }
  [[nodiscard]] const CongestionControl& control() const noexcept { return *control_; }

  static constexpr std::uint32_t kMaxTimeouts = 15;  ///< R2 of RFC 9293, 3.8.3

 private:
  enum class Phase : std::uint8_t {
    kOpen,
    kRecovery,     ///< until recovery_point_; the window does not grow
    kAfterTimeout  ///< until recovery_point_; slow start
  };

  [[nodiscard]] std::uint32_t new_payload() const noexcept;
  [[nodiscard]] bool can_send_new() const noexcept;
  void fill_resent(TcpSegment& s, Time now) noexcept;
  void fill_new(TcpSegment& s, Time now) noexcept;
  void take_sack(const TcpSegment& s, std::uint32_t& acked_bytes) noexcept;
  void on_advance(std::uint64_t una, const Scoreboard::Acknowledged& acked, Time now) noexcept;
  void note_reduction() noexcept;
  void enter_recovery(std::uint32_t flight, Time now) noexcept;
  void obey_ece(std::uint32_t flight, Time now) noexcept;
  void note_window_use() noexcept;
  /// FlightSize of RFC 5681 without what limited transmit added [bytes].
  [[nodiscard]] std::uint32_t flight_bytes() const noexcept;

  const TcpConfig& config_;
  TcpCounters& counters_;
  ControllerSlot control_;
  SequenceSpace space_;
  std::uint64_t una_ = 0;  ///< oldest offset without cumulative ACK
  std::uint64_t nxt_ = 0;  ///< next offset that was never sent; written_ + 1 after the FIN
  std::uint64_t written_ = 0;
  std::uint64_t peer_edge_ = 0;  ///< first offset beyond the peer's window
  std::uint32_t cwnd_;           ///< what control_ says, kept here
  std::uint32_t mss_;            ///< of this connection, <= the controller's
  std::uint8_t peer_window_scale_ = 0;
  Phase phase_ = Phase::kOpen;
  bool closing_ = false;
  bool ecn_ = false;
  bool resend_first_ = false;   ///< one lost segment leaves whatever the pipe (RFC 6675, 5 (4.3))
  bool cwr_pending_ = false;    ///< the next new data segment carries CWR
  std::uint32_t timeouts_ = 0;  ///< since una_ moved
  Time rto_deadline_ = kNever;
  Time last_sent_{};  ///< data
  std::uint64_t recovery_point_ = 0;
  std::uint64_t reduced_until_ = 0;      ///< data below it left before the last reduction
  std::uint64_t window_full_until_ = 0;  ///< data below it left when the window was full
  std::optional<std::uint64_t> watched_;
  std::optional<Time> watched_sent_at_;
  RtoEstimator rto_;
  Scoreboard scoreboard_;
};

}  // namespace outrider
