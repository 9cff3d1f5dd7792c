#include "tools/lab/search/best_arms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace outrider::lab {
namespace {

/// Orders a value that is not known behind all others.
double known_or_last(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

double time_of(const BestArm& arm) { return known_or_last(arm.objective.value); }

/// Returns the numbers of all arms, the quickest first; equal ones in their order.
std::vector<std::size_t> ranked(const BestArms& arms) {
  std::vector<std::size_t> order(arms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&arms](std::size_t a, std::size_t b) { return time_of(arms[a]) < time_of(arms[b]); });
  return order;
}

/// Says whether the interval of an arm reaches that of another, which is quicker.
bool reaches(const BestArm& arm, const BestArm& quicker) {
  return arm.objective.low <= quicker.objective.high;  // false without intervals
}

/// Says whether all of `by` is better than all of `other`, beyond the intervals of both.
bool clearly_better(const BestArm& by, const BestArm& other) {
  const bool no_worse =
      by.short_p99 <= other.short_p99 || (std::isnan(by.short_p99) && std::isnan(other.short_p99));
  return by.objective.high < other.objective.low && by.lost.high <= other.lost.low && no_worse;
}

}  // namespace

bool is_cheap(const BestArms& arms, std::size_t arm, const BestRule& rule) {
  return arm == 0 || arms[arm].lost.value <= rule.cheap;
}

bool spares(const BestArms& arms, std::size_t arm, const BestRule& rule) {
  const double bound = rule.spared * arms[0].short_p99;
  return arm == 0 || std::isnan(bound) || arms[arm].short_p99 <= bound;
}

std::vector<FamilyBest> best_of_families(const BestArms& arms, const BestRule& rule) {
  std::vector<FamilyBest> all;
  const auto find = [&all](const std::string& family) {
    return std::ranges::find(all, family, &FamilyBest::family);
  };
  for (std::size_t arm = 1; arm < arms.size(); ++arm)
    if (!arms[arm].family.empty() && find(arms[arm].family) == all.end())
      all.push_back({.family = arms[arm].family});
  for (const std::size_t arm : ranked(arms)) {
    const auto own = find(arms[arm].family);
    if (arm == 0 || own == all.end()) continue;
    if (own->quickest == 0) own->quickest = arm;
    if (!own->cheap && is_cheap(arms, arm, rule)) own->cheap = arm;
  }
  return all;
}

BestChoice choose(const BestArms& arms, const BestRule& rule) {
  const auto order = ranked(arms);
  const auto cheap = [&](std::size_t arm) { return is_cheap(arms, arm, rule); };
  BestChoice choice{.quickest = order.front(), .cheap = *std::ranges::find_if(order, cheap)};
  choice.sparing = *std::ranges::find_if(
      order, [&](std::size_t arm) { return cheap(arm) && spares(arms, arm, rule); });
  const BestArm& best = arms[choice.cheap];
  choice.dearer = choice.quickest != choice.cheap && !reaches(best, arms[choice.quickest]);
  for (const std::size_t arm : order)
    if (arm != choice.cheap && cheap(arm) && reaches(arms[arm], best))
      choice.as_good.push_back(arm);
  return choice;
}

std::vector<std::size_t> worth_verifying(const BestArms& arms, const BestRule& rule) {
  std::set<std::size_t> worth{choose(arms, rule).sparing};
  for (const FamilyBest& best : best_of_families(arms, rule)) {
    worth.insert(best.quickest);
    if (best.cheap) worth.insert(*best.cheap);
  }
  return {worth.begin(), worth.end()};
}

std::vector<std::size_t> may_win(const BestArms& arms) {
  std::vector<std::size_t> kept;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    const bool beaten = std::ranges::any_of(arms, [&](const BestArm& other) {
      return other.family == arms[arm].family && clearly_better(other, arms[arm]);
    });
    if (!beaten) kept.push_back(arm);
  }
  return kept;
}

bool is_narrow(const Estimate& estimate, double share) {
  if (std::isinf(estimate.value)) return true;
  const double widest = std::max(estimate.high - estimate.value, estimate.value - estimate.low);
  return widest <= share * std::abs(estimate.value);  // false without an interval
}

}  // namespace outrider::lab
