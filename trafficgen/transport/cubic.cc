#include "trafficgen/transport/cubic.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace outrider {

Cubic::Cubic(const ControllerConfig& config) noexcept
    : config_(config), cwnd_(config.initial_window_segments) {
  assert(config.mss_bytes > 0 && config.mss_bytes <= UINT16_MAX);
  assert(cwnd_bytes() >= config.mss_bytes && cwnd_bytes() <= kMaxCongestionWindow);
}

std::uint32_t Cubic::cwnd_bytes() const noexcept {
  // Asked for with every segment: lround() would be a call. Windows are far below 2^52.
  return static_cast<std::uint32_t>(cwnd_ * mss() + 0.5);  // NOLINT(bugprone-incorrect-roundings)
}

double Cubic::w_cubic(double t) const noexcept {
  const double from_plateau = t - k_;
  return kC * from_plateau * from_plateau * from_plateau + w_max_;
}

void Cubic::begin_epoch() noexcept {
  if (epoch_ == Epoch::kReduced && w_max_ > cwnd_) {
    k_ = std::cbrt((w_max_ - cwnd_) / kC);  // 4.2, equation (2)
  } else {  // 4.8 and 4.10: no reduction led here, or it did not lower the window
    k_ = 0;
    w_max_ = cwnd_;
  }
  if (epoch_ == Epoch::kNone) cwnd_prior_ = cwnd_;
  w_est_ = cwnd_;  // 4.3
  elapsed_ = {};
  epoch_ = Epoch::kRunning;
}

void Cubic::avoid_congestion(double acked_segments, Duration srtt) noexcept {
  const double t = seconds(elapsed_);
  // 4.3, equation (4); alpha becomes 1 once Reno would be back where it was.
  w_est_ += (w_est_ >= cwnd_prior_ ? 1.0 : kAlpha) * acked_segments / cwnd_;
  if (w_cubic(t) < w_est_) {  // 4.3: Reno-friendly region
    cwnd_ = std::max(cwnd_, w_est_);
    return;
  }
  // 4.2: target, within [cwnd, 1.5 * cwnd]; 4.4 and 4.5: concave and convex region.
  const double target = std::clamp(w_cubic(t + seconds(srtt)), cwnd_, 1.5 * cwnd_);
  cwnd_ += acked_segments * (target - cwnd_) / cwnd_;
}

void Cubic::on_ack(const AckEvent& ack) noexcept {
  assert(ack.now >= last_ack_);
  timeouts_.on_ack(ack.snd_una);
  Duration gap = ack.now - last_ack_;
  if (ack.srtt > Duration::zero()) gap = std::min(gap, ack.srtt);
  last_ack_ = ack.now;
  if (ack.in_recovery || !ack.cwnd_limited) return;
  if (cwnd_bytes() < ssthresh_) {
    cwnd_ += slow_start_.growth(ack.acked_bytes, config_.mss_bytes) / mss();
  } else {
    slow_start_.on_end();
    if (epoch_ == Epoch::kRunning) elapsed_ += gap;
    else begin_epoch();
    avoid_congestion(ack.acked_bytes / mss(), ack.srtt);
  }
  cwnd_ = std::min(cwnd_, kMaxCongestionWindow / mss());
}

std::uint32_t Cubic::reduced(std::uint32_t in_flight_bytes) const noexcept {
  // 4.6, equation (5)
  return static_cast<std::uint32_t>(std::lround(std::max(in_flight_bytes * kBeta, 2 * mss())));
}

void Cubic::on_congestion(Congestion, std::uint32_t in_flight_bytes, Time) noexcept {
  // 4.7, fast convergence: a flow that lost before its old plateau yields room.
  w_max_ = cwnd_ < w_max_ ? cwnd_ * (1 + kBeta) / 2 : cwnd_;
  cwnd_prior_ = cwnd_;
  ssthresh_ = reduced(in_flight_bytes);
  cwnd_ = ssthresh_ / mss();
  epoch_ = Epoch::kReduced;
}

void Cubic::on_timeout(std::uint32_t in_flight_bytes, Time) noexcept {
  if (!timeouts_.on_timeout()) ssthresh_ = reduced(in_flight_bytes);  // 4.8
  cwnd_ = 1;
  epoch_ = Epoch::kNone;
  slow_start_.on_timeout();
}

void Cubic::on_idle(Time) noexcept {
  cwnd_ = std::min(cwnd_, initial_window_bytes(config_) / mss());  // RFC 5681, 4.1
  epoch_ = Epoch::kNone;
}

}  // namespace outrider
