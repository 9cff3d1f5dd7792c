#include "switch/egress/egress_port.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <span>
#include <utility>

#include "common/dpdk/packet_attribution.h"
#include "switch/config/config_toml.h"
#include "switch/config/same_settings.h"
#include "switch/forwarding/identify.h"

namespace outrider::sw {

namespace {

constexpr std::uint32_t kSignalQueuePackets = 256;  // a START of each worker of the largest job

Scheduler::Params scheduler_of(const SwitchPortConfig& config) {
  const auto queues = queues_of(config);
  Scheduler::Params params{.kind = config.scheduler,
                           .queues = static_cast<std::uint32_t>(queues.size())};
  std::vector<double> weights;
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const QueueConfig& queue = queues[q].queue;
    weights.push_back(queue.weight);
    if (queue.floor_rate)
      params.floors[q] = {static_cast<double>(queue.floor_rate->bits_per_second) / 8,
                          static_cast<double>(queue.floor_depth_bytes)};
  }
  params.quantum_bytes = dwrr_quanta(weights, kLargestFrameBytes);
  return params;
}

constexpr std::uint64_t kAllDraws = 1ULL << 32;

/// Converts a share to a count of draws.
std::uint64_t draws_of(double share) noexcept {
  return static_cast<std::uint64_t>(share * static_cast<double>(kAllDraws));
}

/// The setup of the port's first queue.
PortQueue::Setup setup_of(const SwitchPortConfig& config, std::uint64_t seed, SourceId port) {
  return {
      .packet_time = Serializer(config.drain_rate, config.rate_layer).duration_of(kFullFrameBytes),
      .drain_rate = config.drain_rate,
      .rate_layer = config.rate_layer,
      .seed = seed,
      .entity = port * kMaxQueuesPerPort};
}

/// The state that decides the order in which waiting packets leave a port.
struct Backlog {
  std::span<const PortQueue> queues;
  Scheduler scheduler;
  Serializer serializer;
  std::uint32_t waiting;  ///< bit q: queue q holds packets
};

/// Returns what leaves before a packet that joins queue `q` now, if nothing else arrives and no
/// marker drops: found by playing the scheduler on.
QueueState ahead_of(Backlog port, unsigned q, std::uint32_t frame_bytes, Time now) noexcept {
  QueueState ahead;
  std::array<std::uint32_t, kMaxQueuesPerPort> gone{};
  auto waiting = static_cast<QueueMask>(port.waiting | 1U << q);
  const auto is_last = [&](std::uint32_t i) {
    return gone[i] == port.queues[i].occupancy_packets();
  };
  const auto head_bytes = [&](std::uint32_t i) {
    return is_last(i) ? frame_bytes : port.queues[i].behind(gone[i]).frame_bytes;
  };
  for (Time at = now;;) {
    at = std::max(at, port.serializer.free_at());
    const std::uint32_t next = port.scheduler.pick(waiting, head_bytes, at);
    if (is_last(next)) return ahead;  // only in queue q
    const PortQueue::Queue::Item& item = port.queues[next].behind(gone[next]++);
    ++ahead.packets[item.traffic_class];
    ++ahead.total_packets;
    ahead.bytes += item.frame_bytes;
    port.scheduler.served(next, item.frame_bytes);
    at = port.serializer.transmit(item.frame_bytes, at);
    if (is_last(next) && next != q) waiting &= static_cast<QueueMask>(~(1U << next));
  }
}

/// Sends a packet of an announced burst to the queue that its own queue steers bursts to. There it
/// counts as DDL data, whatever it was classified as.
void steer(std::span<PortQueue> queues, Packet& packet, Time now) noexcept {
  PacketMeta& m = meta(packet);
  PortQueue& own = queues[m.queue];
  const auto target = own.steers_to();
  if (!target) return;
  locate(packet);
  if (!own.steers(m, queues[*target], now)) return;
  m.queue = *target;
  m.traffic_class = TrafficClass::kDdl;
}

/// Tells the scheduler that queue `q` sends a packet while the others are empty.
[[gnu::noinline]] void pick_only(Scheduler& scheduler, unsigned q, std::uint32_t frame_bytes,
                                 Time now) noexcept {
  static_cast<void>(scheduler.pick(
      static_cast<QueueMask>(1U << q), [frame_bytes](std::uint32_t) { return frame_bytes; }, now));
}

}  // namespace

