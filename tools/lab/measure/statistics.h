#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "common/core/histogram.h"

namespace outrider::lab {

inline constexpr double kNotDefined = std::numeric_limits<double>::quiet_NaN();

/// Statistics of a set of values. All except `count` are NaN if the set is empty.
struct Statistics {
  double mean = kNotDefined;
  double median = kNotDefined;
  double p99 = kNotDefined;
  double min = kNotDefined;
  double max = kNotDefined;
  std::uint64_t count = 0;
};

/// Returns a quantile by linear interpolation between order statistics: rank 1 + q (n - 1)
/// (Hyndman and Fan, "Sample quantiles in statistical packages", 1996, type 7).
/// With fewer than 100 values p99 therefore lies between the two largest.
/// @param q in [0, 1]
/// @return NaN if `values` is empty
double quantile(std::vector<double> values, double q);

double median(std::vector<double> values);
double mean(std::span<const double> values);

Statistics statistics_of(std::span<const double> values);

/// Returns the statistics of a histogram. Quantiles have the histogram's resolution (below
/// 1 %); the rest is exact.
/// @param unit multiplies every value, e.g. 1e-9 for nanoseconds to seconds
Statistics statistics_of(const Histogram& histogram, double unit);

/// An estimate over seeds; NaN where it is not defined.
struct Estimate {
  double value = kNotDefined;
  double low = kNotDefined;  ///< 95 % confidence; NaN with fewer than kLeastSeedsOfInterval
  double high = kNotDefined;
};

/// Resamples of two seeds are the two and their mean: an interval of them has no confidence.
inline constexpr std::size_t kLeastSeedsOfInterval = 3;

/// Estimates a statistic by a percentile bootstrap that resamples whole seeds. Bursts of one
/// run depend on each other; runs with different seeds do not.
///
/// Deterministic: a RandomStream with a fixed key makes the draws. Resamples for which the
/// statistic is not defined are left out.
/// @param seeds     number of seeds
/// @param statistic computes the statistic of some seeds, given as indices below `seeds`
///                  with repetitions; NaN if not defined. The arms of a comparison use the
///                  same choice, which pairs them.
Estimate bootstrap(std::size_t seeds,
                   const std::function<double(std::span<const std::size_t>)>& statistic);

using TwoSampleStatistic =
    std::function<double(std::span<const std::size_t>, std::span<const std::size_t>)>;

/// Does the same for two sets of seeds that share nothing. Each is resampled by itself.
Estimate bootstrap(std::size_t seeds_a, std::size_t seeds_b, const TwoSampleStatistic& statistic);

}  // namespace outrider::lab
