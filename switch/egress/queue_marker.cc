#include "switch/egress/queue_marker.h"

#include <cmath>
#include <limits>

namespace outrider {

namespace {

constexpr std::uint64_t kMeanPacketBytes = 1500;

RedMarker::Params params_of(const RedConfig& c, Duration packet_time) {
  return {.kmin = c.kmin_packets,
          .kmax = c.kmax_packets,
          .pmax = c.pmax,
          .weight = c.weight,
          .packet_time = packet_time,
          .spacing = c.spacing};
}

PieMarker::Params params_of(const PieConfig& c) {
  return {.target = c.target,
          .t_update = c.update_interval,
          .alpha = c.alpha,
          .beta = c.beta,
          .burst_allowance = c.burst_allowance,
          .spared_bytes = 2 * kMeanPacketBytes,
          .mark_ecnth = c.mark_ecnth};
}

std::uint32_t own_threshold(const MarkerConfig& config) {
  if (config.kind == MarkerKind::kStep) return config.threshold_packets;
  if (config.kind == MarkerKind::kRed)
    return static_cast<std::uint32_t>(std::ceil(config.red.kmax_packets));
  return std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

QueueMarker::QueueMarker(const MarkerConfig& config, Duration packet_time, std::uint64_t seed,
                         std::uint32_t entity)
    : kind_(config.kind), at_(config.at) {
  threshold_.values.fill(own_threshold(config));
  if (config.kind == MarkerKind::kStep && config.ddl_threshold_packets)
    threshold_[TrafficClass::kDdl] = *config.ddl_threshold_packets;
  if (config.kind == MarkerKind::kTailDrop || config.kind == MarkerKind::kStep) return;
  other_ =
      std::make_unique<Stateful>(Stateful{{}, RandomStream(seed, entity, RandomPurpose::kMarker)});
  switch (config.kind) {
    case MarkerKind::kRed:
      other_->state.emplace<RedMarker>(params_of(config.red, packet_time));
      break;
    case MarkerKind::kPie:
      other_->state.emplace<PieMarker>(params_of(config.pie));
      break;
    case MarkerKind::kCodel:
      other_->state.emplace<CodelMarker>(CodelMarker::Params{.target = config.codel.target,
                                                             .interval = config.codel.interval,
                                                             .mtu_bytes = kMeanPacketBytes});
      break;
    case MarkerKind::kTailDrop:
    case MarkerKind::kStep:
      break;
  }
}

MarkVerdict QueueMarker::other_at_enqueue(Occupancy found, Time now) noexcept {
  if (other_ == nullptr) return MarkVerdict::kPass;
  if (auto* red = std::get_if<RedMarker>(&other_->state))
    return at_ == MarkAt::kEnqueue ? red->on_enqueue(found.packets, other_->random.next_u32(), now)
                                   : MarkVerdict::kPass;
  if (auto* pie = std::get_if<PieMarker>(&other_->state))
    return pie->on_enqueue(found.bytes, other_->random.next_u32(), now);
  return MarkVerdict::kPass;
}

MarkVerdict QueueMarker::other_at_dequeue(Duration sojourn, Occupancy left, Time now) noexcept {
  if (other_ == nullptr) return MarkVerdict::kPass;
  if (auto* red = std::get_if<RedMarker>(&other_->state)) {
    const auto verdict = at_ == MarkAt::kDequeue
                             ? red->on_enqueue(left.packets, other_->random.next_u32(), now)
                             : MarkVerdict::kPass;
    red->on_dequeue(left.packets, now);
    return verdict;
  }
  if (auto* pie = std::get_if<PieMarker>(&other_->state)) pie->on_dequeue(sojourn, left.bytes, now);
  if (auto* codel = std::get_if<CodelMarker>(&other_->state))
    return codel->on_dequeue(sojourn, left.bytes, now);
  return MarkVerdict::kPass;
}

}  // namespace outrider
