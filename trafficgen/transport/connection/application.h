#pragma once

#include <cstdint>
#include <optional>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/net/tcp_segment.h"

namespace outrider::tg {

class TcpConnection;

/// Receives the events of a connection, for the application above it.
class ConnectionListener {
 public:
  virtual void on_established(TcpConnection& c, Time now) noexcept = 0;
  /// More of the peer's stream has arrived in order; `c.receiver().delivered_bytes()` is the total.
  virtual void on_delivered(TcpConnection& c, Time now) noexcept = 0;
  /// The peer has acknowledged `bytes` more of this end's stream, in order. Called only after
  /// ConnectionApplication::tell_acknowledged().
  virtual void on_acknowledged(TcpConnection& /*c*/, std::uint64_t /*bytes*/,
                               Time /*now*/) noexcept {}
  /// Both directions are closed, or the connection was reset.
  virtual void on_closed(TcpConnection& c, Time now) noexcept = 0;

 protected:
  ~ConnectionListener() = default;
};

/// What a connection knows of the application above it: the listener, whether the listener wants
/// to hear of acknowledgments, and the burst that the data belongs to. Not thread-safe.
class ConnectionApplication {
 public:
  /// @param listener must outlive the connection
  explicit ConnectionApplication(ConnectionListener& listener) noexcept : listener_(&listener) {}

  // -- the application's side
  /// Makes another listener the one that hears of all that follows; it must outlive the connection.
  void hand_over(ConnectionListener& listener) noexcept { listener_ = &listener; }
  /// Makes the connection report acknowledgments to the listener from now on.
  void tell_acknowledged() noexcept { tells_acknowledged_ = true; }
  /// Marks every data segment that is sent from now on with the burst's identity.
  void set_identity(std::optional<BurstIdentity> identity) noexcept {
    has_identity_ = identity.has_value();
    if (identity) identity_ = *identity;
  }

  // -- the connection's side
  [[nodiscard]] ConnectionListener& listener() const noexcept { return *listener_; }
  [[nodiscard]] bool tells_acknowledged() const noexcept { return tells_acknowledged_; }
  /// Writes the identity into a segment that leaves now, if it has data.
  void identify(TcpSegment& s) const noexcept {
    if (!has_identity_ || s.payload_bytes == 0) return;
    s.has_identity = true;
    s.identity = identity_;
  }

 private:
  ConnectionListener* listener_;
  [[no_unique_address]] BurstIdentity identity_;  ///< its tail padding holds the next members
  bool has_identity_ : 1 = false;
  bool tells_acknowledged_ : 1 = false;
};

}  // namespace outrider::tg
