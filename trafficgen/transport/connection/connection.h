#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/connection/time_wait.h"
#include "trafficgen/transport/receiver/receiver.h"
#include "trafficgen/transport/sender/sender.h"
#include "trafficgen/transport/tcp_context.h"

namespace outrider::tg {

class TcpConnection;

/// What a connection tells the application above it.
class ConnectionListener {
 public:
  virtual void on_established(TcpConnection& c, Time now) noexcept = 0;
  /// More of the peer's stream is there in order; `c.delivered_bytes()` is the total.
  virtual void on_delivered(TcpConnection& c, Time now) noexcept = 0;
  /// The peer has acknowledged `bytes` more of this end's stream, in order. Only after
  /// tell_acknowledged().
  virtual void on_acknowledged(TcpConnection& /*c*/, std::uint64_t /*bytes*/,
                               Time /*now*/) noexcept {}
  /// Both directions are closed, or the connection was reset.
  virtual void on_closed(TcpConnection& c, Time now) noexcept = 0;

 protected:
  ~ConnectionListener() = default;
};

/// One end of a TCP connection over a byte stream that is only counted:
/// RFC 9293 state machine in the parts that two emulated hosts need, with the checks of
/// RFC 5961 (connection_refuse.cc), SACK recovery (RFC 6675 or RFC 8985) or NewReno's
/// (RFC 6582), RTO (RFC 6298), delayed ACK, idle restart (RFC 5681),
/// ECN (RFC 3168) and DCTCP's echo (RFC 8257).
///
/// It decides; the host acts: the host asks has_segment()/next_segment() when
/// its NIC is free, hands in what arrives, and calls on_timer() when
/// next_timer() is reached. `now` never decreases. Not thread-safe. Nothing
/// allocates after construction; an idle connection borrows nothing from the
/// TransportMemory, which must be large enough for those that are not.
///
/// A server-role connection is made when a SYN arrives and is then handed that
/// SYN. TIME-WAIT is the host's: time_wait() says what it has to keep. Deviations from
/// RFC 9293: no simultaneous open. It never sends RST itself; the host does where
/// answers_another_syn(). After kMaxTimeouts time-outs in a row it gives up: closed, with
/// acked_bytes() < written_bytes().
///
/// closed() may come with an ACK of the peer's FIN still due: the host asks
/// has_segment() before it destroys the connection. While it lives, a closed
/// connection goes on acknowledging a FIN that is sent again.
class TcpConnection {
 public:
  enum class Role : std::uint8_t { kClient, kServer };
  struct Setup {
    FlowKey flow;  ///< as this end sends: source is us
    Role role = Role::kClient;
    std::uint32_t initial_sequence = 0;
    std::uint8_t option_bytes = 0;  ///< room kept in every segment, e.g. kBurstOptionBytes
  };

  /// @param config,memory,listener must outlive the connection
  TcpConnection(const TcpConfig& config, const Setup& setup, TransportMemory& memory,
                ConnectionListener& listener);
  ~TcpConnection();
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  // -- the application's side
  void open(Time now) noexcept;                       ///< client: the SYN may leave
  void send(std::uint64_t bytes, Time now) noexcept;  ///< appends to the stream
  void close(Time now) noexcept;                      ///< FIN after the last byte
  /// Marks every data segment sent from now on.
  void set_identity(std::optional<BurstIdentity> identity) noexcept;
  /// From now on the listener hears of acknowledgments.
  void tell_acknowledged() noexcept { tells_acknowledged_ = true; }
  /// Remembers when the byte at stream offset `offset` (0-based) first leaves.
  void watch_offset(std::uint64_t offset) noexcept;
  [[nodiscard]] std::optional<Time> watched_sent_at() const noexcept;

  // -- the host's side
  /// Call it before next_timer(): a sender that lacks memory sets a deadline.
  [[nodiscard]] bool has_segment(Time now) noexcept {
    if (state_ == State::kEstablished) [[likely]]
      return receiver_.ack_due() || sender_.can_send(now) || sender_.probe_due();
    return state_ == State::kClosed ? receiver_.ack_due() : syn_due_;
  }
  /// The same of data alone.
  [[nodiscard]] bool can_send_data(Time now) noexcept {
    return state_ == State::kEstablished && sender_.can_send(now);
  }
  /// @pre has_segment(now). Takes note that it leaves now.
  [[nodiscard]] TcpSegment next_segment(Time now) noexcept;
  void on_segment(const TcpSegment& segment, Time now) noexcept;
  [[nodiscard]] Time next_timer() const noexcept {
    if (state_ == State::kEstablished) [[likely]] {
      return std::min(
          {sender_.timer().deadline(), receiver_.ack_deadline(), sender_.pace_release()});
    }
    return sender_.timer().deadline();
  }
  void on_timer(Time now) noexcept;

  /// Start to fetch the connection; once that is there, what it has in flight.
  void prefetch() const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(this);
    for (std::size_t i = 0; i <= sizeof(TcpConnection); i += 64) __builtin_prefetch(bytes + i, 1);
  }
  void prefetch_flight() const noexcept {
    sender_.prefetch_flight();
    __builtin_prefetch(&listener_, 1);
  }

