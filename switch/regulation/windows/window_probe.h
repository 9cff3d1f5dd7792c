#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/sequence.h"
#include "switch/regulation/windows/tcp_view.h"

namespace outrider {

/// Measures the time from an answer that leaves a switch to the first data that its sender sends
/// knowing it, by the timestamps of one connection (RFC 7323, 4.2). It waits for the echo of an
/// answer that is the first with its timestamp: one with the timestamp of an earlier answer would
/// be taken to have been echoed too soon.
///
/// A sender that had nothing to send echoes late. So a sample counts only if the data follow others
/// within half of it, or if the sender had used its window up. Not thread-safe.
class WindowProbe {
 public:
  /// Handles an answer. @param advances  whether it acknowledges new data
  /// @param patience  for the echo of the probe before: one that was lost, or that somebody else
  /// has sent, may never be echoed
  /// @return whether begin() is to be called, as the answer is a probe
  [[nodiscard]] bool on_answer(const TcpView& s, bool advances, Duration patience,
                               Time now) noexcept {
    if (waits_) {
      if (now - left_at_ < patience) return false;
      end();
    }
    const bool first = has_value_ && s.ts_value != value_;
    has_value_ = true;
    value_ = s.ts_value;
    return first && advances;
  }
  /// @param at_edge  whether the sender has used its window up
  void begin(bool at_edge, Time now) noexcept {
    waits_ = true;
    at_edge_ = at_edge;
    left_at_ = now;
  }
  /// Returns whether take_echo() may do anything.
  [[nodiscard]] bool waits() const noexcept { return waits_; }
  /// Handles data. @pre waits(), and they have a timestamp. @param before  last sample taken over
  /// @return a sample, if they echo the answer and it counts
  [[nodiscard]] std::optional<Duration> take_echo(const TcpView& s,
                                                  const std::optional<Duration>& before,
                                                  Time now) noexcept {
    const std::int32_t ticks = sequence_distance(s.ts_echo, value_);
    if (ticks < 0 || ticks > kMostTicks) return std::nullopt;
    end();
    const Duration sample = now - left_at_;
    const bool sends_on = 2 * (now - data_at_) < sample;
    if (sends_on || at_edge_ || (before && sample < *before)) return sample;
    return std::nullopt;
  }
  /// Notes the time of data, after take_echo().
  void on_data(Time now) noexcept { data_at_ = now; }

 private:
  /// An echo may be ahead of the answer by so many ticks of the timestamps' clock. So few forged
  /// echoes are taken.
  static constexpr std::int32_t kMostTicks = 1 << 16;

  /// Nothing is known of the answers since the probe.
  void end() noexcept { waits_ = has_value_ = false; }

  Time left_at_{};           ///< the probe
  Time data_at_{};           ///< the latest data
  std::uint32_t value_ = 0;  ///< of the latest answer; while waiting, of the probe
  bool has_value_ = false;
  bool waits_ = false;    ///< the echo of `value_` is awaited
  bool at_edge_ = false;  ///< the sender had used its window up when the probe left
};

}  // namespace outrider
