#include "trafficgen/transport/control/prague.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::tg {

Prague::Prague(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept
    : Reno(config, mss_bytes) {
  assert(config.dctcp_min_window_segments > 0);
}

/// Updates the moving average once per virtual round trip, or per real one if that is longer.
void Prague::measure(const AckEvent& ack) noexcept {
  acked_bytes_ += ack.acked_bytes;
  marked_bytes_ += ack.ece_bytes;
  if (ack.now < round_end_) return;
  if (reduced_at_ != Time{} && acked_bytes_ != 0) {
    constexpr auto kGain = static_cast<float>(Dctcp::kGain);
    const float share = static_cast<float>(marked_bytes_) / static_cast<float>(acked_bytes_);
    alpha_ += kGain * (share - alpha_);
  }
  round_end_ = ack.now + std::max(ack.srtt, kVirtualRtt);
  acked_bytes_ = 0;
  marked_bytes_ = 0;
}

bool Prague::grows(const AckEvent& ack) noexcept {
  const bool shorter = ack.srtt > Duration::zero() && ack.srtt < kVirtualRtt;
  const auto ratio = shorter ? static_cast<float>(seconds(ack.srtt) / seconds(kVirtualRtt)) : 1.0F;
  const std::uint32_t unmarked = ack.acked_bytes - ack.ece_bytes;
  growth_ += ratio * ratio * static_cast<float>(unmarked) / static_cast<float>(cwnd_bytes());
  if (growth_ < 1) return false;
  growth_ -= 1;
  return true;
}

void Prague::on_ack(const AckEvent& ack) noexcept {
  assert(ack.ece_bytes <= ack.acked_bytes);
  measure(ack);
  AckEvent growth = ack;
  if (!in_slow_start()) {
    growth.in_recovery = ack.in_loss_recovery;
    // Reno adds one segment when a whole window is acknowledged.
    const bool may = !ack.in_loss_recovery && ack.cwnd_limited;
    growth.acked_bytes = may && grows(ack) ? cwnd_bytes() : 0;
  }
  Reno::on_ack(growth);
}

void Prague::on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept {
  if (kind == Congestion::kLoss) {
    Reno::on_congestion(kind, base_bytes, now);
    return;
  }
  // The sender reports congestion once per real round trip. A mark ends slow start at once.
  const bool reduced = reduced_at_ != Time{} && now - reduced_at_ < kVirtualRtt;
  if (reduced && !in_slow_start()) return;
  reduced_at_ = now;
  reduce_to(static_cast<std::uint32_t>(static_cast<float>(cwnd_bytes()) * (1 - alpha_ / 2)),
            config().dctcp_min_window_segments);
}

CongestionControl* make_prague(std::byte* space, const ControllerConfig& config,
                               std::uint16_t mss_bytes) noexcept {
  return put_controller<Prague>(space, config, mss_bytes);
}

}  // namespace outrider::tg
