#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/connection/application.h"
#include "trafficgen/transport/connection/handshake.h"
#include "trafficgen/transport/connection/time_wait.h"
#include "trafficgen/transport/memory/tcp_context.h"
#include "trafficgen/transport/receiver/receiver.h"
#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {

enum class ConnectionState : std::uint8_t {
  kOpening,      ///< until the handshake is complete
  kEstablished,  ///< until both FINs are acknowledged
  kClosed,       ///< ended by FINs
  kReset,        ///< ended by RST, by abort() or by giving up
};
[[nodiscard]] constexpr bool is_over(ConnectionState s) noexcept {
  return s == ConnectionState::kClosed || s == ConnectionState::kReset;
}

/// One end of a TCP connection over a byte stream whose bytes are only counted. It implements the
/// parts of the RFC 9293 state machine that two emulated hosts need, with the checks of RFC 5961
/// (refusal.h), recovery by SACK (RFC 6675 or RFC 8985) or NewReno (RFC 6582), RTO (RFC 6298),
/// delayed ACK, idle restart (RFC 5681), ECN (RFC 3168) and DCTCP's echo (RFC 8257).
///
/// The connection decides and the host acts: the host asks has_segment()/take_segment() when its
/// NIC is free, hands in the segments that arrive, and calls on_timer() when next_timer() is
/// reached. `now` never decreases. Not thread-safe. Nothing allocates after construction. Only
/// active connections borrow from the TransportMemory, which must be large enough for them.
///
/// It joins four parts, which callers ask directly:
///   ConnectionApplication  which listener hears of events, and which burst the data belongs to
///   Handshake              opens the connection
///   TcpSender              this end's stream, the window, the flight and the round trip
///   TcpReceiver            the peer's stream, and its acknowledgments
///
/// A server-role connection is made when a SYN arrives and is then handed that SYN. The host keeps
/// TIME-WAIT: time_wait() returns the state for it. Deviation from RFC 9293: no simultaneous open.
/// The connection never sends RST itself; the host does if Handshake::answers_another_syn(). After
/// kMaxTimeouts time-outs in a row the connection gives up: it is reset, with less acknowledged
/// than written.
///
/// A connection may be over while an ACK of the peer's FIN is still due, so the host asks
/// has_segment() before it destroys the connection. Until then a closed connection acknowledges a
/// FIN that is sent again.
class TcpConnection {
 public:
  using Role = Handshake::Role;
  struct Setup {
    FlowKey flow;  ///< in this end's direction: source is this end
    Role role = Role::kClient;
    std::uint32_t initial_sequence = 0;
    std::uint8_t option_bytes = 0;  ///< room kept in every segment, e.g. kBurstOptionBytes
  };

  /// @param config,memory,listener must outlive the connection
  TcpConnection(const TcpConfig& config, const Setup& setup, TransportMemory& memory,
                ConnectionListener& listener);
  ~TcpConnection() = default;
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  // -- the application's side
  void open(Time now) noexcept;  ///< client: the SYN may leave
  [[nodiscard]] ConnectionApplication& application() noexcept { return application_; }
  /// Returns the stream that this end sends, to which the application writes and which it
  /// finishes: what is written and acknowledged, its numbers, and when a byte of it left.
  [[nodiscard]] SendStream& stream() noexcept { return sender_.state().stream; }
  [[nodiscard]] const SendStream& stream() const noexcept { return sender_.state().stream; }
  /// States which share of the application's burst is acknowledged, see
  /// CongestionControl::note_share().
  void note_share(double share) noexcept { sender_.state().window.note_share(share); }

