#include "trafficgen/hosts/host_connections.h"

#include <algorithm>

#include "trafficgen/transport/connection/initial_sequence.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kMaxConnections = 1U << 21;
}  // namespace

HostConnections::HostConnections(HostParts& parts, TransportMemory& memory)
    : host_(parts), table_(kMaxConnections, parts.setup.expected_connections, memory) {}

TcpConnection& HostConnections::open(const FlowKey& flow, const TcpConfig& config,
                                     std::uint8_t option_bytes, ConnectionListener& listener,
                                     Time now, std::uint32_t owner) {
  host_.strays.time_waits().erase(flow);  // of those who did not ask for a free port
  Slot& slot =
      table_[add(flow, config, option_bytes, TcpConnection::Role::kClient, listener, owner)];
  slot.open(now);
  refresh(slot, now);
  return slot;
}

void HostConnections::listen(std::uint16_t port, Acceptor& acceptor) {
  listeners_.emplace_back(port, &acceptor);
}

std::optional<std::uint16_t> HostConnections::free_port(EphemeralPorts& ports,
                                                        std::uint32_t to_address,
                                                        std::uint16_t to_port,
                                                        Time now) const noexcept {
  return ports.next_free([&](std::uint16_t port) {
    const FlowKey flow{host_.setup.address, to_address, port, to_port};
    return table_.find(flow) || host_.strays.time_waits().find(flow, now) != nullptr;
  });
}

std::uint32_t HostConnections::initial_sequence(const FlowKey& flow) const noexcept {
  return initial_sequence_of(flow, host_.setup.sequence_key);
}

void HostConnections::begin_burst(TcpConnection& connection, const BurstLedger& ledger,
                                  BurstTime idle, Time now) noexcept {
  if (host_.attribution)
    host_.attribution->begin_burst(ConnectionTable::slot_of(connection).index, connection, ledger,
                                   idle, now);
}

std::uint32_t HostConnections::add(const FlowKey& flow, const TcpConfig& config,
                                   std::uint8_t option_bytes, TcpConnection::Role role,
                                   ConnectionListener& listener, std::uint32_t owner) {
  const std::uint32_t slot =
      table_.add(config, {flow, role, initial_sequence(flow), option_bytes}, listener);
  if (config.priority)
    host_.pauses.make_room(*config.priority, table_.size() + host_.datagrams.size());
  if (host_.attribution) host_.attribution->attribute(slot, config, owner);
  return slot;
}

/// Bounds what a flood of SYNs costs. The oldest half-open connection has had most time to answer,
/// so it is the one that is given up, without a word, as if it had timed out.
/// @return false if it has not even been answered: then the new SYN has to wait its turn
bool HostConnections::make_room_for_half_open(Time now) noexcept {
  if (table_.half_open() < host_.setup.max_half_open) return true;
  Slot& slot = table_[table_.oldest_half_open()];
  if (slot.queued) {
    ++host_.strays.events().half_open_refused;
    return false;
  }
  ++host_.strays.events().half_open_evicted;
  slot.abort(now);
  retire_if_closed(slot, now);
  return true;
}

/// Asks the connection earlier than it would have been asked.
void HostConnections::note_timer(Slot& slot) noexcept {
  if (table_.refresh_timer(slot)) host_.timers.note(slot.timer_at);
}

/// Removes a closed connection. One that still has something to send (the last ACK) stays queued,
/// and is removed once that has left.
void HostConnections::retire(Slot& slot, Time now) noexcept {
  const std::uint32_t index = slot.index;
  if (const auto old = slot.time_wait())
    host_.strays.time_waits().add(slot.flow(), *old, slot.sender().state().context.config.time_wait,
                                  now);
  table_.remove(index);
  if (host_.attribution) host_.attribution->forget(index);
}

void HostConnections::verify(Packet& packet, const ReceivedFrame& frame) noexcept {
  const auto slot = table_.find(frame.flow.reversed());
  if (!slot) return;
  const auto offset = received_offset(table_[*slot], frame.segment);
  if (!offset) return;
  const auto payload = payload_of(packet, frame.segment.payload_bytes);
  const std::uint32_t mismatches = pattern_mismatches(payload, *offset);
  host_.counters.payload.verified_bytes += payload.size();
  host_.counters.payload.mismatched_bytes += mismatches;
  host_.counters.payload.mismatched_segments += mismatches != 0;
}

/// Takes segments that belong to no connection: new, old or unknown ones.
void HostConnections::take_unknown(const ReceivedFrame& frame, Time now) noexcept {
  const TcpSegment& s = frame.segment;
  if (!host_.strays.time_waits().empty() && host_.strays.take_late(frame, now)) return;
  if (s.has(kTcpSyn) && !s.has(kTcpAck)) {
    const auto it = std::ranges::find(listeners_, frame.flow.destination_port,
                                      &std::pair<std::uint16_t, Acceptor*>::first);
    const Acceptor::Offer offer =
        it == listeners_.end() ? Acceptor::Offer{} : it->second->accept(frame.flow);
    if (offer.listener != nullptr && !make_room_for_half_open(now)) {
      ++host_.counters.drops[DropReason::kNoConnection];
      return;  // no reset: the peer asks again
    }
    if (offer.listener != nullptr && !table_.full()) {
      const std::uint32_t index = add(frame.flow.reversed(), *offer.config, offer.option_bytes,
                                      TcpConnection::Role::kServer, *offer.listener, offer.owner);
      ++host_.counters.to_connections;
      table_.add_half_open(index);
      Slot& slot = table_[index];
      slot.nic_class = offer.nic_class;
      it->second->on_accepted(slot);
      slot.on_segment(s, now);
      return refresh(slot, now);
    }
  }
  ++host_.counters.drops[DropReason::kNoConnection];
  if (!s.has(kTcpRst)) host_.strays.reset(frame);
}

void HostConnections::fire_due(Time now) noexcept {
  if (host_.attribution) host_.attribution->on_timer();
  while (const auto index = table_.take_due(now)) {
    Slot& slot = table_[*index];
    if (slot.next_timer() <= now) slot.on_timer(now);
    refresh(slot, now);
    retire_if_closed(slot, now);
  }
  if (host_.attribution) host_.attribution->end_event();
}

}  // namespace outrider::tg
