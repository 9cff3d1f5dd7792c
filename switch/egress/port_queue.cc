#include "switch/egress/port_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "switch/aqm/step_marker.h"
#include "switch/config/config_toml.h"
#include "switch/config/same_settings.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {

namespace {

BitRate share_of(BitRate rate, double share) noexcept {
  return {static_cast<std::uint64_t>(static_cast<double>(rate.bits_per_second) * share)};
}

/// Returns the queue's policy with what follows from other settings.
RegulationPolicy policy_of(const PortQueueConfig& config, const PortQueue::Setup& setup) {
  constexpr double kMostBytes = 1e18;
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  RegulationPolicy policy = config.regulation;
  policy.window.beyond.clear();  // no regulator needs the list, and a change must not allocate
  policy.signers = setup.signers;
  if (!policy.max_threshold_packets)
    policy.max_threshold_packets =
        static_cast<std::uint16_t>(std::min(config.queue.limit_packets, kMost));
  if (!policy.max_burst_bytes) {
    const double seconds = std::chrono::duration<double>(policy.expiry).count();
    const double bytes = static_cast<double>(setup.drain_rate.bits_per_second) / 8 * seconds;
    policy.max_burst_bytes = static_cast<std::uint64_t>(std::clamp(bytes, 1.0, kMostBytes));
  }
  return policy;
}

/// Returns the policy for each bottleneck beyond the port.
std::vector<RegulationPolicy> beyond_policies_of(const PortQueueConfig& config,
                                                 PortQueue::Setup setup) {
  std::vector<RegulationPolicy> policies;
  for (const auto& beyond : config.regulation.window.beyond) {
    setup.drain_rate = beyond.rate;
    policies.push_back(policy_of(config, setup));
  }
  return policies;
}

MarkerPlace place_of(const PortQueue::Setup& setup) noexcept {
  return {.packet_time = setup.packet_time, .seed = setup.seed, .entity = setup.entity};
}

}  // namespace

PortQueue::PortQueue(const PortQueueConfig& config, const Setup& setup)
    : queue_({config.queue.limit_packets, config.queue.limit_bytes}),
      marker_(config.marker, place_of(setup)),
      buffer_(setup.buffer),
      buffer_queue_(setup.buffer_queue),
      lossless_(setup.lossless),
      number_(setup.number) {
  follow(config);
  if (config.regulation.mode != RegulationMode::kOff) regulator_.emplace(policy_of(config, setup));
  if (holds_windows(config.regulation.mode)) make_windows(config, setup);
  if (paces(config.regulation.mode))
    hold_ = std::make_unique<PaceHold>(config.queue.limit_packets,
                                       share_of(setup.drain_rate, config.regulation.pace_floor));
  if (outrider::steers(config.regulation.mode)) {
    steering_ = std::make_unique<FlowSteering>(config.regulation.max_entries);
    steer_to_ = static_cast<std::uint8_t>(config.regulation.steer_to_queue);
  }
  if (setup.tap) tap_ = std::make_unique<QueueTap>(*setup.tap);
  follow_parts();
}

void PortQueue::make_windows(const PortQueueConfig& config, const Setup& setup) {
  const WindowPolicy& policy = config.regulation.window;
  window_ = std::make_unique<QueueWindow>(policy, config.regulation.max_entries, setup.drain_rate,
                                          setup.rate_layer);
  if (!policy.beyond.empty())
    beyond_ = std::make_unique<RemoteBottlenecks>(policy.beyond, beyond_policies_of(config, setup),
                                                  setup.rate_layer);
}

/// Returns whether the marker or a regulated threshold judges packets at that end of the queue.
bool PortQueue::judges_at(MarkAt at) const noexcept {
  return marker_.judges(at) || (marks_low_ && mark_at_ == at);
}

/// Derives from the configuration what is needed for every packet.
void PortQueue::follow(const PortQueueConfig& config) noexcept {
  const RegulationMode mode = config.regulation.mode;
  listens_ = mode != RegulationMode::kOff;
  window_alone_ = mode == RegulationMode::kWindow;
  marks_low_ = marks(mode);
  accounts_ = buffer_ != nullptr || lossless_ != nullptr;
  shares_room_ = accounts_ || paces(mode);
  mark_at_ = config.marker.at;
  judges_at_enqueue_ = judges_at(MarkAt::kEnqueue);
  judges_at_dequeue_ = judges_at(MarkAt::kDequeue);
  drops_not_ect_ = not_ect_of(config.marker) == NotEct::kDrop;
  spare_ddl_ = config.regulation.spare_ddl;
  initial_threshold_packets_ = config.marker.threshold_packets;
  measures_lead_ = holds_windows(mode) && measures_lead(config.regulation);
  standing_packets_ = standing_packets(config.queue, config.marker);
}

