#include "switch/egress/port_grants.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "switch/egress/egress_port.h"

namespace outrider::sw {
namespace {

constexpr double kNsPerSecond = 1e9;

struct GrantChange final : PartChange {
  double bytes_per_ns = 0;  ///< of the port
};

double bytes_per_ns(BitRate rate) {
  return static_cast<double>(rate.bits_per_second) / 8 / kNsPerSecond;
}

/// Returns the queue's limit [bytes].
std::uint64_t limit_of(const QueueConfig& queue) {
  const std::uint64_t packets = std::uint64_t{queue.limit_packets} * kFullFrameBytes;
  return queue.limit_bytes ? std::min(packets, *queue.limit_bytes) : packets;
}

/// Returns the queue's setup with what follows from other settings.
BurstAdmission::Setup setup_of(const PortQueueConfig& queue, BitRate rate) {
  const RegulationPolicy& policy = queue.regulation;
  const std::uint64_t limit = limit_of(queue.queue);
  const double drain_ns = static_cast<double>(limit) / bytes_per_ns(rate);
  return {.policy = policy.grant,
          .budget_bytes = policy.grant.budget_bytes.value_or(
              std::max<std::uint64_t>(limit / 2, kFullFrameBytes)),
          .idle = policy.grant.idle.value_or(policy.idle_end +
                                             Duration(static_cast<Duration::rep>(drain_ns))),
          .expiry = policy.expiry,
          .max_entries = policy.max_entries,
          .max_per_sender = max_entries_per_sender_of(policy),
          .bytes_per_ns = bytes_per_ns(rate),
          .frame_bytes = kFullFrameBytes};
}

std::optional<std::uint32_t> steered_to(const RegulationPolicy& policy) {
  return steers(policy.mode) ? std::optional(policy.steer_to_queue) : std::nullopt;
}

}  // namespace

bool PortGrants::needed(const SwitchPortConfig& port) {
  return std::ranges::any_of(
      queues_of(port), [](const PortQueueConfig& queue) { return grants(queue.regulation.grant); });
}

PortGrants::PortGrants(const SwitchPortConfig& config, EgressPort& port, EventLoop& loop)
    : port_(port), loop_(loop), id_(loop.add(*this)) {
  for (const auto& queue : queues_of(config))
    queues_.push_back(grants(queue.regulation.grant)
                          ? std::make_unique<Queue>(setup_of(queue, config.drain_rate),
                                                    steered_to(queue.regulation))
                          : nullptr);
}

/// Returns the bytes of bursts that wait in queue `q`, or where its bursts are steered to.
std::uint64_t PortGrants::queued_bytes(std::size_t q) const noexcept {
  const auto waiting = [this](std::size_t of) {
    return port_.queues()[of].fifo().occupancy_by_class()[TrafficClass::kDdl];
  };
  std::uint64_t packets = waiting(q);
  if (const auto target = queues_[q]->steers_to) packets += waiting(*target);
  return packets * kFullFrameBytes;
}

void PortGrants::choose(Packet& packet, Time now) noexcept {
  locate(packet);
  const PacketMeta& m = meta(packet);
  Queue* const queue = queues_[m.queue].get();
  if (m.payload_bytes == 0 || queue == nullptr || !queue->admission.concerns(m.flow)) return;
  queue->admission.on_payload(m.flow, m.sequence, m.payload_bytes, ends_stream(m), now);
}

void PortGrants::after_packet(Time now) noexcept {
  if (!port_.transmitter().output().polled()) pass(now);
}

bool PortGrants::defers(std::uint8_t q, const StartSignal& start, Time now) noexcept {
  Queue* const queue = queues_[q].get();
  if (queue == nullptr) return false;
  const auto [verdict, replaced] = queue->admission.on_start(start, now);
  if (replaced) sink_->drop_ack(std::exchange(queue->acks[*replaced].packet, nullptr));
  return verdict != BurstAdmission::StartVerdict::kRefused;
}

bool PortGrants::take(const StartAck& ack, Packet* packet, std::uint16_t out, Time now) noexcept {
  port_.transmitter().serve_until(now);
  const bool taken = judge(ack, packet, out, now);
  after_packet(now);
  return taken;
}

std::uint32_t PortGrants::poll(Time now) noexcept {
  port_.transmitter().serve_until(now);
  return pass(now);
}

bool PortGrants::judge(const StartAck& ack, Packet* packet, std::uint16_t out, Time now) noexcept {
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    Queue* const queue = queues_[q].get();
    if (queue == nullptr || !queue->admission.concerns(ack.flow)) continue;
    const auto [verdict, slot] =
        queue->admission.on_ack(ack.flow, ack.sequence, queued_bytes(q), now);
    switch (verdict) {
      case BurstAdmission::AckVerdict::kPass:
        continue;
      case BurstAdmission::AckVerdict::kGranted:
        arm(q, slot, now);
        return false;
      case BurstAdmission::AckVerdict::kWait:
        assert(queue->acks[slot].packet == nullptr);
        queue->acks[slot] = {packet, out};
        return true;
      case BurstAdmission::AckVerdict::kDrop:
        sink_->drop_ack(packet);
        return true;
    }
  }
  return false;
}

