#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "switch/regulation/policy/regulation_policy.h"

namespace outrider {

/// The request of one job to a queue.
struct JobWish {
  std::uint16_t threshold_packets = 0;  ///< lowest of its entries, > 0
  std::uint64_t bytes = 0;              ///< announced by its entries; 0: some announced no length
};

/// Returns the formulas of regulator_composition.h, not rounded, from a list of all jobs.
inline double composed_exactly(Composition composition, std::span<const JobWish> wishes) {
  double known_bytes = 0, known = 0;
  for (const auto& w : wishes) {
    known_bytes += static_cast<double>(w.bytes);
    known += w.bytes != 0;
  }
  const double unknown_bytes = known == 0 ? 1 : known_bytes / known;
  double lowest = 65535, inverses = 0, weights = 0, sum = 0;
  for (const auto& w : wishes) {
    const double weight = w.bytes == 0 ? unknown_bytes : static_cast<double>(w.bytes);
    lowest = std::min<double>(lowest, w.threshold_packets);
    inverses += 1.0 / w.threshold_packets;
    weights += weight;
    sum += weight / w.threshold_packets;
  }
  switch (composition) {
    case Composition::kMin:
      break;
    case Composition::kHarmonic:
      return 1 / inverses;
    case Composition::kDemand:
      return weights / sum;
  }
  return lowest;
}

/// Returns the same, rounded to the nearest, half-way up.
inline std::uint16_t composed_of(Composition composition, std::span<const JobWish> wishes) {
  const double packets = composed_exactly(composition, wishes);
  return static_cast<std::uint16_t>(std::max(1.0, packets * (1 + 1e-12) + 0.5));
}

}  // namespace outrider
