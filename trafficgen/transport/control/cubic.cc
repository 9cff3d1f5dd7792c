#include "trafficgen/transport/control/cubic.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "trafficgen/transport/control/controller_slot.h"
#include "trafficgen/transport/control/idle_restart.h"

namespace outrider::tg {

Cubic::Cubic(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept
    : config_(config),
      cwnd_(static_cast<double>(initial_window_bytes(config, mss_bytes)) / mss_bytes),
      mss_(mss_bytes) {
  assert(mss_bytes > 0 && cwnd_bytes() >= mss_bytes && cwnd_bytes() <= kMaxCongestionWindow);
  begin_slow_start();
  if (config.hystart == HyStartKind::kRfc9406) shape_.emplace<HyStart>();
}

void Cubic::begin_slow_start() noexcept {
  if (like_linux()) shape_.emplace<ClassicHyStart>();
  else curve();
}

std::uint32_t Cubic::cwnd_bytes() const noexcept {
  // Called for every segment, and lround() would be a call. Windows are far below 2^52.
  return static_cast<std::uint32_t>(cwnd_ * mss() + 0.5);  // NOLINT(bugprone-incorrect-roundings)
}

double Cubic::w_cubic(double t) const noexcept {
  const double from_plateau = t - curve().k;
  return kC * from_plateau * from_plateau * from_plateau + curve().w_max;
}

void Cubic::begin_epoch() noexcept {
  CubicCurve& c = curve();
  if (epoch_ == Epoch::kReduced && c.w_max > cwnd_) {
    c.k = std::cbrt((c.w_max - cwnd_) / kC);  // 4.2, equation (2)
  } else {  // 4.8 and 4.10: no reduction led here, or it did not lower the window
    c.k = 0;
    c.w_max = cwnd_;
  }
  if (epoch_ == Epoch::kNone) c.cwnd_prior = cwnd_;
  c.w_est = cwnd_;  // 4.3
  c.elapsed = {};
  epoch_ = Epoch::kRunning;
}

void Cubic::avoid_congestion(double acked_segments, Duration srtt) noexcept {
  CubicCurve& c = curve();
  const double t = seconds(c.elapsed);
  // Equation (4) of 4.3. Alpha becomes 1 once Reno would have its old window again, not in Linux.
  const bool as_reno = !like_linux() && c.w_est >= c.cwnd_prior;
  c.w_est += (as_reno ? 1.0 : kAlpha) * acked_segments / cwnd_;
  const double least = like_linux() && !reduced_ ? kUnreducedGrowth * acked_segments : 0;
  if (w_cubic(t) < c.w_est) {  // 4.3: Reno-friendly region
    cwnd_ = std::max(cwnd_ + least, c.w_est);
    return;
  }
  // 4.2: target, within [cwnd, 1.5 * cwnd]; 4.4 and 4.5: concave and convex region.
  const double target = std::clamp(w_cubic(t + seconds(srtt)), cwnd_, 1.5 * cwnd_);
  cwnd_ += std::max(acked_segments * (target - cwnd_) / cwnd_, least);
}

void Cubic::detect_slow_starts_end(const AckEvent& ack) noexcept {
  if (HyStart* hystart = std::get_if<HyStart>(&shape_)) hystart->on_ack(ack, config_);
  ClassicHyStart* classic = std::get_if<ClassicHyStart>(&shape_);
  const std::uint32_t window = cwnd_bytes();
  if (classic == nullptr || ack.in_recovery || window >= ssthresh_) return;
  if (classic->on_ack(ack, {window, ssthresh_, mss_}, config_)) ssthresh_ = window;
}

void Cubic::grow_in_slow_start(std::uint32_t acked_bytes) noexcept {
  if (like_linux()) {
    cwnd_ = std::min(cwnd_ + acked_bytes / mss(), std::max(cwnd_, ssthresh_ / mss()));
    return;
  }
  const HyStart* hystart = std::get_if<HyStart>(&shape_);
  if (hystart == nullptr) {
    cwnd_ += slow_start_.growth(acked_bytes, mss_) / mss();
  } else if (hystart->finished()) {
    ssthresh_ = cwnd_bytes();  // RFC 9406, 4.2: into congestion avoidance
  } else {
    cwnd_ += hystart->growth(acked_bytes, mss_) / mss();
  }
}

void Cubic::on_ack(const AckEvent& ack) noexcept {
  assert(ack.now >= last_ack_);
  timeouts_.on_ack(ack.snd_una);
  Duration gap = ack.now - last_ack_;
  if (ack.srtt > Duration::zero()) gap = std::min(gap, ack.srtt);
  last_ack_ = ack.now;
  CubicCurve* c = std::get_if<CubicCurve>(&shape_);
  if (c == nullptr) detect_slow_starts_end(ack);
  else if (like_linux() && epoch_ == Epoch::kRunning) c->elapsed += gap;
  if (ack.in_recovery || !ack.cwnd_limited) return;
  if (cwnd_bytes() < ssthresh_) {
    grow_in_slow_start(ack.acked_bytes);
  } else {
    slow_start_.on_end();
    if (epoch_ != Epoch::kRunning) begin_epoch();
    else if (!like_linux()) curve().elapsed += gap;
    avoid_congestion(growth_.of(ack.acked_bytes) / mss(), ack.srtt);
  }
  cwnd_ = std::min(cwnd_, kMaxCongestionWindow / mss());
}

std::uint32_t Cubic::reduced(std::uint32_t base_bytes) const noexcept {
  // 4.6, equation (5)
  return static_cast<std::uint32_t>(std::lround(std::max(base_bytes * kBeta, 2 * mss())));
}

void Cubic::on_congestion(Congestion, std::uint32_t base_bytes, Time) noexcept {
  // Fast convergence (4.7): a flow that lost before its old plateau gives room to others.
  CubicCurve& c = curve();
  c.w_max = cwnd_ < c.w_max ? cwnd_ * (1 + kBeta) / 2 : cwnd_;
  c.cwnd_prior = cwnd_;
  ssthresh_ = reduced(base_bytes);
  cwnd_ = ssthresh_ / mss();
  epoch_ = Epoch::kReduced;
  reduced_ = true;
}

void Cubic::on_timeout(std::optional<std::uint32_t> base_bytes, Time) noexcept {
  if (!timeouts_.on_timeout() && base_bytes) ssthresh_ = reduced(*base_bytes);  // 4.8
  cwnd_ = 1;
  begin_slow_start();
  reduced_ = false;
  epoch_ = Epoch::kNone;
  slow_start_.on_timeout();
}

/// Like Linux, its variant keeps the epoch, whose time stands still while the connection is idle.
void Cubic::on_idle(Duration idle, Duration rto) noexcept {
  const std::uint32_t window = cwnd_bytes();
  const RestartedWindow after = restart_window(config_, mss_, {window, ssthresh_}, idle, rto);
  if (after.cwnd_bytes < window) cwnd_ = after.cwnd_bytes / mss();
  ssthresh_ = after.ssthresh_bytes;
  if (config_.idle_restart == IdleRestart::kRfc5681) epoch_ = Epoch::kNone;
}

void Cubic::on_unused(std::uint32_t used_bytes) noexcept {
  const std::uint32_t window = cwnd_bytes();
  const RestartedWindow after = lower_unused_window(config_, mss_, {window, ssthresh_}, used_bytes);
  if (after.cwnd_bytes < window) cwnd_ = after.cwnd_bytes / mss();
  ssthresh_ = after.ssthresh_bytes;
}

CongestionControl* make_cubic(std::byte* space, const ControllerConfig& config,
                              std::uint16_t mss_bytes) noexcept {
  return put_controller<Cubic>(space, config, mss_bytes);
}

}  // namespace outrider::tg
