#include "tools/lab/summary/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/lab/measure/permutation_test.h"

namespace outrider::lab {
namespace {

constexpr double kAlpha = 0.05;

/// Returns the defined values of one metric by seed.
std::map<std::uint64_t, double> values_of(const ComparableArm& arm, std::size_t metric) {
  std::map<std::uint64_t, double> values;
  for (const auto& seed : arm.seeds)
    if (const double v = seed.values[metric]; !std::isnan(v)) values[seed.seed] = v;
  return values;
}

std::vector<double> only_values(const std::map<std::uint64_t, double>& by_seed) {
  std::vector<double> values;
  values.reserve(by_seed.size());
  for (const auto& [seed, value] : by_seed) values.push_back(value);
  return values;
}

bool same_seeds(const std::map<std::uint64_t, double>& a,
                const std::map<std::uint64_t, double>& b) {
  return std::ranges::equal(
      a, b, {}, [](const auto& v) { return v.first; }, [](const auto& v) { return v.first; });
}

double mean_of(std::span<const double> values, std::span<const std::size_t> choice) {
  double sum = 0;
  for (const std::size_t i : choice) sum += values[i];
  return sum / static_cast<double>(choice.size());
}

MetricComparison compare_metric(const ComparableArm& a, const ComparableArm& b,
                                std::size_t metric) {
  MetricComparison m{.metric = compared_metrics()[metric]};
  const auto by_seed_a = values_of(a, metric), by_seed_b = values_of(b, metric);
  std::vector<double> of_a = only_values(by_seed_a), of_b = only_values(by_seed_b);
  m.a = a.values[metric];
  m.b = b.values[metric];
  if (of_a.empty() || of_b.empty()) return m;
  const auto above_zero = [](double v) { return v > 0; };
  m.relative = std::ranges::all_of(of_a, above_zero) && std::ranges::all_of(of_b, above_zero);
  if (m.relative)
    for (auto* values : {&of_a, &of_b})
      std::ranges::transform(*values, values->begin(), [](double v) { return std::log(v); });
  if (same_seeds(by_seed_a, by_seed_b)) {
    std::vector<double> gaps;
    for (std::size_t i = 0; i < of_a.size(); ++i) gaps.push_back(of_b[i] - of_a[i]);
    m.p = sign_flip_p(gaps);
    m.change =
        bootstrap(gaps.size(), [&](std::span<const std::size_t> c) { return mean_of(gaps, c); });
  } else {
    m.p = exchange_p(of_a, of_b);
    m.change =
        bootstrap(of_a.size(), of_b.size(),
                  [&](std::span<const std::size_t> a_seeds, std::span<const std::size_t> b_seeds) {
                    return mean_of(of_b, b_seeds) - mean_of(of_a, a_seeds);
                  });
  }
  if (m.relative)
    for (double* v : {&m.change.value, &m.change.low, &m.change.high}) *v = std::expm1(*v);
  return m;
}

std::vector<std::array<std::string, 3>> differences(const ComparableArm& a,
                                                    const ComparableArm& b) {
  std::vector<std::array<std::string, 3>> out;
  for (const auto& [name, value] : a.parameters) {
    const auto other =
        std::ranges::find(b.parameters, name, &decltype(b.parameters)::value_type::first);
    const std::string theirs = other == b.parameters.end() ? "absent" : other->second;
    if (theirs != value) out.push_back({name, value, theirs});
  }
  return out;
}

ArmComparison compare_arm(const ComparableArm& a, const ComparableArm& b) {
  ArmComparison arm{.label = a.label,
                    .differences = differences(a, b),
                    .seeds_a = a.seeds.size(),
                    .seeds_b = b.seeds.size()};
  arm.paired = std::ranges::equal(a.seeds, b.seeds, {}, &SeedValues::seed, &SeedValues::seed);
  for (std::size_t i = 0; i < compared_metrics().size(); ++i) {
    MetricComparison m = compare_metric(a, b, i);
    if (!std::isnan(m.a) || !std::isnan(m.b)) arm.metrics.push_back(m);
  }
  return arm;
}

/// Returns the smallest p-value that the arm's number of seeds can give.
double smallest_p(const ArmComparison& arm) {
  if (!arm.paired) return arm.seeds_a + arm.seeds_b < 8 ? 1 : 1e-4;
  return std::max(1e-4, std::ldexp(2.0, -static_cast<int>(arm.seeds_a)));
}

void adjust(Comparison& comparison) {
  std::vector<double> p;
  double smallest = 1;
  for (const auto& arm : comparison.arms) {
    smallest = std::min(smallest, smallest_p(arm));
    for (const auto& m : arm.metrics) p.push_back(m.p);
  }
  const auto adjusted = holm(p);
  for (auto& arm : comparison.arms)
    for (auto& m : arm.metrics) {
      m.adjusted = adjusted[comparison.compared++];
      m.changed = m.adjusted < kAlpha;
      comparison.changed += m.changed;
    }
  comparison.too_few_seeds = smallest * static_cast<double>(comparison.compared) >= kAlpha;
}

}  // namespace

std::span<const Metric* const> compared_metrics() {
  static const std::vector<const Metric*> kTested = [] {
    std::vector<const Metric*> tested;
    for (const auto& m : metrics())
      if (!m.tested.empty()) tested.push_back(&m);
    return tested;
  }();
  return kTested;
}

Comparison compare(const ComparableResult& a, const ComparableResult& b) {
  Comparison comparison;
  std::vector<bool> taken(b.arms.size());
  for (const auto& arm : a.arms) {
    std::size_t other = 0;
    while (other < b.arms.size() && (taken[other] || b.arms[other].label != arm.label)) ++other;
    if (other == b.arms.size()) {
      comparison.only_a.push_back(arm.label);
      continue;
    }
    taken[other] = true;
    comparison.arms.push_back(compare_arm(arm, b.arms[other]));
  }
  for (std::size_t i = 0; i < b.arms.size(); ++i)
    if (!taken[i]) comparison.only_b.push_back(b.arms[i].label);
  adjust(comparison);
  return comparison;
}

}  // namespace outrider::lab
