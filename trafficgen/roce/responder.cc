#include "trafficgen/roce/responder.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

using roce::Opcode;

/// Returns true if the packet by itself is one that its requester may send.
bool Responder::is_whole(const roce::Message& m) const noexcept {
  const bool ends = roce::ends_message(m.opcode);
  if (m.payload_bytes == 0 || m.payload_bytes > setup_.path_mtu) return false;
  if (!ends && m.payload_bytes != setup_.path_mtu) return false;
  if (!roce::has_reth(m.opcode)) return true;
  return m.key == setup_.own_queue_pair && m.payload_bytes <= m.length_bytes &&
         ends == (m.payload_bytes == m.length_bytes);
}

/// Returns true if the packet continues the message that has begun, or begins one.
/// @pre is_whole(), when it arrived
bool Responder::continues(const Early& packet) const noexcept {
  const bool starts = roce::starts_message(packet.opcode);
  if (starts || message_left_ == 0) return starts && message_left_ == 0;
  if (roce::is_send(packet.opcode) != message_is_send_) return false;
  const bool ends = roce::ends_message(packet.opcode);
  if (ends && message_is_send_) return packet.payload_bytes <= message_left_;
  return ends ? packet.payload_bytes == message_left_ : packet.payload_bytes < message_left_;
}

std::uint32_t Responder::on_data(const roce::Message& m, bool ce, Time now) noexcept {
  constexpr std::uint32_t kHalf = 1U << (roce::kPsnBits - 1);
  const std::uint32_t ahead = (m.psn - expected_psn_) & roce::kPsnMask;
  const bool old = ahead >= kHalf;
  const Early packet{m.length_bytes, m.payload_bytes, m.opcode, m.asks};
  // With go-back-N nobody reads what comes behind a gap.
  const bool reads = ahead == 0 || (!old && window_.enabled());
  if (reads && (!is_whole(m) || (ahead == 0 && !continues(packet)))) {
    ++counters_.refused;
    return 0;
  }
  if (ce) {
    ++counters_.marked;
    cnps_.on_marked(now);
  }
  if (old) {
    ++counters_.duplicate;
    ack_due_ = ack_due_ || m.asks;  // the acknowledgment may have been lost
    return 0;
  }
  if (ahead != 0) {
    on_gap(m, ahead);
    return 0;
  }
  ++counters_.in_order;
  nak_sent_ = nak_due_ = false;
  const std::uint64_t before = delivered_bytes_;
  deliver(packet);
  if (window_.kept() != 0) deliver_kept();
  return static_cast<std::uint32_t>(delivered_bytes_ - before);
}

/// Takes a packet that is not the next one.
void Responder::on_gap(const roce::Message& m, std::uint32_t ahead) noexcept {
  if (!window_.enabled()) {
    ++counters_.out_of_order;
    nak_due_ = nak_due_ || !nak_sent_;
    nak_sent_ = true;
    return;
  }
  if (!window_.reaches(ahead)) {  // an honest requester's window is no longer than this one
    ++counters_.out_of_order;
    return;
  }
  if (window_.has(m.psn)) {
    ++counters_.duplicate;  // the NAK that named it may have been lost
  } else {
    ++counters_.out_of_order;
    ++counters_.kept;
    window_.keep(m);
  }
  window_.tell(m.psn);
}

/// Takes the packet that is expected. @pre continues(packet)
void Responder::deliver(const Early& packet) noexcept {
  expected_psn_ = (expected_psn_ + 1) & roce::kPsnMask;
  if (roce::starts_message(packet.opcode)) {
    message_is_send_ = roce::is_send(packet.opcode);
    message_left_ = message_is_send_ ? roce::kMaxMessageBytes : packet.length_bytes;
  }
  message_left_ -= packet.payload_bytes;
  if (roce::ends_message(packet.opcode)) {
    message_left_ = 0;
    message_number_ = (message_number_ + 1) & roce::kPsnMask;
  }
  delivered_bytes_ += packet.payload_bytes;
  ack_due_ = ack_due_ || packet.asks || ++unacknowledged_ >= config_.ack_packets;
}

/// Takes the kept packets whose turn has come. One that contradicts what came before it is
/// forgotten, as if it had not arrived.
void Responder::deliver_kept() noexcept {
  ack_due_ = true;  // the requester recovers, and waits for this
  while (window_.has(expected_psn_)) {
    const Early packet = window_.take(expected_psn_);
    if (!continues(packet)) {
      ++counters_.contradicted;
      return;
    }
    deliver(packet);
  }
}

void Responder::skip_to(std::uint32_t psn) noexcept {
  expected_psn_ = psn;
  message_left_ = unacknowledged_ = 0;
  nak_sent_ = nak_due_ = ack_due_ = false;
  window_.clear();
}

roce::Message Responder::next_cnp() noexcept {
  assert(cnps_.due());
  cnps_.on_sent();
  ++counters_.cnps_sent;
  return {.opcode = Opcode::kCnp, .becn = true, .destination_qp = setup_.peer_queue_pair};
}

roce::Message Responder::next_answer() noexcept {
  assert(has_answer());
  if (answers_by_cnp()) return next_cnp();
  roce::Message m{.opcode = Opcode::kAcknowledge};
  m.destination_qp = setup_.peer_queue_pair;
  m.message_number = message_number_;
  if (nak_due_ || window_.has_nak()) {
    // It acknowledges all before the gap, so no ACK has to follow.
    nak_due_ = ack_due_ = false;
    ++counters_.naks_sent;
    m.syndrome = window_.enabled() ? roce::kNakSelectiveSyndrome : roce::kNakSequenceSyndrome;
    m.psn = expected_psn_;
    if (window_.enabled()) m.message_number = window_.next_nak();
  } else {
    ack_due_ = false;
    ++counters_.acks_sent;
    m.syndrome = roce::kAckSyndrome;
    m.psn = (expected_psn_ - 1) & roce::kPsnMask;
  }
  unacknowledged_ = 0;
  return m;
}

}  // namespace outrider::tg
