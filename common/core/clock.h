#pragma once

#include <chrono>
#include <cstdint>

namespace outrider {

/// Time base of all code that handles packets: 1 ns ticks since the start of the run. It has
/// no now(): code below the loops cannot read a clock, it is handed the time. A poll loop
/// takes the time from the TSC, the virtual runtime from the next event, and a unit test
/// from a literal.
struct DataplaneClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<DataplaneClock>;
  static constexpr bool is_steady = true;
};

using Time = DataplaneClock::time_point;
using Duration = DataplaneClock::duration;

inline constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

/// Later than every instant of a run; stands for "no event is due".
inline constexpr Time kNever = Time::max();

constexpr double seconds(Duration d) noexcept { return std::chrono::duration<double>(d).count(); }
constexpr double seconds(Time t) noexcept { return seconds(t.time_since_epoch()); }

/// Rounds to the nearest nanosecond. What is beyond 146 years, which computations may give, is
/// that long: later than every run, and its sum with an instant of a run fits 64 bits.
constexpr Duration from_seconds(double s) noexcept {
  constexpr double kMost_s = 4.6e9;
  if (!(s < kMost_s)) s = kMost_s;
  if (s < -kMost_s) s = -kMost_s;
  return Duration{static_cast<std::int64_t>(s * 1e9 + (s < 0 ? -0.5 : 0.5))};
}

}  // namespace outrider
