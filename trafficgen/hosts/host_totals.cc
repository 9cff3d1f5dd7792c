#include "trafficgen/hosts/host_totals.h"

#include <array>
#include <bit>

namespace outrider::tg {

void add(HostCounters& to, const HostCounters& more) noexcept {
  // All members are counts of 64 bits.
  using Words = std::array<std::uint64_t, sizeof(HostCounters) / sizeof(std::uint64_t)>;
  auto sums = std::bit_cast<Words>(to);
  const auto added = std::bit_cast<Words>(more);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += added[i];
  to = std::bit_cast<HostCounters>(sums);
}

}  // namespace outrider::tg
