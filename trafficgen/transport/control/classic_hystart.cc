#include "trafficgen/transport/control/classic_hystart.h"

#include <algorithm>

namespace outrider::tg {
namespace {

/// Returns the time that four of the largest bursts take at the rate at which Linux would pace. It
/// counts even if nothing is paced.
Duration offload_delay(Duration srtt, ClassicHyStart::Window window) noexcept {
  const double factor = window.bytes < window.ssthresh_bytes / 2 ? 2.0 : 1.2;  // tcp_pacing_*_ratio
  const double ns =
      static_cast<double>(srtt.count()) * ClassicHyStart::kOffloadBytes / (factor * window.bytes);
  return ns < static_cast<double>(ClassicHyStart::kMaxOffload.count())
             ? Duration{static_cast<std::int64_t>(ns)}
             : ClassicHyStart::kMaxOffload;
}

}  // namespace

void ClassicHyStart::begin_round(const AckEvent& ack) noexcept {
  round_end_ = ack.snd_nxt;
  round_start_ = last_of_train_ = ack.now;
  round_rtt_ns_ = UINT32_MAX;
  samples_ = 0;
}

bool ClassicHyStart::train_is_long(const AckEvent& ack, Window window) noexcept {
  if (ack.now - last_of_train_ > kAckDelta) return false;
  last_of_train_ = ack.now;
  Duration longest = Duration{min_rtt_ns_} + offload_delay(ack.srtt, window);
  if (!ack.paced) longest /= 2;  // a paced window takes up to half a round trip to leave
  return ack.now - round_start_ > longest;
}

bool ClassicHyStart::has_risen(Duration rtt, const ControllerConfig& config) noexcept {
  round_rtt_ns_ = std::min(round_rtt_ns_, static_cast<std::uint32_t>(rtt.count()));
  if (samples_ < kRttSamples) {
    ++samples_;
    return false;
  }
  const Duration least{min_rtt_ns_};
  const Duration rise =
      std::clamp(least / kRttDivisor, config.hystart_min_rtt_threshold, kHyStartMaxRttThreshold);
  return Duration{round_rtt_ns_} > least + rise;
}

bool ClassicHyStart::on_ack(const AckEvent& ack, Window window,
                            const ControllerConfig& config) noexcept {
  if (ack.rtt <= Duration::zero()) return false;
  const Duration rtt = std::min(ack.rtt, Duration{UINT32_MAX});
  min_rtt_ns_ = std::min(min_rtt_ns_, static_cast<std::uint32_t>(rtt.count()));
  if (ack.snd_una > round_end_) begin_round(ack);
  if (window.bytes < kLowWindow * window.mss_bytes) return false;
  const bool train = train_is_long(ack, window);
  return has_risen(rtt, config) || train;
}

}  // namespace outrider::tg
