#include "switch/egress/egress_port.h"

#include <algorithm>
#include <cassert>

#include "switch/config/same_settings.h"
#include "switch/egress/parts/attribution.h"
#include "switch/egress/parts/departure_observers.h"

namespace outrider::sw {

namespace {

/// Returns the setup of the marker of queue `q`. @param queues  of the port
MarkerSetup setup_of(const SwitchPortConfig& config, const FixedArray<PortQueue>& queues,
                     std::size_t q, std::uint64_t seed, SourceId port) {
  return {
      .packet_time = Serializer(config.drain_rate, config.rate_layer).duration_of(kFullFrameBytes),
      .seed = seed,
      .entity = port * kMaxQueuesPerPort + static_cast<std::uint32_t>(q),
      .higher = queues.begin(),
      .higher_queues = static_cast<std::uint32_t>(q)};
}

/// Releases all that waits in a queue, and what its parts keep.
void release_all(PortQueue& queue) noexcept {
  while (!queue.fifo().empty()) {
    const PortQueue::Item item = queue.fifo().pop();
    queue.parts().each([&](QueuePart& part) { part.forget(item); });
    release(item.packet);
  }
  queue.parts().each([](QueuePart& part) { part.flush(); });
}

}  // namespace

EgressPort::EgressPort(const SwitchPortConfig& config, EventLoop& loop, const Limits& limits)
    : queues_(queues_of(config).size()),
      transmitter_(config, loop, queues_),
      impairments_(config, limits.seed, transmitter_.id()),
      seed_(limits.seed),
      name_(config.name) {
  for (const auto& queue : queues_of(config))
    queues_.emplace_back(queue, policy_of(queue, config.drain_rate, limits.signers),
                         setup_of(config, queues_, queues_.size(), seed_, transmitter_.id()),
                         config.record ? limits.tap.bursts : 0);
  if (PortPauses::needed(config))
    pauses_ = std::make_unique<PortPauses>(config, limits.number, *limits.lossless, impairments_,
                                           *this, loop);
  if (PortGrants::needed(config)) grants_ = std::make_unique<PortGrants>(config, *this, loop);
  parts_ = add_parts({.config = config,
                      .limits = limits,
                      .queues = queues_,
                      .transmitter = transmitter_,
                      .grants = grants_.get(),
                      .impairments = impairments_,
                      .subscribers = subscribers_,
                      .pauses = pauses_.get()});
  // ACKs may pass once a packet is there: choose() of every queue sees to that.
  assert(!grants_ || std::ranges::all_of(queues_, [](const PortQueue& queue) {
    return queue.parts().act_at(Step::kChoose);
  }));
  returns_.emplace(queues_, transmitter_);
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

void EgressPort::enqueue(Packet* packet, bool signal, Time now) noexcept {
  transmitter_.serve_until(now);
  if (signal) [[unlikely]]
    return take_signal(packet, now);
  PortQueue& queue = queues_[meta(*packet).queue];
  if (queue.parts().act_at(Step::kChoose)) [[unlikely]]
    return choose(packet, now);
  enter(queue, packet, now);
}

inline void EgressPort::enter(PortQueue& queue, Packet* packet, Time now) noexcept {
  if (!queue.arrive(packet, false, now)) [[unlikely]]
    return;
  if (transmitter_.idle(now) && queue.parts().may_pass()) [[likely]]
    return transmitter_.pass(packet, queue, now);
  queue_up(queue, packet, now);
}

[[gnu::flatten]] void EgressPort::queue_up(PortQueue& queue, Packet* packet, Time now) noexcept {
  if (queue.enqueue(packet, now))
    transmitter_.on_queued(transmitter_.order().bit_of(queue), queue, now);
}

/// Lets parts choose the packet's queue, and ACKs of STARTs pass that may once it is there.
void EgressPort::choose(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  queues_[m.queue].parts().each(Step::kChoose, [&](QueuePart& part) { part.choose(*packet, now); });
  enter(queues_[m.queue], packet, now);
  if (grants_) grants_->after_packet(now);
}

/// Signals are counted with queue 0.
void EgressPort::take_signal(Packet* packet, Time now) noexcept {
  if (queues_[0].arrive(packet, true, now)) transmitter_.take_signal(packet, now);
  if (grants_) grants_->after_packet(now);
}

std::unique_ptr<PortChange> EgressPort::prepare(const SwitchPortConfig& from,
                                                const SwitchPortConfig& to,
                                                const SignerShares& signers,
                                                bool new_signers) const {
  if (!new_signers && same_settings(from, to)) return nullptr;
  auto change = std::make_unique<PortChange>(
      PortChange{.drain_rate = to.drain_rate, .rate_layer = to.rate_layer});
  const bool new_rate = from.drain_rate != to.drain_rate || from.rate_layer != to.rate_layer;
  const auto was = queues_of(from);
  const auto is = queues_of(to);
  assert(was.size() == queues_.size() && is.size() == queues_.size());
  bool new_shares = from.scheduler != to.scheduler;
  for (std::size_t q = 0; q < is.size(); ++q) {
    const RegulationPolicy policy = policy_of(is[q], to.drain_rate, signers);
    change->queues.push_back(
        prepare_change(queues_[q], {from, to, was[q], is[q], policy, queues_[q].fifo().slots()},
                       setup_of(to, queues_, q, seed_, transmitter_.id()), new_rate));
    new_shares |= !same_settings(was[q].queue, is[q].queue);
  }
  if (new_shares) change->scheduler.emplace(scheduler_of(to));
  return change;
}

void EgressPort::apply(PortChange& change, Time now) noexcept {
  transmitter_.serve_until(now);
  transmitter_.output().change(change.drain_rate, change.rate_layer);
  if (change.scheduler) transmitter_.order().change(*change.scheduler);
  for (std::size_t q = 0; q < queues_.size(); ++q) apply_change(change.queues[q], queues_[q], now);
}

void EgressPort::flush() noexcept {
  for (auto& queue : queues_) release_all(queue);
  transmitter_.flush();
}

}  // namespace outrider::sw
