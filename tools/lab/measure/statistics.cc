#include "tools/lab/measure/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "common/core/random.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kResamples = 1000;
constexpr std::uint64_t kBootstrapSeed = 0x0072'6964'6572;
/// A purpose that no entity of a run uses.
constexpr auto kBootstrapPurpose = static_cast<RandomPurpose>(0xB007'57A4);

/// The two order statistics between which a quantile is, and its place between them.
struct Place {
  std::size_t below, above;
  double part;
};

Place place_of(double q, std::size_t size) {
  assert(size != 0 && q >= 0 && q <= 1);
  const double rank = q * static_cast<double>(size - 1);
  const auto below = static_cast<std::size_t>(rank);
  return {.below = below,
          .above = std::min(below + 1, size - 1),
          .part = rank - static_cast<double>(below)};
}

double between(double below, double above, double part) {
  // Values may be infinite, and infinity minus infinity, or times 0, is no number.
  if (part == 0 || below == above) return below;
  return below + part * (above - below);
}

/// Returns a quantile. @pre `sorted` is not empty and in ascending order
double quantile_of_sorted(std::span<const double> sorted, double q) {
  const Place place = place_of(q, sorted.size());
  return between(sorted[place.below], sorted[place.above], place.part);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNotDefined;
  const Place place = place_of(q, values.size());
  // A thousand resamples of each metric ask for this: sorting them all would take the most time.
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(place.below);
  std::ranges::nth_element(values, below);
  const bool last = place.above == place.below;
  return between(*below, last ? *below : *std::min_element(below + 1, values.end()), place.part);
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

namespace {

std::vector<std::size_t> everything(std::size_t n) {
  std::vector<std::size_t> choice(n);
  std::iota(choice.begin(), choice.end(), std::size_t{0});
  return choice;
}

void resample(std::vector<std::size_t>& choice, RandomStream& random) {
  const auto n = static_cast<double>(choice.size());
  for (auto& c : choice) c = static_cast<std::size_t>(random.uniform() * n);
}

/// Returns `value` with a confidence interval. @param draw evaluates the statistic of a resample
Estimate with_interval(double value, const std::function<double(RandomStream&)>& draw) {
  Estimate estimate{.value = value};
  RandomStream random(kBootstrapSeed, 0, kBootstrapPurpose);
  std::vector<double> resampled;
  resampled.reserve(kResamples);
  for (std::size_t i = 0; i < kResamples; ++i)
    if (const double v = draw(random); !std::isnan(v)) resampled.push_back(v);
  if (resampled.empty()) return estimate;
  std::ranges::sort(resampled);
  estimate.low = quantile_of_sorted(resampled, 0.025);
  estimate.high = quantile_of_sorted(resampled, 0.975);
  return estimate;
}

}  // namespace

Estimate bootstrap(std::size_t seeds,
                   const std::function<double(std::span<const std::size_t>)>& statistic) {
  if (seeds == 0) return {};
  std::vector<std::size_t> choice = everything(seeds);
  const double value = statistic(choice);
  if (seeds < kLeastSeedsOfInterval) return {.value = value};
  return with_interval(value, [&](RandomStream& random) {
    resample(choice, random);
    return statistic(choice);
  });
}

Estimate bootstrap(std::size_t seeds_a, std::size_t seeds_b, const TwoSampleStatistic& statistic) {
  if (seeds_a == 0 || seeds_b == 0) return {};
  std::vector<std::size_t> a = everything(seeds_a), b = everything(seeds_b);
  const double value = statistic(a, b);
  if (std::min(seeds_a, seeds_b) < kLeastSeedsOfInterval) return {.value = value};
  return with_interval(value, [&](RandomStream& random) {
    resample(a, random);
    resample(b, random);
    return statistic(a, b);
  });
}

}  // namespace outrider::lab
