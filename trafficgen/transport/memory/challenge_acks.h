#pragma once

#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// Limits challenge ACKs, which answer unacceptable segments, to kPerSecond in each second over all
/// connections that share the object (RFC 5961, section 7; Linux allowed as many per host). Not
/// thread-safe.
class ChallengeAcks {
 public:
  static constexpr std::uint32_t kPerSecond = 1000;

  /// Returns true if one may be sent now, and counts it.
  [[nodiscard]] bool take(Time now) noexcept {
    if (now - began_ >= std::chrono::seconds(1)) {
      began_ = now;
      taken_ = 0;
    }
    if (taken_ == kPerSecond) return false;
    ++taken_;
    return true;
  }

 private:
  Time began_{};  ///< begin of the second that taken_ counts
  std::uint32_t taken_ = 0;
};

}  // namespace outrider::tg
