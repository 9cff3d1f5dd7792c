#include "trafficgen/hosts/host.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/hosts/ephemeral_ports.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kMaxConnections = 1U << 21;
constexpr std::uint32_t kExpectedAnnouncedFlows = 64;
constexpr std::size_t kExpectedTimers = 256;
constexpr std::uint32_t kEphemeralPorts = 65536 - kFirstEphemeralPort;
constexpr std::size_t kPrefetchAhead = 4;  // of the queue: the connection,
constexpr std::size_t kFlightAhead = 2;    // and what it has in flight once that is there
constexpr Duration kNicRetry = std::chrono::microseconds(10);
}  // namespace

Host::Host(const Setup& setup, EventLoop& loop, rte_mempool& pool, TransportMemory& memory)
    : setup_(setup),
      loop_(loop),
      nic_id_(loop.add(nic_source_)),
      timer_id_(loop.add(timer_source_)),
      pool_(pool),
      nic_(setup.rate, RateLayer::kL1),
      jitter_(setup.seed, setup.index, RandomPurpose::kSendJitter),
      jitter_ns_(static_cast<std::uint64_t>(
          setup.send_jitter *
          static_cast<double>(
              nic_.duration_of(setup.mtu_bytes + static_cast<std::uint32_t>(sizeof(EthernetHeader)))
                  .count()))),
      connections_(kMaxConnections, setup.expected_connections, memory),
      time_waits_(memory.events),
      events_(memory.events),
      ready_(64),
      signals_(64),
      replies_(kMaxReplies),
      ack_listeners_(kExpectedAnnouncedFlows),
      timers_(kExpectedTimers),
      attribution_(setup.owners != 0 ? std::make_unique<HostAttribution>(setup.owners) : nullptr) {
  assert(!attribution_ || can_attribute(pool));
}

Host::~Host() = default;

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
    if (!connections_.find(flow) && time_waits_.find(flow, now) == nullptr) return port;
  }
  return std::nullopt;
}

std::uint32_t Host::initial_sequence(const FlowKey& flow) noexcept {
  return static_cast<std::uint32_t>(hash_of(flow));
}

TcpConnection& Host::open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                          ConnectionListener& listener, Time now, std::uint32_t owner) {
  time_waits_.erase(flow);  // of those who did not ask allocate_port() for a free one
  const std::uint32_t slot =
      add_connection(flow, config, option_bytes, TcpConnection::Role::kClient, listener, owner);
  TcpConnection& connection = connections_[slot];
  connection.open(now);
  refresh(slot, now);
  settle(now);
  return connection;
}

void Host::listen(std::uint16_t port, Acceptor& acceptor) {
  listeners_.emplace_back(port, &acceptor);
}

void Host::send(TcpConnection& connection, std::uint64_t bytes, Time now) noexcept {
  connection.send(bytes, now);
  refresh(ConnectionTable::slot_of(connection).index, now);
  settle(now);
}

void Host::close(TcpConnection& connection, Time now) noexcept {
  connection.close(now);
  refresh(ConnectionTable::slot_of(connection).index, now);
  settle(now);
}

void Host::begin_burst(TcpConnection& connection, const BurstLedger& ledger, BurstTime idle,
                       Time now) noexcept {
  if (attribution_)
    attribution_->begin_burst(ConnectionTable::slot_of(connection).index, connection, ledger, idle,
                              now);
}

void Host::set_timer(TimerClient& client, std::uint32_t tag, Time at) {
  timers_.add({.at = at, .client = &client, .tag = tag});
  note_timer(at);
}

// -- connections

std::uint32_t Host::add_connection(const FlowKey& flow, const TcpConfig& config,
                                   std::uint8_t option_bytes, TcpConnection::Role role,
                                   ConnectionListener& listener, std::uint32_t owner) {
  const std::uint32_t slot =
      connections_.add(config, {flow, role, initial_sequence(flow), option_bytes}, listener);
  if (attribution_) attribution_->attribute(slot, config, owner);
  return slot;
}

/// A closed connection that still has something to say (the last ACK) stays
/// queued and is removed once that has left.
void Host::retire_if_closed(std::uint32_t slot, Time now) noexcept {
  const ConnectionTable::Slot& s = connections_[slot];
  if (!s.closed() || s.queued) return;
  if (const auto old = s.time_wait()) time_waits_.add(s.flow(), *old, s.time_wait_duration(), now);
  connections_.remove(slot);
  if (attribution_) attribution_->forget(slot);
}