/// Derives the same from the parts that exist now.
void PortQueue::follow_parts() noexcept {
  has_regulator_ = regulator_.has_value();
  empty_passes_ = !judges_at_dequeue_ && marker_.passes_first();
  plain_ = hold_ == nullptr && tap_ == nullptr && !accounts_;
}

QueueChange PortQueue::prepare(const PortQueueConfig& from, const PortQueueConfig& to,
                               const Setup& setup, bool new_rate) const {
  const std::uint32_t limit = to.queue.limit_packets;
  const RegulationPolicy& policy = to.regulation;
  QueueChange change{.config = to};
  change.config.regulation = policy_of(to, setup);
  if (beyond_) change.beyond = beyond_policies_of(to, setup);
  if (limit > queue_.slots()) change.queue.emplace(Queue::Limits{limit, to.queue.limit_bytes});
  if (!same_settings(from.marker, to.marker) || new_rate)
    change.marker.emplace(to.marker, place_of(setup));
  if (policy.mode != RegulationMode::kOff && !regulator_)
    change.regulator.emplace(change.config.regulation);
  const bool other_hold = hold_ == nullptr || new_rate || limit != from.queue.limit_packets ||
                          policy.pace_floor != from.regulation.pace_floor;
  if (paces(policy.mode) && other_hold) {
    // Held packets were admitted under the old limit, so all of them must fit.
    const auto slots = std::max(limit, static_cast<std::uint32_t>(queue_.slots()));
    change.hold = std::make_unique<PaceHold>(slots, share_of(setup.drain_rate, policy.pace_floor));
  }
  return change;
}

void PortQueue::apply(QueueChange& change, Time now) noexcept {
  settle(now);
  if (change.queue) {
    change.queue->take_all(queue_);
    std::swap(queue_, *change.queue);
  }
  queue_.change({change.config.queue.limit_packets, change.config.queue.limit_bytes});
  if (change.marker) std::swap(marker_, *change.marker);
  change_regulation(change, now);
  follow(change.config);
  follow_parts();
}

void PortQueue::change_regulation(QueueChange& change, Time now) noexcept {
  const RegulationPolicy& policy = change.config.regulation;
  if (change.regulator) std::swap(regulator_, change.regulator);
  else if (regulator_ && policy.mode == RegulationMode::kOff) regulator_->withdraw_all(now);
  else if (regulator_) regulator_->change_policy(policy, now);
  if (beyond_) beyond_->change_policies(change.beyond, now);
  if (paces(policy.mode)) {
    if (change.hold == nullptr) return;
    if (hold_ != nullptr) change.hold->take_over(*hold_);
    else change.hold->resume(paced_);
    std::swap(hold_, change.hold);
  } else if (hold_ != nullptr) {
    let_in(now, std::nullopt);
    paced_ = hold_->counters();
    std::swap(hold_, change.hold);
  }
}

void PortQueue::hear_payload(const PacketMeta& m, Time now) noexcept {
  regulator_->on_payload(m.flow, m.sequence, m.payload_bytes, ends_stream(m), now,
                         m.notes.source_accepted);
}

void PortQueue::hear_elsewhere(Packet& packet, bool same_port, Time now) noexcept {
  if (!has_regulator_) return;
  const PacketMeta& m = meta(packet);
  if (beyond_ && beyond_->on_arrival(packet, now)) return;
  if (regulator_->concerns(m.flow, now)) hear_payload(m, now);
  if (window_ && same_port)  // the verdict is on background, and this is none
    static_cast<void>(window_->on_arrival(packet, occupancy(), threshold_of_windows(now), now));
}

void PortQueue::show_to_window(Packet& packet, Time now) noexcept {
  if (beyond_ && show_beyond(packet, now)) [[unlikely]]
    return;
  set_treatment(meta(packet),
                window_->on_arrival(packet, occupancy(), threshold_of_windows(now), now));
}

bool PortQueue::show_beyond(Packet& packet, Time now) noexcept {
  const auto treatment = beyond_->on_arrival(packet, now);
  if (treatment) set_treatment(meta(packet), *treatment);
  return treatment.has_value();
}

/// What is measured holds for this START and for what comes later. While windows are held or open
/// again, what was measured before them holds on.
void PortQueue::measure_lead(std::uint16_t h_packets, Time now) noexcept {
  if (const auto measured = window_->lead(h_packets, standing_packets_, now))
    regulator_->set_lead(measured->lead);
}

