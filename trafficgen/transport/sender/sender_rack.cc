// RACK-TLP (RFC 8985) in the sender: when losses are looked for, the timers beside
// the RTO, tail loss probes and what their answers mean.
#include <algorithm>
#include <cassert>

#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {
namespace {

constexpr Duration kFirstProbe = std::chrono::seconds(1);  ///< before any sample, 7.2

}  // namespace

/// D-SACK (RFC 2883, section 4): the first block lies below the acknowledgment, or
/// within the second block.
bool TcpSender::reports_duplicate(const TcpSegment& s) const noexcept {
  if (s.sack_blocks == 0) return false;
  const auto from_ack = [&s](std::uint32_t sequence) {
    return static_cast<std::int32_t>(sequence - s.acknowledgment);
  };
  const SackBlock& first = s.sack[0];
  if (static_cast<std::int32_t>(first.end - first.begin) <= 0) return false;
  if (from_ack(first.end) <= 0) return true;
  if (s.sack_blocks < 2) return false;
  const SackBlock& second = s.sack[1];
  return from_ack(first.begin) >= from_ack(second.begin) &&
         from_ack(first.end) <= from_ack(second.end);
}

/// RFC 8985, 6.2, steps 3 to 5, and the probe's timer.
void TcpSender::on_rack_ack(bool duplicate, Time now) noexcept {
  Flight* flight = scoreboard_.flight();
  if (flight == nullptr) return;
  if (scoreboard_.sacked() != 0) tail_probe_ = false;
  if (flight->rack.reordered()) reorder_.seen = true;
  if (duplicate) flight->rack.on_duplicate_reported(una_, nxt_, reorder_);
  detect_losses_by_time(now);
}

/// RFC 5681, 4.3: a retransmission that is lost is a second sign of congestion.
void TcpSender::detect_losses_by_time(Time now) noexcept {
  Flight& flight = *scoreboard_.flight();
  const Duration window =
      flight.rack.reorder_window(reorder_, recovering(), scoreboard_.sacked(), rto_.srtt());
  const Scoreboard::TimedLosses found = scoreboard_.detect_losses_by_time(now, window);
  if (recovering() && found.resent_ns >= flight.reduced_ns) {
    control_->on_congestion(CongestionControl::Congestion::kLoss, flight_bytes(), now);
    note_reduction(now);
  }
  // One timer for all that wait: none of them is given longer than the newest.
  if (found.waiting) arm_aux(Flight::Aux::kReorder, flight.rack.last_lost_at(window));
  else if (flight.aux == Flight::Aux::kReorder) arm_aux(Flight::Aux::kNone, kNever);
}

/// RFC 8985, 7.4. @param ack stream offset, @param flight as the ACK found it
void TcpSender::take_probe_answer(const TcpSegment& s, std::int64_t ack, bool advances,
                                  bool duplicate, std::uint32_t flight, Time now) noexcept {
  Flight* f = scoreboard_.flight();
  const std::uint64_t end = f != nullptr ? f->probe_end : probe_here_ ? una_ : 0;
  if (end != 0 && ack >= static_cast<std::int64_t>(end)) {
    const bool resent = f == nullptr || f->probe_resent;
    const bool seen_twice = duplicate && s.sack[0].end == space_.wire(end);
    const bool plain_duplicate = !advances && s.sack_blocks == 0 && s.payload_bytes == 0 &&
                                 !s.has(kTcpFin) && ack == static_cast<std::int64_t>(end);
    const bool repaired = resent && !seen_twice && ack > static_cast<std::int64_t>(end);
    if (repaired && past_reduction() >= 0) {
      control_->on_congestion(CongestionControl::Congestion::kLoss, flight, now);
      note_reduction(now);
    }
    if (repaired || !resent || seen_twice || plain_duplicate) {
      if (f != nullptr) f->probe_end = 0;
      probe_here_ = false;
    }
  }
  if (f != nullptr && advances && !scoreboard_.empty()) arm_tail_probe(now);
}

// -- the timers: with RACK-TLP, rto_deadline_ is the earlier one of the flight's two

void TcpSender::arm_rto(Time at) noexcept {
  rto_deadline_ = at;
  if (!by_time_) return;
  Flight* flight = scoreboard_.flight();
  if (flight == nullptr) return;
  flight->rto_at = at;
  if (at == kNever) arm_aux(Flight::Aux::kNone, kNever);
  else rto_deadline_ = std::min(at, flight->aux_at);
}

void TcpSender::arm_aux(Flight::Aux aux, Time at) noexcept {
  Flight& flight = *scoreboard_.flight();
  flight.aux = aux;
  flight.aux_at = at;
  rto_deadline_ = std::min(flight.rto_at, at);
}

/// RFC 8985, 7.2: in place of an RTO that would come later.
void TcpSender::arm_tail_probe(Time now) noexcept {
  Flight& flight = *scoreboard_.flight();
  if (flight.aux == Flight::Aux::kReorder) return;
  const bool may = !recovering() && scoreboard_.sacked() == 0 && flight.probe_end == 0 &&
                   !probe_spent_ && scoreboard_.lost_pending() == 0;
  if (!may) return arm_aux(Flight::Aux::kNone, kNever);
  Duration wait = rto_.srtt() == Duration::zero() ? kFirstProbe : 2 * rto_.srtt();
  if (scoreboard_.segments() == 1) wait += context_.config.delayed_ack;
  arm_aux(Flight::Aux::kProbe, std::min(now + wait, flight.rto_at));
}

void TcpSender::after_departure(Time now) noexcept {
  if (scoreboard_.flight()->rto_at == kNever) arm_rto(now + rto_.rto());  // RFC 6298, 5.1
  arm_tail_probe(now);
}

/// @return false if it is the RTO that has expired
bool TcpSender::on_aux_timer(Time now) noexcept {
  Flight& flight = *scoreboard_.flight();
  if (now < flight.aux_at) return false;
  if (flight.aux == Flight::Aux::kProbe) {
    tail_probe_ = true;
    arm_aux(Flight::Aux::kNone, kNever);
    arm_rto(now + rto_.rto());  // 7.3
    return true;
  }
  if (now >= flight.rto_at) return false;
  const std::uint32_t bytes = flight_bytes();
  detect_losses_by_time(now);
  if (phase_ == Phase::kOpen && scoreboard_.lost_pending() != 0) enter_recovery(bytes, now);
  cwnd_ = control_->cwnd_bytes();
  return true;
}

/// RFC 8985, 7.3: new data if there is any, whatever the congestion window says,
/// else the newest segment again.
void TcpSender::fill_tail_probe(TcpSegment& s, Time now) noexcept {
  tail_probe_ = false;
  probe_spent_ = true;
  const bool something = new_payload() != 0 || (closing_ && nxt_ == written_);
  const bool fresh = something && has_room(now);
  if (fresh) fill_new(s, now);
  else resend_segment(scoreboard_.resend_last(now), s, now);
  Flight& flight = *scoreboard_.flight();
  flight.probe_end = nxt_;
  flight.probe_resent = !fresh;
  ++context_.memory.events.tail_probes;
}

}  // namespace outrider::tg
