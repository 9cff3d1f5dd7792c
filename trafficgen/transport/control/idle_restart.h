#pragma once

#include <algorithm>
#include <cstdint>

#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

struct RestartedWindow {
  std::uint32_t cwnd_bytes;
  std::uint32_t ssthresh_bytes;
};

/// Returns the threshold that remembers a window which is given up, as Linux does
/// (tcp_current_ssthresh(), RFC 2861).
inline std::uint32_t remembered_ssthresh(RestartedWindow now) noexcept {
  return std::max(now.ssthresh_bytes, now.cwnd_bytes / 2 + now.cwnd_bytes / 4);
}

/// Returns window and threshold after an RTO in which at most `used_bytes` of the window were
/// needed: halfway there, but not below the initial window.
///
/// Source: RFC 2861 as in Linux 6.1 (tcp_cwnd_application_limited()). Deviation: where the sender
/// still has something to send, the caller lets the window be; Linux asks whether the application
/// waits for room in the send buffer.
inline RestartedWindow lower_unused_window(const ControllerConfig& config, std::uint32_t mss_bytes,
                                           RestartedWindow now, std::uint32_t used_bytes) noexcept {
  const std::uint32_t used = std::max(used_bytes, initial_window_bytes(config, mss_bytes));
  if (used >= now.cwnd_bytes) return now;
  return {now.cwnd_bytes / 2 + used / 2, remembered_ssthresh(now)};
}

/// Returns window and threshold after an idle time longer than the RTO.
///
/// Source: RFC 5681, 4.1: the restart window, min(IW, cwnd). Linux 6.1 (tcp_cwnd_restart()) comes
/// down to it by a half for each further RTO, and remembers three quarters of the window as
/// ssthresh.
/// @pre idle > rto > 0
inline RestartedWindow restart_window(const ControllerConfig& config, std::uint32_t mss_bytes,
                                      RestartedWindow now, Duration idle, Duration rto) noexcept {
  const std::uint32_t least = std::min(initial_window_bytes(config, mss_bytes), now.cwnd_bytes);
  if (config.idle_restart == IdleRestart::kRfc5681) return {least, now.ssthresh_bytes};
  RestartedWindow after{now.cwnd_bytes, remembered_ssthresh(now)};
  for (idle -= rto; idle > Duration::zero() && after.cwnd_bytes > least; idle -= rto)
    after.cwnd_bytes /= 2;
  after.cwnd_bytes = std::max(after.cwnd_bytes, least);
  return after;
}

}  // namespace outrider::tg
