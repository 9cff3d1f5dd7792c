#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>

#include "common/core/clock.h"
#include "switch/aqm/mark_verdict.h"

namespace outrider {

/// CoDel: once the sojourn has stayed above a target for a whole interval, it marks one packet,
/// then further ones at intervals that shrink with the inverse square root of their number,
/// until the sojourn falls below the target.
///
/// Call on_dequeue() exactly once for every packet that leaves the queue, in order, with
/// non-decreasing `now`. A caller that drops the packet asks for the next head at the same
/// `now`; this is the loop of the RFC. A caller that marks lets the packet leave, and asks
/// for the next one at its own departure. O(1); the square root is computed only for a
/// packet that is marked. Not thread-safe (one lcore owns it).
///
/// Source: RFC 8289, sections 5.3 to 5.6, including the state kept between episodes.
/// Deviation: `interval / sqrt(count)` is rounded to the nanosecond.
class CodelMarker {
 public:
  struct Params {
    Duration target{};            ///< tolerated standing delay [ns] > 0; the RFC's 5 ms
    Duration interval{};          ///< about the largest RTT [ns] >= target; 100 ms
    std::uint64_t mtu_bytes = 0;  ///< no mark if at most this many bytes stay behind
  };

  /// @pre the ranges above, which the configuration checks
  explicit CodelMarker(const Params& params) noexcept : params_(params) {
    assert(params.target > Duration::zero() && params.interval >= params.target);
  }

  /// @param sojourn of the packet that leaves [ns], >= 0
  /// @param left_bytes occupancy without it
  [[nodiscard]] MarkVerdict on_dequeue(Duration sojourn, std::uint64_t left_bytes,
                                       Time now) noexcept {
    const bool standing = above_for_an_interval(sojourn, left_bytes, now);
    if (dropping_) {
      if (!standing) {
        dropping_ = false;
        return MarkVerdict::kPass;
      }
      if (step_due_) drop_next_ = control_law(drop_next_);
      step_due_ = now >= drop_next_;
      if (!step_due_) return MarkVerdict::kPass;
      ++count_;
      return MarkVerdict::kMark;
    }
    if (!standing) return MarkVerdict::kPass;
    enter(now);
    return MarkVerdict::kMark;
  }

  [[nodiscard]] bool dropping() const noexcept { return dropping_; }
  /// Returns the packets marked in this episode; starts high if the last one ended recently.
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] const Params& params() const noexcept { return params_; }

 private:
  bool above_for_an_interval(Duration sojourn, std::uint64_t left_bytes, Time now) noexcept {
    assert(sojourn >= Duration::zero());
    if (sojourn < params_.target || left_bytes <= params_.mtu_bytes) {
      above_ = false;
      return false;
    }
    if (!above_) {
      above_ = true;
      above_until_ = now + params_.interval;
      return false;
    }
    return now >= above_until_;
  }

  /// Section 5.5: an episode soon after the last one continues at its rate.
  void enter(Time now) noexcept {
    const std::uint32_t added = count_ - last_count_;
    const bool recent = now - drop_next_ < 16 * params_.interval;
    count_ = added > 1 && recent ? added : 1;
    last_count_ = count_;
    drop_next_ = control_law(now);
    step_due_ = false;
    dropping_ = true;
  }

  [[nodiscard]] Time control_law(Time t) const noexcept {
    const double step =
        static_cast<double>(params_.interval.count()) / std::sqrt(static_cast<double>(count_));
    return t + Duration{std::llround(step)};
  }

  Params params_;
  Time above_until_{};  ///< first_above_time; meaningful only while above_
  Time drop_next_{};    ///< next mark of the episode, or the one due when the last episode ended
  std::uint32_t count_ = 0;
  std::uint32_t last_count_ = 0;  ///< count at the start of the episode
  bool above_ = false;
  bool dropping_ = false;
  bool step_due_ = false;  ///< the last packet was marked, and drop_next_ is not advanced yet
};

}  // namespace outrider
