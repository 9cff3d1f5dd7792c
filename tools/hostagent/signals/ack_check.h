#pragma once

#include <cstdint>
#include <optional>

#include "common/core/flow_key.h"
#include "common/core/replay_window.h"
#include "common/core/signal_key.h"
#include "common/net/signal_tag.h"
#include "common/net/udp_signal.h"

namespace outrider::agent {

/// Decides which ACKs of the UDP form an agent believes. If its STARTs are signed, an ACK must have
/// the tag of a START that was sent since the agent began, and only one ACK is believed for each.
/// If they are unsigned, so must be the ACK. Not thread-safe.
class AckCheck {
 public:
  /// @param key       of the agent's STARTs; absent: they are unsigned
  /// @param clock_ns  the agent's clock; counters of its STARTs will be greater
  AckCheck(const std::optional<SignalKey>& key, std::uint64_t clock_ns) noexcept
      : key_(key), answered_(clock_ns) {}

  /// @param datagram  addresses and UDP ports of the ACK
  bool believes(const udp_signal::Signal& ack, const FlowKey& datagram) noexcept {
    if (!key_ || !ack.proof) return !key_ && !ack.proof;
    return udp_signal::is_signed_by(ack, *key_, datagram) && answered_.take(ack.counter);
  }

 private:
  std::optional<SignalKey> key_;
  ReplayWindow answered_;
};

}  // namespace outrider::agent
