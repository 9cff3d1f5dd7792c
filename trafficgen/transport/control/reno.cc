#include "trafficgen/transport/control/reno.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/transport/control/controller_slot.h"
#include "trafficgen/transport/control/idle_restart.h"

namespace outrider::tg {

Reno::Reno(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept
    : config_(config), cwnd_(initial_window_bytes(config, mss_bytes)), mss_(mss_bytes) {
  assert(mss() > 0);
  assert(cwnd_ >= mss() && cwnd_ <= kMaxCongestionWindow);
}

void Reno::on_ack(const AckEvent& ack) noexcept {
  timeouts_.on_ack(ack.snd_una);
  if (uses_hystart()) hystart_.on_ack(ack, config_);
  if (ack.in_recovery || !ack.cwnd_limited) return;
  if (cwnd_ < ssthresh_) {  // RFC 5681, 3.1, equation (2)
    grow_in_slow_start(ack.acked_bytes);
  } else {  // RFC 3465, 2.1: one segment per window acknowledged
    slow_start_.on_end();
    bytes_acked_ += ack.acked_bytes;
    if (bytes_acked_ >= cwnd_) {
      bytes_acked_ -= cwnd_;
      cwnd_ += static_cast<std::uint32_t>(growth_.of(mss()));
    }
  }
  cwnd_ = std::min(cwnd_, kMaxCongestionWindow);
}

void Reno::grow_in_slow_start(std::uint32_t acked_bytes) noexcept {
  if (!uses_hystart()) {
    cwnd_ += slow_start_.growth(acked_bytes, mss());
  } else if (hystart_.finished()) {
    ssthresh_ = cwnd_;  // RFC 9406, 4.2: into congestion avoidance
  } else {
    cwnd_ += hystart_.growth(acked_bytes, mss());
  }
}

void Reno::reduce_to(std::uint32_t bytes, std::uint32_t min_segments) noexcept {
  ssthresh_ = std::max(bytes, min_segments * mss());
  cwnd_ = ssthresh_;
  bytes_acked_ = 0;
}

void Reno::on_congestion(Congestion, std::uint32_t base_bytes, Time) noexcept {
  reduce_to(base_bytes / 2);  // RFC 5681, equation (4); RFC 3168, 6.1.2 for ECE
}

void Reno::on_timeout(std::optional<std::uint32_t> base_bytes, Time) noexcept {
  if (!timeouts_.on_timeout() && base_bytes) ssthresh_ = std::max(*base_bytes / 2, 2 * mss());
  cwnd_ = mss();  // RFC 5681, 3.1: the loss window
  bytes_acked_ = 0;
  slow_start_.on_timeout();
}

void Reno::on_idle(Duration idle, Duration rto) noexcept {
  const RestartedWindow after = restart_window(config_, mss_, {cwnd_, ssthresh_}, idle, rto);
  cwnd_ = after.cwnd_bytes;
  ssthresh_ = after.ssthresh_bytes;
  bytes_acked_ = 0;
}

void Reno::on_unused(std::uint32_t used_bytes) noexcept {
  const RestartedWindow after = lower_unused_window(config_, mss_, {cwnd_, ssthresh_}, used_bytes);
  cwnd_ = after.cwnd_bytes;
  ssthresh_ = after.ssthresh_bytes;
}

CongestionControl* make_reno(std::byte* space, const ControllerConfig& config,
                             std::uint16_t mss_bytes) noexcept {
  return put_controller<Reno>(space, config, mss_bytes);
}

}  // namespace outrider::tg
