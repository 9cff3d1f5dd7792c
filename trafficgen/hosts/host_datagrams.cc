#include "trafficgen/hosts/host_datagrams.h"

#include <bit>

#include "trafficgen/frames/datagram_frame.h"
#include "trafficgen/frames/roce_key.h"

namespace outrider::tg {

void HostDatagrams::add(DatagramEndpoint& endpoint, std::uint8_t nic_class, std::uint8_t priority) {
  const std::uint32_t before = table_.size();
  table_.add(endpoint, nic_class, priority);
  const std::uint32_t room = std::bit_floor(table_.size());
  if (room == std::bit_floor(before)) return;  // the heap has room for up to a power of two
  due_ = std::make_unique<Due>(2 * room);
  for (std::uint32_t n = 0; n < before; ++n)
    if (table_[n].timer_at != kNever) due_->push(n, table_[n].timer_at);
}

/// Queues the endpoint for the NIC if it has something to send.
inline void HostDatagrams::offer(DatagramTable::Slot& slot, std::uint32_t number,
                                 Time now) noexcept {
  if (slot.queued || !slot.endpoint->has_datagram(now)) return;
  slot.queued = true;
  queue_.push(slot.nic_class, number | kBit);
}

void HostDatagrams::refresh(std::uint32_t number, Time at) noexcept {
  DatagramTable::Slot& slot = table_[number];
  offer(slot, number, at);
  const Time timer = slot.endpoint->next_timer();
  if (timer >= slot.timer_at) return;  // a deadline that moved later: asked at the old time
  if (slot.timer_at == kNever) due_->push(number, timer);
  else due_->change(number, timer);
  slot.timer_at = timer;
  timers_.note(timer);
}

std::optional<DropReason> HostDatagrams::take(Packet& packet, Time now) noexcept {
  ReceivedDatagram datagram;
  if (const auto dropped = read_datagram_frame(packet, datagram)) return dropped;
  const auto number = table_.find(key_of(datagram));
  if (!number) return DropReason::kNoConnection;
  const auto dropped = table_[*number].endpoint->on_datagram(datagram, now);
  refresh(*number, now);
  offer_apart(*number, now);
  return dropped;
}

bool HostDatagrams::write(std::uint32_t number, Packet& packet, Time now) noexcept {
  DatagramTable::Slot& slot = table_[number];
  slot.queued = false;
  if (!slot.endpoint->has_datagram(now)) {
    refresh(number, now);
    return false;
  }
  OutgoingDatagram datagram;
  slot.endpoint->next_datagram(datagram, now);
  write_datagram_frame(packet, slot.endpoint->flow(), datagram, full_payload_);
  queue_.on_sent(slot.nic_class, meta(packet).frame_bytes, now);
  served_ = number;
  return true;
}

void HostDatagrams::fire_due(Time now) noexcept {
  while (next_timer() <= now) {
    const std::uint32_t number = due_->top();
    DatagramTable::Slot& slot = table_[number];
    if (slot.endpoint->next_timer() <= now) slot.endpoint->on_timer(now);
    offer(slot, number, now);
    offer_apart(number, now);
    slot.timer_at = slot.endpoint->next_timer();
    if (slot.timer_at == kNever) due_->remove(number);
    else due_->change(number, slot.timer_at);
  }
}

}  // namespace outrider::tg
