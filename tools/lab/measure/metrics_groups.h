#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// One group of background in a run. What its kind of traffic does not have is NaN.
struct GroupMetrics {
  std::string name;
  /// Payload delivered in order over the whole run, of requests those answered with their answers,
  /// of a capture the frames that arrived
  double goodput_bits_per_second = kNotDefined;
  double share = kNotDefined;  ///< of the goodput of all groups
  /// Jain's index (Jain, Chiu, Hawe 1984) of what its long flows delivered
  double fairness = kNotDefined;
  double flow_completion_seconds_median = kNotDefined;  ///< of flows that come and go
  double flow_completion_seconds_p99 = kNotDefined;
  double flow_slowdown_median = kNotDefined;
  double flow_slowdown_p99 = kNotDefined;
  double request_latency_seconds_median = kNotDefined;
  double request_latency_seconds_p99 = kNotDefined;
  double capture_frames_lost_fraction = kNotDefined;
};

/// Measures the groups of a run; empty if its case has none. Never fails: what the report does not
/// have is NaN.
std::vector<GroupMetrics> measure_groups(const Case& definition, const tg::GeneratorReport& report);

}  // namespace outrider::lab
