#include "trafficgen/hosts/host.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/hosts/ephemeral_ports.h"
#include "trafficgen/hosts/stale_trailer.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kMaxConnections = 1U << 21;
constexpr std::uint32_t kEphemeralPorts = 65536 - kFirstEphemeralPort;
/// Answers to STARTs and to segments of no connection, after which waiting data get a turn. A flood
/// of either leaves a sixth of the wire to data.
constexpr std::uint32_t kRepliesInARow = 64;
constexpr std::size_t kPrefetchAhead = 4;  // entries of the queue: the connection,
constexpr std::size_t kFlightAhead = 2;    // and its flight once the connection is there
}  // namespace

Host::Host(const Setup& setup, EventLoop& loop, rte_mempool& pool, TransportMemory& memory)
    : setup_(setup),
      loop_(loop),
      nic_id_(loop.add(nic_source_)),
      timers_(loop, timer_source_),
      wire_({.rate = setup.rate,
             .mtu_bytes = setup.mtu_bytes,
             .send_jitter = setup.send_jitter,
             .seed = setup.seed,
             .index = setup.index},
            pool),
      connections_(kMaxConnections, setup.expected_connections, memory),
      turns_(setup.tso_bytes),
      signals_(counters_),
      strays_(memory.events, counters_),
      datagrams_(turns_.queue(), timers_, setup.full_payload),
      next_port_(kFirstEphemeralPort),
      attribution_(setup.owners != 0 ? std::make_unique<HostAttribution>(setup.owners) : nullptr) {
  assert(!attribution_ || can_attribute(pool));
}

Host::~Host() = default;

/// Queues a connection for the NIC if it has something to send, and notes its deadline. Call it
/// after anything that may have changed either. It stands before its callers to be inlined there.
inline void Host::refresh(Slot& slot, Time now) noexcept {
  if (!slot.queued && slot.has_segment(now)) {
    slot.queued = true;
    turns_.push(slot.nic_class, slot.index);
  }
  if (slot.next_timer() < slot.timer_at) [[unlikely]]
    note_timer(slot);
  if (attribution_) [[unlikely]]
    attribution_->on_change(slot.index, slot, now);
}

/// Asks the connection earlier than it would have been asked.
void Host::note_timer(Slot& slot) noexcept {
  if (connections_.refresh_timer(slot)) timers_.note(slot.timer_at);
}

// -- for applications

std::uint16_t Host::allocate_port() noexcept {
  const std::uint16_t port = next_port_;
  next_port_ =
      next_port_ == 65535 ? kFirstEphemeralPort : static_cast<std::uint16_t>(next_port_ + 1);
  return port;
}

std::optional<std::uint16_t> Host::allocate_port(std::uint32_t to_address, std::uint16_t to_port,
                                                 Time now) noexcept {
  for (std::uint32_t tries = 0; tries < kEphemeralPorts; ++tries) {
    const std::uint16_t port = allocate_port();
    const FlowKey flow{setup_.address, to_address, port, to_port};
    if (!connections_.find(flow) && strays_.time_waits().find(flow, now) == nullptr) return port;
  }
  return std::nullopt;
}

TcpConnection& Host::open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                          ConnectionListener& listener, Time now, std::uint32_t owner) {
  strays_.time_waits().erase(flow);  // of those who did not ask allocate_port() for a free one
  const std::uint32_t slot =
      add_connection(flow, config, option_bytes, TcpConnection::Role::kClient, listener, owner);
  TcpConnection& connection = connections_[slot];
  connection.open(now);
  refresh(connections_[slot], now);
  settle(now);
  return connection;
}

void Host::listen(std::uint16_t port, Acceptor& acceptor) {
  listeners_.emplace_back(port, &acceptor);
}

void Host::send(TcpConnection& connection, std::uint64_t bytes, Time now) noexcept {
  connection.send(bytes, now);
  refresh(ConnectionTable::slot_of(connection), now);
  settle(now);
}

void Host::close(TcpConnection& connection, Time now) noexcept {
  connection.close(now);
  refresh(ConnectionTable::slot_of(connection), now);
  settle(now);
}

void Host::abort(TcpConnection& connection, Time now) noexcept {
  assert(busy_ > 0);  // whoever called the listener removes the connection
  strays_.abort(connection.flow(), connection.next_sequence());
  connection.abort(now);
}