std::optional<Duration> PortQueue::lead_for(const FlowKey& flow, Time now) noexcept {
  if (!measures_lead_ || regulator_->standing_of(flow, 0, now) == Regulator::Standing::kNone)
    return std::nullopt;
  return regulator_->lead();
}

/// Nothing announces a predicted burst, so the lead of the next one is measured here.
void PortQueue::tell_window(const Regulator::BegunBurst& burst, Time now) noexcept {
  if (burst.predicted && measures_lead_)
    if (const auto& h = regulator_->threshold(now)) measure_lead(*h, now);
  if (burst.predicted) window_->on_prediction(burst.flow.destination_address, burst.bytes, now);
  else window_->on_start(burst.flow, burst.sequence, burst.bytes, now);
}

void PortQueue::follow(const FlowKey& flow, const PortQueue& target, Time now) noexcept {
  steering_->follow(flow, queue_, target.queue_, [this, now](const FlowKey& other) {
    return regulator_->standing_of(other, 0, now) != Regulator::Standing::kNone;
  });
}

bool PortQueue::steers(const PacketMeta& m, const PortQueue& target, Time now) noexcept {
  const bool of_burst =
      regulator_->standing_of(m.flow, m.sequence, now) == Regulator::Standing::kOfBurst;
  const bool moves = steering_->moves(m.flow, of_burst, queue_, target.queue_);
  if (of_burst && m.payload_bytes > 0) hear_payload(m, now);
  return moves;
}

std::optional<DropReason> PortQueue::refusal(const Packet& packet) const noexcept {
  const std::uint32_t frame_bytes = meta(packet).frame_bytes;
  const std::uint32_t held = hold_ != nullptr ? hold_->packets() : 0;
  const std::uint64_t held_bytes = hold_ != nullptr ? hold_->bytes() : 0;
  if (discards_) return DropReason::kPauseWatchdog;
  if (const auto refused = queue_.refuses(frame_bytes, held, held_bytes)) return refused;
  if (lossless_ != nullptr && lossless_->holds(packet, number_))
    return lossless_->admits(packet, number_) ? std::nullopt : std::optional(DropReason::kHeadroom);
  if (buffer_ == nullptr) return std::nullopt;
  const BufferVerdict verdict = buffer_->admits(buffer_queue_, frame_bytes);
  if (verdict == BufferVerdict::kOverShare) return DropReason::kOverShare;
  if (verdict == BufferVerdict::kFull) return DropReason::kBufferFull;
  return std::nullopt;
}

void PortQueue::charge(const Packet& packet, Time now) noexcept {
  if (lossless_ != nullptr && lossless_->holds(packet, number_))
    lossless_->charge(packet, number_, now);
  else if (buffer_ != nullptr) buffer_->charge(buffer_queue_, meta(packet).frame_bytes);
}

void PortQueue::discharge(const Queue::Item& item, Time now) noexcept {
  if (lossless_ != nullptr && lossless_->holds(*item.packet, number_))
    lossless_->release(*item.packet, number_, now);
  else if (buffer_ != nullptr) buffer_->release(buffer_queue_, item.frame_bytes);
}

bool PortQueue::find_room(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  auto refused = refusal(*packet);
  while (refused && hold_ != nullptr && !hold_->empty() &&
         m.traffic_class != TrafficClass::kBackground) {
    const Queue::Item latest = hold_->push_out();
    if (accounts_) discharge(latest, now);
    drop(latest.packet, *refused);
    refused = refusal(*packet);
  }
  if (refused) drop(packet, *refused);
  return !refused;
}

void PortQueue::discard(bool all, Time now) noexcept {
  discards_ = all;
  const auto drop_item = [&](const Queue::Item& item) {
    if (accounts_) discharge(item, now);
    drop(item.packet, DropReason::kPauseWatchdog);
  };
  while (all && !queue_.empty()) drop_item(queue_.pop());
  while (all && hold_ != nullptr && !hold_->empty()) drop_item(hold_->push_out());
}

/// Lets held packets into the queue, in order, as far as the target, the floor or the end of
/// regulation allow.
void PortQueue::let_in(Time now, std::optional<std::uint16_t> target) noexcept {
  for (;;) {
    const Queue::Item item = hold_->release_next(queue_.occupancy_packets(), target, now);
    if (item.packet == nullptr) return;
    queue_.put(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class);
  }
}

std::uint32_t PortQueue::background_threshold(Time now) noexcept {
  const std::uint32_t own = marker_.threshold_packets(TrafficClass::kBackground);
  if (!regulator_ || steering_) return own;
  const auto& regulated = regulator_->threshold(now);
  return regulated ? std::min<std::uint32_t>(*regulated, own) : own;
}

