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

BitRate share_of(BitRate rate, double share) noexcept {
  return {static_cast<std::uint64_t>(static_cast<double>(rate.bits_per_second) * share)};
}

/// Has this queue anything to judge there, for its marker or a regulated threshold? RED
/// also counts departures.
bool judges_at(MarkAt at, const PortQueueConfig& config) noexcept {
  switch (config.marker.kind) {
    case MarkerKind::kTailDrop:
      return config.marker.at == at && marks(config.regulation.mode);
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
      window_alone_(config.regulation.mode == RegulationMode::kWindow),
      marks_low_(marks(config.regulation.mode)),
      shares_room_(setup.buffer != nullptr || paces(config.regulation.mode)),
      mark_at_(config.marker.at),
      judges_at_enqueue_(judges_at(MarkAt::kEnqueue, config)),
      judges_at_dequeue_(judges_at(MarkAt::kDequeue, config)),
      drops_not_ect_(not_ect_of(config.marker) == NotEct::kDrop),
      spare_ddl_(config.regulation.spare_ddl),
      buffer_(setup.buffer),
      buffer_queue_(setup.buffer_queue),
      initial_threshold_packets_(config.marker.threshold_packets) {
  if (config.regulation.mode != RegulationMode::kOff) regulator_.emplace(config.regulation);
  if (holds_windows(config.regulation.mode))
    window_ = std::make_unique<QueueWindow>(config.regulation, setup.drain_rate, setup.rate_layer);
  if (paces(config.regulation.mode))
    hold_ = std::make_unique<PaceHold>(config.queue.limit_packets,
                                       share_of(setup.drain_rate, config.regulation.pace_floor));
  if (setup.tap) tap_ = std::make_unique<QueueTap>(*setup.tap);
}

void PortQueue::hear_payload(const PacketMeta& m, Time now) noexcept {
  regulator_->on_payload(m.flow, m.sequence, m.payload_bytes, (m.tcp_flags & kTcpFin) != 0, now);
}

/// What the clamp says of the packet stays with it: marking may come with its departure.
void PortQueue::show_to_window(Packet& packet, Time now) noexcept {
  meta(packet).window_treatment =
      window_->on_arrival(packet, queue_.occupancy_packets(), queue_.occupancy_bytes(),
                          regulator_->threshold(now), now);
}

std::optional<DropReason> PortQueue::refusal(std::uint32_t frame_bytes) const noexcept {
  const std::uint32_t held = hold_ != nullptr ? hold_->packets() : 0;
  const std::uint64_t held_bytes = hold_ != nullptr ? hold_->bytes() : 0;
  if (const auto refused = queue_.refuses(frame_bytes, held, held_bytes)) return refused;
  if (buffer_ == nullptr) return std::nullopt;
  const BufferVerdict verdict = buffer_->admits(buffer_queue_, frame_bytes);
  if (verdict == BufferVerdict::kOverShare) return DropReason::kOverShare;
  if (verdict == BufferVerdict::kFull) return DropReason::kBufferFull;
  return std::nullopt;
}

bool PortQueue::find_room(Packet* packet) noexcept {
  const PacketMeta& m = meta(*packet);
  auto refused = refusal(m.frame_bytes);
  while (refused && hold_ != nullptr && !hold_->empty() &&
         m.traffic_class != TrafficClass::kBackground) {
    const Queue::Item latest = hold_->push_out();
    if (buffer_ != nullptr) buffer_->release(buffer_queue_, latest.frame_bytes);
    drop(latest.packet, *refused);
    refused = refusal(m.frame_bytes);
  }
  if (refused) drop(packet, *refused);
  return !refused;
}

/// In order, as far as the target, the floor or the end of regulation allow.
void PortQueue::let_in(Time now) noexcept {
  for (;;) {
    const Queue::Item item =
        hold_->release_next(queue_.occupancy_packets(), regulator_->threshold(now), now);
    if (item.packet == nullptr) return;
    queue_.push(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class);
  }
}

std::uint32_t PortQueue::background_threshold(Time now) noexcept {
  const std::uint32_t own = marker_.threshold_packets(TrafficClass::kBackground);
  const auto regulated = regulator_ ? regulator_->threshold(now) : std::nullopt;
  return regulated ? std::min<std::uint32_t>(*regulated, own) : own;
}

/// A regulated queue marks from the lower threshold on, where its marker passed.
bool PortQueue::regulated_mark(const Packet& packet, Time now) noexcept {
  const TrafficClass c = meta(packet).traffic_class;
  if (window_) [[unlikely]] {
    const WindowTreatment treatment = meta(packet).window_treatment;
    if (treatment == WindowTreatment::kHeld) return false;
    if (window_alone_ && (c == TrafficClass::kDdl || treatment != WindowTreatment::kFallback))
      return false;
  }
  if (c == TrafficClass::kDdl && spare_ddl_) return false;
  const auto threshold = regulator_->threshold(now);
  if (!threshold) return false;
  return *threshold < marker_.threshold_packets(c) &&
         judge_step(met_by(c).packets, *threshold) == MarkVerdict::kMark;
}

bool PortQueue::pass_dequeue(const Queue::Item& item, Time now) noexcept {
  const MarkVerdict own =
      marker_.at_dequeue(item.traffic_class, now - item.enqueued_at, occupancy(), now);
  if (own != MarkVerdict::kPass) return act_on(own, item.packet);
  if (marks_low_ && mark_at_ == MarkAt::kDequeue && regulated_mark(*item.packet, now))
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
  if (window_ && meta(*packet).window_treatment == WindowTreatment::kHeld) {
    window_->note_spared_mark();
    return true;
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
  QueueState found{queue_.occupancy_by_class(), queue_.occupancy_packets(),
                   queue_.occupancy_bytes()};
  if (hold_ != nullptr) {
    found.packets[TrafficClass::kBackground] += hold_->packets();
    found.total_packets += hold_->packets();
    found.bytes += hold_->bytes();
  }
  tap_->on_arrival(identity_of(packet), found, now);
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
  while (hold_ != nullptr && !hold_->empty()) release(hold_->pop());
}

void PortQueue::add_to(SwitchLive& live) const noexcept {
  live.resident += waiting_packets();
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
  if (hold_ != nullptr) {
    r.resident[TrafficClass::kBackground] += hold_->packets();
    r.pace = hold_->counters();
  }
  r.drops = counters_.drops;
  r.marks = counters_.marks;
  if (tap_) tap_->fill(r);
  if (window_) r.window = window_->counters();
  if (!regulator_) return;
  const RegulatorCounters& n = regulator_->counters();
  r.starts_armed = n.armed;
  r.starts_predicted = n.predicted;
  r.starts_repeated = n.repeated;
  r.starts_refused_budget = n.refused_budget;
  r.starts_refused_table = n.refused_table;
  r.recovered_arrival = n.recovered_arrival;
  r.recovered_burst_end = n.recovered_burst_end;
  r.recovered_timer = n.recovered_timer;
  r.expired = n.expired;
  r.budget_exhausted = n.budget_exhausted;
  r.replaced = n.replaced;
  r.predictions_missed = n.missed;
  r.predictor = regulator_->prediction_counters();
  r.entries_left = regulator_->live_entries();
  r.regulated_ns = regulator_->regulated(now).count();
}

}  // namespace outrider