void Host::begin_burst(TcpConnection& connection, const BurstLedger& ledger, BurstTime idle,
                       Time now) noexcept {
  if (attribution_)
    attribution_->begin_burst(ConnectionTable::slot_of(connection).index, connection, ledger, idle,
                              now);
}

void Host::send_start(const FlowKey& flow, std::uint32_t sequence, std::uint16_t threshold_packets,
                      Time now) noexcept {
  signals_.push(flow, sequence, threshold_packets);
  settle(now);
}

void Host::send_start(const UdpStart& start, Time now) noexcept {
  signals_.push(start);
  settle(now);
}

bool Host::replay_start(Time now) noexcept {
  const bool replayed = signals_.push_replay();
  settle(now);
  return replayed;
}

void Host::changed(const DatagramEndpoint& endpoint, Time now) noexcept {
  datagrams_.changed(endpoint, now);
  settle(now);
}

// -- connections

std::uint32_t Host::add_connection(const FlowKey& flow, const TcpConfig& config,
                                   std::uint8_t option_bytes, TcpConnection::Role role,
                                   ConnectionListener& listener, std::uint32_t owner) {
  const std::uint32_t slot =
      connections_.add(config, {flow, role, initial_sequence(flow), option_bytes}, listener);
  if (config.priority) obey_pauses(*config.priority);
  if (attribution_) attribution_->attribute(slot, config, owner);
  return slot;
}

/// Bounds what a flood of SYNs costs. The oldest half-open connection has had most time to answer,
/// so it is the one that is given up, without a word, as if it had timed out.
/// @return false if it has not even been answered: then the new SYN has to wait its turn
bool Host::make_room_for_half_open(Time now) noexcept {
  if (connections_.half_open() < setup_.max_half_open) return true;
  Slot& slot = connections_[connections_.oldest_half_open()];
  if (slot.queued) {
    ++strays_.events().half_open_refused;
    return false;
  }
  ++strays_.events().half_open_evicted;
  slot.abort(now);
  retire_if_closed(slot, now);
  return true;
}

/// Removes a closed connection. One that still has something to send (the last ACK) stays queued,
/// and is removed once that has left.
void Host::retire(Slot& s, Time now) noexcept {
  const std::uint32_t index = s.index;
  if (const auto old = s.time_wait())
    strays_.time_waits().add(s.flow(), *old, s.time_wait_duration(), now);
  connections_.remove(index);
  if (attribution_) attribution_->forget(index);
}

// -- receiving

inline void Host::take_frame(const ReceivedFrame& frame, Time now) noexcept {
  if (tos_signal::is_carrier(frame.segment.flags, frame.segment.payload_bytes) &&
      signals_.takes_tos()) [[unlikely]] {
    if (const auto signal = tos_signal::decode(frame.tos))
      return signals_.take(frame, *signal, now);
  }
  const auto index = connections_.find(frame.flow.reversed());
  if (!index) return take_unknown(frame, now);
  Slot& slot = connections_[*index];
  ++counters_.to_connections;
  if (attribution_) attribution_->on_arrival(*index);
  if (slot.answers_another_syn(frame.segment)) [[unlikely]]
    strays_.reset(frame);
  slot.on_segment(frame.segment, now);
  if (slot.half_open && slot.established()) [[unlikely]]
    connections_.end_half_open(*index);
  refresh(slot, now);
  retire_if_closed(slot, now);
}

void Host::receive(std::uint32_t /*port*/, Packet* packet, Time now) noexcept {
  ++busy_;
  counters_.count_received(*packet);
  ReceivedFrame frame;
  if (const auto dropped = read_frame(*packet, frame)) [[unlikely]] {
    take_other(*packet, *dropped, now);
  } else {
    const std::uint16_t payload_bytes = frame.segment.payload_bytes;
    if (setup_.payload == Payload::kPattern && payload_bytes != 0) verify(*packet, frame);
    if (attribution_) attribution_->on_packet(*packet, payload_bytes, now);
    release(packet);
    take_frame(frame, now);
  }
  if (attribution_) attribution_->end_event();
  --busy_;
  settle(now);
}

