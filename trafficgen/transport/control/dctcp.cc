#include "trafficgen/transport/control/dctcp.h"

#include <cassert>

#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::tg {

Dctcp::Dctcp(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept
    : Reno(config, mss_bytes) {
  assert(config.dctcp_min_window_segments > 0);
}

void Dctcp::on_ack(const AckEvent& ack) noexcept {
  assert(ack.ece_bytes <= ack.acked_bytes);
  acked_bytes_ += ack.acked_bytes;
  marked_bytes_ += ack.ece_bytes;
  if (ack.snd_una > window_end_ && acked_bytes_ != 0) {  // 3.3, steps 4 to 8
    const double marked_share =
        static_cast<double>(marked_bytes_) / static_cast<double>(acked_bytes_);
    alpha_ = alpha_ * (1 - kGain) + kGain * marked_share;
    window_end_ = ack.snd_nxt;
    acked_bytes_ = 0;
    marked_bytes_ = 0;
  }
  Reno::on_ack(ack);
}

void Dctcp::on_congestion(Congestion kind, std::uint32_t base_bytes, Time now) noexcept {
  if (kind == Congestion::kLoss) {  // 3.5: as a conventional TCP
    Reno::on_congestion(kind, base_bytes, now);
    return;
  }
  // 3.3, step 9: cwnd = cwnd * (1 - alpha / 2)
  reduce_to(static_cast<std::uint32_t>(static_cast<double>(cwnd_bytes()) * (1 - alpha_ / 2)),
            config().dctcp_min_window_segments);
}

CongestionControl* make_dctcp(std::byte* space, const ControllerConfig& config,
                              std::uint16_t mss_bytes) noexcept {
  return put_controller<Dctcp>(space, config, mss_bytes);
}

}  // namespace outrider::tg