EgressPort::EgressPort(const SwitchPortConfig& config, EventLoop& loop, const Limits& limits)
    : serializer_(config.drain_rate, config.rate_layer),
      scheduler_(scheduler_of(config)),
      loop_(loop),
      id_(loop.add(*this)),
      signals_({kSignalQueuePackets, std::nullopt}),
      seed_(limits.seed),
      loss_(limits.seed, id_, RandomPurpose::kImpairment),
      loss_below_(draws_of(config.loss)),
      numbered_(config.lose_packets, config.mark_packets),
      hops_(limits.hops),
      name_(config.name),
      drain_rate_(config.drain_rate),
      rate_layer_(config.rate_layer) {
  impairs_ = loss_below_ != 0 || numbered_.any();
  PortQueue::Setup setup = setup_of(config, seed_, id_);
  if (config.record) setup.tap = limits.tap;
  setup.buffer = limits.buffer;
  setup.buffer_queue = limits.first_queue;
  setup.signers = limits.signers;
  setup.lossless = limits.lossless;
  const auto configs = queues_of(config);
  several_queues_ = configs.size() > 1;
  queues_.reserve(configs.size());
  for (const auto& queue : configs) {
    queues_.emplace_back(queue, setup);
    holds_windows_ |= holds_windows(queue.regulation.mode);
    steers_ |= steers(queue.regulation.mode);
    ++setup.entity;
    ++setup.buffer_queue;
    ++setup.number;
  }
  if (PortPauses::needed(config))
    pauses_ = std::make_unique<PortPauses>(config, limits.number, *limits.lossless, *this, loop);
  if (PortGrants::needed(config)) grants_ = std::make_unique<PortGrants>(config, *this, loop);
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
  PortQueue::Setup setup = setup_of(to, seed_, id_);
  setup.signers = signers;
  bool new_shares = from.scheduler != to.scheduler;
  for (std::size_t q = 0; q < is.size(); ++q) {
    change->queues.push_back(queues_[q].prepare(was[q], is[q], setup, new_rate));
    new_shares |= !same_settings(was[q].queue, is[q].queue);
    ++setup.entity;
  }
  if (new_shares) change->scheduler.emplace(scheduler_of(to));
  return change;
}

void EgressPort::apply(PortChange& change, Time now) noexcept {
  serve_until(now);
  drain_rate_ = change.drain_rate;
  rate_layer_ = change.rate_layer;
  serializer_.change(change.drain_rate, change.rate_layer);
  loss_below_ = draws_of(change.loss);
  impairs_ = loss_below_ != 0 || numbered_.any();
  if (change.scheduler) std::swap(scheduler_, *change.scheduler);
  for (std::size_t q = 0; q < queues_.size(); ++q) queues_[q].apply(change.queues[q], now);
  if (grants_) grants_->change_rate(drain_rate_);
  if (pauses_) pauses_->change_rate(drain_rate_);
  plain_ = is_plain();
}

bool EgressPort::is_plain() const noexcept {
  return device_ != nullptr && service_ == nullptr && capture_ == nullptr && !hops_ && !impairs_ &&
         !steers_ && !tells_ && !grants_ && !pauses_ &&
         std::ranges::all_of(queues_, &PortQueue::plain);
}

/// Returns what injected loss and marks do to a packet that is no signal. Random loss draws for
/// every packet, so that the choice of lost packets does not depend on the queue.
NumberedPackets::Verdict EgressPort::impairment_of(const PacketMeta& m) noexcept {
  const auto by_number = numbered_.judge(m.payload_bytes > 0);
  return loss_below_ != 0 && loss_.next_u32() < loss_below_ ? NumberedPackets::Verdict::kLose
                                                            : by_number;
}

/// Shows a packet of a burst to the queues that it may regulate beside its own.
void EgressPort::tell_hearers(Packet& packet, Time now) noexcept {
  const PortQueue* own = &queues_[meta(packet).queue];
  for (const auto& hearer : hearers_)
    if (hearer.queue != own) hearer.queue->hear_elsewhere(packet, hearer.same_port, now);
}

