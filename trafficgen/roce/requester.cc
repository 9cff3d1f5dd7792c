#include "trafficgen/roce/requester.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/roce/path_mtu.h"

namespace outrider::tg {

namespace {

/// Returns the length on the wire, L1.
std::uint32_t wire_bytes_of(const roce::Message& m) noexcept {
  return kAroundPayloadBytes - roce::kBthBytes +
         roce::header_bytes(static_cast<std::uint8_t>(m.opcode)) + m.payload_bytes +
         roce::pad_of(m.payload_bytes);
}

roce::Part part_at(bool first, bool last, bool immediate) noexcept {
  using enum roce::Part;
  if (!last) return first ? kFirst : kMiddle;
  if (first) return immediate ? kOnlyImmediate : kOnly;
  return immediate ? kLastImmediate : kLast;
}

/// Returns what a NAK of an error means; nothing for other syndromes.
std::optional<GaveUp> end_by(std::uint8_t syndrome) noexcept {
  switch (syndrome) {
    case roce::kNakInvalidRequestSyndrome:
      return GaveUp::kInvalidRequest;
    case roce::kNakRemoteAccessSyndrome:
      return GaveUp::kRemoteAccess;
    case roce::kNakRemoteOperationSyndrome:
      return GaveUp::kRemoteOperation;
    default:
      return std::nullopt;
  }
}

/// Returns how many packets may be in flight.
std::uint32_t window_of(const RoceConfig& config, const RateController& control) noexcept {
  return std::min(config.window_packets, control.window_packets());
}

}  // namespace

Requester::Requester(const RoceConfig& config, const Setup& setup,
                     std::unique_ptr<RateController> control, RoceCounters& counters)
    : config_(config),
      setup_(setup),
      control_(std::move(control)),
      counters_(counters),
      selective_(config.repair == RoceRepair::kSelective),
      reads_acks_(control_->reads_acks()),
      window_packets_(window_of(config, *control_)),
      departures_(reads_acks_ ? config.window_packets : 0),
      requests_(setup.path_mtu, setup.requests != 0 ? setup.requests : config.window_packets + 1),
      recovery_(selective_ ? config.window_packets : 0) {}

void Requester::append(std::uint64_t bytes, std::optional<std::uint32_t> immediate,
                       Time now) noexcept {
  requests_.append(bytes, immediate);
  pace_.look(now);
}

roce::Message Requester::packet(const Request& request, std::uint64_t number) const noexcept {
  const std::uint64_t place = number - request.first;
  const std::uint64_t begin = place * setup_.path_mtu;
  const std::uint64_t left = request.bytes - begin;
  const bool first = place == 0, last = left <= setup_.path_mtu;
  const roce::Part part = part_at(first, last, request.immediate.has_value());
  roce::Message m{.opcode = roce::opcode_of(config_.operation, part)};
  m.destination_qp = setup_.peer_queue_pair;
  m.psn = psn_of(number);
  m.payload_bytes = static_cast<std::uint16_t>(std::min<std::uint64_t>(left, setup_.path_mtu));
  // The last packet that the window permits asks too: nothing else would open the window.
  m.asks = last || number + 1 - acknowledged_ >= window_packets_ ||
           (number + 1) % config_.ack_packets == 0 || reads_acks_;
  if (roce::has_reth(m.opcode)) {
    m.address = setup_.peer_address + request.address;
    m.key = setup_.peer_key.value_or(setup_.peer_queue_pair);
    m.length_bytes = static_cast<std::uint32_t>(request.bytes);
  }
  if (last) m.immediate = request.immediate.value_or(0);
  return m;
}

roce::Message Requester::next_packet(Time now) noexcept {
  assert(has_packet(now));
  const bool again = recovery_.next() != SelectiveRecovery::kNone;
  const std::uint64_t number = again ? recovery_.next() : sent_;
  roce::Message m = packet(requests_.of(number, again ? resend_at_ : at_), number);
  if (reads_acks_) departures_.note(number, now, number < highest_);
  if (again) {      // selective repeat
    m.asks = true;  // its answer ends the recovery
    recovery_.on_sent();
    ++counters_.retransmitted;
  } else {
    if (sent_ < highest_) ++counters_.retransmitted;
    ++sent_;
    highest_ = std::max(highest_, sent_);
  }
  ++counters_.sent;
  if (!first_sent_at_) first_sent_at_ = now;
  if (deadline_ == kNever) deadline_ = now + config_.timeout;
  const std::uint32_t bytes = wire_bytes_of(m) + setup_.telemetry_bytes;
  control_->on_sent(bytes, now);
  const double ns = 8e9 * bytes / control_->rate_bps(now);
  pace_.next_at = std::max(pace_.next_at, now) + Duration{static_cast<std::int64_t>(ns)};
  pace_.look(now);
  return m;
}

/// Everything before `packet` is acknowledged.
void Requester::advance_to(std::uint64_t packet, Time now) noexcept {
  if (packet <= acknowledged_) return;
  if (selective_) recovery_.on_acknowledged(acknowledged_, packet, highest_);
  acknowledged_ = packet;
  sent_ = std::max(sent_, packet);  // packets that were to be sent again have come after all
  const std::size_t done = requests_.acknowledge(packet);
  at_ -= std::min(at_, done);
  resend_at_ -= std::min(resend_at_, done);
  silences_ = not_ready_ = 0;
  deadline_ =
      acknowledged_ == highest_ ? kNever : std::max(now, not_ready_until_) + config_.timeout;
}

void Requester::go_back() noexcept {
  sent_ = acknowledged_;
  at_ = 0;
}

/// Answers a NAK.
/// @param arrived the packet behind the gap that a selective NAK names; nothing if it is
///   acknowledged already
void Requester::repair(std::optional<std::uint64_t> arrived, bool selects, Time now) noexcept {
  const std::uint64_t before = counters_.recoveries;
  if (!selective_) {
    ++counters_.recoveries;
    go_back();
  } else if (!selects) {  // the peer has dropped all behind the gap
    ++counters_.recoveries;
    recovery_.resend_dropped(acknowledged_, highest_);
    resend_at_ = 0;
  } else if (arrived && recovery_.on_arrived(*arrived, acknowledged_, highest_)) {
    ++counters_.recoveries;
    resend_at_ = 0;
  }
  if (counters_.recoveries == before) return;
  control_->on_loss(now);
  window_packets_ = window_of(config_, *control_);
}

void Requester::give_up(GaveUp why) noexcept {
  gave_up_ = why;
  deadline_ = kNever;
  ++counters_.ended(why);
}

/// Answers an RNR NAK: sends again what is not acknowledged, after the wait. Further ones that come
/// during the wait answer packets that had left before.
void Requester::await_receiver(Duration wait, Time now) noexcept {
  if (now < not_ready_until_) return;
  silences_ = 0;
  if (config_.rnr_retry != kNoRnrLimit && not_ready_ == config_.rnr_retry)
    return give_up(GaveUp::kNotReady);
  ++not_ready_;
  ++counters_.recoveries;
  not_ready_until_ = now + wait;
  pace_.next_at = std::max(pace_.next_at, not_ready_until_);
  deadline_ = kNever;  // begins with the next packet
  if (selective_) {
    recovery_.resend_dropped(acknowledged_, highest_);
    resend_at_ = 0;
  } else {
    go_back();
  }
  pace_.look(now);
}

bool Requester::on_acknowledge(const roce::Message& m, Time now,
                               const roce::Telemetry* path) noexcept {
  const std::optional<GaveUp> fatal = end_by(m.syndrome);
  const bool not_ready = roce::is_not_ready(m.syndrome);
  const bool selects = selective_ && m.syndrome == roce::kNakSelectiveSyndrome;
  const bool repairs = selects || m.syndrome == roce::kNakSequenceSyndrome;
  const bool nak = repairs || not_ready || fatal;
  if (!nak && !roce::is_ack(m.syndrome)) return false;
  if (gave_up()) return true;
  // An ACK names the last packet that has come, a NAK the first that has not.
  const std::uint32_t ahead = (m.psn + (nak ? 0U : 1U) - psn_of(acknowledged_)) & roce::kPsnMask;
  const std::uint32_t in_flight = static_cast<std::uint32_t>(highest_ - acknowledged_);
  constexpr std::uint32_t kHalf = 1U << (roce::kPsnBits - 1);
  pace_.look(now);
  if (ahead >= kHalf) return true;  // of the past
  if (ahead > in_flight) return false;
  if (ahead == in_flight && (fatal || not_ready)) return false;  // they name a packet in flight
  std::optional<std::uint64_t> arrived;
  if (selects) {
    const std::uint32_t place = (m.message_number - psn_of(acknowledged_)) & roce::kPsnMask;
    if (place == ahead || (place < kHalf && place >= in_flight)) return false;
    if (place > ahead && place < kHalf) arrived = acknowledged_ + place;
  }
  const bool recovers = recovery_.recovering();  // packets have waited for what closes a gap
  advance_to(acknowledged_ + ahead, now);
  if (reads_acks_ && ahead != 0) {
    RateSample sample{.acknowledged_packets = ahead,
                      .acknowledged = acknowledged_,
                      .next_packet = highest_,
                      .path = path};
    if (!recovers) sample.rtt = departures_.round_trip(acknowledged_ - 1, now);
    control_->on_ack(sample, now);
    window_packets_ = window_of(config_, *control_);
  }
  if (fatal) give_up(*fatal);
  else if (not_ready) await_receiver(roce::not_ready_wait(m.syndrome), now);
  else if (nak) repair(arrived, selects, now);
  return true;
}

Time Requester::next_timer() const noexcept {
  const Time pace = wants_to_send() && !pace_.over ? pace_.next_at : kNever;
  return std::min(pace, deadline_);
}

void Requester::on_timer(Time now) noexcept {
  pace_.look(now);
  if (now < deadline_) return;
  ++counters_.timeouts;
  if (++silences_ > config_.retry_limit) return give_up(GaveUp::kSilence);
  deadline_ = std::max(now, pace_.next_at) + config_.timeout;  // a pause is no silence of the peer
  control_->on_timeout(now);
  window_packets_ = window_of(config_, *control_);
  if (!selective_) return go_back();
  recovery_.resend(acknowledged_, highest_);
  resend_at_ = 0;
}

void Requester::abandon() noexcept {
  requests_.abandon();
  if (selective_) recovery_.on_acknowledged(acknowledged_, highest_, highest_);
  at_ = resend_at_ = 0;
  acknowledged_ = sent_ = highest_ = requests_.end();
  deadline_ = kNever;
  silences_ = not_ready_ = 0;
  gave_up_ = GaveUp::kNot;
}

}  // namespace outrider::tg
