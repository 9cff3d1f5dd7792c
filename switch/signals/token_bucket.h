#pragma once

#include <algorithm>
#include <cassert>

#include "common/core/clock.h"

namespace outrider {

/// Admits `rate_per_second` on average, and up to `burst` at once. Not thread-safe.
class TokenBucket {
 public:
  TokenBucket() = default;
  /// Starts full. @pre rate_per_second > 0, burst >= 1
  TokenBucket(double rate_per_second, double burst, Time now) noexcept
      : TokenBucket(rate_per_second, burst, burst, now) {}
  /// Starts with `tokens`. @pre also 0 <= tokens <= burst
  TokenBucket(double rate_per_second, double burst, double tokens, Time now) noexcept
      : rate_per_ns_(rate_per_second * 1e-9), burst_(burst), tokens_(tokens), updated_at_(now) {
    assert(rate_per_second > 0 && burst >= 1 && tokens >= 0 && tokens <= burst);
  }

  /// Takes a token if there is one. An instant before the latest adds no tokens: a caller that
  /// serves two queues in turn may step back in time between them.
  [[nodiscard]] bool take(Time now) noexcept {
    if (now > updated_at_) {
      const auto elapsed_ns = static_cast<double>((now - updated_at_).count());
      tokens_ = std::min(burst_, tokens_ + elapsed_ns * rate_per_ns_);
      updated_at_ = now;
    }
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double rate_per_ns_ = 0;
  double burst_ = 0;
  double tokens_ = 0;
  Time updated_at_{};
};

}  // namespace outrider
