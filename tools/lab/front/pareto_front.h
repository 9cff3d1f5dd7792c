#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/lab/experiment/front_point.h"

namespace outrider::lab {

/// `a` is no worse than `b` in either respect and better in one. Nothing that is not known
/// dominates or is dominated.
[[nodiscard]] bool dominates(const FrontPoint& a, const FrontPoint& b) noexcept;

/// Indices of the points that no other dominates, by rising time. Of equal points the first
/// alone; none that is not known.
[[nodiscard]] std::vector<std::size_t> pareto_front(std::span<const FrontPoint> points);

/// The area between the front of `points` and a reference, within which every point is
/// dominated by one of them: the hypervolume indicator in two dimensions (Zitzler and Thiele,
/// "Multiobjective evolutionary algorithms", IEEE Trans. Evol. Comp. 3(4), 1999). Points that
/// do not dominate the reference add nothing.
[[nodiscard]] double dominated_area(std::span<const FrontPoint> points,
                                    const FrontPoint& reference);

}  // namespace outrider::lab