/// After anything that may have changed what a connection wants: queue it for
/// the NIC and note its deadline.
void Host::refresh(std::uint32_t index, Time now) noexcept {
  ConnectionTable::Slot& slot = connections_[index];
  if (!slot.queued && slot.has_segment(now)) {
    slot.queued = true;
    ready_.push(slot.nic_class, index);
  }
  connections_.refresh_timer(index);
  note_timer(slot.timer_at);
  if (attribution_) attribution_->on_change(index, slot, now);
}

// -- receiving

void Host::receive(std::uint32_t /*port*/, Packet* packet, Time now) noexcept {
  ++busy_;
  counters_.count_received(*packet);
  ReceivedFrame frame;
  auto dropped = read_frame(*packet, frame);
  ReceivedSignal signal;
  const bool is_udp_signal = dropped == DropReason::kNoConnection && !signal_ports_.empty();
  if (is_udp_signal) dropped = read_signal_frame(*packet, signal_ports_, signal);
  const bool is_datagram = dropped == DropReason::kNoConnection && !datagrams_.empty();
  if (is_datagram) dropped = take_datagram(*packet, now);
  if (setup_.payload == Payload::kPattern && !dropped && frame.segment.payload_bytes != 0)
    verify(*packet, frame);
  if (attribution_ && !dropped) attribution_->on_packet(*packet, frame.segment.payload_bytes, now);
  release(packet);
  if (dropped) ++counters_.drops[*dropped];
  else if (is_datagram) ++counters_.datagrams_taken;
  else if (is_udp_signal) take_signal(signal, now);
  else take_frame(frame, now);
  if (attribution_) attribution_->end_event();
  --busy_;
  settle(now);
}

/// Every payload byte that belongs to a stream, also when it comes again.
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

void Host::take_frame(const ReceivedFrame& frame, Time now) noexcept {
  // A handshake or a reset whose DSCP happens to read as START is none.
  const bool opens_or_closes = (frame.segment.flags & (kTcpSyn | kTcpFin | kTcpRst)) != 0;
  if (frame.segment.payload_bytes == 0 && !opens_or_closes) {
    if (const auto signal = tos_signal::decode(frame.tos)) return take_signal(frame, *signal, now);
  }
  const auto slot = connections_.find(frame.flow.reversed());
  if (!slot) return take_unknown(frame, now);
  ++counters_.to_connections;
  if (attribution_) attribution_->on_arrival(*slot);
  if (connections_[*slot].answers_another_syn(frame.segment)) [[unlikely]]
    reset(frame);
  connections_[*slot].on_segment(frame.segment, now);
  refresh(*slot, now);
  retire_if_closed(*slot, now);
}

// -- the NIC

bool Host::has_work() const noexcept {
  return turn_ || !ready_.empty() || !signals_.empty() || !replies_.empty();
}

Time Host::jittered(Time now) noexcept {
  if (jitter_ns_ == 0) return now;
  const auto wait = (std::uint64_t{jitter_.next_u32()} * jitter_ns_) >> 32;
  return now + Duration{static_cast<std::int64_t>(wait)};
}

/// Sends while the wire is free and somebody has something.
void Host::transmit(Time now) noexcept {
  nic_retry_at_ = kNever;
  while (has_work() && nic_.free_at() <= now) {
    if (backpressure_ != nullptr && backpressure_->full) {
      ++counters_.device_full_waits;
      nic_retry_at_ = now + kNicRetry;
      return;
    }
    Packet* packet = rte_pktmbuf_alloc(&pool_);
    if (packet == nullptr) {
      ++counters_.mbuf_exhausted;
      nic_retry_at_ = now + kNicRetry;
      return;
    }
    // A wire that just became free continues; one that was idle starts at random.
    const Time start = nic_.free_at() == now ? now : jittered(now);
    const bool signal = !signals_.empty();
    meta(*packet).owner = 0;
    if (!write_next(*packet, now, start)) {
      release(packet);
      return;
    }
    const Time finish = nic_.transmit(meta(*packet).frame_bytes, start);
    if (attribution_) attribution_->on_service(*packet, signal, start, finish);
    counters_.count_sent(*packet);
    out_->push(packet, finish);
  }
}

