#pragma once

#include <cassert>

#include "common/core/clock.h"

namespace outrider {

/// Asserts that the times which its owner is handed do not decrease. Where asserts are off it is
/// empty and does nothing.
class TimeOrder {
 public:
  /// @pre `now` is not before that of the last call
  void go_on([[maybe_unused]] Time now) noexcept {
#ifndef NDEBUG
    assert(now >= last_);
    last_ = now;
#endif
  }

 private:
#ifndef NDEBUG
  Time last_{};
#endif
};

}  // namespace outrider