/// A burst that is granted is regulated from now on, in the mode of its queue.
void PortGrants::arm(std::size_t q, std::uint32_t slot, Time now) noexcept {
  port_.arm(static_cast<std::uint8_t>(q), queues_[q]->admission.start_of(slot), now);
}

std::uint32_t PortGrants::pass(Time now) noexcept {
  if (passing_) return 0;
  passing_ = true;
  std::uint32_t passed = 0;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    Queue* const queue = queues_[q].get();
    if (queue == nullptr) continue;
    while (passed < kMostPassed) {
      const auto release = queue->admission.take(queued_bytes(q), now);
      if (!release) break;
      if (release->granted) arm(q, release->slot, now);
      const auto ack = std::exchange(queue->acks[release->slot], WaitingAck{});
      assert(ack.packet != nullptr);
      sink_->pass_ack(ack.packet, ack.out, now);
      ++passed;
    }
  }
  passing_ = false;
  if (port_.transmitter().output().polled()) return passed;
  Time next = kNever;
  for (std::size_t q = 0; q < queues_.size(); ++q)
    if (queues_[q]) next = std::min(next, queues_[q]->admission.next_event(queued_bytes(q), now));
  loop_.schedule(id_, next);
  return passed;
}

Time PortGrants::fire(Time now) noexcept {
  port_.transmitter().serve_until(now);
  pass(now);
  return loop_.scheduled(id_);
}

std::uint64_t PortGrants::keeps(std::size_t queue) const noexcept {
  return queues_[queue] ? queues_[queue]->admission.waiting() : 0;
}

void PortGrants::count(QueueCounts& to, std::size_t queue, Time /*now*/) const {
  if (!queues_[queue]) return;
  const BurstAdmission& admission = queues_[queue]->admission;
  to.grant = admission.counters();
  to.held_answers = admission.waiting();
  to.announced_bursts = admission.bursts();
  to.granted_bytes = admission.in_flight();
}

std::unique_ptr<PartChange> PortGrants::prepare(const PartReload& reload) const {
  if (reload.from.drain_rate == reload.to.drain_rate) return nullptr;
  auto change = std::make_unique<GrantChange>();
  change->bytes_per_ns = bytes_per_ns(reload.to.drain_rate);
  return change;
}

void PortGrants::apply(PartChange* change, const PortQueueConfig& /*to*/, Time /*now*/) noexcept {
  if (change == nullptr) return;
  for (auto& queue : queues_)
    if (queue) queue->admission.change_rate(static_cast<GrantChange*>(change)->bytes_per_ns);
}

void PortGrants::flush() noexcept {
  if (!port_.transmitter().output().polled()) loop_.schedule(id_, kNever);
  for (auto& queue : queues_) {
    if (!queue) continue;
    for (WaitingAck& ack : queue->acks)
      if (ack.packet != nullptr) release(std::exchange(ack.packet, nullptr));
  }
}

}  // namespace outrider::sw
