#pragma once

#include <cstdint>

#include "common/config/choices.h"

namespace outrider::lab {

/// Which places of a [fabric] a group of hosts takes, of those that are free.
enum class HostPlacement : std::uint8_t {
  kPack,    ///< the first ones: leaves are filled one after the other
  kSpread,  ///< each host at the leaf that has the most, the first of several
  kRandom,  ///< drawn by the seed
};

inline constexpr auto kHostPlacements =
    choices<HostPlacement>({{"pack", HostPlacement::kPack},
                            {"spread", HostPlacement::kSpread},
                            {"random", HostPlacement::kRandom}});

}  // namespace outrider::lab
