#include "trafficgen/transport/receiver/receive_window.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace outrider::tg {
namespace {

/// Returns the smallest shift with which 16 bits can express the whole buffer (RFC 7323, section
/// 2).
std::uint8_t scale_for(std::uint32_t buffer_bytes) noexcept {
  std::uint8_t scale = 0;
  while (buffer_bytes >> scale > UINT16_MAX) ++scale;
  return scale;
}

double bytes_per_ns(BitRate rate) noexcept {
  return static_cast<double>(rate.bits_per_second) / 8e9;
}

Duration time_to_read(std::uint64_t bytes, BitRate rate) noexcept {
  return Duration{
      static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_ns(rate)))};
}

}  // namespace

ReceiveWindow::ReceiveWindow(const TcpConfig& config) noexcept
    : told_window_(config.receive_buffer_bytes),
      scale_(scale_for(config.receive_buffer_bytes) & 0xF),
      read_at_a_rate_(config.read_rate.has_value()) {
  assert(told_window_ > 0 && told_window_ <= kMaxWindowBytes);
}

void ReceiveWindow::disable_scale() noexcept {
  scale_ = 0;
  told_window_ = syn_field();
}

std::uint32_t ReceiveWindow::buffer_bytes(const TcpConfig& config) const noexcept {
  const std::uint32_t bytes = config.receive_buffer_bytes;
  return scale_ == 0 ? std::min<std::uint32_t>(bytes, UINT16_MAX) : bytes;
}

std::uint64_t ReceiveWindow::unread_bytes(const TcpConfig& config, Time now) const noexcept {
  if (read_by_ <= now) return 0;
  const auto left_ns = static_cast<double>((read_by_ - now).count());
  return static_cast<std::uint64_t>(std::ceil(left_ns * bytes_per_ns(*config.read_rate)));
}

void ReceiveWindow::note_arrival(std::uint64_t bytes, const TcpConfig& config, Time now) noexcept {
  read_by_ = std::max(read_by_, now) + time_to_read(bytes, *config.read_rate);
}

/// Returns the least change by which the edge moves: half the buffer or a segment, and at least one
/// unit of the scale.
std::uint32_t ReceiveWindow::least_update_bytes(const TcpConfig& config) const noexcept {
  const std::uint32_t segment = std::min(buffer_bytes(config) / 2, config.mss_bytes);
  return std::max(segment, std::uint32_t{1} << scale_);
}

/// @param next number that the ACK acknowledges
std::uint32_t ReceiveWindow::window_to_tell(std::uint64_t next, const TcpConfig& config,
                                            Time now) const noexcept {
  assert(next >= last_told_ && next <= told_edge() + 1);  // a FIN lies on the edge
  const std::uint64_t kept = told_edge() - std::min(next, told_edge());
  const std::uint64_t buffer = buffer_bytes(config);
  const std::uint64_t unread = std::min(unread_bytes(config, now), buffer);
  const std::uint64_t space = buffer - unread + (next_ - next);
  const std::uint64_t unit = std::uint64_t{1} << scale_;
  const std::uint64_t most = std::uint64_t{UINT16_MAX} << scale_;
  const std::uint64_t window = space >= kept + least_update_bytes(config)
                                   ? space / unit * unit
                                   : (kept + unit - 1) / unit * unit;
  return static_cast<std::uint32_t>(std::min(window, most));
}

/// The window must be opened if the peer may not send a full segment. Otherwise it moves with the
/// ACKs of the peer's data.
Time ReceiveWindow::update_at(const TcpConfig& config, Time now) const noexcept {
  const std::uint32_t least = least_update_bytes(config);
  if (told_window_ >= least) return kNever;
  const std::uint32_t may_stay = buffer_bytes(config) - told_window_ - least;
  // One byte less, because both conversions round.
  const Duration before_end = time_to_read(may_stay > 0 ? may_stay - 1 : 0, *config.read_rate);
  return std::max(read_by_ - before_end, now + Duration{1});
}

}  // namespace outrider::tg