  // -- what is known
  [[nodiscard]] const FlowKey& flow() const noexcept { return flow_; }
  /// The handshake is complete and nothing has closed the connection yet.
  [[nodiscard]] bool established() const noexcept { return state_ == State::kEstablished; }
  [[nodiscard]] bool closed() const noexcept {
    return state_ == State::kClosed || state_ == State::kReset;
  }
  /// Closed by RST or by giving up, not by FINs.
  [[nodiscard]] bool reset() const noexcept { return state_ == State::kReset; }
  [[nodiscard]] std::uint64_t written_bytes() const noexcept {  ///< by the application
    return sender_.stream().written_bytes();
  }
  [[nodiscard]] std::uint64_t acked_bytes() const noexcept {  ///< cumulative
    return sender_.stream().acked_bytes();
  }
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept {  ///< received in order
    return receiver_.delivered_bytes();
  }
  /// Stream offset, modulo 2^32, of the first payload byte of a segment of ours.
  [[nodiscard]] std::uint32_t sent_offset(const TcpSegment& s) const noexcept {
    return s.sequence - sender_.stream().first_sequence();
  }
  /// The same of one that arrived; nothing if it is not of the peer's stream.
  [[nodiscard]] std::optional<std::uint32_t> received_offset(const TcpSegment& s) const noexcept {
    const bool heard = state_ == State::kSynReceived || state_ == State::kEstablished;
    if (!heard || !receiver_.acceptable(s)) return std::nullopt;
    return s.sequence - receiver_.first_sequence();
  }
  /// Has the peer closed its direction, and has all of it been delivered?
  [[nodiscard]] bool peer_finished() const noexcept { return receiver_.fin_received(); }
  /// A connection that is over and was closed by this end first: what is to be kept of it
  /// for config.time_wait.
  [[nodiscard]] std::optional<TimeWait> time_wait() const noexcept;
  [[nodiscard]] Duration time_wait_duration() const noexcept { return config().time_wait; }
  /// RFC 9293, 3.10.7.3: an answer to a SYN that was not ours, to be reset by the host.
  [[nodiscard]] bool answers_another_syn(const TcpSegment& s) const noexcept {
    return state_ == State::kSynSent && s.has(kTcpAck) && !s.has(kTcpRst) &&
           s.acknowledgment != sender_.stream().initial_sequence() + 1;
  }
  /// Sequence number that the next new data byte will have (32-bit, on the wire).
  [[nodiscard]] std::uint32_t next_sequence() const noexcept {
    return sender_.stream().next_sequence();
  }
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept { return sender_.window().bytes(); }
  /// Sent and neither acknowledged, SACKed nor lost (the pipe of RFC 6675).
  [[nodiscard]] std::uint32_t in_flight_bytes() const noexcept { return sender_.in_flight_bytes(); }
  [[nodiscard]] Duration srtt() const noexcept { return sender_.timer().srtt(); }
  [[nodiscard]] const TcpCounters& counters() const noexcept { return context().counters; }
  [[nodiscard]] const CongestionControl& control() const noexcept {
    return sender_.window().control();
  }

 private:
  enum class State : std::uint8_t {
    kIdle,  ///< client before open(), server before its SYN
    kSynSent,
    kSynReceived,
    kEstablished,  ///< until both FINs are acknowledged
    kClosed,
    kReset,
  };

  // The handshake: connection_handshake.cc
  void handshake_segment(TcpSegment& s, Time now) noexcept;
  void on_handshake_segment(const TcpSegment& s, Time now) noexcept;
  void on_syn(const TcpSegment& s) noexcept;
  void on_syn_ack(const TcpSegment& s, Time now) noexcept;
  void on_handshake_ack(const TcpSegment& s, Time now) noexcept;
  void on_handshake_timer(Time now) noexcept;
  void learn_peer(const TcpSegment& s, bool ecn) noexcept;
  void become_established(Time now) noexcept;

  void on_established_segment(const TcpSegment& s, Time now) noexcept;
  void finish(State state, Time now) noexcept;
  void count_unexpected() noexcept { ++context().memory.events.out_of_state; }

  // What is not obeyed: connection_refuse.cc
  void on_reset(const TcpSegment& s, Time now) noexcept;
  void on_syn_in_connection(const TcpSegment& s, Time now) noexcept;
  void refuse(const TcpSegment& s, Time now) noexcept;
  void challenge(Time now) noexcept;

  /// RFC 6298, 5.5: doubled by each time-out.
  [[nodiscard]] Duration handshake_rto() const noexcept;
  [[nodiscard]] TcpContext& context() noexcept { return sender_.context(); }
  [[nodiscard]] const TcpContext& context() const noexcept { return sender_.context(); }
  [[nodiscard]] const TcpConfig& config() const noexcept { return context().config; }

  // The order is that of use: what every segment touches comes first.
  [[no_unique_address]] TcpSender sender_;  ///< lends its last bytes to those that follow
  State state_ = State::kIdle;
  bool syn_due_ : 1 = false;
  bool ecn_ : 1 = false;          ///< negotiated
  bool peer_scales_ : 1 = false;  ///< its SYN had the window scale option
  bool peer_sack_ : 1 = false;    ///< its SYN permitted SACK
  bool has_identity_ : 1 = false;
  bool tells_acknowledged_ : 1 = false;
  bool closes_first_ : 1 = false;  ///< our FIN left before the peer's came
  Role role_ : 1;
  std::uint8_t option_bytes_;
  std::uint8_t syn_timeouts_ = 0;
  TcpReceiver receiver_;
  ConnectionListener& listener_;
  BurstIdentity identity_;
  FlowKey flow_;
};

/// A million of them may be open at once (docs/performance.md, Memory).
static_assert(sizeof(TcpConnection) <= 384);

}  // namespace outrider::tg
