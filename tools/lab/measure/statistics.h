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

/// Of a set of values; all but `count` are NaN if it is empty.
struct Statistics {
  double mean = kNotDefined;
  double median = kNotDefined;
  double p99 = kNotDefined;
  double min = kNotDefined;
  double max = kNotDefined;
  std::uint64_t count = 0;
};

/// Quantile by linear interpolation between order statistics: rank 1 + q (n - 1)
/// (Hyndman and Fan, "Sample quantiles in statistical packages", 1996, type 7).
/// With fewer than 100 values p99 therefore lies between the two largest.
/// @param q in [0, 1]
/// @return NaN if `values` is empty
double quantile(std::vector<double> values, double q);

double median(std::vector<double> values);
double mean(std::span<const double> values);

Statistics statistics_of(std::span<const double> values);

/// Quantiles to the histogram's resolution (under 1 %); the rest is exact.
/// @param unit multiplies every value, e.g. 1e-9 for nanoseconds to seconds
Statistics statistics_of(const Histogram& histogram, double unit);

/// An estimate over seeds; NaN where it is not defined.
struct Estimate {
  double value = kNotDefined;
  double low = kNotDefined;  ///< 95 % confidence; NaN with fewer than two seeds
  double high = kNotDefined;
};

/// Percentile bootstrap that resamples whole seeds: the bursts of a run are not
/// independent of each other, runs of different seeds are.
///
/// Deterministic: the draws are those of a RandomStream with a fixed key.
/// @param seeds     number of seeds
/// @param statistic of a choice of seeds, given as indices below `seeds`, some of
///                  them repeated; NaN if not defined. The arms of a comparison
///                  take the same choice, which pairs them.
/// Resamples of which the statistic is not defined are left out.
Estimate bootstrap(std::size_t seeds,
                   const std::function<double(std::span<const std::size_t>)>& statistic);

using TwoSampleStatistic =
    std::function<double(std::span<const std::size_t>, std::span<const std::size_t>)>;

/// The same for two sets of seeds that share nothing: each is resampled by itself.
Estimate bootstrap(std::size_t seeds_a, std::size_t seeds_b, const TwoSampleStatistic& statistic);

}  // namespace outrider::lab
