#include "switch/egress/queue_marker.h"

#include <cassert>
#include <limits>

#include "switch/egress/port_queue.h"

namespace outrider::sw {

QueueMarker::QueueMarker(const MarkerConfig& config, const MarkerSetup& setup)
    : kind_(config.kind),
      at_(config.at),
      steps_alone_(config.kind == MarkerKind::kStep && config.occupancy == StepOccupancy::kOwn),
      aqm_(make_marker(config, setup)) {
  if (config.occupancy == StepOccupancy::kOwnAndHigher) {
    assert(kind_ == MarkerKind::kStep && setup.higher_queues > 0);
    higher_ = setup.higher;
    higher_queues_ = setup.higher_queues;
  }
  threshold_.values.fill(aqm_ != nullptr ? aqm_->threshold_packets()
                                         : std::numeric_limits<std::uint32_t>::max());
  if (kind_ != MarkerKind::kStep) return;
  threshold_.values.fill(config.threshold_packets);
  if (!config.background_threshold_packets) return;
  threshold_.values.fill(*config.background_threshold_packets);
  threshold_[TrafficClass::kDdl] = config.threshold_packets;
}

MarkVerdict QueueMarker::other_at_enqueue(TrafficClass c, Occupancy found, Time now) noexcept {
  if (aqm_ != nullptr) return aqm_->at_enqueue(found, now);
  return at_ == MarkAt::kEnqueue ? across_queues(c, found.packets) : MarkVerdict::kPass;
}

MarkVerdict QueueMarker::other_at_dequeue(TrafficClass c, Duration sojourn, Occupancy left,
                                          Time now) noexcept {
  if (aqm_ != nullptr) return aqm_->at_dequeue(sojourn, left, now);
  return at_ == MarkAt::kDequeue ? across_queues(c, left.packets) : MarkVerdict::kPass;
}

MarkVerdict QueueMarker::across_queues(TrafficClass c, std::uint32_t own) const noexcept {
  if (higher_ == nullptr) return MarkVerdict::kPass;  // tail drop
  std::uint32_t packets = own;
  for (std::uint32_t q = 0; q < higher_queues_; ++q) packets += higher_[q].waiting().packets;
  return judge_step(packets, threshold_[c]);
}

}  // namespace outrider::sw
