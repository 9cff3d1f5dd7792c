#include "switch/port_queue.h"

#include <algorithm>

#include "common/core/step_marker.h"
#include "switch/header_rewrite.h"

namespace outrider {

namespace {

const BurstIdentity* identity_of(const Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  return m.has_identity ? &m.identity : nullptr;
}

/// Has this queue anything to judge there? RED also counts departures.
bool judges_at(MarkAt at, const PortQueueConfig& config) noexcept {
  switch (config.marker.kind) {
    case MarkerKind::kTailDrop:
      return false;
    case MarkerKind::kStep:
      return config.marker.at == at;
    case MarkerKind::kRed:
    case MarkerKind::kPie:
    case MarkerKind::kCodel:
      return true;
  }
  return true;
}

}  // namespace

PortQueue::PortQueue(const PortQueueConfig& config, const Setup& setup)
    : queue_({config.queue.limit_packets, config.queue.limit_bytes}),
      marker_(config.marker, setup.packet_time, setup.seed, setup.entity),
      mark_at_(config.marker.at),
      judges_at_enqueue_(judges_at(MarkAt::kEnqueue, config)),
      judges_at_dequeue_(judges_at(MarkAt::kDequeue, config)),
      drops_not_ect_(not_ect_of(config.marker) == NotEct::kDrop),
      spare_ddl_(config.regulation.spare_ddl),
      buffer_(setup.buffer),
      buffer_queue_(setup.buffer_queue),
      initial_threshold_packets_(config.marker.threshold_packets) {
  if (config.regulation.mode != RegulationMode::kOff) regulator_.emplace(config.regulation);
  if (setup.tap) tap_ = std::make_unique<QueueTap>(*setup.tap);
}

void PortQueue::hear_payload(const PacketMeta& m, Time now) noexcept {
  regulator_->on_payload(m.flow, m.sequence, m.payload_bytes, (m.tcp_flags & kTcpFin) != 0, now);
}

bool PortQueue::find_room(Packet* packet) noexcept {
  const std::uint32_t frame_bytes = meta(*packet).frame_bytes;
  auto refused = queue_.refuses(frame_bytes);
  if (!refused && buffer_ != nullptr) {
    const BufferVerdict verdict = buffer_->admits(buffer_queue_, frame_bytes);
    if (verdict == BufferVerdict::kOverShare) refused = DropReason::kOverShare;
    if (verdict == BufferVerdict::kFull) refused = DropReason::kBufferFull;
  }
  if (refused) drop(packet, *refused);
  return !refused;
}

std::uint32_t PortQueue::background_threshold(Time now) noexcept {
  const std::uint32_t own = marker_.threshold_packets(TrafficClass::kBackground);
  const auto regulated = regulator_ ? regulator_->threshold(now) : std::nullopt;
  return regulated ? std::min<std::uint32_t>(*regulated, own) : own;
}

/// A regulated queue marks from the lower threshold on, whatever its marker says.
bool PortQueue::regulated_mark(TrafficClass c, Time now) noexcept {
  if (c == TrafficClass::kDdl && spare_ddl_) return false;
  const auto threshold = regulator_->threshold(now);
  if (!threshold) return false;
  const std::uint32_t own = marker_.threshold_packets(c);
  const std::uint32_t occupancy = queue_.occupancy_packets();
  return *threshold < own && occupancy < own &&
         judge_step(occupancy, *threshold) == MarkVerdict::kMark;
}

bool PortQueue::pass_dequeue(const Queue::Item& item, Time now) noexcept {
  const MarkVerdict own =
      marker_.at_dequeue(item.traffic_class, now - item.enqueued_at, occupancy(), now);
  if (own != MarkVerdict::kPass) return act_on(own, item.packet);
  if (regulator_ && mark_at_ == MarkAt::kDequeue && regulated_mark(item.traffic_class, now))
    mark(*item.packet, MarkReason::kRegulatedThreshold);
  return true;
}

/// What the queue's own marker says. Regulation alone never drops: Not-ECT packets
/// pass it.
bool PortQueue::act_on(MarkVerdict verdict, Packet* packet) noexcept {
  if (meta(*packet).ip_offset == 0) return true;  // ARP
  if (verdict == MarkVerdict::kDrop) {
    drop(packet, DropReason::kAqmOverload);
    return false;
  }
  if (drops_not_ect_ && !is_ect(ecn_at(*packet, meta(*packet).ip_offset))) {
    drop(packet, DropReason::kAqmNotEct);
    return false;
  }
  mark(*packet, MarkReason::kMarker);
  return true;
}

/// The one place that sets CE: never on Not-ECT, and what has it is not counted again.
void PortQueue::mark(Packet& packet, MarkReason reason) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.ip_offset == 0 || !mark_ce(packet, m.ip_offset)) return;  // ARP; Not-ECT, or CE already
  ++counters_.marks[m.traffic_class][static_cast<std::size_t>(reason)];
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
  while (!queue_.empty()) {
    const Queue::Item item = queue_.pop();
    if (buffer_ != nullptr) buffer_->release(buffer_queue_, item.frame_bytes);
    release(item.packet);
  }
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
  r.initial_threshold_packets = initial_threshold_packets_;
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
