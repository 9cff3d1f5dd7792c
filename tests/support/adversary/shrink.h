#pragma once

#include <cstdint>
#include <functional>

#include "tests/support/adversary/scenario.h"

namespace outrider {

/// Returns the smallest scenario found that still fails: acts are removed by halves, quarters
/// and so on down to one, then the counts of those that remain are lowered and their spans
/// shortened (delta debugging: Zeller and Hildebrandt, IEEE TSE 28, 2002). Deterministic.
/// @param fails  whether a scenario fails; called `limit` times at most. @pre fails(scenario)
[[nodiscard]] Scenario shrink(const Scenario& scenario,
                              const std::function<bool(const Scenario&)>& fails,
                              std::uint32_t limit = 300);

}  // namespace outrider
