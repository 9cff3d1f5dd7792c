#include "trafficgen/hosts/host_totals.h"

#include <cstddef>
#include <cstdint>

namespace outrider::tg {

void add(HostCounters& to, const HostCounters& more) noexcept {
  // All members are counts of 64 bits, which makes a loop that the compiler vectorises.
  auto* const sums = reinterpret_cast<std::uint64_t*>(&to);
  const auto* const added = reinterpret_cast<const std::uint64_t*>(&more);
  for (std::size_t i = 0; i < sizeof to / sizeof *sums; ++i) sums[i] += added[i];
}

}  // namespace outrider::tg
