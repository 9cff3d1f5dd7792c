#include "switch/egress/port_pauses.h"

#include <algorithm>

#include "common/core/pause_time.h"
#include "common/dpdk/packet/known_headers.h"
#include "switch/egress/egress_port.h"

namespace outrider::sw {

namespace {

struct PauseChange final : PartChange {
  BitRate rate{};
};

/// Drops all that waits in a queue.
void discard(PortQueue& queue, DropReason reason, Time now) noexcept {
  const auto drop = [&](const PortQueue::Item& item) {
    queue.parts().exit(item, now);
    queue.outcomes().drop(item.packet, reason);
  };
  while (!queue.fifo().empty()) drop(queue.fifo().pop());
  PacketKeeper* const keeper = queue.parts().keeper();
  if (keeper == nullptr) return;
  for (auto item = keeper->take_out(); item.packet != nullptr; item = keeper->take_out())
    drop(item);
}

}  // namespace

bool PortPauses::needed(const SwitchPortConfig& config) {
  return std::ranges::any_of(
      queues_of(config), [](const PortQueueConfig& queue) { return queue.queue.lossless.on(); });
}

PortPauses::PortPauses(const SwitchPortConfig& config, std::uint16_t number, LosslessBuffer& buffer,
                       const Impairments& impairments, EgressPort& port, EventLoop& loop)
    : number_(number),
      buffer_(buffer),
      impairments_(impairments),
      port_(port),
      loop_(loop),
      id_(loop.add(*this)),
      rate_(config.drain_rate) {
  const auto queues = queues_of(config);
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const LosslessConfig& lossless = queues[q].queue.lossless;
    if (!lossless.on()) continue;
    Queue& queue = queues_.emplace_back(Queue{.number = static_cast<std::uint8_t>(q),
                                              .config = lossless,
                                              .gate = PauseGate(lossless.watchdog),
                                              .spans = std::make_unique<Spans>()});
    queue.spans->stopped.make_room(kMostSpans);
    queue.spans->stops_neighbour.make_room(kMostSpans);
    queue.gate.record_in(queue.spans->stopped);
  }
  buffer.join(number, *this);
}

Packet* PortPauses::make_frame(Time now) noexcept {
  waits_ = false;
  Packet* packet = rte_pktmbuf_alloc(&buffer_.pool());
  if (packet == nullptr) {
    retry_at_ = now + kRetry;
    loop_.schedule(id_, retry_at_);
    return nullptr;
  }
  PauseFrame frame;
  for (Queue& queue : queues_) {
    if ((news_ >> queue.number & 1) == 0) continue;
    PauseAccount& account = buffer_.account(number_, queue.number);
    frame.set(queue.config.priority,
              account.pauses() ? queue.config.pause_quanta : std::uint16_t{0});
    ++(account.pauses() ? queue.counters.pauses_sent : queue.counters.resumes_sent);
    note_told(*queue.spans, account.pauses(), now);
    account.on_sent(now);
  }
  news_ = 0;
  ++frames_;
  packet->data_len = kPauseFrameBytes;
  packet->pkt_len = kPauseFrameBytes;
  forget_headers(*packet);
  meta(*packet) = {};
  meta(*packet).frame_bytes = kPauseFrameBytes;
  meta(*packet).traffic_class = TrafficClass::kSignal;
  encode(frame, buffer_.mac(), buffer(*packet));
  loop_.schedule(id_, next(now));
  return packet;
}

/// Notes what the neighbour is told.
void PortPauses::note_told(Spans& spans, bool pauses, Time now) noexcept {
  if (pauses && !spans.stops_since) spans.stops_since = now;
  if (pauses || !spans.stops_since) return;
  spans.stops_neighbour.add(*spans.stops_since, now);
  spans.stops_since.reset();
}

void PortPauses::report(QueueReport& to, Time now) const {
  for (const Queue& queue : queues_) {
    if (queue.number != to.queue) continue;
    to.stopped = queue.spans->stopped.until(now, queue.gate.since());
    to.stops_neighbour = queue.spans->stops_neighbour.until(now, queue.spans->stops_since);
  }
}

