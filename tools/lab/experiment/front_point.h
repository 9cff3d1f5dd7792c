#pragma once

namespace outrider::lab {

/// What a setting brings and what it costs; both the less the better. NaN: not known.
struct FrontPoint {
  double time = 0;  ///< communication time over that of the network without background
  double cost = 0;  ///< share of its bytes that background lost; below 0: it gained
};

}  // namespace outrider::lab
