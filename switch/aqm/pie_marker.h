#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "switch/aqm/mark_verdict.h"

namespace outrider {

/// PIE: marks at enqueue with a probability. A proportional integral controller adjusts the
/// probability once every update interval, so that the queueing delay settles at a target.
///
/// The delay is the sojourn of the last packet that left (RFC 8033 section 4.3; the
/// departure rate of section 5.2 is for queues that cannot stamp packets). Our queue stamps
/// its packets anyway, and a stamp stays right when a scheduler shares the link, where a
/// rate lags behind. An empty queue has no delay.
///
/// There is no timer: the calls catch up on the updates that were due before `now`, at most
/// kMaxCatchUp of them. An empty queue that was idle for more of them starts anew.
/// Call on_enqueue() for every packet that is judged, on_dequeue() for every packet
/// that leaves; `now` does not decrease. O(1) per packet, no division, no allocation,
/// not thread-safe (one lcore owns it).
///
/// Source: RFC 8033, sections 4.1 (when a packet is spared), 4.2 (probability),
/// 4.4 (burst allowance), 5.1 (ECN), 5.5 (cap). Left out: 5.3 (turning PIE off) and
/// 5.4 (derandomisation).
class PieMarker {
 public:
  struct Params {
    Duration target{};               ///< QDELAY_REF [ns] > 0; the RFC's 15 ms
    Duration t_update{};             ///< [ns] > 0; 15 ms
    double alpha = 0.125;            ///< [1/s] >= 0, per second beyond target; 1/8 at 15 ms
    double beta = 1.25;              ///< [1/s] >= 0; alpha and beta scale with 1 / target
    Duration burst_allowance{};      ///< MAX_BURST [ns] >= 0; 150 ms
    std::uint64_t spared_bytes = 0;  ///< no mark up to this occupancy: 2 MEAN_PKTSIZE
    double mark_ecnth = 1;           ///< ECT is dropped above it, too; in [0, 1]; 1: never
  };

  /// @pre the ranges above, which the configuration checks
  explicit PieMarker(const Params& params) noexcept
      : params_(params), burst_left_(params.burst_allowance), next_update_(params.t_update) {
    assert(params.target > Duration::zero() && params.t_update > Duration::zero());
    assert(params.alpha >= 0 && params.beta >= 0);
    assert(params.burst_allowance >= Duration::zero());
    assert(params.mark_ecnth >= 0 && params.mark_ecnth <= 1);
  }

  /// @param occupancy_bytes of the queue, without the packet that joins it
  /// @param draw uniform in [0, 2^32); the caller draws for every packet
  [[nodiscard]] MarkVerdict on_enqueue(std::uint64_t occupancy_bytes, std::uint32_t draw,
                                       Time now) noexcept {
    if (now >= next_update_) [[unlikely]]
      catch_up(now);
    if (draw >= mark_below_ || burst_left_ > Duration::zero()) return MarkVerdict::kPass;
    // section 4.1: a short delay at a low probability, or hardly anything waits
    if (old_delay_ < params_.target / 2 && probability_ < 0.2) return MarkVerdict::kPass;
    if (occupancy_bytes <= params_.spared_bytes) return MarkVerdict::kPass;
    return probability_ <= params_.mark_ecnth ? MarkVerdict::kMark : MarkVerdict::kDrop;
  }

  /// @param sojourn of the packet that leaves the queue [ns], >= 0
  /// @param left_bytes occupancy without it
  void on_dequeue(Duration sojourn, std::uint64_t left_bytes, Time now) noexcept {
    assert(sojourn >= Duration::zero());
    if (now >= next_update_) [[unlikely]]
      catch_up(now);
    delay_ = left_bytes == 0 ? Duration::zero() : sojourn;
  }

  /// Returns the probability as of the last update, in [0, 1].
  [[nodiscard]] double probability() const noexcept { return probability_; }
  [[nodiscard]] const Params& params() const noexcept { return params_; }

  static constexpr int kMaxCatchUp = 1024;

 private:
  void catch_up(Time now) noexcept {
    for (int i = 0; i < kMaxCatchUp && now >= next_update_; ++i) {
      update();
      next_update_ += params_.t_update;
    }
    if (now < next_update_) return;
    next_update_ = now + params_.t_update;
    if (delay_ > Duration::zero()) return;
    probability_ = 0;
    mark_below_ = 0;
    old_delay_ = Duration::zero();
    burst_left_ = params_.burst_allowance;
  }

  /// Sections 4.2 and 4.4.
  void update() noexcept {
    double step = params_.alpha * seconds(delay_ - params_.target) +
                  params_.beta * seconds(delay_ - old_delay_);
    step *= scale(probability_);
    if (probability_ >= 0.1) step = std::min(step, 0.02);  // section 5.5
    probability_ += step;
    if (delay_ == Duration::zero() && old_delay_ == Duration::zero()) probability_ *= 0.98;
    probability_ = std::clamp(probability_, 0.0, 1.0);
    const Duration half = params_.target / 2;
    if (probability_ == 0 && delay_ < half && old_delay_ < half)
      burst_left_ = params_.burst_allowance;
    else burst_left_ = std::max(burst_left_ - params_.t_update, Duration::zero());
    old_delay_ = delay_;
    mark_below_ = static_cast<std::uint64_t>(probability_ * 0x1p32);
  }

  /// Section 4.2: steps are small while the probability is small.
  static double scale(double probability) noexcept {
    if (probability < 0.000001) return 1.0 / 2048;
    if (probability < 0.00001) return 1.0 / 512;
    if (probability < 0.0001) return 1.0 / 128;
    if (probability < 0.001) return 1.0 / 32;
    if (probability < 0.01) return 1.0 / 8;
    if (probability < 0.1) return 1.0 / 2;
    return 1;
  }

  Params params_;
  double probability_ = 0;
  std::uint64_t mark_below_ = 0;  ///< probability, scaled by 2^32
  Duration delay_{};              ///< sojourn of the last packet that left; 0: empty queue
  Duration old_delay_{};          ///< delay_ at the last update
  Duration burst_left_;
  Time next_update_;
};

}  // namespace outrider
