#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace outrider {

/// Remembers few answers on their way from a switch to the sender of one connection, and so what
/// the sender of arriving data knew to be acknowledged. `up` is the time from an answer to the
/// first data that are sent with it known. The latest answer is kept; those before it are a third
/// of `up` apart. Not thread-safe.
class FlightMarks {
 public:
  /// Keeps the latest answer. @param up  from an answer to its data, if that is known
  void add(std::uint32_t acknowledged, const std::optional<Duration>& up, Time now) noexcept {
    const bool crowded =
        used_ >= 2 && up && marks_[used_ - 1U].at - marks_[used_ - 2U].at < *up / 3;
    if (used_ == kMarks || crowded) --used_;
    assert(used_ < kMarks);
    marks_[used_++] = {now, acknowledged};
  }
  /// Takes out the answers that data which arrive now were sent with.
  void pass(Duration up, Time now) noexcept {
    std::uint8_t arrived = 0;
    while (arrived < used_ && marks_[arrived].at + up <= now) ++arrived;
    if (arrived == 0) return;
    known_acknowledged_ = marks_[arrived - 1U].acknowledged;
    has_known_ = true;
    for (std::uint8_t i = arrived; i < used_; ++i) marks_[i - arrived] = marks_[i];
    used_ = static_cast<std::uint8_t>(used_ - arrived);
  }
  /// Returns whether known() is known: an answer has arrived.
  [[nodiscard]] bool has_known() const noexcept { return has_known_; }
  /// Returns the acknowledgment that the sender of arriving data knew. @pre has_known()
  [[nodiscard]] std::uint32_t known() const noexcept {
    assert(has_known_);
    return known_acknowledged_;
  }

 private:
  static constexpr std::uint32_t kMarks = 4;
  struct Mark {
    Time at{};
    std::uint32_t acknowledged = 0;
  };
  std::array<Mark, kMarks> marks_{};  ///< oldest first
  std::uint32_t known_acknowledged_ = 0;
  std::uint8_t used_ = 0;
  bool has_known_ = false;
};

}  // namespace outrider
