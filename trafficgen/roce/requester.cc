#include "trafficgen/roce/requester.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "common/core/units.h"
#include "common/net/headers.h"

namespace outrider::tg {

using roce::Opcode;

namespace {

/// A WRITE's length has 32 bits; longer bursts are several WRITEs.
constexpr std::uint64_t kMaxWriteBytes = std::uint64_t{1} << 31;

/// Returns the length on the wire, L1.
std::uint32_t wire_bytes_of(const roce::Message& m) noexcept {
  constexpr std::uint32_t kOutside = sizeof(EthernetHeader) + sizeof(Ipv4Header) +
                                     sizeof(UdpHeader) + roce::kIcrcBytes + kL1OverheadBytes;
  return kOutside + roce::header_bytes(static_cast<std::uint8_t>(m.opcode)) + m.payload_bytes +
         roce::pad_of(m.payload_bytes);
}

Opcode opcode_of(bool first, bool last, bool immediate) noexcept {
  if (!last) return first ? Opcode::kWriteFirst : Opcode::kWriteMiddle;
  if (first) return immediate ? Opcode::kWriteOnlyImmediate : Opcode::kWriteOnly;
  return immediate ? Opcode::kWriteLastImmediate : Opcode::kWriteLast;
}

}  // namespace

Requester::Requester(const RoceConfig& config, const Setup& setup,
                     std::unique_ptr<RateController> control, RoceCounters& counters)
    : config_(config),
      setup_(setup),
      control_(std::move(control)),
      counters_(counters),
      writes_(config.window_packets + 1) {}

void Requester::append(std::uint64_t bytes, std::optional<std::uint32_t> immediate,
                       Time now) noexcept {
  assert(bytes > 0);
  appended_bytes_ += bytes;
  if (open_.bytes == 0) open_ = {.first = end_, .address = appended_bytes_ - bytes};
  open_.bytes += bytes;
  end_ = open_.first + packets_of(open_.bytes);
  open_.immediate = immediate;
  look_at_pace(now);
}

/// Returns the WRITE that a packet belongs to, which begins to leave if it is the open one.
const Requester::Write& Requester::write_of(std::uint64_t packet) noexcept {
  while (at_ < writes_.size()) {
    const Write& write = writes_.peek(at_);
    if (packet < write.first + packets_of(write.bytes)) return write;
    ++at_;
  }
  assert(open_.bytes > 0 && packet == open_.first);
  Write begun = open_;
  begun.bytes = std::min(begun.bytes, kMaxWriteBytes);
  if (begun.bytes < open_.bytes) begun.immediate.reset();
  open_.bytes -= begun.bytes;
  open_.address += begun.bytes;
  open_.first += packets_of(begun.bytes);
  writes_.push(begun);
  return writes_.peek(at_);
}

roce::Message Requester::packet(const Write& write, std::uint64_t number) const noexcept {
  const std::uint64_t place = number - write.first;
  const std::uint64_t begin = place * setup_.path_mtu;
  const std::uint64_t left = write.bytes - begin;
  const bool first = place == 0, last = left <= setup_.path_mtu;
  roce::Message m{.opcode = opcode_of(first, last, write.immediate.has_value())};
  m.destination_qp = setup_.peer_queue_pair;
  m.psn = psn_of(number);
  m.payload_bytes = static_cast<std::uint16_t>(std::min<std::uint64_t>(left, setup_.path_mtu));
  // The last packet that the window permits asks too: nothing else would open the window.
  m.asks = last || number + 1 - acknowledged_ >= config_.window_packets ||
           (number + 1) % config_.ack_packets == 0;
  if (first) {
    m.address = setup_.peer_address + write.address;
    m.key = setup_.peer_key.value_or(setup_.peer_queue_pair);
    m.length_bytes = static_cast<std::uint32_t>(write.bytes);
  }
  if (last) m.immediate = write.immediate.value_or(0);
  return m;
}

roce::Message Requester::next_packet(Time now) noexcept {
  assert(has_packet(now));
  const roce::Message m = packet(write_of(sent_), sent_);
  ++counters_.sent;
  if (sent_ < highest_) ++counters_.retransmitted;
  ++sent_;
  highest_ = std::max(highest_, sent_);
  if (!first_sent_at_) first_sent_at_ = now;
  if (deadline_ == kNever) deadline_ = now + config_.timeout;
  const std::uint32_t bytes = wire_bytes_of(m);
  control_->on_sent(bytes, now);
  const double ns = 8e9 * bytes / control_->rate_bps(now);
  next_send_at_ = std::max(next_send_at_, now) + Duration{static_cast<std::int64_t>(ns)};
  look_at_pace(now);
  return m;
}

/// Everything before `packet` is acknowledged.
void Requester::advance_to(std::uint64_t packet, Time now) noexcept {
  if (packet <= acknowledged_) return;
  acknowledged_ = packet;
  sent_ = std::max(sent_, packet);  // packets that were to be sent again have come after all
  const std::uint64_t before = acknowledged_bytes_;
  while (!writes_.empty()) {
    const Write& write = writes_.peek();
    const std::uint64_t packets = packets_of(write.bytes);
    if (packet < write.first + packets) {
      if (packet > write.first)
        acknowledged_bytes_ = write.address + (packet - write.first) * setup_.path_mtu;
      break;
    }
    acknowledged_bytes_ = write.address + write.bytes;
    (void)writes_.pop();
    if (at_ > 0) --at_;
  }
  silences_ = 0;
  deadline_ = acknowledged_ == highest_ ? kNever : now + config_.timeout;
  control_->on_ack({.acknowledged_bytes = acknowledged_bytes_ - before}, now);
}

void Requester::go_back() noexcept {
  sent_ = acknowledged_;
  at_ = 0;
}

bool Requester::on_acknowledge(const roce::Message& m, Time now) noexcept {
  const bool nak = roce::is_nak(m.syndrome);
  if (nak && m.syndrome != roce::kNakSequenceSyndrome) return false;
  if (!nak && !roce::is_ack(m.syndrome)) return false;
  // An ACK names the last packet that has come, a NAK the first that has not.
  const std::uint32_t ahead = (m.psn + (nak ? 0U : 1U) - psn_of(acknowledged_)) & roce::kPsnMask;
  const std::uint32_t in_flight = static_cast<std::uint32_t>(highest_ - acknowledged_);
  constexpr std::uint32_t kHalf = 1U << (roce::kPsnBits - 1);
  look_at_pace(now);
  if (ahead >= kHalf) return true;  // of the past
  if (ahead > in_flight) return false;
  advance_to(acknowledged_ + ahead, now);
  if (nak) go_back();
  return true;
}

Time Requester::next_timer() const noexcept {
  const Time pace = may_send() && !pace_over_ ? next_send_at_ : kNever;
  return std::min(pace, deadline_);
}

void Requester::on_timer(Time now) noexcept {
  look_at_pace(now);
  if (now < deadline_) return;
  ++counters_.timeouts;
  gave_up_ = ++silences_ > config_.retry_limit;
  deadline_ = gave_up_ ? kNever : now + config_.timeout;
  go_back();
}

}  // namespace outrider::tg
