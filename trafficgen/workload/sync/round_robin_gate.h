#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"

namespace outrider::tg {

/// Lets workers that have pushed go on one at a time, in the order of their indices and at least a
/// gap apart: round-robin synchronous parallel (R2SP). Worker 0 sets the pace. T is its mean time
/// from push to push, less the time for which it was held, and
///
///     gap = T / (slack * workers)
///
/// with a slack of 1.2 (VGG: 0.8 T / workers, a slack of 1.25), so that the gaps of all turns fill
/// a little less than an iteration. No worker is held until worker 0 has pushed more often than the
/// warm-up; pushes in the first half of the warm-up do not count in T. A turn sets the gap after it
/// before worker 0's own turn corrects T, so the first gap is zero.
///
/// Protocol: call report() when a whole push has arrived. Unless it returns that the worker is
/// free, ask turn() and call pass() for that worker at the returned time, not earlier. Each of
/// these calls may change the result of turn(). Call leave() for a worker that is done.
///
/// Source: Chen, Wang, Li: Round-Robin Synchronization, INFOCOM 2019, in the authors' code
/// (github.com/chenc10/TensorFlow-RRSP-INFOCOM19, batchsizemanager.py). Deviations:
///   * The code polls every 2 ms (Inception: 10 ms) whether a worker may go, which lengthens each
///     gap by up to that time. Here the worker goes at the first instant at which it may.
///   * From T the code subtracts all holds of worker 0 except the first five, including the one
///     that is just over, which comes after the last push. Here only holds between the pushes
///     that T spans are subtracted.
///   * In the code a worker that has ended keeps its turn, and all others wait for ever.
/// O(1) per call, O(workers) when workers leave. Allocates at construction only; not
/// thread-safe.
class RoundRobinGate {
 public:
  struct Params {
    double slack = 1.2;                 ///< > 0
    std::uint32_t warm_up_pushes = 10;  ///< pushes of worker 0
  };
  struct Turn {
    std::uint32_t worker = 0;
    Time at{};  ///< may be in the past
    bool operator==(const Turn&) const = default;
  };

  RoundRobinGate(std::uint32_t workers, Params params)
      : params_(params), reported_(workers), left_(workers, false) {
    assert(workers > 0 && params.slack > 0);
  }

  /// The worker's push has arrived.
  /// @return true if the worker is free to go on without pass()
  [[nodiscard]] bool report(std::uint32_t worker, Time now) noexcept {
    assert(!reported_[worker] && !left_[worker]);
    if (worker == 0) count_push(now);
    if (pushes_ <= params_.warm_up_pushes) return true;
    reported_[worker] = now;
    return false;
  }

  /// Returns the worker whose turn it is, if its push has arrived.
  [[nodiscard]] std::optional<Turn> turn() const noexcept {
    if (!reported_[next_worker_]) return std::nullopt;
    return Turn{next_worker_, std::max(next_at_, *reported_[next_worker_])};
  }

  /// Lets the worker go on. @pre turn() returned this worker and a time not after `now`
  /// @return how long the worker was held
  Duration pass(std::uint32_t worker, Time now) noexcept {
    assert(turn() && turn()->worker == worker && turn()->at <= now);
    const Duration held = now - *reported_[worker];
    reported_[worker].reset();
    next_at_ = now + gap_;
    next_worker_ = after(worker);
    if (worker == 0) set_pace(held);
    return held;
  }

  /// The worker will not push again.
  void leave(std::uint32_t worker) noexcept {
    assert(!reported_[worker]);
    left_[worker] = true;
    if (worker == next_worker_) next_worker_ = after(worker);
  }

  /// Returns T; zero until it is known.
  [[nodiscard]] Duration period() const noexcept { return period_; }
  [[nodiscard]] Duration gap() const noexcept { return gap_; }

 private:
  void count_push(Time now) noexcept {
    if (pushes_ == params_.warm_up_pushes / 2) first_push_ = now;
    last_push_ = now;
    ++pushes_;
  }
  void set_pace(Duration held) noexcept {
    const std::int64_t intervals = std::int64_t{pushes_} - params_.warm_up_pushes / 2 - 1;
    if (intervals > 0) {
      period_ = (last_push_ - first_push_ - held_) / intervals;
      gap_ =
          from_seconds(seconds(period_) / (params_.slack * static_cast<double>(reported_.size())));
    }
    held_ += held;
  }
  /// Returns the next worker that has not left; the same worker if there is no other.
  [[nodiscard]] std::uint32_t after(std::uint32_t worker) const noexcept {
    const auto workers = static_cast<std::uint32_t>(reported_.size());
    for (std::uint32_t step = 1; step < workers; ++step)
      if (const std::uint32_t next = (worker + step) % workers; !left_[next]) return next;
    return worker;
  }

  Params params_;
  std::vector<std::optional<Time>> reported_;  ///< [workers]: when the held push arrived
  std::vector<bool> left_;                     ///< [workers]
  std::uint32_t next_worker_ = 0;
  Time next_at_{};
  std::uint32_t pushes_ = 0;  ///< by worker 0
  Time first_push_{};         ///< of those that count in T
  Time last_push_{};
  Duration held_{};  ///< of worker 0, before its last push
  Duration period_{};
  Duration gap_{};
};

}  // namespace outrider::tg
