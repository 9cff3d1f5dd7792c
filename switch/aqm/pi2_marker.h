#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "switch/aqm/mark_verdict.h"

namespace outrider {

/// PI2: a proportional integral controller adjusts a base probability p' once every update
/// interval, so that the queueing delay settles at a target. Packets are marked with the
/// square of p'. The window of a Reno or CUBIC flow varies with the inverse root of the mark
/// probability, so the square makes the loop linear. The gains therefore hold at any load,
/// while PIE has to scale its steps by the probability.
///
/// Marks are spread evenly: each packet adds p'^2 to a count, and a packet that raises it
/// above 1 is marked. There is no random number and no timer. A call catches up in one step
/// on all updates that were due before `now`, because the delay was the same in each.
/// Call on_dequeue() exactly once for every packet that leaves the queue, in order, with
/// non-decreasing `now`; if it is dropped, the next head is judged at the same `now`.
/// O(1) per packet, a division per update, no allocation, not thread-safe (one lcore owns it).
///
/// Source: De Schepper, Bondarenko, Tsang and Briscoe, "PI2: A Linearized AQM for both
/// Classic and Scalable TCP", CoNEXT 2016, section 4; RFC 9332, appendix A.1, for the
/// update, the constants and the even spread of the Classic queue. Left out: the queue for
/// scalable traffic and its coupling, so ECT(1) is marked like ECT(0); and dropping ECT at
/// overload (A.2), which the queue's limit replaces. Deviation: the delay is the sojourn of
/// the last packet that left, or 0 if it left the queue empty.
class Pi2Marker {
 public:
  struct Params {
    Duration target{};    ///< [ns] > 0; the RFC's 15 ms
    Duration t_update{};  ///< [ns] > 0; 16 ms
    double alpha = 0.16;  ///< [1/s] >= 0, per second of (delay - target)
    double beta = 3.2;    ///< [1/s] >= 0, per second by which the delay has grown
  };

  /// @pre the ranges above, which the configuration checks
  explicit Pi2Marker(const Params& params) noexcept
      : params_(params), next_update_(params.t_update) {
    assert(params.target > Duration::zero() && params.t_update > Duration::zero());
    assert(params.alpha >= 0 && params.beta >= 0);
  }

  /// @param sojourn of the packet that leaves [ns], >= 0
  /// @param left_bytes occupancy without it
  [[nodiscard]] MarkVerdict on_dequeue(Duration sojourn, std::uint64_t left_bytes,
                                       Time now) noexcept {
    assert(sojourn >= Duration::zero());
    if (now >= next_update_) [[unlikely]]
      catch_up(now);
    delay_ = left_bytes == 0 ? Duration::zero() : sojourn;
    count_ += base_ * base_;
    if (count_ <= 1) return MarkVerdict::kPass;
    count_ -= 1;
    return MarkVerdict::kMark;
  }

  /// Returns p' as of the last update, in [0, 1]; packets are marked with its square.
  [[nodiscard]] double base_probability() const noexcept { return base_; }

 private:
  /// Only the first of the updates sees a change of the delay. All later ones move p' by the
  /// same step, so clamping their sum once equals clamping each.
  void catch_up(Time now) noexcept {
    const auto further = (now - next_update_) / params_.t_update;
    const double step = params_.alpha * seconds(delay_ - params_.target);
    base_ = std::clamp(base_ + step + params_.beta * seconds(delay_ - old_delay_), 0.0, 1.0);
    base_ = std::clamp(base_ + static_cast<double>(further) * step, 0.0, 1.0);
    old_delay_ = delay_;
    next_update_ += (further + 1) * params_.t_update;
  }

  Params params_;
  double base_ = 0;   ///< p'
  double count_ = 0;  ///< marks owed, at most 2
  Duration delay_{};
  Duration old_delay_{};  ///< delay_ at the last update
  Time next_update_;
};

}  // namespace outrider
