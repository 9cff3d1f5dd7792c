#include "trafficgen/hosts/host_totals.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace outrider::tg {

/// add_fields() does the same by the rows; a loop over all counts is one that the compiler
/// vectorises.
void add(HostCounters& to, const HostCounters& more) noexcept {
  static_assert(std::has_unique_object_representations_v<HostCounters>, "integers without gaps");
  using Counts = std::array<std::uint64_t, sizeof(HostCounters) / sizeof(std::uint64_t)>;
  auto sums = std::bit_cast<Counts>(to);
  const auto added = std::bit_cast<Counts>(more);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += added[i];
  to = std::bit_cast<HostCounters>(sums);
}

}  // namespace outrider::tg
