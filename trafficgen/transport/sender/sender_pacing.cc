// Pacing in the sender: segments leave at a rate instead of when an ACK lets them.
#include <algorithm>

#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {

/// @param may whether a segment could leave but for its pace
bool TcpSender::pace_allows(bool may, Time now) noexcept {
  if (!may) {  // it is not the pace that holds it: idle time earns nothing
    pace_held_ = pace_late_ = false;
    return false;
  }
  if (!pacer_.may_send(now)) {
    pace_held_ = true;
    return false;
  }
  end_pace_hold(now);
  return true;
}

void TcpSender::end_pace_hold(Time now) noexcept {
  if (!pace_held_ || !pacer_.may_send(now)) return;
  pace_held_ = false;
  pace_late_ = true;
}

/// Zero: unknown before the first round trip was measured, and not paced.
BitRate TcpSender::pacing_rate() const noexcept {
  if (const BitRate fixed = control_->fixed_rate(); fixed.bits_per_second != 0) return fixed;
  const Duration srtt = rto_.srtt();
  if (srtt == Duration::zero()) return {};
  const double factor = cwnd_ < control_->ssthresh_bytes() / 2 ? kPaceInSlowStart : kPaceAbove;
  const double bits_per_second = factor * cwnd_ * 8 / seconds(srtt);
  return BitRate{static_cast<std::uint64_t>(std::max(1.0, bits_per_second))};
}

/// A tail loss probe leaves whatever the pace, and changes none.
void TcpSender::pace(std::uint32_t payload_bytes, Time now) noexcept {
  const BitRate rate = pacing_rate();
  if (rate.bits_per_second == 0 || !pacer_.may_send(now)) return;
  pacer_.on_sent(payload_bytes, rate, now, pace_late_ ? kPaceCatchUp : Duration::zero());
  pace_late_ = pace_late_ && pacer_.may_send(now);  // not back on schedule yet
}

}  // namespace outrider::tg
