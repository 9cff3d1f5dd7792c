#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/span_log.h"

namespace outrider {

/// Measures the time in which at least one entry regulates a queue: what overlaps counts once.
/// Begins are given in order of time. An end may be given before a begin that precedes it: the
/// time of both still counts once.
class RegulatedTime {
 public:
  /// @param stretches  that are kept, the first ones
  explicit RegulatedTime(std::size_t stretches = 0) { stretches_.make_room(stretches); }

  void begin(Time at) noexcept {
    if (entries_++ == 0) since_ = std::max(at, last_end_);
  }
  void end(Time at) noexcept {
    assert(entries_ > 0);
    last_end_ = std::max(last_end_, at);
    if (--entries_ != 0) return;
    const Time end = std::max(last_end_, since_);
    ended_ += end - since_;
    stretches_.add(since_, end);
  }
  /// Returns the number of entries that have begun and not ended.
  [[nodiscard]] std::uint32_t entries() const noexcept { return entries_; }
  /// Returns the time until `now`, if no further end or begin precedes it.
  [[nodiscard]] Duration until(Time now) const noexcept {
    return entries_ == 0 ? ended_ : ended_ + (std::max(now, since_) - since_);
  }
  /// Returns the stretches that were kept, and the one that is not over.
  [[nodiscard]] std::vector<TimeSpan> stretches(Time now) const {
    return stretches_.until(now, entries_ == 0 ? std::nullopt : std::optional(since_));
  }

 private:
  std::uint32_t entries_ = 0;
  Time since_{};      ///< start of the current stretch; meaningful only if entries_ > 0
  Time last_end_{};   ///< latest end so far
  Duration ended_{};  ///< without the current stretch
  SpanLog stretches_{};
};

}  // namespace outrider
