#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace outrider::tg {

/// Decides when a run has stalled: packets were sent again and again, and none has come for a
/// while. A last packet that nobody answers is no stall, and neither is a pause.
///
/// Call note() a few times a second, with counts and times that do not decrease.
class StallWatch {
 public:
  /// @param limit longest time without a packet, > 0; none: the run never stalls
  explicit StallWatch(std::optional<Duration> limit) noexcept : limit_(limit) {}

  /// @param sent, received  packets since the run began
  void note(std::uint64_t sent, std::uint64_t received, Time now) noexcept {
    if (received != received_) {
      received_ = received;
      sent_at_progress_ = sent_ = sent;
      times_sent_ = 0;
    }
    if (sent != sent_ && ++times_sent_ == 1) since_ = now;
    sent_ = sent;
    last_ = now;
  }

  [[nodiscard]] bool stalled() const noexcept {
    return limit_ && times_sent_ >= kTimesSent && last_ - since_ >= *limit_;
  }
  /// Returns the packets sent since the last one came.
  [[nodiscard]] std::uint64_t unanswered() const noexcept { return sent_ - sent_at_progress_; }

 private:
  /// TCP repeats what is not answered, more seldom each time: three notes find something sent
  /// within seconds.
  static constexpr std::uint32_t kTimesSent = 3;

  std::optional<Duration> limit_;
  std::uint64_t sent_ = 0;
  std::uint64_t sent_at_progress_ = 0;
  std::uint64_t received_ = 0;
  std::uint32_t times_sent_ = 0;  ///< notes that found something sent since the last packet came
  Time since_{};                  ///< the first of them
  Time last_{};
};

}  // namespace outrider::tg
