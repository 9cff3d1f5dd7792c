#include "tools/lab/summary/summary_arms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/summary_collectives.h"
#include "tools/lab/summary/summary_groups.h"

namespace outrider::lab {

namespace {

std::vector<const CaseSummary*> chosen(const std::vector<const CaseSummary*>& cases,
                                       std::span<const std::size_t> seeds) {
  std::vector<const CaseSummary*> out;
  out.reserve(seeds.size());
  for (const std::size_t i : seeds) out.push_back(cases[i]);
  return out;
}

/// An arm's cases paired with the off cases of the same seeds.
struct Pairs {
  std::vector<const CaseSummary*> own;
  std::vector<const CaseSummary*> off;
};

ArmMetric estimate(const Metric& metric, const std::vector<const CaseSummary*>& own,
                   const Pairs& pairs) {
  ArmMetric m{.name = std::string(metric.name), .value = {}, .change = {}};
  m.value = bootstrap(own.size(), [&](std::span<const std::size_t> seeds) {
    return value_of(metric, chosen(own, seeds));
  });
  if (!metric.change) return m;
  m.change = bootstrap(pairs.own.size(), [&](std::span<const std::size_t> seeds) {
    const double reference = value_of(metric, chosen(pairs.off, seeds));
    return reference > 0 ? value_of(metric, chosen(pairs.own, seeds)) / reference - 1 : kNotDefined;
  });
  return m;
}

/// Returns the metrics of cases against others of the same seeds.
/// @param off_of  CaseSummary::baseline or CaseSummary::off
std::vector<ArmMetric> estimate_all(const std::vector<CaseSummary>& cases,
                                    const std::vector<const CaseSummary*>& own,
                                    std::optional<std::size_t> CaseSummary::*off_of) {
  Pairs pairs;
  for (const CaseSummary* c : own) {
    if (!(c->*off_of)) continue;
    pairs.own.push_back(c);
    pairs.off.push_back(&cases[*(c->*off_of)]);
  }
  std::vector<ArmMetric> all;
  for (const auto& metric : metrics())
    if (is_there(metric, own)) all.push_back(estimate(metric, own, pairs));
  return all;
}

/// Says whether two estimates are the same, also where they are not defined.
bool same(const Estimate& a, const Estimate& b) {
  const auto equal = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return equal(a.value, b.value) && equal(a.low, b.low) && equal(a.high, b.high);
}

/// Adds what is otherwise against `off` than against the arm's baseline.
void add_against_off(const std::vector<CaseSummary>& cases, ArmSummary& arm) {
  std::vector<CaseSummary> own;  // copies: their costs are those against off
  for (const std::size_t i : arm.cases) {
    own.push_back(cases[i]);
    if (own.back().off != own.back().baseline)
      own.back().background_cost = own.back().cost_against_off;
  }
  std::vector<const CaseSummary*> pointers;
  pointers.reserve(own.size());
  for (const auto& c : own) pointers.push_back(&c);
  const auto all = estimate_all(cases, pointers, &CaseSummary::off);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!same(all[i].value, arm.metrics[i].value) || !same(all[i].change, arm.metrics[i].change))
      arm.against_off.push_back(all[i]);
}

void estimate_arm(const std::vector<CaseSummary>& cases, ArmSummary& arm) {
  std::vector<const CaseSummary*> own;
  for (const std::size_t i : arm.cases) own.push_back(&cases[i]);
  arm.metrics = estimate_all(cases, own, &CaseSummary::baseline);
  arm.groups = summarise_groups(cases, own);
  arm.collectives = summarise_collectives(own);
  const auto compared =
      std::ranges::find_if(own, [](const CaseSummary* c) { return c->baseline.has_value(); });
  if (compared == own.end()) return;
  const CaseSummary& baseline = cases[*(*compared)->baseline];
  arm.beside = differences_beside_remedy(arm.parameters, baseline.parameters);
  if ((*compared)->off == (*compared)->baseline) return;
  arm.against = baseline.label;
  add_against_off(cases, arm);
  if (const auto off = (*compared)->off)
    arm.beside_off = differences_beside_remedy(arm.parameters, cases[*off].parameters);
}

}  // namespace

std::vector<ArmSummary> summarise_arms(const std::vector<CaseSummary>& cases) {
  const auto all = [](std::string_view) { return true; };
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  std::vector<ArmSummary> arms;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CaseSummary& c = cases[i];
    const auto [it, added] =
        index.try_emplace({c.label, parameters_key(c.parameters, all)}, arms.size());
    if (added)
      arms.push_back({.label = c.label,
                      .role = c.role,
                      .parameters = c.parameters,
                      .point = c.point,
                      .off = c.off == i,
                      .cases = {},
                      .metrics = {}});
    arms[it->second].cases.push_back(i);
  }
  std::ranges::stable_sort(arms, {}, &ArmSummary::point);
  for (auto& arm : arms) estimate_arm(cases, arm);
  name_arms(arms);
  for (auto& arm : arms)
    if (arm.against == off_of_point(arms, arm.point)) arm.against.clear();
  return arms;
}

}  // namespace outrider::lab
