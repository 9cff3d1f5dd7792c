#include "trafficgen/transport/memory/rate_reduction.h"

#include <algorithm>

namespace outrider::tg {

std::uint32_t RateReduction::on_ack(const Ack& ack, std::uint32_t window_bytes) noexcept {
  if (ack.delivered_bytes == 0 && sent_bytes_ != 0) return window_bytes;
  delivered_bytes_ += ack.delivered_bytes;
  std::int64_t more_bytes = 0;  // sndcnt
  if (ack.pipe_bytes > ack.target_bytes) {
    const std::uint64_t flight_segments = std::uint64_t{flight_bytes_} * ack.mss_bytes;
    const std::uint64_t product = std::uint64_t{delivered_bytes_} * ack.target_bytes;
    const std::uint64_t share = (product + flight_segments - 1) / flight_segments * ack.mss_bytes;
    more_bytes = static_cast<std::int64_t>(share) - std::int64_t{sent_bytes_};
  } else {
    more_bytes =
        std::max(std::int64_t{delivered_bytes_} - sent_bytes_, std::int64_t{ack.delivered_bytes});
    if (ack.safe) more_bytes += ack.mss_bytes;
    more_bytes = std::min(more_bytes, std::int64_t{ack.target_bytes} - ack.pipe_bytes);
  }
  // The first segment always leaves: it is the fast retransmission.
  more_bytes = std::max(more_bytes, std::int64_t{sent_bytes_ == 0 ? ack.mss_bytes : 0});
  return ack.pipe_bytes + static_cast<std::uint32_t>(more_bytes);
}

}  // namespace outrider::tg
