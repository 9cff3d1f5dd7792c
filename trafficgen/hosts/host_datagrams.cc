// Datagram endpoints of a host: turns at the NIC, arrivals and timers, as connections have.
#include "trafficgen/hosts/datagram_frame.h"
#include "trafficgen/hosts/host.h"

namespace outrider::tg {

void Host::add_endpoint(DatagramEndpoint& endpoint, std::uint8_t nic_class) {
  (void)datagrams_.add(endpoint, nic_class);
}

void Host::changed(const DatagramEndpoint& endpoint, Time now) noexcept {
  if (const auto number = datagrams_.find(endpoint.flow())) refresh_endpoint(*number, now);
  settle(now);
}

void Host::refresh_endpoint(std::uint32_t number, Time now) noexcept {
  DatagramTable::Slot& slot = datagrams_[number];
  if (!slot.queued && slot.endpoint->has_datagram(now)) {
    slot.queued = true;
    ready_.push(slot.nic_class, number | kDatagramBit);
  }
  const Time at = slot.endpoint->next_timer();
  if (at >= slot.timer_at) return;  // one that moved later is asked again at the old time
  slot.timer_at = at;
  set_timer(datagram_timers_, number, at);
}

/// @return why it is dropped, nothing if an endpoint took it
std::optional<DropReason> Host::take_datagram(Packet& packet, Time now) noexcept {
  ReceivedDatagram datagram;
  if (const auto dropped = read_datagram_frame(packet, datagram)) return dropped;
  const auto number = datagrams_.find(datagram.flow.reversed());
  if (!number) return DropReason::kNoConnection;
  const auto dropped = datagrams_[*number].endpoint->on_datagram(datagram, now);
  refresh_endpoint(*number, now);
  return dropped;
}

/// @return false if the endpoint had nothing after all
bool Host::write_datagram(std::uint32_t number, Packet& packet, Time now) noexcept {
  DatagramTable::Slot& slot = datagrams_[number];
  slot.queued = false;
  const bool sends = slot.endpoint->has_datagram(now);
  if (sends) {
    OutgoingDatagram datagram;
    slot.endpoint->next_datagram(datagram, now);
    write_datagram_frame(packet, slot.endpoint->flow(), datagram, setup_.full_payload);
    ready_.on_sent(slot.nic_class, meta(packet).frame_bytes, now);
  }
  refresh_endpoint(number, now);
  return sends;
}

void Host::on_datagram_timer(std::uint32_t number, Time now) noexcept {
  DatagramTable::Slot& slot = datagrams_[number];
  if (slot.timer_at > now) return;  // stale: an earlier one was set, and has been asked
  slot.timer_at = kNever;
  if (slot.endpoint->next_timer() <= now) slot.endpoint->on_timer(now);
  refresh_endpoint(number, now);
}

}  // namespace outrider::tg