  // -- the host's side
  /// Call it before next_timer(): a sender that lacks memory sets a deadline.
  [[nodiscard]] bool has_segment(Time now) noexcept {
    if (state_ == State::kEstablished) [[likely]]
      return receiver_.ack_due() || sender_.can_send(now) || sender_.probe_due();
    return state_ == State::kClosed ? receiver_.ack_due() : handshake_.segment_due();
  }
  /// Like has_segment(), for data only.
  [[nodiscard]] bool can_send_data(Time now) noexcept {
    return state_ == State::kEstablished && sender_.can_send(now);
  }
  /// Writes the next segment, which leaves now. It asks what has_segment() asks, so that the host
  /// need not ask both. @param s newly initialised
  /// @return false if there is none: then nothing is written
  [[nodiscard]] bool take_segment(TcpSegment& s, Time now) noexcept;
  void on_segment(const TcpSegment& segment, Time now) noexcept;
  [[nodiscard]] Time next_timer() const noexcept {
    if (state_ == State::kEstablished) [[likely]] {
      return std::min(
          {sender_.state().timer.deadline(), receiver_.ack_deadline(), sender_.pace_release()});
    }
    return sender_.state().timer.deadline();
  }
  void on_timer(Time now) noexcept;
  /// Ends the connection at once, as after a RST (RFC 9293, 3.10.5). The peer is not told: see
  /// Host::abort().
  void abort(Time now) noexcept {
    if (!is_over(state_)) finish(State::kReset, now);
  }

  // -- state
  [[nodiscard]] const FlowKey& flow() const noexcept { return flow_; }
  [[nodiscard]] ConnectionState state() const noexcept { return state_; }
  /// Returns the state to be kept for config.time_wait, if the connection has ended and this end
  /// closed it first.
  [[nodiscard]] std::optional<TimeWait> time_wait() const noexcept;
  /// Returns the handshake, which knows what the peer has answered to our SYN.
  [[nodiscard]] const Handshake& handshake() const noexcept { return handshake_; }
  /// Returns the sender, which knows the window, the flight and the round trip.
  [[nodiscard]] const TcpSender& sender() const noexcept { return sender_; }
  /// Returns the receiver, which knows what has been delivered.
  [[nodiscard]] const TcpReceiver& receiver() const noexcept { return receiver_; }
  [[nodiscard]] const TcpCounters& counters() const noexcept {
    return sender_.state().context.counters;
  }

 private:
  using State = ConnectionState;

  [[nodiscard]] bool take_rare(TcpSegment& s, Time now) noexcept;
  void on_handshake_segment(const TcpSegment& s, Time now) noexcept;
  void on_established_segment(const TcpSegment& s, Time now) noexcept;
  void refuse(const TcpSegment& s, Time now) noexcept;
  void finish(State state, Time now) noexcept;

  // Members are in the order of use: those that every segment touches come first.
  [[no_unique_address]] TcpSender sender_;  ///< its tail padding holds the next members
  State state_ : 2 = State::kOpening;
  bool closes_first_ : 1 = false;  ///< our FIN left before the peer's arrived
  Handshake handshake_;
  TcpReceiver receiver_;
  [[no_unique_address]] ConnectionApplication application_;  ///< its tail padding holds the next
  FlowKey flow_;
};

/// A million connections may be open at once (docs/performance.md, Memory).
static_assert(sizeof(TcpConnection) <= 424);

/// Returns the segment, which leaves now. @pre c.has_segment(now)
[[nodiscard]] inline TcpSegment next_segment(TcpConnection& c, Time now) noexcept {
  TcpSegment s;
  [[maybe_unused]] const bool taken = c.take_segment(s, now);
  assert(taken);
  return s;
}

/// Returns the stream offset, modulo 2^32, of the first payload byte of a segment that arrived;
/// nothing if it is not of the peer's stream.
[[nodiscard]] inline std::optional<std::uint32_t> received_offset(const TcpConnection& c,
                                                                  const TcpSegment& s) noexcept {
  const ReceiveWindow& window = c.receiver().window();
  const bool heard = c.state() == ConnectionState::kEstablished || c.handshake().has_syn();
  if (!heard || !window.acceptable(s)) return std::nullopt;
  return s.sequence - window.numbers().first();
}

/// Starts to fetch a connection. Once that is there, prefetch_flight() fetches what it refers to.
inline void prefetch(const TcpConnection& c) noexcept {
  const auto* bytes = reinterpret_cast<const std::byte*>(&c);
  for (std::size_t i = 0; i <= sizeof(TcpConnection); i += 64) __builtin_prefetch(bytes + i, 1);
}

/// Starts to fetch the flight and the listener. @pre the connection has been fetched
inline void prefetch_flight(TcpConnection& c) noexcept {
  prefetch(c.sender().state().scoreboard.flight());
  __builtin_prefetch(&c.application().listener(), 1);
}

}  // namespace outrider::tg
