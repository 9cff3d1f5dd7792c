#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/quantity_bounds.h"
#include "common/core/units.h"

namespace outrider {

/// The values that one setting may have, whatever the other settings are. Made by the
/// functions below; the default allows everything.
struct SettingRange {
  enum class Of : std::uint8_t {
    kAnything,
    kIntegers,
    kPowersOfTwo,
    kReals,
    kDurations,  ///< bounds in nanoseconds
    kRates       ///< bounds in bits per second
  };
  static constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

  Of of = Of::kAnything;
  bool above_low = false;   ///< the lower bound itself is refused
  bool below_high = false;  ///< the upper bound itself is refused
  std::uint64_t low = 0;
  std::uint64_t high = kUnbounded;
  double real_low = 0;
  double real_high = std::numeric_limits<double>::infinity();
  std::string_view unit{};  ///< follows an integer in messages

  /// @return the problem, as "0 packets: must be at least 1"; empty if there is none
  [[nodiscard]] std::string breach(std::uint64_t value) const;
  [[nodiscard]] std::string breach(std::int64_t value) const;
  [[nodiscard]] std::string breach(double value) const;  ///< NaN is rejected
  [[nodiscard]] std::string breach(Duration value) const;
  [[nodiscard]] std::string breach(BitRate value) const;

  /// Returns text for the reference: "1 to 1048576 packets", "above 0"; empty: everything.
  [[nodiscard]] std::string text() const;
};

constexpr SettingRange integers(std::uint64_t low, std::uint64_t high, std::string_view unit = {}) {
  return {.of = SettingRange::Of::kIntegers, .low = low, .high = high, .unit = unit};
}
constexpr SettingRange integers_from(std::uint64_t low, std::string_view unit = {}) {
  return integers(low, SettingRange::kUnbounded, unit);
}
constexpr SettingRange powers_of_two(std::uint64_t low, std::uint64_t high) {
  return {.of = SettingRange::Of::kPowersOfTwo, .low = low, .high = high};
}
/// low <= value <= high
constexpr SettingRange reals(double low, double high) {
  return {.of = SettingRange::Of::kReals, .real_low = low, .real_high = high};
}
/// low < value <= high
constexpr SettingRange reals_above(double low, double high) {
  return {.of = SettingRange::Of::kReals, .above_low = true, .real_low = low, .real_high = high};
}
/// low <= value < high
constexpr SettingRange reals_below(double low, double high) {
  return {.of = SettingRange::Of::kReals, .below_high = true, .real_low = low, .real_high = high};
}
/// low < value < high
constexpr SettingRange reals_between(double low, double high) {
  return {.of = SettingRange::Of::kReals,
          .above_low = true,
          .below_high = true,
          .real_low = low,
          .real_high = high};
}
/// @pre 0 <= low <= high
constexpr SettingRange durations(Duration low, Duration high) {
  return {.of = SettingRange::Of::kDurations,
          .low = static_cast<std::uint64_t>(low.count()),
          .high = static_cast<std::uint64_t>(high.count())};
}
constexpr SettingRange durations_from(Duration low) {
  return {.of = SettingRange::Of::kDurations, .low = static_cast<std::uint64_t>(low.count())};
}
constexpr SettingRange durations_above_zero() {
  return {.of = SettingRange::Of::kDurations, .above_low = true};
}
/// 0 < value <= high
constexpr SettingRange durations_up_to(Duration high) {
  return {.of = SettingRange::Of::kDurations,
          .above_low = true,
          .high = static_cast<std::uint64_t>(high.count())};
}
/// Rates that a link can have: above 0, up to kMaxRate.
constexpr SettingRange link_rates() {
  return {.of = SettingRange::Of::kRates, .above_low = true, .high = kMaxRate.bits_per_second};
}

}  // namespace outrider
