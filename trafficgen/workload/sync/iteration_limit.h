#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// Decides who may begin another iteration in a job that ends after a number of iterations or at an
/// instant, whichever is first.
///
/// Workers that wait for each other must all do the same iterations. When the first of them begins
/// too late, the job is closed after the last iteration that any worker has begun. Workers that do
/// not wait for each other stop one by one. Not thread-safe.
class IterationLimit {
 public:
  /// @param stop no iteration begins at or after this time; kNever for no limit
  /// @param together true if workers wait for each other
  IterationLimit(std::uint32_t iterations, Time stop, bool together) noexcept
      : limit_(iterations), stop_(stop), together_(together) {}

  /// Returns true if the iteration may begin, and notes that it does.
  /// @param begin planned begin of the iteration
  [[nodiscard]] bool begin(std::uint32_t iteration, Time begin) noexcept {
    if (begin >= stop_) {
      if (!together_) return false;
      limit_ = std::min(limit_, begun_);
    }
    if (iteration >= limit_) return false;
    begun_ = std::max(begun_, iteration + 1);
    return true;
  }

 private:
  std::uint32_t limit_;
  std::uint32_t begun_ = 0;  ///< iterations that any worker has begun
  Time stop_;
  bool together_;
};

}  // namespace outrider::tg
