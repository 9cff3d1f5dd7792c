#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/core/clock.h"
#include "trafficgen/channel/channel_hosts.h"
#include "trafficgen/channel/ideal_times.h"
#include "trafficgen/measure/flow_totals.h"
#include "trafficgen/measure/roce_counters.h"

namespace outrider::tg {

/// The ends of a channel: the host that opens it, and the other.
enum class ChannelSide : std::uint8_t { kNear, kFar };

[[nodiscard]] constexpr ChannelSide peer_of(ChannelSide side) noexcept {
  return side == ChannelSide::kNear ? ChannelSide::kFar : ChannelSide::kNear;
}

/// A reliable connection between two hosts of this process, over any transport that delivers every
/// byte in order: a connection of TCP, or a queue pair of RoCEv2 at each host. Bytes are only
/// counted. Both sides may send.
///
/// open() once, then send(). After User::on_ended() nothing of what was handed over is delivered
/// any more, and open() begins anew: over TCP with another connection, over RoCEv2 with the same
/// queue pairs, whose rate goes on. Over TCP a far side that gives up alone is noticed when the
/// near side sends.
///
/// Flows that come and go are lent a channel each (Channels::lend()): open(), then send_last()
/// once. User::on_ended() says that all has arrived or that the channel gave up, User::on_free()
/// that nothing is left of it.
///
/// Borrows the hosts. Not thread-safe: their lcore owns it. After construction only open() may
/// allocate, as opening a connection of TCP does.
class Channel {
 public:
  /// Receives the events of channels. Calls come from within the hosts' events, or from open(), and
  /// may call the channel.
  class User {
   public:
    /// Bytes may leave: over TCP the handshake is complete, over RoCEv2 there is none.
    virtual void on_open(Channel& /*channel*/, Time /*now*/) noexcept {}
    /// `fresh_bytes` more of what the other side handed over have arrived there, in order.
    virtual void on_delivered(Channel& channel, ChannelSide at, std::uint64_t fresh_bytes,
                              Time now) noexcept = 0;
    /// All that a side has handed over has been acknowledged. Only after tell_idle().
    virtual void on_idle(Channel& /*channel*/, ChannelSide /*from*/, Time /*now*/) noexcept {}
    /// The channel is of no more use until open(): what send_last() handed over has arrived, or it
    /// was refused or reset, or gave up.
    virtual void on_ended(Channel& channel, Time now) noexcept = 0;
    /// After send_last() and on_ended(): both sides are over, and open() may be called again.
    virtual void on_free(Channel& /*channel*/, Time /*now*/) noexcept {}

   protected:
    ~User() = default;
  };

  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  /// @return false if the near host has no port left; then nothing has happened
  /// @pre it is new or has ended, and is free after send_last()
  [[nodiscard]] virtual bool open(Time now) noexcept = 0;
  /// Hands over bytes > 0, which may leave once the channel is open. @pre open() was called
  virtual void send(ChannelSide from, std::uint64_t bytes, Time now) noexcept = 0;
  /// Hands over the near side's last bytes > 0. The channel ends when they have arrived: over TCP
  /// the connection closes in both directions, over RoCEv2 the queue pairs wait for the next
  /// open(). @pre open() was called, and the far side sends nothing
  virtual void send_last(std::uint64_t bytes, Time now) noexcept = 0;

  /// Makes the channel call User::on_idle() from now on.
  virtual void tell_idle() noexcept = 0;
  /// Returns when the first byte left of what that side handed over last.
  [[nodiscard]] virtual std::optional<Time> first_sent_at(ChannelSide from) const noexcept = 0;

  /// Makes counts() include what was before the last open(). Call it before the first one.
  virtual void keep_counts() = 0;
  /// Returns the totals of what one side sends, since the last open() or, after keep_counts(),
  /// since construction. They are complete within the on_ended() that follows send_last().
  [[nodiscard]] virtual FlowCounts counts(ChannelSide from) const noexcept = 0;
  /// Starts to fetch what the next call will need.
  virtual void prefetch() const noexcept {}
};

/// Makes the channels between hosts, and owns them.
class Channels {
 public:
  Channels() = default;
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;
  virtual ~Channels() = default;

  /// Makes a channel between the first two hosts, for one user.
  /// @param user must outlive the channel. @return valid as long as this
  virtual Channel& make(Channel::User& user) = 0;
  /// Accepts what the near hosts open. Call it once, before the first channel is opened.
  virtual void listen() {}

  // -- for flows that come and go
  /// Makes the channels that are lent first: queue pairs between each two hosts, or else so many.
  /// Call it once, before listen().
  virtual void stock(std::uint32_t channels) = 0;
  /// Lends a channel; makes one, which allocates, if none is free.
  /// @param user must outlive the loan. @return nullptr if no more may be made
  [[nodiscard]] virtual Channel* lend(Channel::User& user, HostPair pair) = 0;
  /// Takes back a channel that was lent: after User::on_free(), or if it was not opened. Nothing
  /// allocates.
  virtual void give_back(Channel& channel) noexcept = 0;
  /// Makes what the times of flows over these channels are compared with.
  [[nodiscard]] virtual std::unique_ptr<IdealTimes> ideal_times() const = 0;

  /// Returns the counts of all queue pairs, of both sides; zeros if there are none.
  [[nodiscard]] virtual RoceCounters roce() const noexcept { return {}; }
};

}  // namespace outrider::tg
