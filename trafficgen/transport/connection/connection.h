#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/connection/handshake.h"
#include "trafficgen/transport/connection/time_wait.h"
#include "trafficgen/transport/memory/tcp_context.h"
#include "trafficgen/transport/receiver/receiver.h"
#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {

class TcpConnection;

/// Receives the events of a connection, for the application above it.
class ConnectionListener {
 public:
  virtual void on_established(TcpConnection& c, Time now) noexcept = 0;
  /// More of the peer's stream has arrived in order; `c.delivered_bytes()` is the total.
  virtual void on_delivered(TcpConnection& c, Time now) noexcept = 0;
  /// The peer has acknowledged `bytes` more of this end's stream, in order. Called only after
  /// tell_acknowledged().
  virtual void on_acknowledged(TcpConnection& /*c*/, std::uint64_t /*bytes*/,
                               Time /*now*/) noexcept {}
  /// Both directions are closed, or the connection was reset.
  virtual void on_closed(TcpConnection& c, Time now) noexcept = 0;

 protected:
  ~ConnectionListener() = default;
};

/// One end of a TCP connection over a byte stream whose bytes are only counted. It implements the
/// parts of the RFC 9293 state machine that two emulated hosts need, with the checks of RFC 5961
/// (refusal.h), recovery by SACK (RFC 6675 or RFC 8985) or NewReno (RFC 6582), RTO (RFC 6298),
/// delayed ACK, idle restart (RFC 5681), ECN (RFC 3168) and DCTCP's echo (RFC 8257).
///
/// The connection decides and the host acts: the host asks has_segment()/next_segment() when its
/// NIC is free, hands in the segments that arrive, and calls on_timer() when next_timer() is
/// reached. `now` never decreases. Not thread-safe. Nothing allocates after construction. Only
/// active connections borrow from the TransportMemory, which must be large enough for them.
///
/// A server-role connection is made when a SYN arrives and is then handed that SYN. The host keeps
/// TIME-WAIT: time_wait() returns the state for it. Deviation from RFC 9293: no simultaneous open.
/// The connection never sends RST itself; the host does if answers_another_syn(). After
/// kMaxTimeouts time-outs in a row the connection gives up: it is closed, with less acknowledged
/// than written.
///
/// closed() may become true while an ACK of the peer's FIN is still due, so the host asks
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
  void open(Time now) noexcept;                       ///< client: the SYN may leave
  void send(std::uint64_t bytes, Time now) noexcept;  ///< appends to the stream
  void close(Time now) noexcept;                      ///< FIN after the last byte
  /// Marks every data segment that is sent from now on with the burst's identity.
  void set_identity(std::optional<BurstIdentity> identity) noexcept;
  /// Makes another listener the one that hears of all that follows; it must outlive the connection.
  void hand_over(ConnectionListener& listener) noexcept { listener_ = &listener; }
  /// Makes the connection report acknowledgments to the listener from now on.
  void tell_acknowledged() noexcept { tells_acknowledged_ = true; }
  /// Returns the stream that this end sends: what is written and acknowledged, its numbers, and
  /// when a byte of it left.
  [[nodiscard]] SendStream& stream() noexcept { return sender_.state().stream; }
  [[nodiscard]] const SendStream& stream() const noexcept { return sender_.state().stream; }

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
  /// Writes the next segment, which leaves now, and so asks only once what has_segment() and
  /// next_segment() ask twice. @param s newly initialised
  /// @return false if there is none: then nothing is written
  [[nodiscard]] bool take_segment(TcpSegment& s, Time now) noexcept;
  /// Returns the segment, which leaves now. @pre has_segment(now)
  [[nodiscard]] TcpSegment next_segment(Time now) noexcept {
    TcpSegment s;
    [[maybe_unused]] const bool taken = take_segment(s, now);
    assert(taken);
    return s;
  }
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
    if (!closed()) finish(State::kReset, now);
  }

  /// Starts to fetch the connection or, if that has been fetched already, its flight.
  void prefetch() const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(this);
    for (std::size_t i = 0; i <= sizeof(TcpConnection); i += 64) __builtin_prefetch(bytes + i, 1);
  }
  void prefetch_flight() const noexcept {
    tg::prefetch(sender_.state().scoreboard.flight());
    __builtin_prefetch(listener_, 1);
  }

  // -- state
  [[nodiscard]] const FlowKey& flow() const noexcept { return flow_; }
  /// Returns true once the handshake is complete, until something closes the connection.
  [[nodiscard]] bool established() const noexcept { return state_ == State::kEstablished; }
  [[nodiscard]] bool closed() const noexcept {
    return state_ == State::kClosed || state_ == State::kReset;
  }
  /// Returns true if the connection ended by RST or by giving up, not by FINs.
  [[nodiscard]] bool reset() const noexcept { return state_ == State::kReset; }
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept {  ///< received in order
    return receiver_.delivered_bytes();
  }
  /// Returns the stream offset, modulo 2^32, of the first payload byte of a segment that arrived;
  /// nothing if it is not of the peer's stream.
  [[nodiscard]] std::optional<std::uint32_t> received_offset(const TcpSegment& s) const noexcept {
    const bool heard = established() || (state_ == State::kOpening && handshake_.has_syn());
    if (!heard || !receiver_.window().acceptable(s)) return std::nullopt;
    return s.sequence - receiver_.window().numbers().first();
  }
  /// Returns true if the peer has closed its direction and all of its stream has been delivered.
  [[nodiscard]] bool peer_finished() const noexcept { return receiver_.fin_received(); }
  /// Returns the state to be kept for config.time_wait, if the connection has ended and this end
  /// closed it first.
  [[nodiscard]] std::optional<TimeWait> time_wait() const noexcept;
  /// Returns true for an answer to a SYN that was not ours (RFC 9293, 3.10.7.3). The host resets
  /// it.
  [[nodiscard]] bool answers_another_syn(const TcpSegment& s) const noexcept {
    return state_ == State::kOpening && handshake_.answers_another_syn(s, sender_.state().stream);
  }
  /// Returns the sender, which knows the window, the flight and the round trip.
  [[nodiscard]] const TcpSender& sender() const noexcept { return sender_; }
  [[nodiscard]] const TcpCounters& counters() const noexcept {
    return sender_.state().context.counters;
  }

 private:
  enum class State : std::uint8_t {
    kOpening,      ///< in the handshake
    kEstablished,  ///< until both FINs are acknowledged
    kClosed,
    kReset,
  };

  [[nodiscard]] bool take_rare(TcpSegment& s, Time now) noexcept;
  void on_handshake_segment(const TcpSegment& s, Time now) noexcept;
  void on_established_segment(const TcpSegment& s, Time now) noexcept;
  void refuse(const TcpSegment& s, Time now) noexcept;
  void finish(State state, Time now) noexcept;

  // Members are in the order of use: those that every segment touches come first.
  [[no_unique_address]] TcpSender sender_;  ///< its tail padding holds the next members
  State state_ : 2 = State::kOpening;
  bool has_identity_ : 1 = false;
  bool tells_acknowledged_ : 1 = false;
  bool closes_first_ : 1 = false;  ///< our FIN left before the peer's arrived
  Handshake handshake_;
  TcpReceiver receiver_;
  ConnectionListener* listener_;
  BurstIdentity identity_;
  FlowKey flow_;
};

/// A million connections may be open at once (docs/performance.md, Memory).
static_assert(sizeof(TcpConnection) <= 424);

}  // namespace outrider::tg
