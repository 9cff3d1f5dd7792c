#include "switch/egress/port_transmitter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "switch/egress/port_pauses.h"

namespace outrider::sw {

namespace {

constexpr std::uint32_t kSignalQueuePackets = 256;  // a START of each worker of the largest job

}  // namespace

Scheduler scheduler_of(const SwitchPortConfig& config) {
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
  return Scheduler(params);
}

PortTransmitter::PortTransmitter(const SwitchPortConfig& config, EventLoop& loop,
                                 FixedArray<PortQueue>& queues)
    : serializer_(config.drain_rate, config.rate_layer),
      several_queues_(queues_of(config).size() > 1),
      queues_(queues.begin()),
      queue_count_(queues_of(config).size()),
      scheduler_(scheduler_of(config)),
      loop_(loop),
      id_(loop.add(*this)),
      signals_({kSignalQueuePackets, std::nullopt}) {}

/// Tells the scheduler that a queue sends a packet while the others are empty.
void PortTransmitter::pick_only(const PortQueue& queue, std::uint32_t frame_bytes,
                                Time now) noexcept {
  static_cast<void>(scheduler_.pick(
      static_cast<QueueMask>(1U << number_of(queue)),
      [frame_bytes](std::uint32_t) { return frame_bytes; }, now));
}

void PortTransmitter::queue_up(Packet* packet, PortQueue& queue, Time now) noexcept {
  if (queue.enqueue(packet, now)) wait(1U << number_of(queue), queue, now);
}

void PortTransmitter::take_signal(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  if (signals_.refuses(m.frame_bytes)) return queues_[0].outcomes().drop(packet, DropReason::kSignalQueue);
  signals_.push(packet, now, m.frame_bytes, m.traffic_class);
  wait(kSignalBit, queues_[0], now);
}

/// Sees to a packet that has been queued: it leaves when its turn comes, perhaps now.
void PortTransmitter::wait(std::uint32_t bit, PortQueue& queue, Time now) noexcept {
  const bool was_backlogged = backlogged();
  backlog_ |= bit & open_;
  if (!was_backlogged) {
    if (serializer_.free_at() <= now) {
      static_cast<void>(depart(now));
      return;
    }
    if (!polled()) loop_.schedule(id_, serializer_.free_at());
  }
  queue.parts().each(Step::kWait, [now](QueuePart& part) { part.on_waiting(now); });
}

void PortTransmitter::serve_due(Time now) noexcept {
  do hand_over();
  while (depart(serializer_.free_at()) && serializer_.free_at() <= now);
  if (!polled()) loop_.schedule(id_, backlogged() ? serializer_.free_at() : kNever);
}

/// Returns the queue that the scheduler names. @pre no signal waits, but a queue does
unsigned PortTransmitter::pick(Time now) noexcept {
  if (!several_queues_) [[likely]]
    return 0;
  const auto head_bytes = [this](std::uint32_t q) { return queues_[q].fifo().head().frame_bytes; };
  return scheduler_.pick(static_cast<QueueMask>(backlog_), head_bytes, now);
}

/// Begins to send the next packet, signals first. @return false if there is none, also because
/// markers dropped the last ones at dequeue
bool PortTransmitter::depart(Time start) noexcept {
  while (backlogged()) {
    const bool is_signal = backlog_ >= kSignalBit;
    const unsigned q = is_signal ? 0 : pick(start);
    PortQueue& queue = queues_[q];
    const Item item = is_signal ? pop_first(start) : queue.dequeue(start);
    if (is_signal ? signals_.empty() : queue.fifo().empty())
      backlog_ &= ~(is_signal ? kSignalBit : 1U << q);
    if (item.packet == nullptr) [[unlikely]]
      continue;
    if (!is_signal && several_queues_) scheduler_.served(q, item.frame_bytes);
    send(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class, queue, start);
    return true;
  }
  return false;
}

/// Takes out the pause frame that waits, or else the first signal. Pause frames are counted as
/// signals. @return an item without a packet if there was no buffer, or the link is down
PortTransmitter::Item PortTransmitter::pop_first(Time start) noexcept {
  if ((backlog_ & kPauseBit) == 0) return signals_.pop();
  backlog_ &= ~kPauseBit;
  Packet* frame = pauses_->make_frame(start);
  if (frame == nullptr) return {};
  queues_[0].outcomes().arrived(TrafficClass::kSignal);
  if (pauses_->link_is_down()) {
    queues_[0].outcomes().drop(frame, DropReason::kInjectedLoss);
    return {};
  }
  return {frame, start, kPauseFrameBytes, TrafficClass::kSignal};
}

void PortTransmitter::send_pause_frame(PortPauses& from, Time now) noexcept {
  serve_until(now);
  pauses_ = &from;
  backlog_ |= kPauseBit;
  resume(now);
}

void PortTransmitter::stop_queues(QueueMask stopped, Time now) noexcept {
  serve_until(now);
  open_ = ~std::uint32_t{stopped};
  backlog_ &= open_;
  for (std::size_t q = 0; q < queue_count_; ++q)
    if (!queues_[q].fifo().empty()) backlog_ |= 1U << q & open_;
  resume(now);
}

/// Sends if the transmitter is free, as something may wait now that did not.
void PortTransmitter::resume(Time now) noexcept {
  if (serializer_.free_at() <= now) static_cast<void>(depart(now));
  loop_.schedule(id_, backlogged() ? serializer_.free_at() : kNever);
}

/// Hands the packet in service, which has left, to the device. @pre serializer_.free_at() has
/// been reached
void PortTransmitter::hand_over() noexcept {
  if (in_service_ == nullptr) return;
  device_->receive(0, in_service_, serializer_.free_at());
  in_service_ = nullptr;
  ++handed_over_;
}

Time PortTransmitter::fire(Time now) noexcept {
  if (serializer_.free_at() <= now) static_cast<void>(depart(serializer_.free_at()));
  return backlogged() ? serializer_.free_at() : kNever;
}

/// Fetches what the departure of the first packet reads.
void PortTransmitter::prepare() const noexcept {
  const PortQueue& first = queues_[0];
  __builtin_prefetch(&first.outcomes().counters(), 1);
  if (!first.fifo().empty()) fetch(*first.fifo().head().packet);
  __builtin_prefetch(out_, 1);
}

void PortTransmitter::change(BitRate rate, RateLayer layer,
                             std::optional<Scheduler>& scheduler) noexcept {
  serializer_.change(rate, layer);
  if (scheduler) std::swap(scheduler_, *scheduler);
}

QueueState PortTransmitter::ahead_of(unsigned q, std::uint32_t frame_bytes,
                                     Time now) const noexcept {
  QueueState ahead;
  Scheduler scheduler = scheduler_;
  Serializer serializer = serializer_;
  std::array<std::uint32_t, kMaxQueuesPerPort> gone{};
  auto waiting = static_cast<QueueMask>((backlog_ & (kSignalBit - 1)) | 1U << q);
  const auto is_last = [&](std::uint32_t i) {
    return gone[i] == queues_[i].fifo().occupancy_packets();
  };
  const auto head_bytes = [&](std::uint32_t i) {
    return is_last(i) ? frame_bytes : queues_[i].fifo().behind(gone[i]).frame_bytes;
  };
  for (Time at = now;;) {
    at = std::max(at, serializer.free_at());
    const std::uint32_t next = scheduler.pick(waiting, head_bytes, at);
    if (is_last(next)) return ahead;  // only in queue q
    const Item& item = queues_[next].fifo().behind(gone[next]++);
    ++ahead.packets[item.traffic_class];
    ++ahead.total_packets;
    ahead.bytes += item.frame_bytes;
    scheduler.served(next, item.frame_bytes);
    at = serializer.transmit(item.frame_bytes, at);
    if (is_last(next) && next != q) waiting &= static_cast<QueueMask>(~(1U << next));
  }
}

void PortTransmitter::flush() noexcept {
  while (!signals_.empty()) release(signals_.pop().packet);
  if (in_service_ != nullptr) release(in_service_);
  in_service_ = nullptr;
  backlog_ = 0;
}

}  // namespace outrider::sw
