#include "trafficgen/hosts/host_datagrams.h"

#include "trafficgen/hosts/datagram_frame.h"
#include "trafficgen/hosts/roce_key.h"

namespace outrider::tg {

void HostDatagrams::refresh(std::uint32_t number, Time now) noexcept {
  DatagramTable::Slot& slot = table_[number];
  if (!slot.queued && slot.endpoint->has_datagram(now)) {
    slot.queued = true;
    queue_.push(slot.nic_class, number | kBit);
  }
  const Time at = slot.endpoint->next_timer();
  if (at >= slot.timer_at) return;  // a deadline that moved later: asked at the old time
  slot.timer_at = at;
  timers_.set(*this, number, at);
}

std::optional<DropReason> HostDatagrams::take(Packet& packet, Time now) noexcept {
  ReceivedDatagram datagram;
  if (const auto dropped = read_datagram_frame(packet, datagram)) return dropped;
  const auto number = table_.find(key_of(datagram));
  if (!number) return DropReason::kNoConnection;
  const auto dropped = table_[*number].endpoint->on_datagram(datagram, now);
  refresh(*number, now);
  return dropped;
}

bool HostDatagrams::write(std::uint32_t number, Packet& packet, Time now) noexcept {
  DatagramTable::Slot& slot = table_[number];
  slot.queued = false;
  const bool sends = slot.endpoint->has_datagram(now);
  if (sends) {
    OutgoingDatagram datagram;
    slot.endpoint->next_datagram(datagram, now);
    write_datagram_frame(packet, slot.endpoint->flow(), datagram, full_payload_);
    queue_.on_sent(slot.nic_class, meta(packet).frame_bytes, now);
  }
  refresh(number, now);
  return sends;
}

void HostDatagrams::on_timer(std::uint32_t number, Time now) noexcept {
  DatagramTable::Slot& slot = table_[number];
  if (slot.timer_at > now) return;  // stale: an earlier timer was set and has been handled
  slot.timer_at = kNever;
  if (slot.endpoint->next_timer() <= now) slot.endpoint->on_timer(now);
  refresh(number, now);
}

}  // namespace outrider::tg
