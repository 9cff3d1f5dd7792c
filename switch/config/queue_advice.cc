#include "switch/config/queue_advice.h"

#include <string>

namespace outrider::sw {
ConfigIssues advice(const QueueConfig& queue) {
  const std::uint64_t packets = queue.limit_packets;
  if (!queue.limit_bytes || *queue.limit_bytes <= packets * kFullFrameBytes) return {};
  const std::uint64_t wanted = (*queue.limit_bytes + kFullFrameBytes - 1) / kFullFrameBytes;
  return {{"limit_bytes", std::to_string(*queue.limit_bytes) +
                              " bytes have no effect: limit_packets, " + std::to_string(packets) +
                              ", is reached first by frames of " + std::to_string(kFullFrameBytes) +
                              " bytes. Set limit_packets to " + std::to_string(wanted) +
                              " or more, and for small frames to more"}};
}

}  // namespace outrider::sw
