#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trafficgen/streams/engine/benchmark_config.h"

namespace outrider::tg {

/// Returns the probability of a mark where the queue holds so many packets.
[[nodiscard]] double mark_probability(const EcnLawConfig& law, double queue_packets) noexcept;

/// Returns the probability with which each of the packets that a stopped queue got should be
/// marked, in their order: at enqueue packet i, from 0, meets i packets, and at dequeue it leaves
/// all behind it. Source: SONiC's test plan of ECN accuracy (ECN_ACCURACY_README).
[[nodiscard]] std::vector<double> expected_marks(const EcnLawConfig& law);

/// How well counts of marks fit a law.
struct EcnFit {
  double chi_square = 0;     ///< over groups of neighbouring positions
  std::uint32_t groups = 0;  ///< the degrees of freedom: the law has no free parameter
  /// Chance of so large a chi-square if the law holds; absent: there is no group.
  std::optional<double> p_value{};
  std::uint64_t marked_below = 0;    ///< packets that were marked though the law marks none
  std::uint64_t unmarked_above = 0;  ///< packets that were not though the law marks all
  double largest_difference = 0;     ///< of a group's share and the law's
};

/// Compares, by Pearson's chi-square test. Neighbouring positions are joined until each group has
/// at least five expected marks and as many expected packets without one (Cochran's rule).
/// Positions where the law is certain are counted and not in the test.
/// @param marked    [positions] repetitions in which the packet was marked
/// @param expected  [positions] see expected_marks()
[[nodiscard]] EcnFit fit_marks(std::span<const std::uint32_t> marked,
                               std::span<const double> expected, std::uint32_t repetitions);

/// Returns the chance that a chi-square variable of so many degrees of freedom is larger, by the
/// approximation of Wilson and Hilferty (1931): good to 0.001 from 10 degrees on. @pre degrees > 0
[[nodiscard]] double chi_square_tail(double chi_square, std::uint32_t degrees) noexcept;

}  // namespace outrider::tg