/// @return false if nobody had anything after all
bool Host::write_next(Packet& packet, Time now, Time start) noexcept {
  if (!signals_.empty()) {
    write_signal(packet, start);
    return true;
  }
  if (!replies_.empty()) {
    const OutgoingReply r = replies_.pop();
    write_frame(packet, r.flow, 0, r.segment, setup_.full_payload);
    return true;
  }
  return write_ready(packet, now, start);
}

/// A long queue has left the cache.
void Host::prefetch_waiting() noexcept {
  const auto connection = [this](std::size_t behind) -> ConnectionTable::Slot* {
    if (ready_.size() <= behind) return nullptr;
    const std::uint32_t index = ready_.peek(behind);
    return (index & kDatagramBit) == 0 ? &connections_[index] : nullptr;
  };
  if (const auto* next = connection(kPrefetchAhead)) next->prefetch();
  if (const auto* next = connection(kFlightAhead)) next->prefetch_flight();
}

/// The next segment of the connection, or datagram of the endpoint, whose turn it is.
bool Host::write_ready(Packet& packet, Time now, Time start) noexcept {
  while (turn_ || !ready_.empty()) {
    const std::uint32_t index = turn_ ? *turn_ : ready_.pop(now);
    if (!turn_) turn_bytes_ = 0;
    turn_.reset();
    prefetch_waiting();
    if ((index & kDatagramBit) != 0) {
      if (write_datagram(index & ~kDatagramBit, packet, now)) return true;
      continue;
    }
    ConnectionTable::Slot& slot = connections_[index];
    slot.queued = false;
    const bool sends = slot.has_segment(now);
    if (sends) {
      const TcpSegment segment = slot.next_segment(now);
      write_frame(packet, slot.flow(), static_cast<std::uint8_t>(segment.ecn), segment,
                  setup_.full_payload);
      ready_.on_sent(slot.nic_class, meta(packet).frame_bytes, now);
      if (setup_.tso_bytes != 0) keep_turn(index, segment.payload_bytes, now);
      if (setup_.payload == Payload::kPattern && segment.payload_bytes != 0)
        write_pattern(packet, slot.sent_offset(segment));
      if (attribution_) attribution_->on_departure(index, slot, segment, packet, start);
    }
    refresh(index, now);  // also if it lacks memory: it has set a deadline then
    retire_if_closed(index, now);
    if (sends) return true;
  }
  return false;
}

/// Segmentation offload hands the NIC one large buffer: its segments leave back
/// to back. What the window does not allow yet is not waited for.
void Host::keep_turn(std::uint32_t slot, std::uint32_t payload_bytes, Time now) noexcept {
  turn_bytes_ += payload_bytes;
  if (payload_bytes == 0 || turn_bytes_ + payload_bytes > setup_.tso_bytes) return;
  if (!connections_[slot].has_segment(now)) return;
  turn_ = slot;
  connections_[slot].queued = true;
}

// -- time

/// The timer source is told of earlier instants only; when it fires it looks again.
void Host::note_timer(Time at) noexcept {
  if (at < loop_.scheduled(timer_id_)) loop_.schedule(timer_id_, at);
}

Time Host::fire_timers(Time now) noexcept {
  ++busy_;
  if (attribution_) attribution_->on_timer();
  while (const auto slot = connections_.take_due(now)) {
    TcpConnection& connection = connections_[*slot];
    if (connection.next_timer() <= now) connection.on_timer(now);
    refresh(*slot, now);
    retire_if_closed(*slot, now);
  }
  if (attribution_) attribution_->end_event();
  while (timers_.next() <= now) {
    const TimerQueue::Timer timer = timers_.pop();
    timers_.expect_next();
    timer.client->on_timer(timer.tag, now);
  }
  --busy_;
  settle(now);
  return std::max(now, std::min(timers_.next(), connections_.next_timer()));
}

Time Host::fire_nic(Time now) noexcept {
  ++busy_;
  if (has_work()) transmit(now);
  --busy_;
  return next_transmission();
}

Time Host::next_transmission() const noexcept {
  if (!has_work()) return kNever;
  return nic_retry_at_ == kNever ? nic_.free_at() : nic_retry_at_;
}

/// After a call from outside: send what may leave at once and tell the loop.
void Host::settle(Time now) noexcept {
  if (busy_ > 0) return;
  ++busy_;
  if (has_work()) transmit(now);
  --busy_;
  loop_.schedule(nic_id_, next_transmission());
}

}  // namespace outrider::tg
