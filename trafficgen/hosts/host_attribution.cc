#include "trafficgen/hosts/host_attribution.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

namespace {

/// Returns the 64-bit stream offset. @param near an offset less than 2^31 away
std::uint64_t unwrapped(std::uint32_t offset, std::uint64_t near) noexcept {
  const auto ahead = static_cast<std::int32_t>(offset - static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(std::int64_t{ahead});
}

}  // namespace

struct HostAttribution::Flow {
  Flow(std::uint32_t o, std::uint32_t segments)
      : owner(o),
        mask(segments - 1),
        ring(std::make_unique_for_overwrite<std::byte[]>(segments * sizeof(Sent))) {}

  [[nodiscard]] Sent& sent(std::uint64_t i) noexcept {
    return reinterpret_cast<Sent*>(ring.get())[i & mask];
  }
  void push(const Sent& s) noexcept {
    if (tail - head > mask) ++head;  // cannot happen: the flight has at most as many segments
    new (&sent(tail++)) Sent(s);
  }
  void drop_acknowledged(std::uint64_t acked) noexcept {
    if (acked >= next_offset) head = tail;
    while (tail - head > 1 && sent(head + 1).offset <= acked) ++head;
  }
  /// Returns the segment that holds `offset`, or nullptr.
  [[nodiscard]] Sent* find(std::uint64_t offset) noexcept {
    std::uint64_t low = head, high = tail;  // finds the first segment that begins above it
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (sent(middle).offset <= offset) low = middle + 1;
      else high = middle;
    }
    return low == head ? nullptr : &sent(low - 1);
  }

  std::uint32_t owner;
  State state = State::kIdle;
  BurstTime idle = BurstTime::kCompute;
  BurstLedger next{};                ///< of the new data that waits to leave
  ServiceClock::Reading waiting{};   ///< with kReady: reading of the NIC's clock at next.at()
  BurstLedger received{};            ///< of the data that arrived last
  std::uint64_t next_offset = 0;     ///< stream offset that was never sent yet
  std::uint32_t timeouts = 0;        ///< time-outs of data so far
  Time timed_out_at{};               ///< the last of these time-outs
  std::uint64_t head = 0, tail = 0;  ///< free-running, of segments that may have to be resent
  std::uint64_t mask;
  std::unique_ptr<std::byte[]> ring;  ///< of Sent; left untouched until used
};

HostAttribution::HostAttribution(std::uint32_t owners) : service_(owners) {}

HostAttribution::~HostAttribution() = default;

void HostAttribution::attribute(std::uint32_t slot, const TcpConfig& config, std::uint32_t owner) {
  if (owner == 0) return;
  if (flows_.size() <= slot) flows_.resize(slot + 1);
  flows_[slot] = std::make_unique<Flow>(owner, segments_limit(config));
}

void HostAttribution::forget(std::uint32_t slot) noexcept {
  if (slot < flows_.size()) flows_[slot].reset();
}

void HostAttribution::begin_burst(std::uint32_t slot, TcpConnection& connection,
                                  const BurstLedger& ledger, BurstTime idle, Time now) noexcept {
  Flow* flow = flow_of(slot);
  if (flow == nullptr) return;
  assert(ledger.at() == now);
  flow->next = ledger;
  flow->idle = idle;
  flow->state = State::kIdle;
  on_change(slot, connection, now);
}

void HostAttribution::on_packet(const Packet& packet, std::uint32_t payload_bytes,
                                Time now) noexcept {
  if (owner_of(packet) == 0) return;
  arriving_ = slot_of(packet).ledger;
  if (arriving_.valid())
    arriving_.advance(now, payload_bytes != 0 ? BurstTime::kSerialisation : BurstTime::kWindow);
  arrived_data_ = payload_bytes != 0;
}

void HostAttribution::on_arrival(std::uint32_t slot) noexcept {
  Flow* flow = flow_of(slot);
  if (flow != nullptr && arrived_data_ && arriving_.valid()) flow->received = arriving_;
}

void HostAttribution::on_change(std::uint32_t slot, TcpConnection& connection, Time now) noexcept {
  Flow* flow = flow_of(slot);
  if (flow == nullptr || !flow->next.valid() || is_over(connection.state())) return;
  if (connection.counters().rtos_data != flow->timeouts) {
    flow->timeouts = connection.counters().rtos_data;
    flow->timed_out_at = now;
  }
  State state = State::kReady;
  if (connection.state() != ConnectionState::kEstablished) state = State::kOpening;
  else if (!connection.can_send_data(now))
    state = connection.stream().written_bytes() > flow->next_offset ? State::kWindow : State::kIdle;
  if (state == flow->state) return;
  // A departure may lie in the future by the send jitter.
  const Time at = std::max(now, flow->next.at());
  leave_state(*flow, at);
  flow->state = state;
  if (state == State::kReady) flow->waiting = service_.read(flow->owner, at);
}

void HostAttribution::leave_state(Flow& flow, Time now) noexcept {
  switch (flow.state) {
    case State::kReady:
      flow.next.wait(now, flow.waiting, service_.read(flow.owner, now));
      break;
    case State::kOpening:
      flow.next.advance(now, BurstTime::kOpening);
      break;
    case State::kIdle:
      flow.next.advance(now, flow.idle);
      break;
    case State::kWindow:
      open_window(flow, now);
      break;
  }
}

/// Opens the window with the ledger of the packet that did: usually an ACK of this burst's data.
void HostAttribution::open_window(Flow& flow, Time now) noexcept {
  if (arriving_.same_burst(flow.next)) {
    flow.next = arriving_;
    flow.next.advance(now, BurstTime::kWindow);
  } else if (timer_) {
    const bool timed_out = flow.timed_out_at == now;
    flow.next.advance(now, timed_out ? BurstTime::kRto : BurstTime::kHeld);
  } else {
    flow.next.advance(now, BurstTime::kWindow);
  }
}

void HostAttribution::on_departure(std::uint32_t slot, const TcpConnection& connection,
                                   const TcpSegment& segment, Packet& packet, Time start) noexcept {
  Flow* flow = flow_of(slot);
  if (flow == nullptr) return;
  PacketSlot& carried = give_slot(packet);
  carried.owner = flow->owner;
  BurstLedger& ledger = carried.ledger;
  if (segment.payload_bytes == 0) {
    ledger = flow->received;
    return;
  }
  if (!flow->next.valid()) return;
  const std::uint64_t offset =
      unwrapped(segment.sequence - connection.stream().numbers().first(), flow->next_offset);
  if (offset >= flow->next_offset) {
    leave_state(*flow, start);
    flow->state = State::kReady;
    flow->waiting = service_.read(flow->owner, start);
    flow->drop_acknowledged(connection.stream().acked_bytes());
    flow->next_offset = offset + segment.payload_bytes;
    flow->push({offset, flow->next});
    ledger = flow->next;
  } else if (Sent* sent = flow->find(offset)) {
    const Time timed_out = std::clamp(flow->timed_out_at, sent->ledger.at(), start);
    sent->ledger.advance(timed_out, BurstTime::kRto);
    sent->ledger.advance(start, BurstTime::kRecovery);
    ledger = sent->ledger;
  }
}

}  // namespace outrider::tg
