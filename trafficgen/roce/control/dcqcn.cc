#include "trafficgen/roce/control/dcqcn.h"

#include <algorithm>
#include <cmath>

namespace outrider::tg {

namespace {
/// Halving the distance to the target never ends, so a rate this near to the link's is the link's.
constexpr double kNearLine = 0.999;
}  // namespace

Dcqcn::Dcqcn(const DcqcnConfig& config, double line_bps) noexcept
    : config_(config),
      line_bps_(line_bps),
      least_bps_(std::min(static_cast<double>(config.least_rate.bits_per_second), line_bps)),
      rate_bps_(line_bps),
      target_bps_(line_bps) {}

/// Section 3.1, equation 2: alpha shrinks after each alpha_timer without a CNP.
double Dcqcn::alpha(Time now) noexcept {
  const auto periods = (now - alpha_at_) / config_.alpha_timer;
  if (periods > 0) {
    alpha_ *= std::pow(1 - config_.g, static_cast<double>(periods));
    alpha_at_ += periods * config_.alpha_timer;
  }
  return alpha_;
}

/// Section 3.1, equation 1.
void Dcqcn::on_cnp(Time now) noexcept {
  run_timers(now);
  const double share = notified_ ? alpha(now) : 1.0;  // alpha begins at 1 with the first CNP
  notified_ = true;
  target_bps_ = rate_bps_;
  rate_bps_ = std::max(rate_bps_ * (1 - share / 2), least_bps_);
  alpha_ = (1 - config_.g) * share + config_.g;
  alpha_at_ = now;
  increased_at_ = now;
  counted_bytes_ = 0;
  timer_stage_ = byte_stage_ = 0;
}

double Dcqcn::rate_bps(Time now) noexcept {
  run_timers(now);
  return rate_bps_;
}

/// A copy runs the timers: with each call alpha is rounded once more.
RateState Dcqcn::state(Time now) const noexcept {
  Dcqcn later = *this;
  RateState state{.rate_bps = later.rate_bps(now), .target_bps = later.target_bps_};
  if (notified_) state.alpha = later.alpha(now);
  return state;
}

void Dcqcn::on_sent(std::uint32_t bytes, Time now) noexcept {
  run_timers(now);
  if (!limited()) return;
  counted_bytes_ += bytes;
  while (counted_bytes_ >= config_.increase_bytes && limited()) {
    counted_bytes_ -= config_.increase_bytes;
    ++byte_stage_;
    increase();
  }
}

void Dcqcn::note_share(double share, Time now) noexcept {
  run_timers(now);
  growth_.note_share(share);
}

/// The loop is bounded: every turn after fast recovery raises the target until it is the link's.
void Dcqcn::run_timers(Time now) noexcept {
  while (limited() && now - increased_at_ >= config_.increase_timer) {
    increased_at_ += config_.increase_timer;
    ++timer_stage_;
    increase();
  }
}

/// Figure 7, after one of both counters has counted.
void Dcqcn::increase() noexcept {
  const std::uint32_t stages = config_.recovery_stages;
  if (std::max(timer_stage_, byte_stage_) > stages) {
    const BitRate step = std::min(timer_stage_, byte_stage_) > stages ? config_.hyper_increase
                                                                      : config_.additive_increase;
    target_bps_ =
        std::min(target_bps_ + growth_.of(static_cast<double>(step.bits_per_second)), line_bps_);
  }
  rate_bps_ = (target_bps_ + rate_bps_) / 2;
  if (rate_bps_ >= kNearLine * line_bps_) rate_bps_ = target_bps_ = line_bps_;
}

}  // namespace outrider::tg
