#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outrider {

/// The classes of traffic that the switch and the records distinguish.
enum class TrafficClass : std::uint8_t {
  kBackground,  ///< everything that is not part of training
  kDdl,         ///< packets of a training job's connections
  kSignal,      ///< iteration-start signals and their answers
};

inline constexpr std::size_t kTrafficClasses = 3;
inline constexpr std::array<std::string_view, kTrafficClasses> kTrafficClassNames{"background",
                                                                                  "ddl", "signal"};

constexpr std::string_view name_of(TrafficClass c) noexcept {
  return kTrafficClassNames[static_cast<std::size_t>(c)];
}

/// One value per class, indexed by the class.
template <class T>
struct PerClass {
  std::array<T, kTrafficClasses> values{};
  constexpr T& operator[](TrafficClass c) noexcept { return values[static_cast<std::size_t>(c)]; }
  constexpr const T& operator[](TrafficClass c) const noexcept {
    return values[static_cast<std::size_t>(c)];
  }
};

/// Returns the sum over all classes.
constexpr std::uint64_t sum(const PerClass<std::uint64_t>& by_class) noexcept {
  std::uint64_t total = 0;
  for (const std::uint64_t of_class : by_class.values) total += of_class;
  return total;
}

}  // namespace outrider
