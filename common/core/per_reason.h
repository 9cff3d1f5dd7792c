#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/core/traffic_class.h"

namespace outrider {

/// A count for each value of the enum E, indexed by it. names_of(E), defined next to E, returns
/// the names of its values. Reports, series and views take the names from there, so that two
/// enums of equal length cannot be confused.
template <class E>
struct PerReason : std::array<std::uint64_t, names_of(E{}).size()> {
  using Counts = std::array<std::uint64_t, names_of(E{}).size()>;
  using Counts::operator[];
  constexpr std::uint64_t& operator[](E e) noexcept { return (*this)[static_cast<std::size_t>(e)]; }
  constexpr const std::uint64_t& operator[](E e) const noexcept {
    return (*this)[static_cast<std::size_t>(e)];
  }
};

template <class E>
constexpr std::uint64_t sum(const PerReason<E>& counts) noexcept {
  std::uint64_t total = 0;
  for (const std::uint64_t n : counts) total += n;
  return total;
}

/// Returns the sum over all classes and reasons.
template <class E>
constexpr std::uint64_t sum(const PerClass<PerReason<E>>& by_class) noexcept {
  std::uint64_t total = 0;
  for (const auto& counts : by_class.values) total += sum(counts);
  return total;
}

}  // namespace outrider
