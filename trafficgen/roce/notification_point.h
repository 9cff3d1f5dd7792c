#pragma once

#include <cstddef>
#include <optional>

#include "common/core/clock.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// The notification point of DCQCN: decides when a responder's CNPs leave. A packet with CE makes a
/// CNP, at most one in each `cnp_interval`, which is due `cnp_delay` later. One that is due and has
/// not left stands for those that become due meanwhile. Nothing allocates after construction. Not
/// thread-safe.
///
/// Source: Zhu et al., SIGCOMM 2015, section 3.1. It has no delay; hardware does.
class NotificationPoint {
 public:
  explicit NotificationPoint(const RoceConfig& config)
      : interval_(config.cnp_interval),
        delay_(config.cnp_delay),
        made_(static_cast<std::size_t>(delay_ / interval_) + 1) {}

  /// A packet with CE has come.
  void on_marked(Time now) noexcept {
    if (made_at_ && now - *made_at_ < interval_) return;
    made_at_ = now;
    if (delay_ == Duration{}) {
      due_ = true;
      return;
    }
    on_timer(now);  // so that those that wait are made within one delay
    made_.push(now + delay_);
    next_ = made_.peek();
  }
  [[nodiscard]] bool due() const noexcept { return due_; }
  /// The CNP that is due leaves. @pre due()
  void on_sent() noexcept { due_ = false; }

  /// Returns when the next CNP becomes due; kNever if none waits.
  [[nodiscard]] Time next_timer() const noexcept { return next_; }
  void on_timer(Time now) noexcept {
    while (next_ <= now) {
      due_ = true;
      (void)made_.pop();
      next_ = made_.empty() ? kNever : made_.peek();
    }
  }

 private:
  Duration interval_;
  Duration delay_;
  std::optional<Time> made_at_{};  ///< the newest
  Fifo<Time> made_;                ///< when those become due that wait for it
  Time next_ = kNever;             ///< the first of these
  bool due_ = false;
};

}  // namespace outrider::tg
