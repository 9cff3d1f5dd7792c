#include "trafficgen/roce/control/swift.h"

#include <algorithm>
#include <cmath>

namespace outrider::tg {

namespace {
constexpr double kLeastWindow = 0.001;       ///< packets; section 3.4: a pause of 1,000 round trips
constexpr std::uint32_t kResetTimeouts = 5;  ///< time-outs in a row after which it is that small
}  // namespace

/// Section 3.5: slope and offset are such that the part of flow scaling is `scaling_range` for the
/// least window that it knows and 0 for the largest.
Swift::Swift(const SwiftConfig& config, const SendPath& path) noexcept
    : config_(config), path_(path) {
  const double far = 1 / std::sqrt(config.scaling_least_window);
  const double near = 1 / std::sqrt(config.scaling_most_window);
  slope_ns_ = static_cast<double>(config.scaling_range.count()) / (far - near);
  offset_ns_ = -slope_ns_ * near;
  const double of_link = path.line_bps * static_cast<double>(config.base_target.count()) / 8e9;
  window_ = std::clamp(of_link / path.packet_bytes, 1.0, static_cast<double>(path.most_packets));
}

Duration Swift::target() const noexcept {
  const double scaling = std::clamp(slope_ns_ / std::sqrt(window_) + offset_ns_, 0.0,
                                    static_cast<double>(config_.scaling_range.count()));
  return config_.base_target + Duration{static_cast<std::int64_t>(scaling)};
}

double Swift::pace_bps() const noexcept {
  if (window_ >= 1 || rtt_ <= Duration{}) return path_.line_bps;
  const double bits_of_window = window_ * path_.packet_bytes * 8;
  return std::min(bits_of_window * 1e9 / static_cast<double>(rtt_.count()), path_.line_bps);
}

std::uint32_t Swift::window_packets() const noexcept {
  return std::max(1U, static_cast<std::uint32_t>(window_));
}

RateState Swift::state(Time /*now*/) const noexcept {
  return {.rate_bps = pace_bps(), .window_bytes = window_ * path_.packet_bytes};
}

void Swift::decrease_by(double share, Time now) noexcept {
  window_ = std::max(window_ * (1 - std::min(share, kMaxDecrease)), kLeastWindow);
  decreased_at_ = now;
}

void Swift::on_ack(const RateSample& sample, Time now) noexcept {
  timeouts_ = 0;
  if (!sample.rtt) return;
  rtt_ = *sample.rtt;
  const Duration target = this->target();
  if (rtt_ < target) {
    const double gained = kAdditiveIncrease * static_cast<double>(sample.acknowledged_packets);
    window_ = std::min(window_ + (window_ >= 1 ? gained / window_ : gained),
                       static_cast<double>(path_.most_packets));
  } else if (may_decrease(now)) {
    const double excess =
        static_cast<double>((rtt_ - target).count()) / static_cast<double>(rtt_.count());
    decrease_by(kBeta * excess, now);
  }
}

void Swift::on_loss(Time now) noexcept {
  timeouts_ = 0;
  if (may_decrease(now)) decrease_by(1, now);
}

void Swift::on_timeout(Time now) noexcept {
  if (++timeouts_ >= kResetTimeouts) {
    window_ = kLeastWindow;
    decreased_at_ = now;
  } else if (may_decrease(now)) {
    decrease_by(1, now);
  }
}

}  // namespace outrider::tg
