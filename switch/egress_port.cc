#include "switch/egress_port.h"

#include <cassert>

#include "common/core/step_marker.h"
#include "common/dpdk/packet_attribution.h"
#include "switch/header_rewrite.h"

namespace outrider {

namespace {
constexpr std::uint32_t kSignalQueuePackets = 256;  // one START a worker of the largest job

const BurstIdentity* identity_of(const Packet& packet) noexcept {
  const PacketMeta& m = meta(packet);
  return m.has_identity ? &m.identity : nullptr;
}
}  // namespace

EgressPort::EgressPort(const SwitchPortConfig& config, EventLoop& loop, const Limits& limits)
    : config_(config),
      loop_(loop),
      id_(loop.add(*this)),
      serializer_(config.drain_rate, config.rate_layer),
      queue_({config.queue.limit_packets, config.queue.limit_bytes}),
      signals_({kSignalQueuePackets, std::nullopt}),
      regulator_(config.regulation),
      loss_(limits.seed, id_, RandomPurpose::kImpairment),
      loss_below_(static_cast<std::uint64_t>(config.loss * 0x1p32)) {
  const std::uint32_t k = config.marker.threshold_packets;
  initial_threshold_[TrafficClass::kBackground] = k;
  initial_threshold_[TrafficClass::kSignal] = k;
  initial_threshold_[TrafficClass::kDdl] = config.marker.ddl_threshold_packets.value_or(k);
  if (config.record) tap_ = std::make_unique<QueueTap>(limits.tap);
}

void EgressPort::on_start(const FlowKey& flow, std::uint32_t sequence,
                          std::uint16_t threshold_packets, Time now) noexcept {
  if (config_.regulation.mode == RegulationMode::kOff) return;
  regulator_.on_start(flow, sequence, threshold_packets, now);
}

void EgressPort::enqueue(Packet* packet, const ParsedPacket& parsed, bool signal,
                         Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  const TrafficClass c = m.traffic_class;
  ++arrived_[c];
  serve_until(now);
  if (!signal && loses_next()) [[unlikely]]
    return drop(packet, c, DropReason::kInjectedLoss);
  if (c == TrafficClass::kDdl && m.payload_bytes > 0)
    regulator_.on_payload(parsed.flow, parsed.sequence, m.payload_bytes,
                          (parsed.tcp_flags & kTcpFin) != 0, now);
  if (tap_)
    tap_->on_arrival(
        identity_of(*packet),
        {queue_.occupancy_by_class(), queue_.occupancy_packets(), queue_.occupancy_bytes()}, now);
  Queue& queue = signal ? signals_ : queue_;
  if (const auto refused = queue.refuses(m.frame_bytes))
    return drop(packet, c, signal ? DropReason::kSignalQueue : *refused);
  if (!signal && config_.marker.at == MarkAt::kEnqueue) mark_if_due(*packet, c, now);
  if (service_) begin_wait(*packet, now);
  const bool was_backlogged = backlogged();
  queue.push({packet, now, m.frame_bytes, c});
  if (!was_backlogged && serializer_.free_at() <= now) {
    depart(now);
  } else {
    if (!was_backlogged) loop_.schedule(id_, serializer_.free_at());
    if (tap_)
      tap_->on_occupancy(queue_.occupancy_packets(),
                         threshold_for(TrafficClass::kBackground, now).packets, now);
  }
}

EgressPort::Threshold EgressPort::threshold_for(TrafficClass c, Time now) noexcept {
  const std::uint32_t initial = initial_threshold_[c];
  if (c == TrafficClass::kDdl && config_.regulation.spare_ddl)
    return {initial, MarkReason::kInitialThreshold};
  const auto regulated = regulator_.threshold(now);
  if (!regulated || *regulated >= initial) return {initial, MarkReason::kInitialThreshold};
  return {*regulated, MarkReason::kRegulatedThreshold};
}

/// The judgement is the marker's and the regulator's; this is the one place that
/// acts on it and counts.
void EgressPort::mark_if_due(Packet& packet, TrafficClass c, Time now) noexcept {
  if (config_.marker.kind == MarkerKind::kTailDrop) return;
  const std::uint32_t occupancy = queue_.occupancy_packets();
  const Threshold threshold = threshold_for(c, now);
  if (judge_step(occupancy, threshold.packets) == MarkVerdict::kPass) return;
  if (meta(packet).ip_offset == 0) return;  // ARP
  auto& ip = header_at<Ipv4Header>(packet, meta(packet).ip_offset);
  const Ecn ecn = ecn_of(ip.tos);
  if (!is_ect(ecn) || ecn == Ecn::kCe) return;
  set_ce(ip);
  const bool by_regulation =
      threshold.reason == MarkReason::kRegulatedThreshold && occupancy < initial_threshold_[c];
  ++marks_[c][static_cast<std::size_t>(by_regulation ? MarkReason::kRegulatedThreshold
                                                     : MarkReason::kInitialThreshold)];
}

void EgressPort::drop(Packet* packet, TrafficClass c, DropReason reason) noexcept {
  ++drops_[c][static_cast<std::size_t>(reason)];
  release(packet);
}

/// Only data carries its own ledger on the way: what a pure ACK meets is part of
/// the silence that its arrival ends.
void EgressPort::begin_wait(Packet& packet, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.owner == 0 || m.payload_bytes == 0) return;
  PacketAttribution& a = attribution_of(packet);
  if (!a.ledger.valid()) return;
  a.ledger.advance(now, BurstTime::kSerialisation);  // and propagation
  a.queued = service_->read(m.owner, now);
}

