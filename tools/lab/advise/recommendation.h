#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/advise/remedy.h"

namespace outrider::lab {

/// Fewer seeds make advice probable, however narrow their intervals are.
inline constexpr std::size_t kSeedsToBeSure = 8;

/// Says whether two intervals meet. Those that are not known do.
[[nodiscard]] bool meets(const Estimate& a, const Estimate& b);

/// Says whether a remedy costs no more than the goal allows. Nothing costs nothing.
[[nodiscard]] bool is_allowed(const Remedy& remedy, const AdviceGoal& goal);

/// The goals whose values a remedy breaks.
struct BrokenGoals {
  bool background_lost = false;
  bool short_flows = false;
};
[[nodiscard]] BrokenGoals broken_goals(const Remedy& remedy, const AdviceGoal& goal);

/// Returns the best remedies of each kind, in the order of the kinds: the quickest that the goal
/// allows, if it is no slower than nothing; else the quickest.
[[nodiscard]] std::vector<std::size_t> best_of_kinds(std::span<const Remedy> remedies,
                                                     const AdviceGoal& goal);

/// How sure a recommendation is.
enum class Certainty : std::uint8_t {
  kSure,      ///< the whole 95 % intervals of its gain and its cost keep the goal, by enough seeds
  kProbable,  ///< their values do
};

/// The advice: a remedy, or nothing.
struct Recommendation {
  std::size_t chosen = 0;  ///< index of a remedy; of "off": do nothing
  Certainty certainty = Certainty::kProbable;
  /// Index of the quickest remedy, if what it costs forbids it.
  std::optional<std::size_t> too_costly{};
  std::vector<std::size_t> as_good{};  ///< others that the goal allows, whose intervals meet
};

/// Chooses the quickest remedy that the goal allows; among those whose 95 % intervals meet its
/// own, the simplest, and of one kind the quickest. Chooses nothing if that does not surely save
/// time, or less than the goal's gain. Pure.
/// @pre there is an "off"
[[nodiscard]] Recommendation recommend(std::span<const Remedy> remedies, const AdviceGoal& goal);

/// Returns the labels that are worth more seeds, what matters most first: "off", what is advised so
/// far, the quickest that the goal allows, the quickest at any cost; then of each kind the quickest
/// that the goal allows, by their times; then of each kind the quickest.
[[nodiscard]] std::vector<std::string> worth_verifying(std::span<const Remedy> remedies,
                                                       const AdviceGoal& goal);

/// Returns the index of the remedy that is worth a confirmation beside "off": the advised one; if
/// nothing is advised, the quickest.
/// @pre there is a remedy besides "off"
[[nodiscard]] std::size_t worth_confirming(std::span<const Remedy> remedies,
                                           const AdviceGoal& goal);

}  // namespace outrider::lab
