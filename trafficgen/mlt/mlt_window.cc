#include "trafficgen/mlt/mlt_window.h"

#include <algorithm>

#include "common/core/sequence.h"

namespace outrider::tg {

void MltWindow::begin() noexcept {
  seen_ = transmitted_;
  loss_.begin(static_cast<std::int64_t>(seen_ - received_));
}

std::optional<MltWindow::News> MltWindow::take(const mlt::Message& m, Duration reordering,
                                               Time now) noexcept {
  const std::int32_t seen = sequence_distance(m.seen_bytes, static_cast<std::uint32_t>(seen_));
  if (seen > static_cast<std::int64_t>(transmitted_ - seen_)) return std::nullopt;
  const std::int32_t received =
      sequence_distance(m.received_bytes, static_cast<std::uint32_t>(received_));
  if (seen < 0 || received < 0) return News{};  // overtaken by a newer one, or of an old burst
  News news{.seen = static_cast<std::uint32_t>(seen),
            .marked = m.marked_bytes - marked_,
            .in_flight = in_flight_bytes()};
  seen_ += news.seen;
  received_ += static_cast<std::uint32_t>(received);
  marked_ = m.marked_bytes;
  news.lost =
      loss_.on_report(static_cast<std::int64_t>(seen_ - received_), news.seen, reordering, now);
  return news;
}

bool MltWindow::adjust(const News& news, std::uint32_t suffered, Duration srtt, Duration rtt,
                       Time now) noexcept {
  const std::uint64_t before = seen_ - news.seen;
  const bool reducing = seen_ < reduced_until_;
  control_->on_ack({.now = now,
                    .acked_bytes = news.seen,
                    .ece_bytes = std::min(suffered, news.seen),
                    .in_flight_bytes = news.in_flight,
                    .srtt = srtt,
                    .rtt = rtt,
                    .snd_una = seen_,
                    .snd_nxt = transmitted_,
                    .in_recovery = suffered != 0 || reducing,
                    .cwnd_limited = before < full_until_});
  if (suffered == 0 || reducing) return false;
  control_->on_congestion(CongestionControl::Congestion::kEce, news.in_flight, now);
  reduced_until_ = transmitted_;  // once per window (RFC 3168, 6.1.2)
  return true;
}

}  // namespace outrider::tg
