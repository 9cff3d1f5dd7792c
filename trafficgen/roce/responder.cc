#include "trafficgen/roce/responder.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

using roce::Opcode;

/// Returns true if the packet continues the message that has begun, or begins one.
bool Responder::fits(const roce::Message& m) const noexcept {
  const bool starts = roce::starts_message(m.opcode);
  if (starts != (message_left_ == 0)) return false;
  if (starts && m.key != setup_.own_queue_pair) return false;
  const std::uint32_t left = starts ? m.length_bytes : message_left_;
  const bool whole = m.payload_bytes != 0 && m.payload_bytes == std::min(left, setup_.path_mtu);
  return whole && roce::ends_message(m.opcode) == (m.payload_bytes == left);
}

void Responder::notify(bool ce, Time now) noexcept {
  if (!ce) return;
  ++counters_.marked;
  if (notified_at_ && now - *notified_at_ < config_.cnp_interval) return;
  notified_at_ = now;
  cnp_due_ = true;
}

std::uint32_t Responder::on_write(const roce::Message& m, bool ce, Time now) noexcept {
  constexpr std::uint32_t kHalf = 1U << (roce::kPsnBits - 1);
  const std::uint32_t ahead = (m.psn - expected_psn_) & roce::kPsnMask;
  if (ahead == 0 && !fits(m)) {
    ++counters_.refused;
    return 0;
  }
  notify(ce, now);
  if (ahead >= kHalf) {
    ++counters_.duplicate;
    ack_due_ = ack_due_ || m.asks;  // the acknowledgment may have been lost
    return 0;
  }
  if (ahead != 0) {
    ++counters_.out_of_order;
    nak_due_ = nak_due_ || !nak_sent_;
    nak_sent_ = true;
    return 0;
  }
  ++counters_.in_order;
  nak_sent_ = nak_due_ = false;
  expected_psn_ = (expected_psn_ + 1) & roce::kPsnMask;
  if (roce::starts_message(m.opcode)) message_left_ = m.length_bytes;
  message_left_ -= m.payload_bytes;
  if (message_left_ == 0) message_number_ = (message_number_ + 1) & roce::kPsnMask;
  delivered_bytes_ += m.payload_bytes;
  ack_due_ = ack_due_ || m.asks || ++unacknowledged_ >= config_.ack_packets;
  return m.payload_bytes;
}

void Responder::skip_to(std::uint32_t psn) noexcept {
  expected_psn_ = psn;
  message_left_ = unacknowledged_ = 0;
  nak_sent_ = nak_due_ = ack_due_ = false;
}

roce::Message Responder::next_answer() noexcept {
  assert(has_answer());
  roce::Message m{.opcode = Opcode::kAcknowledge};
  m.destination_qp = setup_.peer_queue_pair;
  if (cnp_due_) {
    cnp_due_ = false;
    ++counters_.cnps_sent;
    m.opcode = Opcode::kCnp;
    m.becn = true;
    return m;
  }
  m.message_number = message_number_;
  if (nak_due_) {
    // It acknowledges all before the gap, so no ACK has to follow.
    nak_due_ = ack_due_ = false;
    ++counters_.naks_sent;
    m.syndrome = roce::kNakSequenceSyndrome;
    m.psn = expected_psn_;
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
