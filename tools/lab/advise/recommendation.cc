#include "tools/lab/advise/recommendation.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace outrider::lab {
namespace {

/// Resampled intervals of fewer seeds are too narrow.

constexpr std::size_t kKinds = static_cast<std::size_t>(RemedyKind::kTelemetry) + 1;

bool is_quicker(const Remedy& a, const Remedy& b) {
  if (std::isnan(b.time_seconds.value)) return !std::isnan(a.time_seconds.value);
  return a.time_seconds.value < b.time_seconds.value;
}

/// Returns the index of the quickest of those that `wanted` says, or nothing.
template <class Wanted>
std::optional<std::size_t> quickest(std::span<const Remedy> all, Wanted wanted) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (wanted(all[i]) && (!best || is_quicker(all[i], all[*best]))) best = i;
  return best;
}

/// Returns the index of the quickest of a kind.
std::optional<std::size_t> quickest_of(std::span<const Remedy> all, std::size_t kind) {
  return quickest(all,
                  [&](const Remedy& r) { return static_cast<std::size_t>(r.nature.kind) == kind; });
}

/// Returns the index of the quickest of a kind that the goal allows.
std::optional<std::size_t> quickest_allowed_of(std::span<const Remedy> all, std::size_t kind,
                                               const AdviceGoal& goal) {
  return quickest(all, [&](const Remedy& r) {
    return static_cast<std::size_t>(r.nature.kind) == kind && is_allowed(r, goal);
  });
}

/// One seed gives no interval: then the value counts, and nothing is sure.
bool saves(const Remedy& remedy, const AdviceGoal& goal) {
  return remedy.change.value <= -goal.gain && !(remedy.change.high >= 0);
}

/// NaN of a cost that nobody could measure is no cost.
bool keeps(double value, double most) { return !(value > most); }

}  // namespace

bool meets(const Estimate& a, const Estimate& b) { return !(a.low > b.high || b.low > a.high); }

BrokenGoals broken_goals(const Remedy& remedy, const AdviceGoal& goal) {
  if (remedy.nature.kind == RemedyKind::kNothing) return {};
  return {.background_lost = !keeps(remedy.lost.value, goal.background_lost),
          .short_flows = !keeps(remedy.short_flows, goal.short_flows)};
}

bool is_allowed(const Remedy& remedy, const AdviceGoal& goal) {
  const BrokenGoals broken = broken_goals(remedy, goal);
  return !broken.background_lost && !broken.short_flows;
}

std::vector<std::size_t> best_of_kinds(std::span<const Remedy> remedies, const AdviceGoal& goal) {
  std::vector<std::size_t> best;
  for (std::size_t k = 0; k < kKinds; ++k) {
    auto one = quickest_allowed_of(remedies, k, goal);
    if (!one || remedies[*one].change.value > 0) one = quickest_of(remedies, k);
    if (one) best.push_back(*one);
  }
  return best;
}

Recommendation recommend(std::span<const Remedy> remedies, const AdviceGoal& goal) {
  const auto nothing = static_cast<std::size_t>(std::ranges::find(remedies, "off", &Remedy::label) -
                                                remedies.begin());
  const auto allowed = [&](const Remedy& r) { return is_allowed(r, goal); };
  const Remedy& best = remedies[quickest(remedies, allowed).value_or(nothing)];
  Recommendation advice{.chosen = nothing};
  for (std::size_t i = 0; i < remedies.size(); ++i) {
    const Remedy& other = remedies[i];
    if (!allowed(other) || !saves(other, goal) || !meets(other.time_seconds, best.time_seconds))
      continue;
    const Remedy& chosen = remedies[advice.chosen];
    const bool simpler = other.nature.kind < chosen.nature.kind;
    const bool same_kind = other.nature.kind == chosen.nature.kind;
    if (advice.chosen == nothing || simpler || (same_kind && is_quicker(other, chosen)))
      advice.chosen = i;
  }

  const Remedy& chosen = remedies[advice.chosen];
  for (std::size_t i = 0; i < remedies.size() && advice.chosen != nothing; ++i)
    if (i != advice.chosen && i != nothing && allowed(remedies[i]) &&
        meets(remedies[i].time_seconds, chosen.time_seconds))
      advice.as_good.push_back(i);
  if (const auto any = quickest(remedies, [](const Remedy&) { return true; });
      any && !allowed(remedies[*any]))
    advice.too_costly = any;
  const auto may_gain = [&](const Remedy& r) {
    return allowed(r) && r.nature.kind != RemedyKind::kNothing && !(r.change.low > -goal.gain);
  };
  const bool sure = advice.chosen == nothing ? std::ranges::none_of(remedies, may_gain)
                                             : chosen.change.high <= -goal.gain &&
                                                   chosen.lost.high <= goal.background_lost;
  if (sure && chosen.seeds >= kSeedsToBeSure) advice.certainty = Certainty::kSure;
  return advice;
}

std::vector<std::string> worth_verifying(std::span<const Remedy> remedies, const AdviceGoal& goal) {
  std::vector<std::string> labels{"off"};
  const auto add = [&](const std::optional<std::size_t>& one) {
    if (one && std::ranges::find(labels, remedies[*one].label) == labels.end())
      labels.push_back(remedies[*one].label);
  };
  add(recommend(remedies, goal).chosen);
  add(quickest(remedies, [&](const Remedy& r) { return is_allowed(r, goal); }));
  add(quickest(remedies, [](const Remedy&) { return true; }));
  std::vector<std::size_t> of_kinds;
  for (std::size_t k = 1; k < kKinds; ++k)
    if (const auto one = quickest_allowed_of(remedies, k, goal)) of_kinds.push_back(*one);
  std::ranges::stable_sort(
      of_kinds, [&](std::size_t a, std::size_t b) { return is_quicker(remedies[a], remedies[b]); });
  for (const std::size_t one : of_kinds) add(one);
  for (std::size_t k = 1; k < kKinds; ++k) add(quickest_of(remedies, k));
  return labels;
}

std::size_t worth_confirming(std::span<const Remedy> remedies, const AdviceGoal& goal) {
  const std::size_t chosen = recommend(remedies, goal).chosen;
  if (remedies[chosen].nature.kind != RemedyKind::kNothing) return chosen;
  return *quickest(remedies, [](const Remedy& r) { return r.nature.kind != RemedyKind::kNothing; });
}

}  // namespace outrider::lab
