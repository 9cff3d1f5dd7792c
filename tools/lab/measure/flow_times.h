#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/core/histogram.h"
#include "trafficgen/report/report.h"

namespace outrider::lab {

/// A histogram without its empty buckets: the figures of hundreds of runs are in memory at once.
class FilledBuckets {
 public:
  FilledBuckets() = default;
  explicit FilledBuckets(const Histogram& histogram);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  friend double quantile_of(std::span<const FilledBuckets* const>, double);

  std::vector<std::pair<std::size_t, std::uint64_t>> counts_{};  ///< index and count
  std::uint64_t count_ = 0;
  std::uint64_t min_ = 0, max_ = 0;
};

/// Returns a quantile of the values of all parts together, with the resolution of a Histogram; NaN
/// if there are no values.
double quantile_of(std::span<const FilledBuckets* const> parts, double q);

/// Sizes of flows that are told apart. The generator's classes up to 10 and 100 kB count as one.
enum class FlowSize : std::uint8_t {
  kSmall,   ///< at most 100 kB
  kMedium,  ///< at most 1 MB
  kLarge,
};
inline constexpr std::size_t kFlowSizes = 3;
inline constexpr std::uint64_t kSmallFlow_bytes = 100'000, kMediumFlow_bytes = 1'000'000;

/// The flows of background that come and go, of all groups of a run. Completed ones by size.
struct FlowTimes {
  std::array<FilledBuckets, kFlowSizes> completion_ns{};
  std::array<FilledBuckets, kFlowSizes> slowdown_milli{};
  std::uint64_t arrivals = 0;
  std::uint64_t unfinished = 0;   ///< failed, or open at the end
  std::uint64_t not_offered = 0;  ///< had no place in the generator: the load was less than asked
  std::uint64_t after_end = 0;    ///< of lists: would begin after the end of the run
};

FlowTimes flow_times(const tg::GeneratorReport& traffic);

/// Requests of background, of all pairs of a run.
struct RequestTimes {
  FilledBuckets latency_ns{};  ///< first request byte written to last answer byte in order
  std::uint64_t pairs = 0;
  std::uint64_t broken = 0;  ///< connections that were reset, refused or given up
};

RequestTimes request_times(const tg::GeneratorReport& traffic);

/// Frames of captures that a run played.
struct CaptureTotals {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

CaptureTotals capture_totals(const tg::GeneratorReport& traffic);

}  // namespace outrider::lab
