#include "switch/egress/parts/paced_background.h"

#include <algorithm>
#include <utility>

namespace outrider::sw {
namespace {

struct PaceChange final : PartChange {
  std::unique_ptr<PaceHold> hold;  ///< pacing begins, or its limit or rate changes
};

BitRate floor_of(BitRate rate, const PortQueueConfig& config) {
  return {static_cast<std::uint64_t>(static_cast<double>(rate.bits_per_second) *
                                     config.regulation.pace_floor)};
}

}  // namespace

PacedBackground::PacedBackground(const PortQueueConfig& config, BitRate rate, PortQueue& queue)
    : queue_(queue) {
  if (paces(config.regulation.mode))
    hold_ = std::make_unique<PaceHold>(config.queue.limit_packets, floor_of(rate, config));
}

/// A burst was announced for the room that held background takes.
PacketKeeper::Item PacedBackground::give_up(const PacketMeta& needs_room) noexcept {
  return needs_room.traffic_class == TrafficClass::kBackground ? Item{} : take_out();
}

bool PacedBackground::keep(Packet* packet, Time now) noexcept {
  const PacketMeta& m = meta(*packet);
  if (m.traffic_class != TrafficClass::kBackground) return false;
  const auto& target = queue_.regulation().threshold(now);
  let_in_below(target, now);
  const bool waits_its_turn = !hold_->empty() && !is_bare_ack(m);
  if (!waits_its_turn &&
      hold_->admits(m.frame_bytes, queue_.fifo().occupancy_packets(), target, now))
    return false;
  hold_->hold(packet, now, m.frame_bytes);
  return true;
}

/// Lets held packets into the queue, in order, as far as the target, the floor or the end of
/// regulation allow.
void PacedBackground::let_in_below(std::optional<std::uint16_t> target, Time now) noexcept {
  for (;;) {
    const auto item = hold_->release_next(queue_.fifo().occupancy_packets(), target, now);
    if (item.packet == nullptr) return;
    queue_.fifo().put(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class);
  }
}

void PacedBackground::count(QueueCounts& to, Time /*now*/) const {
  to.pace = hold_ != nullptr ? hold_->counters() : ended_;
  if (hold_ == nullptr) return;
  to.held_packets = hold_->packets();
  to.resident[TrafficClass::kBackground] += hold_->packets();
  to.resident_bytes += hold_->bytes();
}

std::unique_ptr<PartChange> PacedBackground::prepare(const PartReload& reload) const {
  auto change = std::make_unique<PaceChange>();
  const PortQueueConfig& from = reload.queue_from;
  const PortQueueConfig& to = reload.queue_to;
  const std::uint32_t limit = to.queue.limit_packets;
  const bool other = hold_ == nullptr || reload.from.drain_rate != reload.to.drain_rate ||
                     reload.from.rate_layer != reload.to.rate_layer ||
                     limit != from.queue.limit_packets ||
                     to.regulation.pace_floor != from.regulation.pace_floor;
  if (paces(to.regulation.mode) && other) {
    // Held packets were admitted under the old limit, so all of them must fit.
    const auto slots = std::max(limit, static_cast<std::uint32_t>(reload.slots));
    change->hold = std::make_unique<PaceHold>(slots, floor_of(reload.to.drain_rate, to));
  }
  return change;
}

void PacedBackground::apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept {
  auto& made = static_cast<PaceChange*>(change)->hold;
  if (paces(to.regulation.mode)) {
    if (made == nullptr) return;
    if (hold_ != nullptr) made->take_over(*hold_);
    else made->resume(ended_);
  } else if (hold_ == nullptr) {
    return;
  } else {
    let_in_below(std::nullopt, now);
    ended_ = hold_->counters();
  }
  std::swap(hold_, made);
}

}  // namespace outrider::sw
