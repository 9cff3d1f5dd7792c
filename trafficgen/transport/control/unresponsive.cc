#include "trafficgen/transport/control/unresponsive.h"

#include <cassert>

#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::tg {

Unresponsive::Unresponsive(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept
    : config_(config), cwnd_(initial_window_bytes(config, mss_bytes)), mss_(mss_bytes) {
  assert(config.rate && config.rate->bits_per_second > 0);
  assert(cwnd_ > 0 && cwnd_ <= kMaxCongestionWindow);
}

void Unresponsive::on_ack(const AckEvent& ack) noexcept {
  if (ack.srtt <= Duration::zero()) return;
  const double path_bytes =
      static_cast<double>(config_.rate->bits_per_second) / 8 * seconds(ack.srtt);
  cwnd_ = static_cast<std::uint32_t>(std::clamp<double>(
      kWindowHeadroom * path_bytes, initial_window_bytes(config_, mss_), kMaxCongestionWindow));
}

CongestionControl* make_unresponsive(std::byte* space, const ControllerConfig& config,
                                     std::uint16_t mss_bytes) noexcept {
  return put_controller<Unresponsive>(space, config, mss_bytes);
}

}  // namespace outrider::tg
