#include "switch/egress/port_transmitter.h"

#include <optional>

#include "switch/egress/port_pauses.h"

namespace outrider::sw {

namespace {

constexpr std::uint32_t kSignalQueuePackets = 256;  // a START of each worker of the largest job

}  // namespace

PortTransmitter::PortTransmitter(const SwitchPortConfig& config, EventLoop& loop,
                                 FixedArray<PortQueue>& queues)
    : output_(config.drain_rate, config.rate_layer),
      order_(config, queues),
      queues_(queues.begin()),
      loop_(loop),
      id_(loop.add(*this)),
      signals_({kSignalQueuePackets, std::nullopt}) {}

void PortTransmitter::take_signal(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  if (signals_.refuses(m.frame_bytes))
    return queues_[0].outcomes().drop(packet, DropReason::kSignalQueue);
  signals_.push(packet, now, m.frame_bytes, m.traffic_class);
  on_queued(ServiceOrder::kSignals, queues_[0], now);
}

void PortTransmitter::on_queued(std::uint32_t bit, PortQueue& queue, Time now) noexcept {
  const bool was_backlogged = order_.backlogged();
  order_.join(bit);
  if (!was_backlogged) {
    if (output_.free_at() <= now) {
      static_cast<void>(depart(now));
      return;
    }
    if (!output_.polled()) loop_.schedule(id_, output_.free_at());
  }
  queue.parts().each(Step::kWait, [now](QueuePart& part) { part.on_waiting(now); });
}

void PortTransmitter::serve_due(Time now) noexcept {
  do output_.hand_over();
  while (depart(output_.free_at()) && output_.free_at() <= now);
  if (!output_.polled()) loop_.schedule(id_, order_.backlogged() ? output_.free_at() : kNever);
}

/// Begins to send the next packet, signals first. @return false if there is none, also because
/// markers dropped the last ones at dequeue
bool PortTransmitter::depart(Time start) noexcept {
  while (order_.backlogged()) {
    const bool is_signal = order_.signals_wait();
    const unsigned q = is_signal ? 0 : order_.pick(start);
    PortQueue& queue = queues_[q];
    assert(is_signal || (!queue.fifo().empty() && order_.is_open(q)));
    const Item item = is_signal ? pop_first(start) : queue.dequeue(start);
    if (is_signal ? signals_.empty() : queue.fifo().empty())
      order_.leave(is_signal ? ServiceOrder::kSignals : 1U << q);
    if (item.packet == nullptr) [[unlikely]]
      continue;
    if (!is_signal) order_.served(q, item.frame_bytes);
    send(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class, queue, start);
    return true;
  }
  return false;
}

/// Takes out the pause frame that waits, or else the first signal. Pause frames are counted as
/// signals. @return an item without a packet if there was no buffer, or the link is down
PortTransmitter::Item PortTransmitter::pop_first(Time start) noexcept {
  if (!order_.pause_frame_waits()) return signals_.pop();
  order_.leave(ServiceOrder::kPauseFrame);
  Packet* frame = pauses_->make_frame(start);
  if (frame == nullptr) return {};
  QueueOutcomes& outcomes = queues_[0].outcomes();
  outcomes.arrived(TrafficClass::kSignal);
  if (pauses_->link_is_down()) {
    outcomes.drop(frame, DropReason::kInjectedLoss);
    return {};
  }
  return {frame, start, kPauseFrameBytes, TrafficClass::kSignal};
}

void PortTransmitter::send_pause_frame(PortPauses& from, Time now) noexcept {
  serve_until(now);
  assert(!order_.pause_frame_waits());
  pauses_ = &from;
  order_.join(ServiceOrder::kPauseFrame);
  resume(now);
}

void PortTransmitter::stop_queues(QueueMask stopped, Time now) noexcept {
  serve_until(now);
  order_.stop(stopped);
  resume(now);
}

/// Sends if the output is free, as something may wait now that did not.
void PortTransmitter::resume(Time now) noexcept {
  if (output_.free_at() <= now) static_cast<void>(depart(now));
  loop_.schedule(id_, order_.backlogged() ? output_.free_at() : kNever);
}

Time PortTransmitter::fire(Time now) noexcept {
  if (output_.free_at() <= now) static_cast<void>(depart(output_.free_at()));
  return order_.backlogged() ? output_.free_at() : kNever;
}

/// Fetches what the departure of the first packet reads.
void PortTransmitter::prepare() const noexcept {
  const PortQueue& first = queues_[0];
  __builtin_prefetch(&first.outcomes().counters(), 1);
  if (!first.fifo().empty()) fetch(*first.fifo().head().packet);
  output_.prepare();
}

void PortTransmitter::flush() noexcept {
  while (!signals_.empty()) release(signals_.pop().packet);
  output_.flush();
  order_.clear();
}

}  // namespace outrider::sw
