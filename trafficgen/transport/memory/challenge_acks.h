#pragma once

#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// How often peers that send what cannot be are told what would be right: at most
/// kPerSecond times in each second, over all connections that share it (RFC 5961,
/// section 7; Linux allowed as many per host). Not thread-safe.
class ChallengeAcks {
 public:
  static constexpr std::uint32_t kPerSecond = 1000;

  /// @return may one be sent now?
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
  Time began_{};  ///< the second that taken_ is of
  std::uint32_t taken_ = 0;
};

}  // namespace outrider::tg
