#include "common/dpdk/eal/tsc_clock.h"

#include <cassert>

namespace outrider {

std::uint64_t TscClock::scale_of(std::uint64_t hz) noexcept {
  assert(hz >= 250'000'000);
  const Wide rounded = ((static_cast<Wide>(1'000'000'000) << 61) + hz / 2) / hz;
  return static_cast<std::uint64_t>(rounded);
}

}  // namespace outrider
