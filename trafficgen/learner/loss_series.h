#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "trafficgen/learner/learner_report.h"

namespace outrider::tg {

/// Keeps the losses of a run: summary figures over all of them, and a series of bounded length.
/// When the series is full, every second point is removed, and from then on half as many are added.
/// Allocates at construction only; not thread-safe.
class LossSeries {
 public:
  static constexpr std::size_t kPoints = 2048;
  static_assert(kPoints % 2 == 0);

  explicit LossSeries(std::optional<double> target) : target_(target) { points_.reserve(kPoints); }

  /// Adds the loss of the next update. A loss that is not finite ends the series.
  void add(const LossPoint& point) noexcept {
    if (diverged()) return;
    if (!std::isfinite(point.loss)) {
      diverged_ns_ = point.at_ns;
      return;
    }
    if (added_ == 0) first_ = point;
    last_ = point;
    least_ = std::min(least_, point.loss);
    if (target_ && !reached_ && point.loss <= *target_) reached_ = point;
    if (added_++ % every_ != 0) return;
    if (points_.size() == kPoints) thin_out();
    if ((added_ - 1) % every_ == 0) points_.push_back(point);
  }
  [[nodiscard]] bool diverged() const noexcept { return diverged_ns_ >= 0; }

  void fill(LearnerReport& report) const {
    report.first_loss = first_.loss;
    report.last_loss = last_.loss;
    report.least_loss = added_ == 0 ? 0 : least_;
    report.target_loss = target_.value_or(-1);
    if (reached_) {
      report.target_ns = reached_->at_ns;
      report.target_gradients = static_cast<std::int64_t>(reached_->gradients);
    }
    report.diverged_ns = diverged_ns_;
    report.losses_every = every_;
    report.losses = points_;
  }

 private:
  void thin_out() noexcept {
    for (std::size_t i = 0; i < kPoints / 2; ++i) points_[i] = points_[2 * i];
    points_.resize(kPoints / 2);
    every_ *= 2;
  }

  std::optional<double> target_;
  std::vector<LossPoint> points_;
  std::uint64_t every_ = 1;
  std::uint64_t added_ = 0;
  LossPoint first_{}, last_{};
  double least_ = std::numeric_limits<double>::infinity();
  std::optional<LossPoint> reached_{};
  std::int64_t diverged_ns_ = -1;
};

}  // namespace outrider::tg
