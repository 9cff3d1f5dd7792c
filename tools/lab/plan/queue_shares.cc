#include "tools/lab/plan/queue_shares.h"

#include <algorithm>

namespace outrider::lab {

void shrink(sw::PortQueueConfig& queue, std::uint32_t packets) {
  const double share = static_cast<double>(packets) / queue.queue.limit_packets;
  const auto part = [&]<class T>(T& value) {
    value = std::max(T{1}, static_cast<T>(static_cast<double>(value) * share));
  };
  queue.queue.limit_packets = packets;
  if (queue.queue.limit_bytes) part(*queue.queue.limit_bytes);
  part(queue.marker.threshold_packets);
  if (queue.marker.background_threshold_packets) part(*queue.marker.background_threshold_packets);
  queue.marker.red.kmin_packets *= share;
  queue.marker.red.kmax_packets *= share;
}

}  // namespace outrider::lab
