// The window of a receiver whose application reads at a rate: it takes bytes steadily
// while there are any. Silly windows are avoided (RFC 9293, 3.8.6.2.2), the window's right
// edge never moves back, and one that stands still is opened by an ACK of its own as soon
// as it may. A window that is kept is told rounded up to its scale, as Linux does it.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "trafficgen/transport/receiver/receiver.h"

namespace outrider::tg {
namespace {

double bytes_per_ns(BitRate rate) noexcept {
  return static_cast<double>(rate.bits_per_second) / 8e9;
}

Duration time_to_read(std::uint64_t bytes, BitRate rate) noexcept {
  return Duration{
      static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_ns(rate)))};
}

}  // namespace

std::uint32_t TcpReceiver::buffer_bytes() const noexcept {
  const std::uint32_t bytes = context_.config.receive_buffer_bytes;
  return window_scale_ == 0 ? std::min<std::uint32_t>(bytes, UINT16_MAX) : bytes;
}

std::uint64_t TcpReceiver::unread_bytes(Time now) const noexcept {
  if (read_by_ <= now) return 0;
  const auto left_ns = static_cast<double>((read_by_ - now).count());
  return static_cast<std::uint64_t>(std::ceil(left_ns * bytes_per_ns(*context_.config.read_rate)));
}

void TcpReceiver::note_arrival(std::uint64_t bytes, Time now) noexcept {
  read_by_ = std::max(read_by_, now) + time_to_read(bytes, *context_.config.read_rate);
}

/// By less than this no edge moves: half the buffer or a segment, and what the scale tells.
std::uint32_t TcpReceiver::least_update_bytes() const noexcept {
  const std::uint32_t segment = std::min(buffer_bytes() / 2, context_.config.control.mss_bytes);
  return std::max(segment, std::uint32_t{1} << window_scale_);
}

/// @param next that the ACK acknowledges
std::uint32_t TcpReceiver::window_to_tell(std::uint64_t next, Time now) const noexcept {
  assert(next >= last_told_ && next <= told_edge() + 1);  // a FIN lies on the edge
  const std::uint64_t kept = told_edge() - std::min(next, told_edge());
  const std::uint64_t unread = std::min<std::uint64_t>(unread_bytes(now), buffer_bytes());
  const std::uint64_t space = buffer_bytes() - unread + (next_ - next);
  const std::uint64_t unit = std::uint64_t{1} << window_scale_;
  const std::uint64_t most = std::uint64_t{UINT16_MAX} << window_scale_;
  const std::uint64_t window =
      space >= kept + least_update_bytes() ? space / unit * unit : (kept + unit - 1) / unit * unit;
  return static_cast<std::uint32_t>(std::min(window, most));
}

/// The peer waits if it may not send a full segment. Other windows move with its ACKs.
void TcpReceiver::arm_window_update(Time now) noexcept {
  const std::uint32_t least = least_update_bytes();
  if (fin_received() || told_window_ >= least) return;
  const std::uint32_t may_stay = buffer_bytes() - told_window_ - least;
  // One byte less: both conversions round.
  const Duration before_end =
      time_to_read(may_stay > 0 ? may_stay - 1 : 0, *context_.config.read_rate);
  deadline_ = std::max(read_by_ - before_end, now + Duration{1});
}

}  // namespace outrider::tg
