#include "tools/lab/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "common/core/random.h"

namespace outrider {

namespace {

constexpr std::size_t kResamples = 1000;
constexpr std::uint64_t kBootstrapSeed = 0x0072'6964'6572;
/// No entity of a run draws for this purpose.
constexpr auto kBootstrapPurpose = static_cast<RandomPurpose>(0xB007'57A4);

/// @pre sorted is not empty and in ascending order
double quantile_of_sorted(std::span<const double> sorted, double q) {
  assert(!sorted.empty() && q >= 0 && q <= 1);
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNotDefined;
  std::ranges::sort(values);
  return quantile_of_sorted(values, q);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double mean(std::span<const double> values) {
  if (values.empty()) return kNotDefined;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Statistics statistics_of(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return {.mean = mean(values),
          .median = quantile_of_sorted(sorted, 0.5),
          .p99 = quantile_of_sorted(sorted, 0.99),
          .min = sorted.front(),
          .max = sorted.back(),
          .count = sorted.size()};
}

Statistics statistics_of(const Histogram& histogram, double unit) {
  if (histogram.count() == 0) return {};
  const auto scaled = [unit](std::uint64_t v) { return static_cast<double>(v) * unit; };
  return {.mean = histogram.mean() * unit,
          .median = scaled(histogram.quantile(0.5)),
          .p99 = scaled(histogram.quantile(0.99)),
          .min = scaled(histogram.min()),
          .max = scaled(histogram.max()),
          .count = histogram.count()};
}

Estimate bootstrap(std::size_t seeds,
                   const std::function<double(std::span<const std::size_t>)>& statistic) {
  if (seeds == 0) return {};
  std::vector<std::size_t> choice(seeds);
  std::iota(choice.begin(), choice.end(), std::size_t{0});
  Estimate estimate{.value = statistic(choice)};
  if (seeds == 1) return estimate;

  RandomStream random(kBootstrapSeed, 0, kBootstrapPurpose);
  std::vector<double> resampled;
  resampled.reserve(kResamples);
  for (std::size_t i = 0; i < kResamples; ++i) {
    for (auto& c : choice)
      c = static_cast<std::size_t>(random.uniform() * static_cast<double>(seeds));
    const double value = statistic(choice);
    if (!std::isnan(value)) resampled.push_back(value);
  }
  if (resampled.empty()) return estimate;
  std::ranges::sort(resampled);
  estimate.low = quantile_of_sorted(resampled, 0.025);
  estimate.high = quantile_of_sorted(resampled, 0.975);
  return estimate;
}

}  // namespace outrider
