#pragma once

#include <cstdint>

#include "common/net/tcp_segment.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/receiver/receive_window.h"

namespace outrider::tg {

/// What is done about a segment that is not taken at its word.
enum class Refusal : std::uint8_t {
  kIgnore,
  kAcknowledge,
  kChallenge,  ///< acknowledge, as often as ChallengeAcks allow
  kReset,      ///< obey: the connection is over
};

/// Judges segments with RST or SYN, without ACK, or with a number that cannot be:
/// RFC 9293, 3.10.7.4, first, second and fourth check, as RFC 5961 tightens them. Counts.
[[nodiscard]] Refusal judge_refused(const TcpSegment& s, const ReceiveWindow& window,
                                    TcpEvents& events) noexcept;

}  // namespace outrider::tg