void EgressPort::enqueue_any(Packet* packet, bool signal, Time now) noexcept {
  if (steers_ && !signal) [[unlikely]] {
    serve_until(now);  // what has left by now is in nobody's way
    steer(queues_, *packet, now);
  }
  const PacketMeta& m = meta(*packet);
  const unsigned q = signal ? 0 : m.queue;
  assert(q < queues_.size());
  PortQueue& queue = queues_[q];
  queue.count_arrival(m.traffic_class);
  serve_until(now);
  if (impairs_ && (!signal || loss_below_ == kAllDraws)) [[unlikely]] {
    const auto verdict = impairment_of(m);
    if (verdict == NumberedPackets::Verdict::kLose)
      return queue.drop(packet, DropReason::kInjectedLoss);
    if (verdict == NumberedPackets::Verdict::kMark) queue.mark(*packet, MarkReason::kInjected);
  }
  if (queue.records()) [[unlikely]] {
    identify(*packet);
    std::optional<QueueState> ahead;
    if (several_queues_ && queue.begins_record(*packet))
      ahead = ahead_of({queues_, scheduler_, serializer_, backlog_ & (kSignalBit - 1)}, q,
                       m.frame_bytes, now);
    queue.record_arrival(*packet, ahead ? &*ahead : nullptr, now);
  } else if (queue.regulates() || tells_) {
    locate(*packet);
  }
  if (tells_ && m.traffic_class == TrafficClass::kDdl && m.payload_bytes > 0) [[unlikely]]
    tell_hearers(*packet, now);
  if (service_) begin_wait(*packet, now);
  if (signal ? !enqueue_signal(packet, now) : !queue.enqueue(packet, now)) return;
  const bool was_backlogged = backlogged();
  backlog_ |= (signal ? kSignalBit : 1U << q) & open_;
  if (was_backlogged) {
    queue.on_waiting(now);
  } else if (serializer_.free_at() <= now) {
    static_cast<void>(depart<false>(now));
  } else {
    if (device_ == nullptr) loop_.schedule(id_, serializer_.free_at());
    queue.on_waiting(now);
  }
}

/// Tells what admits bursts of a packet, and lets pass which answers may then.
void EgressPort::enqueue_granted(Packet* packet, bool signal, Time now) noexcept {
  PacketMeta& m = meta(*packet);
  if (!signal) {
    locate(*packet);
    if (m.payload_bytes > 0) grants_->on_payload(m.queue, m, now);
  }
  enqueue_any(packet, signal, now);
  after_grants(now);
}

/// Sends a packet that need not wait without putting it in the queue.
[[gnu::always_inline]] inline void EgressPort::pass_through(Packet* packet, unsigned q,
                                                            Time now) noexcept {
  PortQueue& queue = queues_[q];
  if (!queue.pass_in(packet, now)) return;
  const PacketMeta& m = meta(*packet);
  if (several_queues_) [[unlikely]]
    pick_only(scheduler_, q, m.frame_bytes, now);
  if (!queue.pass_out(packet, now)) return;
  if (several_queues_) [[unlikely]]
    scheduler_.served(q, m.frame_bytes);
  send<true>({packet, now, m.frame_bytes, m.traffic_class}, queue, now);
}

/// Does the same as enqueue_any(), without the parts that a plain port lacks. Most packets find
/// the transmitter free. What the others need is out of line, so that these save few registers.
void EgressPort::enqueue_plain(Packet* packet, bool signal, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  const unsigned q = signal ? 0 : m.queue;
  assert(q < queues_.size());
  PortQueue& queue = queues_[q];
  queue.count_arrival(m.traffic_class);
  if (m.traffic_class == TrafficClass::kDdl && m.tcp_offset == 0 && queue.regulates()) [[unlikely]]
    identify(*packet);
  if (serializer_.free_at() <= now && backlogged()) [[unlikely]]
    serve_due<true>(now);
  if (serializer_.free_at() > now || backlogged()) return queue_up(packet, signal, now);
  hand_over();
  if (signal) [[unlikely]]
    return queue_up(packet, signal, now);
  pass_through(packet, q, now);
}

/// Puts a packet in its queue. @pre what was due has left, and the packet is counted
void EgressPort::queue_up(Packet* packet, bool signal, Time now) noexcept {
  const unsigned q = signal ? 0 : meta(*packet).queue;
  if (signal ? !enqueue_signal(packet, now) : !queues_[q].enqueue<true>(packet, now)) return;
  const bool was_backlogged = backlogged();
  backlog_ |= signal ? kSignalBit : 1U << q;
  if (!was_backlogged && serializer_.free_at() <= now) static_cast<void>(depart<true>(now));
}

