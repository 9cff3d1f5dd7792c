#include "trafficgen/hosts/host.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

Host::Host(const Setup& setup, EventLoop& loop, rte_mempool& pool, TransportMemory& memory)
    : setup_(setup),
      loop_(loop),
      nic_id_(loop.add(nic_source_)),
      timers_(loop, timer_source_),
      attribution_(setup.owners != 0 ? std::make_unique<HostAttribution>(setup.owners) : nullptr),
      turns_(setup.tso_bytes),
      signals_(counters_),
      strays_(memory.events, counters_),
      pauses_(setup.rate, turns_, counters_),
      datagrams_(turns_.queue(), timers_, setup.full_payload),
      connections_(setup_,
                   {.turns = turns_,
                    .timers = timers_,
                    .pauses = pauses_,
                    .strays = strays_,
                    .datagrams = datagrams_,
                    .counters = counters_,
                    .attribution = attribution_.get()},
                   memory),
      nic_(setup_, pool,
           {.turns = turns_,
            .pauses = pauses_,
            .signals = signals_,
            .strays = strays_,
            .connections = connections_,
            .datagrams = datagrams_,
            .counters = counters_,
            .attribution = attribution_.get()}) {
  assert(!attribution_ || can_attribute(pool));
}

// -- for applications

TcpConnection& Host::open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                          ConnectionListener& listener, Time now, std::uint32_t owner) {
  TcpConnection& connection = connections_.open(flow, config, option_bytes, listener, now, owner);
  settle(now);
  return connection;
}

void Host::send(TcpConnection& connection, std::uint64_t bytes, Time now) noexcept {
  connection.send(bytes, now);
  connections_.changed(connection, now);
  settle(now);
}

void Host::close(TcpConnection& connection, Time now) noexcept {
  connection.close(now);
  connections_.changed(connection, now);
  settle(now);
}

void Host::abort(TcpConnection& connection, Time now) noexcept {
  assert(busy_ > 0);  // whoever called the listener removes the connection
  strays_.abort(connection.flow(), connection.next_sequence());
  connection.abort(now);
}

bool Host::replay_start(Time now) noexcept {
  const bool replayed = signals_.push_replay();
  settle(now);
  return replayed;
}

void Host::add_endpoint(DatagramEndpoint& endpoint, std::uint8_t nic_class,
                        std::optional<std::uint8_t> priority) {
  datagrams_.add(endpoint, nic_class, priority.value_or(kNoPriority));
  if (priority) pauses_.make_room(*priority, connections_.size() + datagrams_.size());
}

void Host::changed(const DatagramEndpoint& endpoint, Time now) noexcept {
  datagrams_.changed(endpoint, now);
  settle(now);
}

// -- receiving

void Host::receive(std::uint32_t /*port*/, Packet* packet, Time now) noexcept {
  ++busy_;
  counters_.count_received(*packet);
  ReceivedFrame frame;
  if (const auto dropped = read_frame(*packet, frame)) [[unlikely]] {
    take_other(*packet, *dropped, now);
  } else {
    const std::uint16_t payload_bytes = frame.segment.payload_bytes;
    if (setup_.payload == Payload::kPattern && payload_bytes != 0)
      connections_.verify(*packet, frame);
    if (attribution_) attribution_->on_packet(*packet, payload_bytes, now);
    release(packet);
    if (!signals_.take(frame, now)) [[likely]]
      connections_.take(frame, now);
  }
  if (attribution_) attribution_->end_event();
  --busy_;
  settle(now);
}

/// Takes a packet that is no TCP segment: a pause, a signal, a datagram or one to be dropped.
/// @param reason why it is not one
void Host::take_other(Packet& packet, DropReason reason, Time now) noexcept {
  std::optional<DropReason> dropped = reason;
  if (reason == DropReason::kNotIpv4 && pauses_.any()) {
    if (const auto frame = decode_pause_frame(buffer(packet))) {
      ++counters_.pauses_taken;
      obey(*frame, now);
      return release(&packet);
    }
  }
  if (reason == DropReason::kNoConnection) {
    const bool may_be_signal = !signals_.ports().empty() && !knows_roce(packet);
    if (may_be_signal && take_signal(packet, now)) return;
    if (!datagrams_.empty()) dropped = datagrams_.take(packet, now);
    counters_.datagrams_taken += !dropped;
  }
  if (attribution_ && !dropped) attribution_->on_packet(packet, 0, now);
  release(&packet);
  if (dropped) ++counters_.drops[*dropped];
}

/// @return false if the packet is no signal; it is not touched then
bool Host::take_signal(Packet& packet, Time now) noexcept {
  ReceivedSignal signal;
  const auto dropped = read_signal_frame(packet, signals_.ports(), signal);
  if (dropped == DropReason::kNoConnection) return false;
  if (attribution_ && !dropped) attribution_->on_packet(packet, 0, now);
  release(&packet);
  if (dropped) ++counters_.drops[*dropped];
  else signals_.take(signal, now);
  return true;
}

bool Host::obey(const PauseFrame& frame, Time now) noexcept {
  if (!pauses_.any()) return false;
  pauses_.on_frame(frame, now);
  timers_.note(pauses_.next());
  settle(now);
  return true;
}

// -- time

Time Host::fire_timers(Time now) noexcept {
  ++busy_;
  connections_.fire_due(now);
  datagrams_.fire_due(now);
  timers_.fire_due(now);
  if (pauses_.next() <= now) pauses_.settle(now);
  --busy_;
  settle(now);
  return std::max(now, std::min({timers_.next(), connections_.next_timer(), datagrams_.next_timer(),
                                 pauses_.next()}));
}

}  // namespace outrider::tg
