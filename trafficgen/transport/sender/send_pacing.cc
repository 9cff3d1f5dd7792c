#include "trafficgen/transport/sender/send_pacing.h"

#include <algorithm>

namespace outrider::tg {

BitRate SendPacing::rate(const CongestionWindow& window, Duration srtt) noexcept {
  const CongestionControl& control = window.control();
  if (const BitRate fixed = control.fixed_rate(); fixed.bits_per_second != 0) return fixed;
  if (srtt == Duration::zero()) return {};
  const double factor = window.bytes() < control.ssthresh_bytes() / 2 ? kInSlowStart : kAbove;
  const double bits_per_second = factor * window.bytes() * 8 / seconds(srtt);
  return BitRate{static_cast<std::uint64_t>(std::max(1.0, bits_per_second))};
}

bool SendPacing::allows(bool may, Time now) noexcept {
  if (!may) {  // something else than the pace holds it: idle time earns nothing
    held_ = late_ = false;
    return false;
  }
  if (!pacer_.may_send(now)) {
    held_ = true;
    return false;
  }
  end_hold(now);
  return true;
}

void SendPacing::end_hold(Time now) noexcept {
  if (!held_ || !pacer_.may_send(now)) return;
  held_ = false;
  late_ = true;
}

void SendPacing::on_sent(std::uint32_t payload_bytes, const CongestionWindow& window, Duration srtt,
                         Time now) noexcept {
  const BitRate pace = rate(window, srtt);
  if (pace.bits_per_second == 0 || !pacer_.may_send(now)) return;
  pacer_.on_sent(payload_bytes, pace, now, late_ ? kCatchUp : Duration::zero());
  late_ = late_ && pacer_.may_send(now);  // not back on schedule yet
}

}  // namespace outrider::tg
