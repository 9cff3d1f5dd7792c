#pragma once

#include <rte_cycles.h>

#include <cstdint>

#include "common/core/clock.h"

namespace outrider {

/// Converts readings of the TSC to Time. Time{} is the instant of construction. A loop reads the
/// TSC once per poll; all other code is handed the time.
class TscClock {
 public:
  /// @pre EAL is initialised
  TscClock() noexcept : TscClock(rte_get_tsc_hz(), rte_rdtsc()) {}
  /// @pre hz >= 250 MHz
  TscClock(std::uint64_t hz, std::uint64_t start) noexcept
      : start_(start), ns_per_tick_q61_(scale_of(hz)) {}

  [[nodiscard]] Time now() const noexcept { return time_of(rte_rdtsc()); }

  /// @pre tsc is not before the start
  [[nodiscard]] Time time_of(std::uint64_t tsc) const noexcept {
    const Wide scaled = static_cast<Wide>(tsc - start_) * ns_per_tick_q61_;
    return Time{Duration{static_cast<std::int64_t>(scaled >> 61)}};
  }

  /// Returns the counter at `t`, to within the ticks of a nanosecond. Costs a division.
  [[nodiscard]] std::uint64_t tsc_of(Time t) const noexcept {
    const auto ns = static_cast<std::uint64_t>(t.time_since_epoch().count());
    return start_ + static_cast<std::uint64_t>((static_cast<Wide>(ns) << 61) / ns_per_tick_q61_);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  /// Returns the scale with 61 fractional bits: a year is off by less than 1 ns.
  static std::uint64_t scale_of(std::uint64_t hz) noexcept;

  std::uint64_t start_;
  std::uint64_t ns_per_tick_q61_;
};

}  // namespace outrider
