#pragma once

#include <concepts>
#include <optional>

namespace outrider {

/// A setting that has a value, or follows a rule ("auto" in a file).
template <class T>
struct OrAuto {
  std::optional<T> value{};  ///< absent: the rule

  constexpr OrAuto() noexcept = default;
  /// A value of any type that converts to T, as to T itself.
  template <std::convertible_to<T> U>
  constexpr OrAuto(U given) noexcept : value(given) {}  // NOLINT(google-explicit-constructor)
  bool operator==(const OrAuto&) const = default;
};

}  // namespace outrider
