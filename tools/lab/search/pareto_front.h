#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/lab/experiment/front_point.h"

namespace outrider::lab {

/// Says whether `a` is no worse than `b` in time and cost, and better in one of them. A point that
/// is not known neither dominates nor is dominated.
[[nodiscard]] bool dominates(const FrontPoint& a, const FrontPoint& b) noexcept;

/// Returns the indices of the points that no other point dominates, by rising time. Only the first
/// of equal points is included, and no point that is not known.
[[nodiscard]] std::vector<std::size_t> pareto_front(std::span<const FrontPoint> points);

/// Returns the area between the front of `points` and a reference in which every point is
/// dominated by one of `points`. It is the hypervolume indicator in two dimensions (Zitzler and
/// Thiele, "Multiobjective evolutionary algorithms", IEEE Trans. Evol. Comp. 3(4), 1999). Points
/// that do not dominate the reference add nothing.
[[nodiscard]] double dominated_area(std::span<const FrontPoint> points,
                                    const FrontPoint& reference);

}  // namespace outrider::lab
