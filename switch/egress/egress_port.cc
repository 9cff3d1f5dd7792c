#include "switch/egress/egress_port.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "switch/config/same_settings.h"
#include "switch/egress/parts/attribution.h"
#include "switch/egress/parts/departure_observers.h"
#include "switch/egress/port_report.h"

namespace outrider::sw {

namespace {

/// Returns the setup of the marker of queue `q`.
MarkerSetup setup_of(const SwitchPortConfig& config, std::size_t q, std::uint64_t seed,
                     SourceId port) {
  return {
      .packet_time = Serializer(config.drain_rate, config.rate_layer).duration_of(kFullFrameBytes),
      .seed = seed,
      .entity = port * kMaxQueuesPerPort + static_cast<std::uint32_t>(q)};
}

/// Releases all that waits in a queue.
void release_all(PortQueue& queue) noexcept {
  while (!queue.fifo().empty()) {
    const PortQueue::Item item = queue.fifo().pop();
    queue.parts().each([&](QueuePart& part) { part.forget(item); });
    release(item.packet);
  }
  PacketKeeper* const keeper = queue.parts().keeper();
  if (keeper == nullptr) return;
  while (Packet* packet = keeper->take_out().packet) release(packet);
}

}  // namespace

EgressPort::EgressPort(const SwitchPortConfig& config, EventLoop& loop, const Limits& limits)
    : queues_(queues_of(config).size()),
      transmitter_(config, loop, queues_),
      impairments_(config, limits.seed, transmitter_.id()),
      seed_(limits.seed),
      name_(config.name) {
  const auto configs = queues_of(config);
  for (const auto& queue : configs)
    queues_.emplace_back(queue, policy_of(queue, config.drain_rate, limits.signers),
                         setup_of(config, queues_.size(), seed_, transmitter_.id()));
  if (PortPauses::needed(config))
    pauses_ = std::make_unique<PortPauses>(config, limits.number, *limits.lossless, impairments_,
                                           *this, loop);
  if (PortGrants::needed(config)) grants_ = std::make_unique<PortGrants>(config, *this, loop);
  const PortParts shared{grants_.get(), &impairments_, &subscribers_, pauses_.get()};
  for (std::size_t q = 0; q < configs.size(); ++q)
    add_parts(config, configs[q], q, limits, shared, queues_, transmitter_, parts_);
  // Answers may pass once a packet is there: choose() of every queue sees to that.
  assert(!grants_ || std::ranges::all_of(queues_, [](const PortQueue& queue) {
    return queue.parts().act_at(Step::kChoose);
  }));
  for (const auto& queue : queues_) holds_windows_ |= queue.parts().act_at(Step::kReturn);
}

void EgressPort::capture(PortCapture& to) {
  for (std::size_t q = 0; q < queues_.size(); ++q)
    queues_[q].parts().add(*parts_.emplace_back(
        std::make_unique<CapturedDepartures>(to, static_cast<std::uint8_t>(q))));
}

void EgressPort::attribute(std::uint32_t owners) {
  QueuePart& part = *parts_.emplace_back(std::make_unique<Attribution>(owners));
  for (auto& queue : queues_) queue.parts().add(part);
}

void EgressPort::subscribe(PortQueue& queue, bool same_port) {
  subscribers_.add(queue, same_port);
  for (auto& own : queues_) own.parts().renew();
}

std::unique_ptr<PortChange> EgressPort::prepare(const SwitchPortConfig& from,
                                                const SwitchPortConfig& to,
                                                const SignerShares& signers,
                                                bool new_signers) const {
  if (!new_signers && same_settings(from, to)) return nullptr;
  auto change = std::make_unique<PortChange>(
      PortChange{.drain_rate = to.drain_rate, .rate_layer = to.rate_layer, .loss = to.loss});
  const bool new_rate = from.drain_rate != to.drain_rate || from.rate_layer != to.rate_layer;
  const auto was = queues_of(from);
  const auto is = queues_of(to);
  assert(was.size() == queues_.size() && is.size() == queues_.size());
  bool new_shares = from.scheduler != to.scheduler;
  for (std::size_t q = 0; q < is.size(); ++q) {
    const RegulationPolicy policy = policy_of(is[q], to.drain_rate, signers);
    change->queues.push_back(
        prepare_change(queues_[q], {from, to, was[q], is[q], policy, queues_[q].fifo().slots()},
                       setup_of(to, q, seed_, transmitter_.id()), new_rate));
    new_shares |= !same_settings(was[q].queue, is[q].queue);
  }
  if (new_shares) change->scheduler.emplace(scheduler_of(to));
  return change;
}

void EgressPort::apply(PortChange& change, Time now) noexcept {
  transmitter_.serve_until(now);
  transmitter_.output().change(change.drain_rate, change.rate_layer);
  if (change.scheduler) transmitter_.order().change(*change.scheduler);
  impairments_.change(change.loss);
  for (std::size_t q = 0; q < queues_.size(); ++q) apply_change(change.queues[q], queues_[q], now);
  if (grants_) grants_->change_rate(change.drain_rate);
  if (pauses_) pauses_->change_rate(change.drain_rate);
}

std::optional<Duration> EgressPort::lead_for(const FlowKey& flow, Time now) noexcept {
  std::optional<Duration> longest;
  for (auto& queue : queues_)
    queue.parts().each(Step::kReturn, [&](QueuePart& part) {
      if (const auto lead = part.lead_for(flow, now))
        longest = std::max(longest.value_or(*lead), *lead);
    });
  return longest;
}

/// Has parts choose the packet's queue, and answers to STARTs pass that may once it is there.
void EgressPort::choose(Packet* packet, Time now) noexcept {
  PacketMeta& m = meta(*packet);
  queues_[m.queue].parts().each(Step::kChoose, [&](QueuePart& part) { part.choose(*packet, now); });
  enter(queues_[m.queue], packet, now);
  if (grants_) grants_->after_packet(now);
}

inline void EgressPort::enter(PortQueue& queue, Packet* packet, Time now) noexcept {
  if (queue.arrive(packet, false, now)) [[likely]]
    transmitter_.take(packet, queue, now);
}

void EgressPort::enqueue(Packet* packet, bool signal, Time now) noexcept {
  transmitter_.serve_until(now);
  if (signal) [[unlikely]]
    return take_signal(packet, now);
  PortQueue& queue = queues_[meta(*packet).queue];
  if (queue.parts().act_at(Step::kChoose)) [[unlikely]]
    return choose(packet, now);
  enter(queue, packet, now);
}

/// Signals are counted with queue 0.
void EgressPort::take_signal(Packet* packet, Time now) noexcept {
  if (queues_[0].arrive(packet, true, now)) transmitter_.take_signal(packet, now);
  if (grants_) grants_->after_packet(now);
}

std::uint64_t EgressPort::resident() const noexcept {
  std::uint64_t packets =
      transmitter_.signals().occupancy_packets() + (grants_ ? grants_->held() : 0);
  for (const auto& queue : queues_) packets += queue.waiting().packets;
  return packets;
}

void EgressPort::flush() noexcept {
  for (auto& queue : queues_) release_all(queue);
  if (grants_) grants_->flush();
  transmitter_.flush();
}

void EgressPort::publish(PortCells& to, Time now) noexcept {
  to.port.write({.at_ns = now.time_since_epoch().count(),
                 .in_service = transmitter_.output().in_service(),
                 .signals_waiting = transmitter_.signals().occupancy_packets(),
                 .drain_rate = transmitter_.output().rate(),
                 .overhead_bytes = transmitter_.output().overhead_bytes()});
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    settle(queues_[q], now);
    to.queues[q].write(counts(q, now));
  }
}

/// Returns the counters of a queue. Signals, which wait in their own queue, count with queue 0.
QueueCounts EgressPort::counts(std::size_t queue, Time now) const {
  QueueCounts n = counts_of(queues_[queue], now);
  n.drain_bits_per_second = transmitter_.output().rate().bits_per_second;
  if (grants_) grants_->add_counts(queue, n);
  if (pauses_) pauses_->add_counts(queue, n, now);
  if (queue != 0) return n;
  const auto& signals = transmitter_.signals();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    n.resident.values[c] += signals.occupancy_by_class().values[c];
  n.resident_bytes += signals.occupancy_bytes();
  return n;
}

void EgressPort::report(std::vector<QueueReport>& reports, Time now) const {
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    QueueReport& r = reports.emplace_back();
    r.port_name = name_;
    r.queue = static_cast<std::uint32_t>(q);
    queues_[q].parts().each([&](const QueuePart& part) { part.report(r, now); });
    static_cast<QueueCounts&>(r) = counts(q, now);
  }
}

}  // namespace outrider::sw