/// Takes a packet that is no TCP segment: a signal, a datagram or one to be dropped.
/// @param reason why it is not one
void Host::take_other(Packet& packet, DropReason reason, Time now) noexcept {
  if (reason == DropReason::kNotIpv4 && take_pause(packet, now)) return release(&packet);
  std::optional<DropReason> dropped = reason;
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

/// Checks every payload byte that belongs to a stream, also if it is resent.
void Host::verify(Packet& packet, const ReceivedFrame& frame) noexcept {
  const auto slot = connections_.find(frame.flow.reversed());
  if (!slot) return;
  const auto offset = connections_[*slot].received_offset(frame.segment);
  if (!offset) return;
  const auto payload = payload_of(packet, frame.segment.payload_bytes);
  const std::uint32_t mismatches = pattern_mismatches(payload, *offset);
  counters_.payload.verified_bytes += payload.size();
  counters_.payload.mismatched_bytes += mismatches;
  counters_.payload.mismatched_segments += mismatches != 0;
}

/// Takes segments that belong to no connection: new, old or unknown ones.
void Host::take_unknown(const ReceivedFrame& frame, Time now) noexcept {
  const TcpSegment& s = frame.segment;
  if (!strays_.time_waits().empty() && strays_.take_late(frame, now)) return;
  if (s.has(kTcpSyn) && !s.has(kTcpAck)) {
    const auto it = std::ranges::find(listeners_, frame.flow.destination_port,
                                      &std::pair<std::uint16_t, Acceptor*>::first);
    const Acceptor::Offer offer =
        it == listeners_.end() ? Acceptor::Offer{} : it->second->accept(frame.flow);
    if (offer.listener != nullptr && !make_room_for_half_open(now)) {
      ++counters_.drops[DropReason::kNoConnection];
      return;  // no reset: the peer asks again
    }
    if (offer.listener != nullptr && !connections_.full()) {
      const std::uint32_t slot =
          add_connection(frame.flow.reversed(), *offer.config, offer.option_bytes,
                         TcpConnection::Role::kServer, *offer.listener, offer.owner);
      ++counters_.to_connections;
      connections_.add_half_open(slot);
      connections_[slot].nic_class = offer.nic_class;
      TcpConnection& connection = connections_[slot];
      it->second->on_accepted(connection);
      connection.on_segment(s, now);
      return refresh(connections_[slot], now);
    }
  }
  ++counters_.drops[DropReason::kNoConnection];
  if (!s.has(kTcpRst)) strays_.reset(frame);
}

// -- pauses

/// Makes the host stop for a priority that a flow has, which was just added.
void Host::obey_pauses(std::uint8_t priority) {
  if (!pauses_) pauses_ = std::make_unique<HostPauses>(setup_.rate, turns_, counters_);
  pauses_->make_room(priority, connections_.size() + datagrams_.size());
}

bool Host::obey(const PauseFrame& frame, Time now) noexcept {
  if (!pauses_) return false;
  pauses_->on_frame(frame, now);
  timers_.note(pauses_->next());
  settle(now);
  return true;
}

/// Takes a pause frame. @return false if it is none, or nothing here can be paused
bool Host::take_pause(Packet& packet, Time now) noexcept {
  if (!pauses_) return false;
  const auto frame = decode_pause_frame(buffer(packet));
  if (!frame) return false;
  ++counters_.pauses_taken;
  return obey(*frame, now);
}

/// Puts the connection or endpoint whose turn it is aside, if it may not send now. It stays queued.
bool Host::put_aside(std::uint32_t index) noexcept {
  const auto stop = [&](const auto& slot) {
    if (!pauses_->stops(slot.priority)) return false;
    pauses_->put_aside(slot.priority, slot.nic_class, index);
    return true;
  };
  return (index & HostDatagrams::kBit) != 0 ? stop(datagrams_[index & ~HostDatagrams::kBit])
                                            : stop(connections_[index]);
}

// -- the NIC

/// Writes what goes before data. Replies, which anyone can ask for, are counted while data wait.
Host::Wrote Host::write_first(Packet& packet, Time start) noexcept {
  if (!has_replies()) return Wrote::kNothing;
  const bool signal = !signals_.empty();
  if (turns_.empty()) replies_in_a_row_ = 0;
  else if (!signal || signals_.next_is_answer()) ++replies_in_a_row_;
  if (signal) signals_.write(packet, start, setup_.full_payload);
  else strays_.write(packet, setup_.full_payload);
  return signal ? Wrote::kSignal : Wrote::kOther;
}

/// Prefetches waiting connections: those of a long queue are no longer in the cache.
void Host::prefetch_waiting() noexcept {
  const auto connection = [this](std::size_t behind) -> ConnectionTable::Slot* {
    const NicQueue& queue = turns_.queue();
    if (queue.size() <= behind) return nullptr;
    const std::uint32_t index = queue.peek(behind);
    return (index & HostDatagrams::kBit) == 0 ? &connections_[index] : nullptr;
  };
  if (const auto* next = connection(kPrefetchAhead)) next->prefetch();
  if (const auto* next = connection(kFlightAhead)) next->prefetch_flight();
}

/// Writes the next segment of the connection, or datagram of the endpoint, whose turn it is.
inline bool Host::write_ready(Packet& packet, Time now, Time start) noexcept {
  while (!turns_.empty()) {
    const std::uint32_t index = turns_.take(now);
    prefetch_waiting();
    if (pauses_ && put_aside(index)) [[unlikely]]
      continue;
    if ((index & HostDatagrams::kBit) != 0) {
      if (datagrams_.write(index & ~HostDatagrams::kBit, packet, now)) return true;
      continue;
    }
    Slot& slot = connections_[index];
    slot.queued = false;
    TcpSegment segment;
    const bool sends = slot.take_segment(segment, now);
    if (sends) {
      write_frame(packet, slot.flow(), static_cast<std::uint8_t>(segment.ecn), segment,
                  setup_.full_payload);
      turns_.queue().on_sent(slot.nic_class, meta(packet).frame_bytes, now);
      // Segmentation offload hands the NIC one large buffer, whose segments leave back to back. The
      // turn does not wait for segments that the window does not allow yet.
      if (turns_.offloads() && turns_.goes_on(segment.payload_bytes) && slot.has_segment(now)) {
        turns_.keep(index);
        slot.queued = true;
      }
      if (setup_.payload == Payload::kPattern && segment.payload_bytes != 0)
        write_pattern(packet, slot.sent_offset(segment));
      if (attribution_) attribution_->on_departure(index, slot, segment, packet, start);
    }
    refresh(slot, now);  // also if the connection lacks memory: it has set a deadline
    retire_if_closed(slot, now);
    if (sends) return true;
  }
  return false;
}

/// @return kNothing if there was nothing to send after all
inline Host::Wrote Host::write_next(Packet& packet, Time now, Time start) noexcept {
  const bool turn_of_data = replies_in_a_row_ >= kRepliesInARow && !turns_.empty();
  if (!turn_of_data && has_replies()) {
    const Wrote wrote = write_first(packet, start);
    if (wrote != Wrote::kNothing) return wrote;
  }
  replies_in_a_row_ = 0;
  if (write_ready(packet, now, start)) return Wrote::kOther;
  return turn_of_data ? write_first(packet, start) : Wrote::kNothing;
}

/// Sends what goes next. @return false if nothing could be sent
inline bool Host::send_next(Time now) noexcept {
  Packet* packet = wire_.take_buffer(counters_, now);
  if (packet == nullptr) return false;
  clear_trailer(*packet);
  const Time start = wire_.start_at(now);
  meta(*packet).owner = 0;
  const Wrote wrote = write_next(*packet, now, start);
  if (wrote == Wrote::kNothing) {
    release(packet);
    return false;
  }
  const Time finish = wire_.occupy(*packet, start);
  if (attribution_) attribution_->on_service(*packet, wrote == Wrote::kSignal, start, finish);
  counters_.count_sent(*packet);
  wire_.push(packet, finish);
  return true;
}

/// @pre has_work()
Time Host::send_waiting(Time now) noexcept {
  ++busy_;
  bool work = true;
  while (work && wire_.is_free(now)) {
    const bool sent = send_next(now);
    work = has_work();
    if (!sent) break;
  }
  --busy_;
  return work ? wire_.next() : kNever;
}

// -- time

Time Host::fire_timers(Time now) noexcept {
  ++busy_;
  if (attribution_) attribution_->on_timer();
  while (const auto index = connections_.take_due(now)) {
    Slot& slot = connections_[*index];
    if (slot.next_timer() <= now) slot.on_timer(now);
    refresh(slot, now);
    retire_if_closed(slot, now);
  }
  if (attribution_) attribution_->end_event();
  datagrams_.fire_due(now);
  timers_.fire_due(now);
  if (pauses_ && pauses_->next() <= now) pauses_->settle(now);
  --busy_;
  settle(now);
  const Time pause_ends = pauses_ ? pauses_->next() : kNever;
  return std::max(now, std::min({timers_.next(), connections_.next_timer(), datagrams_.next_timer(),
                                 pause_ends}));
}

}  // namespace outrider::tg
