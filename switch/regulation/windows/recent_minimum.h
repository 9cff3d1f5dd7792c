#pragma once

#include <algorithm>
#include <optional>

#include "common/core/clock.h"

namespace outrider {

/// The smallest of the latest samples of a delay, those of the last one to two spans before the
/// latest of them. It follows a path that becomes longer, and leaves out queues that drain once in
/// a while. The span is longer than that of BBR (10 s, draft-ietf-ccwg-bbr, MinRTTFilterLen), which
/// drains the queue for its samples. Here a held burst drains it, and bursts may be a minute apart.
class RecentMinimum {
 public:
  static constexpr Duration kSpan = std::chrono::seconds(60);

  void add(Duration sample, Time now) noexcept {
    if (!current_) {
      began_ = now;
      current_ = sample;
    } else if (now - began_ < kSpan) {
      current_ = std::min(*current_, sample);
    } else {
      before_ = now - began_ < 2 * kSpan ? current_ : std::nullopt;
      current_ = sample;
      began_ = now;
    }
  }
  /// Returns nothing before the first sample.
  [[nodiscard]] std::optional<Duration> value() const noexcept {
    return before_ ? std::min(before_, current_) : current_;
  }

 private:
  std::optional<Duration> before_, current_;
  Time began_{};
};

}  // namespace outrider