/// Puts a signal in its own queue. @return false if it was dropped
bool EgressPort::enqueue_signal(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  if (signals_.refuses(m.frame_bytes)) {
    queues_[0].drop(packet, DropReason::kSignalQueue);
    return false;
  }
  signals_.push(packet, now, m.frame_bytes, m.traffic_class);
  return true;
}

/// Starts to account for the wait of a packet with an owner. Only data packets carry a ledger:
/// the wait of a pure ACK is part of the silence that its arrival ends.
void EgressPort::begin_wait(Packet& packet, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.owner == 0 || m.payload_bytes == 0) return;
  PacketAttribution& a = attribution_of(packet);
  if (!a.ledger.valid()) return;
  a.ledger.advance(now, BurstTime::kSerialisation);  // includes propagation
  a.queued = service_->read(m.owner, now);
}

void EgressPort::end_wait(Packet& packet, Time start) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.owner == 0 || m.payload_bytes == 0) return;
  PacketAttribution& a = attribution_of(packet);
  if (a.ledger.valid()) a.ledger.wait(start, a.queued, service_->read(m.owner, start));
}

template <bool kPlain>
void EgressPort::serve_due(Time now) noexcept {
  do hand_over();
  while (depart<kPlain>(serializer_.free_at()) && serializer_.free_at() <= now);
  if (device_ == nullptr) loop_.schedule(id_, backlogged() ? serializer_.free_at() : kNever);
}
template void EgressPort::serve_due<false>(Time) noexcept;  // serve_until() calls both
template void EgressPort::serve_due<true>(Time) noexcept;

/// Returns the queue that the scheduler names. @pre no signal waits, but a queue does
unsigned EgressPort::pick(Time now) noexcept {
  if (!several_queues_) [[likely]]
    return 0;
  const auto head_bytes = [this](std::uint32_t q) { return queues_[q].head_bytes(); };
  return scheduler_.pick(static_cast<QueueMask>(backlog_), head_bytes, now);
}

/// Begins to send the next packet, signals first. @return false if there is none, also because
/// markers dropped the last ones at dequeue
template <bool kPlain>
bool EgressPort::depart(Time start) noexcept {
  while (backlogged()) {
    const bool is_signal = backlog_ >= kSignalBit;
    const unsigned q = is_signal ? 0 : pick(start);
    PortQueue& queue = queues_[q];
    const Queue::Item item =
        is_signal ? kPlain ? signals_.pop() : pop_first(start) : queue.dequeue<kPlain>(start);
    if (is_signal ? signals_.empty() : queue.empty())
      backlog_ &= ~(is_signal ? kSignalBit : 1U << q);
    if (item.packet == nullptr) [[unlikely]]
      continue;
    if (!is_signal && several_queues_) scheduler_.served(q, item.frame_bytes);
    send<kPlain>(item, queue, start);
    return true;
  }
  return false;
}

/// Takes out the pause frame that waits, or else the first signal. Pause frames are counted as
/// signals. @return an item without a packet if there was no buffer, or the link is down
EgressPort::Queue::Item EgressPort::pop_first(Time start) noexcept {
  if ((backlog_ & kPauseBit) == 0) return signals_.pop();
  backlog_ &= ~kPauseBit;
  Packet* frame = pauses_->make_frame(start);
  if (frame == nullptr) return {};
  queues_[0].count_arrival(TrafficClass::kSignal);
  if (loss_below_ == kAllDraws) {
    queues_[0].drop(frame, DropReason::kInjectedLoss);
    return {};
  }
  return {frame, start, kPauseFrameBytes, TrafficClass::kSignal};
}

void EgressPort::send_pause_frame(Time now) noexcept {
  serve_until(now);
  backlog_ |= kPauseBit;
  resume(now);
}

void EgressPort::stop_queues(QueueMask stopped, Time now) noexcept {
  serve_until(now);
  open_ = ~std::uint32_t{stopped};
  backlog_ &= open_;
  for (std::size_t q = 0; q < queues_.size(); ++q)
    if (!queues_[q].empty()) backlog_ |= 1U << q & open_;
  resume(now);
}

