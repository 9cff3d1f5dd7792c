// Recovery without SACK: NewReno (RFC 6582) over the pipe of RFC 6675. What duplicate
// ACKs tell to have arrived is taken out of the pipe (Flight::departed) where the RFC adds
// it to the window.
#include <algorithm>
#include <cassert>

#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {

/// RFC 5681, 2, with `window_edge` as this ACK tells it.
bool TcpSender::duplicates_ack(const TcpSegment& s, std::int64_t ack,
                               std::uint64_t window_edge) const noexcept {
  return ack == static_cast<std::int64_t>(una_) && !scoreboard_.empty() && s.payload_bytes == 0 &&
         !s.has(kTcpFin) && window_edge == peer_edge_;
}

/// @param una_before before this ACK, @param duplicate see duplicates_ack(),
/// @param departed Flight::departed before this ACK; the pipe is without it now
void TcpSender::on_ack_without_sack(std::uint64_t una_before, bool duplicate,
                                    std::uint32_t departed) noexcept {
  if (scoreboard_.empty()) return;
  Flight& flight = *scoreboard_.flight();
  if (una_ > una_before) {
    flight.duplicate_acks = 0;
    if (phase_ == Phase::kRecovery && below_recovery_point()) {
      // 3.2, step 3, a partial ACK: less by what it acknowledges, except for one segment,
      // which is the resent one.
      const std::uint64_t acked = una_ - una_before;
      departed -= static_cast<std::uint32_t>(
          std::min<std::uint64_t>(departed, acked < mss_ ? acked : acked - mss_));
      lose_first();
    } else {
      departed = 0;
    }
  } else if (duplicate && phase_ != Phase::kAfterTimeout) {
    if (flight.duplicate_acks < UINT8_MAX) ++flight.duplicate_acks;
    departed += mss_;
    if (phase_ == Phase::kOpen) {
      // 3.2, step 2: not for what a recovery itself has sent in vain.
      const bool fresh = flight.recovery_point == 0 || una_ > flight.recovery_point;
      if (flight.duplicate_acks >= Flight::kDupThresh && fresh) lose_first();
      else departed = std::min(departed, 2U * mss_);  // RFC 3042
    }
  }
  scoreboard_.take_departed(departed);
}

/// The oldest segment is lost, unless it is so already.
void TcpSender::lose_first() noexcept {
  if (scoreboard_.head_lost()) return;
  scoreboard_.lose_head();
  resend_first_ = true;
}

}  // namespace outrider::tg
