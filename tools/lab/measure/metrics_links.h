#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/link_report.h"

namespace outrider::lab {

/// One tier of a fabric's links, see links_of().
struct TierMetrics {
  std::string tier;
  std::uint64_t links = 0;
  std::uint64_t joined = 0;               ///< of these, without a line of their own in links.csv
  double utilisation_mean = kNotDefined;  ///< share of the capacity of all links, whole run
  double utilisation_max = kNotDefined;   ///< of the busiest one
  std::string busiest;
  std::uint64_t marks = 0;
  std::uint64_t drops = 0;
  std::string longest_wait;  ///< where packets of bursts waited longest; empty: none was recorded
  /// What the first packet of a worker's burst found there, mean: background, and all classes.
  double worker_start_queue_packets_mean = kNotDefined;
  double worker_start_queue_total_packets_mean = kNotDefined;
};

/// Metrics that only cases in a fabric have; empty for others.
struct LinkMetrics {
  double span_seconds = kNotDefined;
  std::vector<TierMetrics> tiers{};
};

LinkMetrics measure_links(const LinkResults& links);

}  // namespace outrider::lab