/// Sends if the transmitter is free, as something may wait now that did not.
void EgressPort::resume(Time now) noexcept {
  if (serializer_.free_at() <= now) static_cast<void>(depart<false>(now));
  loop_.schedule(id_, backlogged() ? serializer_.free_at() : kNever);
}

template <bool kPlain>
void EgressPort::send(const Queue::Item& item, PortQueue& queue, Time start) noexcept {
  if (!kPlain && service_) end_wait(*item.packet, start);
  const Time finish = serializer_.transmit(item.frame_bytes, start);
  if (!kPlain && service_)
    service_->on_service(item.traffic_class, meta(*item.packet).owner, start, finish);
  queue.on_departure<kPlain>(item, start, finish);
  if (!kPlain && (capture_ != nullptr || hops_)) [[unlikely]]
    observe(item, queue, start);
  assert(out_ != nullptr || device_ != nullptr);
  if (kPlain || device_ != nullptr) in_service_ = item.packet;
  else out_->push(item.packet, finish);
}

/// Writes a hop record into a departing probe and copies the packet to the capture. The record
/// comes first, so that a captured probe contains it.
void EgressPort::observe(const Queue::Item& item, PortQueue& queue, Time start) noexcept {
  const auto q = static_cast<std::uint8_t>(&queue - queues_.data());
  const Duration sojourn = start - item.enqueued_at;
  if (hops_ && hops_->wants(meta(*item.packet)))
    queue.count_hop(
        hops_->record(*item.packet, q, sojourn, queue.waiting_packets(), queue.waiting_bytes()));
  if (capture_ == nullptr) return;
  CaptureNote state = queue.note(start);
  state.sojourn = sojourn;
  state.frame_bytes = item.frame_bytes;
  state.queue = q;
  state.traffic_class = item.traffic_class;
  const auto bytes = buffer(*item.packet);
  capture_->note(state, bytes.data(), bytes.size());
}

/// Hands the packet in service, which has left, to the device. @pre serializer_.free_at() has
/// been reached
void EgressPort::hand_over() noexcept {
  if (in_service_ == nullptr) return;
  device_->receive(0, in_service_, serializer_.free_at());
  in_service_ = nullptr;
  ++handed_over_;
}

Time EgressPort::fire(Time now) noexcept {
  if (serializer_.free_at() <= now) static_cast<void>(depart<false>(serializer_.free_at()));
  return backlogged() ? serializer_.free_at() : kNever;
}

std::uint64_t EgressPort::resident() const noexcept {
  std::uint64_t packets = signals_.occupancy_packets() + held_answers();
  for (const auto& queue : queues_) packets += queue.waiting_packets();
  return packets;
}

void EgressPort::flush() noexcept {
  while (!signals_.empty()) release(signals_.pop().packet);
  for (auto& queue : queues_) queue.flush();
  if (grants_) grants_->flush();
  if (in_service_ != nullptr) release(in_service_);
  in_service_ = nullptr;
  backlog_ = 0;
}

void EgressPort::publish(PortCells& to, Time now) noexcept {
  to.port.write({.at_ns = now.time_since_epoch().count(),
                 .in_service = in_service(),
                 .signals_waiting = signals_.occupancy_packets(),
                 .drain_rate = drain_rate_,
                 .overhead_bytes = rate_layer_ == RateLayer::kL1 ? kL1OverheadBytes : 0});
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    queues_[q].settle(now);
    to.queues[q].write(counts(q, now));
  }
}

/// Returns the counters of a queue. Signals, which wait in their own queue, count with queue 0.
QueueCounts EgressPort::counts(std::size_t queue, Time now) const {
  QueueCounts n = queues_[queue].counts(now);
  n.drain_bits_per_second = drain_rate_.bits_per_second;
  if (grants_) grants_->count(queue, n);
  if (pauses_) pauses_->count(queue, n, now);
  if (queue != 0) return n;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    n.resident.values[c] += signals_.occupancy_by_class().values[c];
  n.resident_bytes += signals_.occupancy_bytes();
  return n;
}

void EgressPort::report(std::vector<QueueReport>& reports, Time now) const {
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    QueueReport& r = reports.emplace_back();
    r.port_name = name_;
    r.queue = static_cast<std::uint32_t>(q);
    queues_[q].fill_records(r);
    queues_[q].fill_beyond(r, now);
    static_cast<QueueCounts&>(r) = counts(q, now);
  }
}

}  // namespace outrider::sw
