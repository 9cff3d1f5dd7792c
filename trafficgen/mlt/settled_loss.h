#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// Tells lost packets from those that others have overtaken, by how long they are missing. As long
/// as no packet was overtaken, what is missing is lost. After that it is lost once it has been
/// missing for a reordering window, or up to twice as long. That a window begins with the first
/// overtaken packet, and lasts a quarter of a round trip, is RACK's rule (RFC 8985, 6.2, step 4),
/// with the smoothed round trip instead of the least one. Not thread-safe: the sender owns it.
class SettledLoss {
 public:
  /// Begins anew with what is missing now, some of which may still arrive in order.
  void begin(std::int64_t missing_bytes) noexcept {
    missing_ = counted_ = least_ = missing_bytes;
    begun_ = true;
  }
  /// @param missing_bytes  that the receiver should have seen before its report, and has not
  /// @param most_bytes     that can be told now; the rest is told at the next reports
  /// @return bytes that are lost and were not told before
  std::uint32_t on_report(std::int64_t missing_bytes, std::uint32_t most_bytes, Duration window,
                          Time now) noexcept {
    if (missing_bytes < missing_ && !begun_) reordered_ = true;
    begun_ = false;
    missing_ = missing_bytes;
    if (!reordered_) {
      const auto lost = static_cast<std::uint32_t>(std::max<std::int64_t>(missing_ - counted_, 0));
      counted_ = least_ = missing_;
      since_ = now;
      return lost;
    }
    least_ = std::min(least_, missing_);
    if (now - since_ < window) return 0;
    const auto lost = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(least_ - counted_, 0, std::int64_t{most_bytes}));
    counted_ = std::min(counted_ + lost, least_);
    if (counted_ < least_) return lost;
    least_ = missing_;
    since_ = now;
    return lost;
  }

 private:
  bool begun_ = false;      ///< no report has come since begin()
  bool reordered_ = false;  ///< a packet that was missing has arrived
  // Bytes
  std::int64_t missing_ = 0;  ///< at the last report
  std::int64_t counted_ = 0;  ///< of these, told as lost
  std::int64_t least_ = 0;    ///< missing since `since_` at every report
  Time since_{};
};

}  // namespace outrider::tg
