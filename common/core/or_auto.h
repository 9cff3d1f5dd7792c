#pragma once

#include <optional>

namespace outrider {

/// A setting that has a value, or follows a rule ("auto" in a file).
template <class T>
struct OrAuto {
  std::optional<T> value{};  ///< absent: the rule

  constexpr OrAuto() noexcept = default;
  constexpr OrAuto(T given) noexcept : value(given) {}  // NOLINT(google-explicit-constructor)
  bool operator==(const OrAuto&) const = default;
};

}  // namespace outrider