/// Returns whether the regulated threshold marks a packet that the marker let pass.
bool PortQueue::regulated_mark(const Packet& packet, Time now) noexcept {
  const TrafficClass c = meta(packet).traffic_class;
  if (window_) [[unlikely]] {
    const WindowTreatment treatment = treatment_of(meta(packet));
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

void PortQueue::judge_low(Packet& packet, Time now) noexcept {
  if (regulated_mark(packet, now)) mark(packet, MarkReason::kRegulatedThreshold);
}

bool PortQueue::pass_dequeue(const Queue::Item& item, Time now) noexcept {
  const MarkVerdict own =
      marker_.at_dequeue(item.traffic_class, now - item.enqueued_at, occupancy(), now);
  if (own != MarkVerdict::kPass) return act_on(own, item.packet);
  if (marks_low_ && mark_at_ == MarkAt::kDequeue) judge_low(*item.packet, now);
  return true;
}

/// Applies the verdict of the queue's own marker. Regulation alone never drops a packet: Not-ECT
/// packets pass it.
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
  if (window_ && treatment_of(meta(*packet)) == WindowTreatment::kHeld) {
    window_->note_spared_mark();
    return true;
  }
  mark(*packet, MarkReason::kMarker);
  return true;
}

/// Sets CE; no other function does. It never sets CE on Not-ECT packets, and does not count
/// packets that have it already.
void PortQueue::mark(Packet& packet, MarkReason reason) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.ip_offset == 0) return;  // ARP
  if (mark_ce(packet, m.ip_offset)) ++counters_.marks[m.traffic_class][reason];
  else counters_.marks_not_ect[m.traffic_class] += !is_ect(ecn_at(packet, m.ip_offset));
}

bool PortQueue::begins_record(const Packet& packet) noexcept {
  return tap_->begins(burst_of(packet));
}

void PortQueue::record_arrival(const Packet& packet, const QueueState* before, Time now) noexcept {
  QueueState found{queue_.occupancy_by_class(), queue_.occupancy_packets(),
                   queue_.occupancy_bytes()};
  if (before != nullptr) found = *before;
  if (hold_ != nullptr && meta(packet).traffic_class == TrafficClass::kBackground) {
    found.packets[TrafficClass::kBackground] += hold_->packets();
    found.total_packets += hold_->packets();
    found.bytes += hold_->bytes();
  }
  tap_->on_arrival(burst_of(packet), found, now);
}

void PortQueue::record_departure(const Queue::Item& item, Time start, Time finish) noexcept {
  tap_->on_departure({.identity = burst_of(*item.packet),
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
    const bool lossless = lossless_ != nullptr && lossless_->holds(*item.packet, number_);
    if (buffer_ != nullptr && !lossless) buffer_->release(buffer_queue_, item.frame_bytes);
    release(item.packet);
  }
  while (hold_ != nullptr && !hold_->empty()) release(hold_->pop());
}

void PortQueue::settle(Time now) noexcept {
  if (regulator_) static_cast<void>(regulator_->threshold(now));
  if (beyond_) beyond_->settle(now);
}

QueueCounts PortQueue::counts(Time now) const {
  QueueCounts n;
  n.initial_threshold_packets = initial_threshold_packets_;
  n.background_threshold_packets = marker_.threshold_packets(TrafficClass::kBackground);
  base_of<QueueCounters>(n) = counters_;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    n.resident.values[c] = queue_.occupancy_by_class().values[c];
  n.resident_bytes = queue_.occupancy_bytes();
  if (hold_ != nullptr) {
    n.held_packets = hold_->packets();
    n.resident[TrafficClass::kBackground] += hold_->packets();
    n.resident_bytes += hold_->bytes();
  }
  n.pace = hold_ != nullptr ? hold_->counters() : paced_;
  if (window_) n.window = window_->counters();
  if (beyond_) n.beyond = beyond_->counts();
  if (steering_) n.steer = steering_->counters();
  if (regulator_) count_regulation(n, now);
  return n;
}

void PortQueue::count_regulation(QueueCounts& n, Time now) const {
  base_of<RegulatorCounters>(n) = regulator_->counters();
  n.predictor = regulator_->prediction_counters();
  n.entries_left = regulator_->live_entries();
  n.regulated_ns = regulator_->regulated(now).count();
  if (steering_) return;
  if (const auto regulated = regulator_->threshold_at(now))
    n.background_threshold_packets =
        std::min<std::uint32_t>(*regulated, n.background_threshold_packets);
}

}  // namespace outrider::sw
