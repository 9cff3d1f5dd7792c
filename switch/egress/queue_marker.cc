#include "switch/egress/queue_marker.h"

#include <limits>

namespace outrider::sw {

QueueMarker::QueueMarker(const MarkerConfig& config, const MarkerSetup& setup)
    : kind_(config.kind), at_(config.at), aqm_(make_marker(config, setup)) {
  threshold_.values.fill(aqm_ != nullptr ? aqm_->threshold_packets()
                                         : std::numeric_limits<std::uint32_t>::max());
  if (kind_ != MarkerKind::kStep) return;
  threshold_.values.fill(config.threshold_packets);
  if (!config.background_threshold_packets) return;
  threshold_.values.fill(*config.background_threshold_packets);
  threshold_[TrafficClass::kDdl] = config.threshold_packets;
}

MarkVerdict QueueMarker::other_at_enqueue(Occupancy found, Time now) noexcept {
  return aqm_ != nullptr ? aqm_->at_enqueue(found, now) : MarkVerdict::kPass;
}

MarkVerdict QueueMarker::other_at_dequeue(Duration sojourn, Occupancy left, Time now) noexcept {
  return aqm_ != nullptr ? aqm_->at_dequeue(sojourn, left, now) : MarkVerdict::kPass;
}

}  // namespace outrider::sw
