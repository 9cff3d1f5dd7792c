#include "switch/port_queue.h"

#include "common/core/step_marker.h"
#include "switch/header_rewrite.h"

namespace outrider {

namespace {

const BurstIdentity* identity_of(const Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  return m.has_identity ? &m.identity : nullptr;
}

}  // namespace

PortQueue::PortQueue(const PortQueueConfig& config, const std::optional<QueueTap::Limits>& tap)
    : marker_(config.marker),
      spare_ddl_(config.regulation.spare_ddl),
      queue_({config.queue.limit_packets, config.queue.limit_bytes}) {
  const std::uint32_t k = marker_.threshold_packets;
  initial_threshold_[TrafficClass::kBackground] = k;
  initial_threshold_[TrafficClass::kSignal] = k;
  initial_threshold_[TrafficClass::kDdl] = marker_.ddl_threshold_packets.value_or(k);
  if (config.regulation.mode != RegulationMode::kOff) regulator_.emplace(config.regulation);
  if (tap) tap_ = std::make_unique<QueueTap>(*tap);
}

bool PortQueue::enqueue(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  const TrafficClass c = m.traffic_class;
  if (c == TrafficClass::kDdl && m.payload_bytes > 0 && regulator_)
    regulator_->on_payload(m.flow, m.sequence, m.payload_bytes, (m.tcp_flags & kTcpFin) != 0, now);
  if (const auto refused = queue_.refuses(m.frame_bytes)) {
    drop(packet, *refused);
    return false;
  }
  if (marker_.at == MarkAt::kEnqueue) mark_if_due(*packet, c, now);
  queue_.push({packet, now, m.frame_bytes, c});
  return true;
}

PortQueue::Queue::Item PortQueue::dequeue(Time now) noexcept {
  const Queue::Item item = queue_.pop();
  if (marker_.at == MarkAt::kDequeue) mark_if_due(*item.packet, item.traffic_class, now);
  return item;
}

PortQueue::Threshold PortQueue::threshold_for(TrafficClass c, Time now) noexcept {
  const std::uint32_t initial = initial_threshold_[c];
  if (!regulator_ || (c == TrafficClass::kDdl && spare_ddl_)) return {initial, false};
  const auto regulated = regulator_->threshold(now);
  if (!regulated || *regulated >= initial) return {initial, false};
  return {*regulated, true};
}

void PortQueue::mark_if_due(Packet& packet, TrafficClass c, Time now) noexcept {
  if (marker_.kind == MarkerKind::kTailDrop) return;
  const std::uint32_t occupancy = queue_.occupancy_packets();
  const Threshold threshold = threshold_for(c, now);
  if (judge_step(occupancy, threshold.packets) == MarkVerdict::kPass) return;
  const std::uint8_t ip_offset = meta(packet).ip_offset;
  if (ip_offset == 0 || !mark_ce(packet, ip_offset)) return;  // ARP; Not-ECT, or CE already
  const bool by_regulation = threshold.regulated && occupancy < initial_threshold_[c];
  ++counters_.marks[c][static_cast<std::size_t>(by_regulation ? MarkReason::kRegulatedThreshold
                                                              : MarkReason::kInitialThreshold)];
}

void PortQueue::record_arrival(const Packet& packet, Time now) noexcept {
  tap_->on_arrival(
      identity_of(packet),
      {queue_.occupancy_by_class(), queue_.occupancy_packets(), queue_.occupancy_bytes()}, now);
}

void PortQueue::record_departure(const Queue::Item& item, Time start, Time finish) noexcept {
  tap_->on_departure({.identity = identity_of(*item.packet),
                      .traffic_class = item.traffic_class,
                      .frame_bytes = item.frame_bytes,
                      .sojourn = start - item.enqueued_at,
                      .start = start,
                      .finish = finish,
                      .left_packets = queue_.occupancy_packets()});
}

void PortQueue::flush() noexcept {
  while (!queue_.empty()) release(queue_.pop().packet);
}

void PortQueue::add_to(SwitchLive& live) const noexcept {
  live.resident += queue_.occupancy_packets();
  live.regulated += live_entries();
  for (std::size_t c = 0; c < kTrafficClasses; ++c) {
    live.transmitted += counters_.transmitted.values[c];
    live.transmitted_bytes += counters_.transmitted_bytes.values[c];
    for (std::size_t i = 0; i < kDropReasons; ++i) live.drops[i] += counters_.drops.values[c][i];
    for (std::size_t i = 0; i < kMarkReasons; ++i) live.marks[i] += counters_.marks.values[c][i];
  }
}

void PortQueue::fill(QueueReport& r, Time now) const {
  r.initial_threshold_packets = marker_.threshold_packets;
  r.arrived = counters_.arrived;
  r.transmitted = counters_.transmitted;
  r.transmitted_bytes = counters_.transmitted_bytes;
  r.resident = {};
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    r.resident.values[c] = queue_.occupancy_by_class().values[c];
  r.drops = counters_.drops;
  r.marks = counters_.marks;
  if (tap_) tap_->fill(r);
  if (!regulator_) return;
  const RegulatorCounters& n = regulator_->counters();
  r.starts_armed = n.armed;
  r.starts_repeated = n.repeated;
  r.starts_refused_budget = n.refused_budget;
  r.starts_refused_table = n.refused_table;
  r.recovered_arrival = n.recovered_arrival;
  r.recovered_burst_end = n.recovered_burst_end;
  r.recovered_timer = n.recovered_timer;
  r.expired = n.expired;
  r.budget_exhausted = n.budget_exhausted;
  r.replaced = n.replaced;
  r.entries_left = regulator_->live_entries();
  r.regulated_ns = regulator_->regulated(now).count();
}

}  // namespace outrider
