#include "trafficgen/transport/control/timely.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::tg {

Timely::Timely(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept
    : config_(config), window_bytes_(initial_window_bytes(config, mss_bytes)), mss_(mss_bytes) {
  assert(config.timely_t_low > Duration::zero() && config.timely_t_low <= config.timely_t_high);
  assert(config.timely_step.bits_per_second > 0);
}

void Timely::set_window(double bytes) noexcept {
  window_bytes_ = std::clamp<double>(bytes, mss_, kMaxCongestionWindow);
}

double Timely::step_bytes() const noexcept {
  return static_cast<double>(config_.timely_step.bits_per_second) / 8 * seconds(min_rtt_);
}

double Timely::gradient() const noexcept {
  return min_rtt_ == Duration::zero() ? 0 : rtt_diff_ns_ / static_cast<double>(min_rtt_.count());
}

void Timely::on_ack(const AckEvent& ack) noexcept {
  if (ack.rtt > Duration::zero() && (min_rtt_ == Duration::zero() || ack.rtt < min_rtt_))
    min_rtt_ = ack.rtt;
  starting_ = starting_ && ack.rtt <= config_.timely_t_low;
  const bool may_grow = ack.cwnd_limited && !ack.in_loss_recovery;
  if (starting_) {
    if (may_grow) set_window(window_bytes_ + ack.acked_bytes);
    return;
  }
  if (ack.rtt <= Duration::zero() || ack.snd_una <= window_end_) return;
  window_end_ = ack.snd_nxt;
  on_completion(ack.rtt, may_grow);
}

/// Algorithm 1.
void Timely::on_completion(Duration rtt, bool may_grow) noexcept {
  if (last_rtt_ > Duration::zero()) {
    const auto difference_ns = static_cast<double>((rtt - last_rtt_).count());
    rtt_diff_ns_ += kAlpha * (difference_ns - rtt_diff_ns_);
  }
  last_rtt_ = rtt;
  const bool low = rtt < config_.timely_t_low;
  const bool high = rtt > config_.timely_t_high;
  const bool calm = !low && !high && gradient() <= 0;
  calm_ = calm ? calm_ + 1 : 0;
  if (high) {
    set_window(window_bytes_ * (1 - kBeta * (1 - seconds(config_.timely_t_high) / seconds(rtt))));
  } else if (low || calm) {
    const bool hyperactive = calm_ >= kHaiCompletions;
    if (may_grow) set_window(window_bytes_ + step_bytes() * (hyperactive ? kHaiSteps : 1));
  } else {
    set_window(window_bytes_ * (1 - kBeta * std::min(gradient(), 1.0)));
  }
}

void Timely::on_congestion(Congestion kind, std::uint32_t base_bytes, Time) noexcept {
  if (kind != Congestion::kLoss) return;
  starting_ = false;
  set_window(std::max<double>(std::min<double>(base_bytes, window_bytes_) / 2, 2.0 * mss_));
}

void Timely::on_timeout(std::optional<std::uint32_t>, Time) noexcept {
  starting_ = false;
  set_window(0);
}

/// Measurements from before the pause say nothing of the path now.
void Timely::on_idle(Duration, Duration) noexcept {
  set_window(std::min<double>(window_bytes_, initial_window_bytes(config_, mss_)));
  last_rtt_ = Duration::zero();
  rtt_diff_ns_ = 0;
  calm_ = 0;
}

CongestionControl* make_timely(std::byte* space, const ControllerConfig& config,
                               std::uint16_t mss_bytes) noexcept {
  return put_controller<Timely>(space, config, mss_bytes);
}

}  // namespace outrider::tg
