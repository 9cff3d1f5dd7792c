#pragma once

#include <bit>
#include <cstdint>

#include "switch/regulation/regulator/regulator.h"

namespace outrider {

/// What a call to a regulator may cost, in Regulator::steps(). Derived from how its heaps are
/// built.
namespace regulator_bound {

inline std::uint64_t levels_of(std::uint32_t entries) {
  return static_cast<std::uint64_t>(std::bit_width(entries)) + 1;
}

// In levels of heaps. An entry is in one heap of IndexedHeap by its next event and in another by
// its end, and with its job's in one of MergeableHeaps, where add() passes two levels down and up
// again, and remove() one more on the way up.
inline constexpr std::uint64_t kAdd = 1, kBegin = 2 + 4, kRemove = 2 + 5;
/// A START can remove the entry that it replaces and a prediction, and evict one that waits.
inline constexpr std::uint64_t kStart = 2 * kRemove + 1 + kAdd + kBegin;
/// After each of these and of advance(), up to kMostEvents ends turn out to be due.
inline constexpr std::uint64_t kRefreshes = 4;

}  // namespace regulator_bound

/// Returns the most steps that one call takes, but for control operations.
inline std::uint64_t most_steps_of_call(const RegulationPolicy& p) {
  using namespace regulator_bound;
  constexpr std::uint64_t kMost = Regulator::kMostEvents;
  const bool predicts = p.predict.from != PredictFrom::kOff;
  // A prediction may replace the one before, evict an entry that waits, and begins at once.
  const std::uint64_t event = predicts ? kRemove + 1 + kAdd + kBegin : kRemove;
  const std::uint64_t levels = levels_of(p.max_entries);
  return kMost * (1 + event * levels) + (kRefreshes * kMost + kStart) * levels;
}

/// Returns the most steps of a control operation: each entry begins, is put off, and ends.
inline std::uint64_t most_steps_of_control(const RegulationPolicy& p) {
  using namespace regulator_bound;
  const std::uint64_t levels = levels_of(p.max_entries);
  return most_steps_of_call(p) + p.max_entries * (3 + (kBegin + 2 + 2 * kRemove + kAdd) * levels);
}

}  // namespace outrider
