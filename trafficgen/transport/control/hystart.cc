#include "trafficgen/transport/control/hystart.h"

#include <algorithm>

namespace outrider::tg {

std::uint32_t HyStart::growth(std::uint32_t acked_bytes, std::uint32_t mss_bytes) const noexcept {
  const std::uint32_t limited = std::min(acked_bytes, kLimitSegments * mss_bytes);
  return conservative() ? limited / kGrowthDivisor : limited;
}

/// The partial round in which CSS began counts as one of its rounds.
void HyStart::begin_round(std::uint64_t snd_nxt) noexcept {
  if (conservative() && ++conservative_rounds_ >= kConservativeRounds) phase_ = Phase::kFinished;
  window_end_ = snd_nxt;
  last_min_rtt_ns_ = current_min_rtt_ns_;
  current_min_rtt_ns_ = kUnknown;
  samples_ = 0;
}

bool HyStart::has_risen(const ControllerConfig& config) const noexcept {
  if (last_min_rtt_ns_ == kUnknown) return false;
  const Duration threshold = std::clamp(Duration{last_min_rtt_ns_ / kRttDivisor},
                                        config.hystart_min_rtt_threshold, kHyStartMaxRttThreshold);
  return Duration{current_min_rtt_ns_} >= Duration{last_min_rtt_ns_} + threshold;
}

void HyStart::on_ack(const AckEvent& ack, const ControllerConfig& config) noexcept {
  if (ack.snd_una > window_end_) begin_round(ack.snd_nxt);
  if (ack.rtt <= Duration::zero() || finished()) return;
  const auto rtt_ns = static_cast<std::uint32_t>(
      std::min(ack.rtt.count(), static_cast<std::int64_t>(kUnknown - 1)));
  current_min_rtt_ns_ = std::min(current_min_rtt_ns_, rtt_ns);
  if (samples_ < kRttSamples) ++samples_;
  if (samples_ < kRttSamples) return;
  if (phase_ == Phase::kSlowStart && has_risen(config)) {
    phase_ = Phase::kConservative;
    baseline_rtt_ns_ = current_min_rtt_ns_;
    conservative_rounds_ = 0;
  } else if (conservative() && current_min_rtt_ns_ < baseline_rtt_ns_) {
    phase_ = Phase::kSlowStart;
    baseline_rtt_ns_ = kUnknown;
  }
}

}  // namespace outrider::tg
