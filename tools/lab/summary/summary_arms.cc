#include "tools/lab/summary/summary_arms.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "tools/lab/summary/metric.h"

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

void estimate_all(const std::vector<CaseSummary>& cases, ArmSummary& arm) {
  std::vector<const CaseSummary*> own;
  Pairs pairs;
  for (const std::size_t i : arm.cases) {
    own.push_back(&cases[i]);
    if (!cases[i].off_case) continue;
    pairs.own.push_back(&cases[i]);
    pairs.off.push_back(&cases[*cases[i].off_case]);
  }
  for (const auto& metric : metrics())
    if (is_there(metric, own)) arm.metrics.push_back(estimate(metric, own, pairs));
}

}  // namespace

ArmMetric ArmSummary::metric(std::string_view name) const {
  const auto& known = metric_named(name).name;
  const auto it = std::ranges::find(metrics, known, &ArmMetric::name);
  return it == metrics.end() ? ArmMetric{.name = std::string(name), .value = {}, .change = {}}
                             : *it;
}

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
                      .parameters = c.parameters,
                      .point = c.point,
                      .off = c.off_case == i,
                      .cases = {},
                      .metrics = {}});
    arms[it->second].cases.push_back(i);
  }
  std::ranges::stable_sort(arms, {}, &ArmSummary::point);
  for (auto& arm : arms) estimate_all(cases, arm);
  return arms;
}

}  // namespace outrider::lab
