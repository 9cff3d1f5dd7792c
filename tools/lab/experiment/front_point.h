#pragma once

namespace outrider::lab {

/// The communication time that a setting reaches and its cost to background. Lower is better
/// for both. NaN means not known.
struct FrontPoint {
  double time = 0;  ///< communication time divided by that without background
  double cost = 0;  ///< share of background's bytes that it lost; below 0: it gained
};

}  // namespace outrider::lab