void EgressPort::end_wait(Packet& packet, Time start) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.owner == 0 || m.payload_bytes == 0) return;
  PacketAttribution& a = attribution_of(packet);
  if (a.ledger.valid()) a.ledger.wait(start, a.queued, service_->read(m.owner, start));
}

/// Lets everything leave that would have left by `now`.
void EgressPort::serve_until(Time now) noexcept {
  if (!backlogged()) return;
  while (backlogged() && serializer_.free_at() <= now) depart(serializer_.free_at());
  loop_.schedule(id_, backlogged() ? serializer_.free_at() : kNever);
}

void EgressPort::depart(Time start) noexcept {
  const bool is_signal = !signals_.empty();
  const Queue::Item item = is_signal ? signals_.pop() : queue_.pop();
  if (!is_signal && config_.marker.at == MarkAt::kDequeue)
    mark_if_due(*item.packet, item.traffic_class, start);
  if (service_) end_wait(*item.packet, start);
  const Time finish = serializer_.transmit(item.frame_bytes, start);
  if (service_) service_->on_service(item.traffic_class, meta(*item.packet).owner, start, finish);
  ++transmitted_[item.traffic_class];
  transmitted_bytes_[item.traffic_class] += item.frame_bytes;
  if (tap_)
    tap_->on_departure({.identity = identity_of(*item.packet),
                        .traffic_class = item.traffic_class,
                        .frame_bytes = item.frame_bytes,
                        .sojourn = start - item.enqueued_at,
                        .start = start,
                        .finish = finish,
                        .left_packets = queue_.occupancy_packets()});
  assert(out_ != nullptr);
  out_->push(item.packet, finish);
}

Time EgressPort::fire(Time now) noexcept {
  if (backlogged() && serializer_.free_at() <= now) depart(serializer_.free_at());
  return backlogged() ? serializer_.free_at() : kNever;
}

void EgressPort::flush() noexcept {
  while (!signals_.empty()) release(signals_.pop().packet);
  while (!queue_.empty()) release(queue_.pop().packet);
}

void EgressPort::add_to(SwitchLive& live) const noexcept {
  live.resident += resident();
  live.regulated += regulator_.live_entries();
  for (std::size_t c = 0; c < kTrafficClasses; ++c) {
    live.transmitted += transmitted_.values[c];
    live.transmitted_bytes += transmitted_bytes_.values[c];
    for (std::size_t i = 0; i < kDropReasons; ++i) live.drops[i] += drops_.values[c][i];
    for (std::size_t i = 0; i < kMarkReasons; ++i) live.marks[i] += marks_.values[c][i];
  }
}

QueueReport EgressPort::report(Time now) const {
  QueueReport r;
  r.port_name = config_.name;
  r.drain_bits_per_second = config_.drain_rate.bits_per_second;
  r.initial_threshold_packets = config_.marker.threshold_packets;
  r.arrived = arrived_;
  r.transmitted = transmitted_;
  r.transmitted_bytes = transmitted_bytes_;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    r.resident.values[c] =
        queue_.occupancy_by_class().values[c] + signals_.occupancy_by_class().values[c];
  r.drops = drops_;
  r.marks = marks_;
  if (tap_) tap_->fill(r);
  const RegulatorCounters& n = regulator_.counters();
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
  r.entries_left = regulator_.live_entries();
  r.regulated_ns = regulator_.regulated(now).count();
  return r;
}

}  // namespace outrider