void PortPauses::on_frame(const PauseFrame& frame, Time now) noexcept {
  for (Queue& queue : queues_) {
    if (!frame.concerns(queue.config.priority)) continue;
    const std::uint16_t quanta = frame.quanta[queue.config.priority];
    ++(quanta != 0 ? queue.counters.pauses_received : queue.counters.resumes_received);
    queue.gate.on_frame(pause_time(quanta, rate_), now, behind(queue, now));
  }
  obey(now);
  loop_.schedule(id_, next(now));
}

/// Stops and starts the queues as their gates say.
void PortPauses::obey(Time now) noexcept {
  QueueMask closed = 0;
  for (Queue& queue : queues_) {
    queue.gate.settle(now, behind(queue, now));
    if (queue.gate.closed()) closed = static_cast<QueueMask>(closed | 1U << queue.number);
    if (queue.gate.broken_out())
      discard(port_.queues()[queue.number], DropReason::kPauseWatchdog, now);
  }
  if (closed == closed_) return;
  closed_ = closed;
  port_.transmitter().stop_queues(closed, now);
}

BehindGate PortPauses::behind(const Queue& queue, Time now) const noexcept {
  const PortQueue& waits = port_.queues()[queue.number];
  return {.waits_since = waits.fifo().empty() ? now : waits.fifo().head().enqueued_at,
          .left = sum(waits.outcomes().counters().transmitted)};
}

std::optional<DropReason> PortPauses::refuses(const Packet& packet) const noexcept {
  for (const Queue& queue : queues_)
    if (queue.number == meta(packet).queue && queue.gate.broken_out())
      return DropReason::kPauseWatchdog;
  return std::nullopt;
}

/// Ends a pause that was too long.
void PortPauses::watch(Queue& queue, Time now) noexcept {
  const BehindGate waits = behind(queue, now);
  queue.gate.settle(now, waits);
  if (queue.gate.too_long_at(waits.waits_since) > now) return;
  queue.gate.break_out();
  ++queue.counters.watchdog_releases;
}

Time PortPauses::fire(Time now) noexcept {
  for (Queue& queue : queues_) {
    watch(queue, now);
    if (buffer_.account(number_, queue.number).renew_at() <= now)
      news_ = static_cast<QueueMask>(news_ | 1U << queue.number);
  }
  obey(now);
  retry_at_ = kNever;
  if (news_ != 0 && !waits_) {
    waits_ = true;
    port_.transmitter().send_pause_frame(*this, now);
  }
  return next(now);
}

/// Returns when something is due that does not come by a call. A frame that waits for the
/// transmitter needs no time: what it renews is due again once it has left.
Time PortPauses::next(Time now) noexcept {
  const bool untold = news_ != 0 && !waits_ && retry_at_ == kNever;
  Time at = untold ? now : retry_at_;
  for (const Queue& queue : queues_) {
    at = std::min({at, queue.gate.until(), queue.gate.too_long_at(behind(queue, now).waits_since)});
    if ((news_ >> queue.number & 1) == 0)
      at = std::min(at, buffer_.account(number_, queue.number).renew_at());
  }
  return std::max(at, now);
}

void PortPauses::count(QueueCounts& to, std::size_t queue, Time now) const {
  if (queue == 0) to.pause_frames = frames_;
  for (const Queue& own : queues_) {
    if (own.number != queue) continue;
    const PauseAccount& account = buffer_.account(number_, own.number);
    to.pause = own.counters;
    to.pause.held_bytes = account.occupancy_bytes();
    to.pause.most_held_bytes = account.max_occupancy_bytes();
    to.pause.paused_ns = static_cast<std::uint64_t>(own.gate.paused_for(now).count());
  }
}

std::unique_ptr<PartChange> PortPauses::prepare(const PartReload& reload) const {
  if (reload.from.drain_rate == reload.to.drain_rate) return nullptr;
  auto change = std::make_unique<PauseChange>();
  change->rate = reload.to.drain_rate;
  return change;
}

void PortPauses::apply(PartChange* change, const PortQueueConfig& /*to*/, Time /*now*/) noexcept {
  if (change == nullptr) return;
  rate_ = static_cast<PauseChange*>(change)->rate;
  for (const Queue& queue : queues_)
    buffer_.account(number_, queue.number)
        .change_pause(pause_time(queue.config.pause_quanta, rate_));
}

}  // namespace outrider::sw
