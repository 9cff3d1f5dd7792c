#include "tools/lab/experiment/usual_thresholds.h"

#include <algorithm>
#include <cmath>

#include "common/net/tos_signal.h"
#include "switch/config/queue_config.h"

namespace outrider::lab {

std::uint64_t usual_mark_bytes(BitRate rate, Duration rtt, std::uint64_t buffer_bytes) {
  constexpr std::uint64_t kLeast = 10ULL * sw::kFullFrameBytes;
  const double path_bytes = seconds(rtt) * static_cast<double>(rate.bits_per_second) / 8;
  return std::clamp(static_cast<std::uint64_t>(path_bytes / std::sqrt(3.0)), kLeast,
                    std::max(buffer_bytes, kLeast));
}

std::uint64_t announced_h(std::uint64_t packets) {
  constexpr std::uint64_t kStep = tos_signal::kThresholdStep_packets;
  return std::clamp<std::uint64_t>(packets / kStep * kStep, kStep,
                                   tos_signal::kMaxThreshold_packets);
}

std::uint64_t frames_of(std::uint64_t bytes) {
  return std::max<std::uint64_t>(bytes / sw::kFullFrameBytes, 1);
}

}  // namespace outrider::lab
