#pragma once

#include <cstdint>

#include "common/net/tcp_segment.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/receiver/receive_window.h"

namespace outrider::tg {

/// The reaction to a segment that is not accepted as it is.
enum class Refusal : std::uint8_t {
  kIgnore,
  kAcknowledge,
  kChallenge,  ///< acknowledge, as often as ChallengeAcks allows
  kReset,      ///< obey: the connection is over
};

/// Judges segments with RST or SYN, without ACK, or with an unacceptable sequence number, and
/// counts them. Source: RFC 9293, 3.10.7.4, first, second and fourth check, as tightened by RFC
/// 5961.
[[nodiscard]] Refusal judge_refused(const TcpSegment& s, const ReceiveWindow& window,
                                    TcpEvents& events) noexcept;

}  // namespace outrider::tg
