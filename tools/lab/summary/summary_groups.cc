#include "tools/lab/summary/summary_groups.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "tools/lab/summary/group_figures.h"

namespace outrider::lab {

namespace {

/// The values of one figure, a run each.
using GroupValues = std::vector<double>;

/// Returns a figure of the case's group; NaN if it has no such group.
double figure_in(const CaseSummary& c, const std::string& group, const GroupFigure& figure) {
  const auto it = std::ranges::find(c.metrics.groups, group, &GroupMetrics::name);
  return it == c.metrics.groups.end() ? kNotDefined : (*it).*figure.value;
}

/// Returns the mean of the values of some runs, of those that have one.
double mean_of_defined(const GroupValues& values, std::span<const std::size_t> runs) {
  GroupValues defined;
  for (const std::size_t i : runs)
    if (!std::isnan(values[i])) defined.push_back(values[i]);
  return mean(defined);
}

/// The values of an arm's runs and those of their baselines, seed by seed.
struct GroupPairs {
  GroupValues own;
  GroupValues baseline;
};

Estimate change_of(const GroupPairs& pairs) {
  return bootstrap(pairs.own.size(), [&](std::span<const std::size_t> runs) {
    const double reference = mean_of_defined(pairs.baseline, runs);
    return reference > 0 ? mean_of_defined(pairs.own, runs) / reference - 1 : kNotDefined;
  });
}

ArmMetric estimate_figure(const std::vector<CaseSummary>& all,
                          const std::vector<const CaseSummary*>& own, const std::string& group,
                          const GroupFigure& figure) {
  GroupValues values;
  GroupPairs pairs;
  for (const CaseSummary* c : own) {
    values.push_back(figure_in(*c, group, figure));
    if (!c->baseline) continue;
    pairs.own.push_back(values.back());
    pairs.baseline.push_back(figure_in(all[*c->baseline], group, figure));
  }
  ArmMetric m{.name = std::string(figure.name), .value = {}, .change = {}};
  m.value = bootstrap(values.size(), [&](std::span<const std::size_t> runs) {
    return mean_of_defined(values, runs);
  });
  if (figure.change) m.change = change_of(pairs);
  return m;
}

}  // namespace

std::vector<GroupSummary> summarise_groups(const std::vector<CaseSummary>& all,
                                           const std::vector<const CaseSummary*>& own) {
  std::vector<GroupSummary> groups;
  if (own.empty()) return groups;
  for (const GroupMetrics& group : own.front()->metrics.groups) {
    GroupSummary& one = groups.emplace_back(GroupSummary{.name = group.name});
    for (const GroupFigure& figure : group_figures())
      one.figures.push_back(estimate_figure(all, own, group.name, figure));
  }
  return groups;
}

}  // namespace outrider::lab
