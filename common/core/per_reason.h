#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/core/traffic_class.h"

namespace outrider {

/// A count for each value of the enum E, indexed by it. Beside E stands names_of(E), the
/// array of its values' names: reports, series and views take them from there, so that two
/// enums of one length cannot be mistaken for each other.
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

/// Over all classes and reasons.
template <class E>
constexpr std::uint64_t sum(const PerClass<PerReason<E>>& by_class) noexcept {
  std::uint64_t total = 0;
  for (const auto& counts : by_class.values) total += sum(counts);
  return total;
}

}  // namespace outrider
