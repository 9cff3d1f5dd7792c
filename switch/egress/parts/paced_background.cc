#include "switch/egress/parts/paced_background.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace outrider::sw {
namespace {

struct PaceChange final : PartChange {
  std::unique_ptr<PacingQueue> pacing;  ///< pacing begins, or its limit or rate changes
};

BitRate floor_of(BitRate rate, const PortQueueConfig& config) {
  return {static_cast<std::uint64_t>(static_cast<double>(rate.bits_per_second) *
                                     config.regulation.pace_floor)};
}

}  // namespace

PacedBackground::PacedBackground(const PortQueueConfig& config, BitRate rate, PortQueue& queue)
    : queue_(queue) {
  if (paces(config.regulation.mode))
    pacing_ = std::make_unique<PacingQueue>(config.queue.limit_packets, floor_of(rate, config));
}

/// A burst was announced for the room that paced background takes.
PacketKeeper::Item PacedBackground::give_up(const PacketMeta& needs_room) noexcept {
  return needs_room.traffic_class == TrafficClass::kBackground ? Item{} : take_out();
}

bool PacedBackground::keep(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  if (m.traffic_class != TrafficClass::kBackground) return false;
  const auto& target = queue_.regulation().threshold(now);
  let_in_below(target, now);
  const bool waits_its_turn = !pacing_->empty() && !is_bare_ack(m);
  if (!waits_its_turn &&
      pacing_->admits(m.frame_bytes, queue_.fifo().occupancy_packets(), target, now))
    return false;
  pacing_->push(packet, now, m.frame_bytes);
  return true;
}

/// Lets paced packets into the queue, in order, as far as the target, the floor or the end of
/// regulation allow.
void PacedBackground::let_in_below(std::optional<std::uint16_t> target, Time now) noexcept {
  for (;;) {
    const auto item = pacing_->release_next(queue_.fifo().occupancy_packets(), target, now);
    assert(item.packet != nullptr || pacing_->empty() || !queue_.fifo().empty());
    if (item.packet == nullptr) return;
    queue_.fifo().put(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class);
  }
}

void PacedBackground::flush() noexcept {
  while (pacing_ != nullptr && !pacing_->empty()) release(pacing_->push_out().packet);
}

void PacedBackground::count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const {
  to.pace = pacing_ != nullptr ? pacing_->counters() : ended_;
  if (pacing_ == nullptr) return;
  to.held_packets = pacing_->packets();
  to.resident[TrafficClass::kBackground] += pacing_->packets();
  to.resident_bytes += pacing_->bytes();
}

std::unique_ptr<PartChange> PacedBackground::prepare(const PartReload& reload) const {
  auto change = std::make_unique<PaceChange>();
  const PortQueueConfig& from = reload.queue_from;
  const PortQueueConfig& to = reload.queue_to;
  const std::uint32_t limit = to.queue.limit_packets;
  const bool other = pacing_ == nullptr || reload.from.drain_rate != reload.to.drain_rate ||
                     reload.from.rate_layer != reload.to.rate_layer ||
                     limit != from.queue.limit_packets ||
                     to.regulation.pace_floor != from.regulation.pace_floor;
  if (paces(to.regulation.mode) && other) {
    // Paced packets were admitted under the old limit, so all of them must fit.
    const auto slots = std::max(limit, static_cast<std::uint32_t>(reload.slots));
    change->pacing = std::make_unique<PacingQueue>(slots, floor_of(reload.to.drain_rate, to));
  }
  return change;
}

void PacedBackground::apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept {
  auto& made = static_cast<PaceChange*>(change)->pacing;
  if (paces(to.regulation.mode)) {
    if (made == nullptr) return;
    if (pacing_ != nullptr) made->take_over(*pacing_);
    else made->resume(ended_);
  } else if (pacing_ == nullptr) {
    return;
  } else {
    let_in_below(std::nullopt, now);
    ended_ = pacing_->counters();
  }
  std::swap(pacing_, made);
}

}  // namespace outrider::sw
