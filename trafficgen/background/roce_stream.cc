#include "trafficgen/background/roce_stream.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/roce/queue_pair_ends.h"

namespace outrider::tg {

namespace {

/// Most that a queue pair is given at once. It is no less than the largest window, so that the
/// next piece comes before the last one has left.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 28;
/// Two pieces are handed over at most, beside one that has partly been acknowledged.
constexpr std::uint32_t kRequests = 4;

QueuePairEnds ends_of(const RoceStream::Setup& setup) {
  const std::uint32_t mtu = std::min(setup.from->setup().mtu_bytes, setup.to->setup().mtu_bytes);
  QueuePairEnds ends = make_queue_pair_ends(*setup.from, *setup.to, mtu, setup.seed);
  ends.near.requests = ends.far.requests = kRequests;
  return ends;
}

}  // namespace

RoceStream::RoceStream(const RoceConfig& roce, const Setup& setup, Client& client)
    : RoceStream(roce, setup, client, ends_of(setup)) {}

RoceStream::RoceStream(const RoceConfig& roce, const Setup& setup, Client& client,
                       const QueuePairEnds& ends)
    : client_(client),
      from_(*setup.from),
      sender_(*this, roce, ends.near),
      receiver_(*this, roce, ends.far) {
  setup.from->add_endpoint(sender_.pair, 0, setup.priority);
  setup.to->add_endpoint(receiver_.pair, 0, setup.priority);
}

void RoceStream::send(std::uint64_t bytes, Time now) noexcept {
  assert(bytes > 0 && left_bytes_ == 0 && sender_.pair.requester().requests().idle());
  left_bytes_ = bytes;
  sender_.pair.requester().note_burst();
  hand_over(now);
  from_.changed(sender_.pair, now);
}

void RoceStream::hand_over(Time now) noexcept {
  Requester& requester = sender_.pair.requester();
  if (left_bytes_ == 0 ||
      requester.requests().appended_bytes() - requester.requests().acknowledged_bytes() >=
          kPieceBytes)
    return;
  const std::uint64_t bytes = std::min(left_bytes_, kPieceBytes);
  left_bytes_ -= bytes;
  requester.append(bytes, std::nullopt, now);
}

void RoceStream::restart() noexcept {
  left_bytes_ = 0;
  sender_.pair.abandon_to(receiver_.pair);
}

void RoceStream::received(QueuePair& by, Time now) noexcept {
  const std::uint64_t total = by.responder().delivered_bytes();
  client_.on_delivered(*this, total - std::exchange(delivered_bytes_, total), now);
}

void RoceStream::acknowledged(Time now) noexcept {
  hand_over(now);
  if (left_bytes_ == 0 && sender_.pair.requester().requests().idle()) client_.on_idle(*this, now);
}

RoceCounters RoceStream::counters() const noexcept {
  RoceCounters sum = sender_.pair.counters();
  sum += receiver_.pair.counters();
  sum.queue_pairs = 1;  // of the sender
  return sum;
}

}  // namespace outrider::tg
