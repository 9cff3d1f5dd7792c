#include "trafficgen/mlt/magnitude_ranks.h"

#include <algorithm>

namespace outrider::tg {

void MagnitudeRanks::write(std::span<std::uint32_t> ranks) noexcept {
  std::ranges::sort(packets_, [](const Packet& a, const Packet& b) {
    return a.magnitude != b.magnitude ? a.magnitude < b.magnitude : a.packet < b.packet;
  });
  const std::uint64_t ranked = packets_.size();
  for (std::uint64_t below = 0; below < ranked; ++below)
    ranks[packets_[below].packet] = static_cast<std::uint32_t>(((2 * below + 1) << 31) / ranked);
}

}  // namespace outrider::tg
