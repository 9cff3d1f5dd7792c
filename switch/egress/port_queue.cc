#include "switch/egress/port_queue.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "switch/config/config_toml.h"
#include "switch/config/same_settings.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {

namespace {

MarkerPlace place_of(const PortQueue::Setup& setup) noexcept {
  return {.packet_time = setup.packet_time, .seed = setup.seed, .entity = setup.entity};
}

}  // namespace

RegulationPolicy policy_of(const PortQueueConfig& config, BitRate rate,
                           const SignerShares& signers) {
  constexpr double kMostBytes = 1e18;
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  RegulationPolicy policy = config.regulation;
  policy.window.beyond.clear();  // no regulator needs the list, and a change must not allocate
  policy.signers = signers;
  if (!policy.max_threshold_packets)
    policy.max_threshold_packets =
        static_cast<std::uint16_t>(std::min(config.queue.limit_packets, kMost));
  if (!policy.max_burst_bytes) {
    const double seconds = std::chrono::duration<double>(policy.expiry).count();
    const double bytes = static_cast<double>(rate.bits_per_second) / 8 * seconds;
    policy.max_burst_bytes = static_cast<std::uint64_t>(std::clamp(bytes, 1.0, kMostBytes));
  }
  return policy;
}

PortQueue::PortQueue(const PortQueueConfig& config, const Setup& setup)
    : fifo_({config.queue.limit_packets, config.queue.limit_bytes}),
      regulation_(policy_of(config, setup.drain_rate, setup.signers)),
      marking_(config.marker, place_of(setup), regulation_),
      initial_threshold_packets_(config.marker.threshold_packets) {}

void PortQueue::add(QueuePart& part) noexcept {
  parts_.add(part);
  renew_parts();
}

void PortQueue::renew_parts() noexcept {
  parts_.renew();
  may_pass_ = true;
  for (const Step s : {Step::kRoom, Step::kEnter, Step::kExit})
    may_pass_ &= !parts_.act_at(s);
}

void PortQueue::on_start(const StartSignal& start, Time now) noexcept {
  if (!regulation_.listens()) return;
  if (parts_.any(Step::kStart, [&](QueuePart& part) { return part.takes_start(start, now); }))
    return;
  if (regulation_.regulator().on_start(start, now) != ArmVerdict::kArmed) return;
  parts_.each(Step::kStart, [&](QueuePart& part) { part.on_armed(start, now); });
}

void PortQueue::on_elsewhere(Packet& packet, bool same_port, Time now) noexcept {
  if (!regulation_.exists()) return;
  if (parts_.any(Step::kStart, [&](QueuePart& part) { return part.takes_elsewhere(packet, now); }))
    return;
  regulation_.on_packet(packet, now);
  parts_.each(Step::kStart, [&](QueuePart& part) { part.on_elsewhere(packet, same_port, now); });
}

bool PortQueue::show_arrival(Packet* packet, bool is_signal, Time now) noexcept {
  const Incoming incoming{*this, *packet, is_signal, now};
  return !parts_.any(Step::kArrive, [&](QueuePart& part) {
    const auto verdict = part.on_arrival(incoming);
    if (verdict == ArrivalVerdict::kMark) mark(*packet, MarkReason::kInjected);
    if (verdict == ArrivalVerdict::kLose) drop(packet, DropReason::kInjectedLoss);
    return verdict == ArrivalVerdict::kLose;
  });
}

void PortQueue::show_departure(Item item, Time start, Time finish) noexcept {
  const Transmission sent{*this, item, start, finish};
  parts_.each(Step::kDepart, [&](QueuePart& part) { part.on_departure(sent); });
}

std::optional<DropReason> PortQueue::refusal(const Packet& packet) const noexcept {
  // A queue that discards what comes is empty and has room for a frame, so its part refuses.
  const Occupancy also = parts_.kept();
  auto refused = fifo_.refuses(meta(packet).frame_bytes, also.packets, also.bytes);
  if (refused) return refused;
  parts_.any(Step::kRoom, [&](const QueuePart& part) {
    refused = part.refuses(packet);
    return refused.has_value();
  });
  return refused;
}

bool PortQueue::find_room(Packet* packet, Time now) noexcept {
  auto refused = refusal(*packet);
  while (refused) {
    if (parts_.keeper() == nullptr) break;
    const Item given_up = parts_.keeper()->give_up(meta(*packet));
    if (given_up.packet == nullptr) break;
    exit(given_up, now);
    drop(given_up.packet, *refused);
    refused = refusal(*packet);
  }
  if (refused) drop(packet, *refused);
  return !refused;
}

void PortQueue::exit(const Item& item, Time now) noexcept {
  parts_.each(Step::kExit, [&](QueuePart& part) { part.on_exit(item, now); });
}

