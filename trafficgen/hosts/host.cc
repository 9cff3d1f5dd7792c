#include "trafficgen/hosts/host.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

Host::Host(const Setup& setup, EventLoop& loop, rte_mempool& pool, TransportMemory& memory)
    : loop_(loop),
      nic_id_(loop.add(nic_source_)),
      parts_(setup, loop, timer_source_, memory.events),
      connections_(parts_, memory),
      nic_(parts_, connections_, pool) {
  assert(!parts_.attribution || has_slots(pool));
  if (parts_.storm.next() != kNever) parts_.timers.note(parts_.storm.next());
}

// -- for applications

TcpConnection& Host::open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                          ConnectionListener& listener, Time now, std::uint32_t owner) {
  TcpConnection& connection = connections_.open(flow, config, option_bytes, listener, now, owner);
  settle(now);
  return connection;
}

void Host::send(TcpConnection& connection, std::uint64_t bytes, Time now) noexcept {
  connection.stream().write(bytes);
  connections_.changed(connection, now);
  settle(now);
}

void Host::close(TcpConnection& connection, Time now) noexcept {
  connection.stream().finish();
  connections_.changed(connection, now);
  settle(now);
}

void Host::abort(TcpConnection& connection, Time now) noexcept {
  assert(busy_ > 0);  // whoever called the listener removes the connection
  parts_.strays.abort(connection.flow(), connection.stream().next_sequence());
  connection.abort(now);
}

bool Host::replay_start(Time now) noexcept {
  const bool replayed = parts_.signals.push_replay();
  settle(now);
  return replayed;
}

void Host::add_endpoint(DatagramEndpoint& endpoint, std::uint8_t nic_class,
                        std::optional<std::uint8_t> priority) {
  parts_.datagrams.add(endpoint, nic_class, priority.value_or(kNoPriority));
  const std::size_t flows = connections_.size() + parts_.datagrams.size();
  if (priority) parts_.pauses.make_room(*priority, flows);
  if (const auto apart = endpoint.apart(); apart.endpoint != nullptr)
    parts_.pauses.make_room(apart.priority, flows);
}

void Host::changed(const DatagramEndpoint& endpoint, Time now) noexcept {
  parts_.datagrams.changed(endpoint, now);
  settle(now);
}

// -- receiving

void Host::receive(std::uint32_t /*port*/, Packet* packet, Time now) noexcept {
  ++busy_;
  parts_.counters.count_received(*packet);
  ReceivedFrame frame;
  if (const auto dropped = read_frame(*packet, frame)) [[unlikely]] {
    take_other(*packet, *dropped, now);
  } else {
    const std::uint16_t payload_bytes = frame.segment.payload_bytes;
    if (parts_.setup.payload == Payload::kPattern && payload_bytes != 0)
      connections_.verify(*packet, frame);
    if (parts_.attribution) parts_.attribution->on_packet(*packet, payload_bytes, now);
    release(packet);
    if (!parts_.signals.take(frame, now)) [[likely]]
      connections_.take(frame, now);
  }
  if (parts_.attribution) parts_.attribution->end_event();
  --busy_;
  settle(now);
}

/// Takes a packet that is no TCP segment: a pause, a signal, a datagram or one to be dropped.
/// @param reason why it is not one
void Host::take_other(Packet& packet, DropReason reason, Time now) noexcept {
  std::optional<DropReason> dropped = reason;
  if (reason == DropReason::kNotIpv4 && parts_.pauses.any()) {
    if (const auto frame = decode_pause_frame(buffer(packet))) {
      ++parts_.counters.pauses_taken;
      obey(*frame, now);
      return release(&packet);
    }
  }
  if (reason == DropReason::kNoConnection) {
    const bool may_be_signal = !parts_.signals.ports().empty() && !knows_roce(packet);
    if (may_be_signal && take_signal(packet, now)) return;
    if (!parts_.datagrams.empty()) dropped = parts_.datagrams.take(packet, now);
    parts_.counters.datagrams_taken += !dropped;
  }
  if (parts_.attribution && !dropped) parts_.attribution->on_packet(packet, 0, now);
  release(&packet);
  if (dropped) ++parts_.counters.drops[*dropped];
}

/// @return false if the packet is no signal; it is not touched then
bool Host::take_signal(Packet& packet, Time now) noexcept {
  ReceivedSignal signal;
  const auto dropped = read_signal_frame(packet, parts_.signals.ports(), signal);
  if (dropped == DropReason::kNoConnection) return false;
  if (parts_.attribution && !dropped) parts_.attribution->on_packet(packet, 0, now);
  release(&packet);
  if (dropped) ++parts_.counters.drops[*dropped];
  else parts_.signals.take(signal, now);
  return true;
}

bool Host::obey(const PauseFrame& frame, Time now) noexcept {
  if (!parts_.pauses.any()) return false;
  parts_.pauses.on_frame(frame, now);
  parts_.timers.note(parts_.pauses.next());
  settle(now);
  return true;
}

// -- time

[[gnu::flatten]] Time Host::fire_timers(Time now) noexcept {
  ++busy_;
  connections_.fire_due(now);
  parts_.datagrams.fire_due(now);
  parts_.timers.fire_due(now);
  if (parts_.pauses.next() <= now) parts_.pauses.settle(now);
  parts_.storm.fire_due(now);
  --busy_;
  settle(now);
  return std::max(
      now, std::min({parts_.timers.next(), connections_.next_timer(), parts_.datagrams.next_timer(),
                     parts_.pauses.next(), parts_.storm.next()}));
}

}  // namespace outrider::tg