/// A packet that regulation spares does not make the regulator do what is due.
bool PortQueue::leave(Item item, Time now) noexcept {
  const Occupancy left{fifo_.occupancy_packets(), fifo_.occupancy_bytes()};
  const bool spared = parts_.any(Step::kMark, [&](QueuePart& part) {
    return part.spares(meta(*item.packet), MarkReason::kRegulatedThreshold);
  });
  const auto judgement = marking_.dequeued(item.traffic_class, now - item.enqueued_at, left,
                                           met_by(item.traffic_class), spared, now);
  return judgement == Judgement::kPass || act_on(judgement, item.packet);
}

/// Acts on what marker and regulation say. Regulation alone never drops a packet: Not-ECT packets
/// pass it.
bool PortQueue::act_on(Judgement judgement, Packet* packet) noexcept {
  const PacketMeta& m = meta(*packet);
  if (m.ip_offset == 0) return true;  // ARP
  if (judgement == Judgement::kDrop) {
    drop(packet, DropReason::kAqmOverload);
    return false;
  }
  const bool low = judgement == Judgement::kMarkLow;
  if (!low && marking_.drops_not_ect() && !is_ect(ecn_at(*packet, m.ip_offset))) {
    drop(packet, DropReason::kAqmNotEct);
    return false;
  }
  const MarkReason reason = low ? MarkReason::kRegulatedThreshold : MarkReason::kMarker;
  if (!parts_.any(Step::kMark, [&](QueuePart& part) { return part.spares(m, reason); }))
    mark(*packet, reason);
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

Occupancy PortQueue::waiting() const noexcept {
  const Occupancy also = parts_.kept();
  return {fifo_.occupancy_packets() + also.packets, fifo_.occupancy_bytes() + also.bytes};
}

void PortQueue::discard(DropReason reason, Time now) noexcept {
  const auto drop_item = [&](const Item& item) {
    exit(item, now);
    drop(item.packet, reason);
  };
  while (!fifo_.empty()) drop_item(fifo_.pop());
  PacketKeeper* const keeper = parts_.keeper();
  if (keeper == nullptr) return;
  for (Item item = keeper->take_out(); item.packet != nullptr; item = keeper->take_out())
    drop_item(item);
}

void PortQueue::flush() noexcept {
  while (!fifo_.empty()) {
    const Item item = fifo_.pop();
    parts_.each([&](QueuePart& part) { part.forget(item); });
    release(item.packet);
  }
  PacketKeeper* const keeper = parts_.keeper();
  if (keeper == nullptr) return;
  for (Item item = keeper->take_out(); item.packet != nullptr; item = keeper->take_out())
    release(item.packet);
}

void PortQueue::settle(Time now) noexcept {
  regulation_.settle(now);
  parts_.each([now](QueuePart& part) { part.settle(now); });
}

QueueCounts PortQueue::counts(Time now) const {
  QueueCounts n;
  base_of<QueueCounters>(n) = counters_;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    n.resident.values[c] = fifo_.occupancy_by_class().values[c];
  n.resident_bytes = fifo_.occupancy_bytes();
  n.initial_threshold_packets = initial_threshold_packets_;
  n.background_threshold_packets = marking_.own_threshold(TrafficClass::kBackground);
  regulation_.count(n, now);
  parts_.each([&](const QueuePart& part) { part.count(n, now); });
  return n;
}

QueueChange PortQueue::prepare(const PartReload& reload, const Setup& setup, bool new_rate) const {
  const PortQueueConfig& to = reload.queue_to;
  const std::uint32_t limit = to.queue.limit_packets;
  QueueChange change{.config = to};
  change.config.regulation = reload.policy;
  if (limit > fifo_.slots()) change.fifo.emplace(Fifo::Limits{limit, to.queue.limit_bytes});
  if (!same_settings(reload.queue_from.marker, to.marker) || new_rate)
    change.marker.emplace(to.marker, place_of(setup));
  if (to.regulation.mode != RegulationMode::kOff && !regulation_.exists())
    change.regulator = std::make_unique<Regulator>(reload.policy);
  parts_.each([&](const QueuePart& part) { change.parts.push_back(part.prepare(reload)); });
  return change;
}

void PortQueue::apply(QueueChange& change, Time now) noexcept {
  settle(now);
  const PortQueueConfig& to = change.config;
  if (change.fifo) {
    change.fifo->take_all(fifo_);
    std::swap(fifo_, *change.fifo);
  }
  fifo_.change({to.queue.limit_packets, to.queue.limit_bytes});
  initial_threshold_packets_ = to.marker.threshold_packets;
  regulation_.change(to.regulation, change.regulator, now);
  marking_.change(to.marker, change.marker);
  assert(change.parts.size() == parts_.size());
  std::size_t i = 0;
  parts_.each([&](QueuePart& part) { part.apply(change.parts[i++].get(), to, now); });
  renew_parts();
}

}  // namespace outrider::sw
