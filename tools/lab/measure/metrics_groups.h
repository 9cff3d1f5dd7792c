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
  /// Payload of the flows that were due over the whole run, of a capture the frames that left. Long
  /// flows and requests offer what the network takes.
  double offered_bits_per_second = kNotDefined;
  /// Payload delivered in order over the whole run, of requests those answered with their answers,
  /// of a capture the frames that arrived
  double goodput_bits_per_second = kNotDefined;
  double undelivered_fraction = kNotDefined;   ///< of what was offered, at the end of the run
  double share = kNotDefined;                  ///< of the goodput of all groups
  double retransmitted_packets = kNotDefined;  ///< that its flows sent again
  /// Jain's index (Jain, Chiu, Hawe 1984) of what its long flows delivered
  double fairness = kNotDefined;
  double flows_completed = kNotDefined;   ///< of those that come and go
  double flows_unfinished = kNotDefined;  ///< open at the end, failed, or not offered
  double flow_completion_seconds_median = kNotDefined;
  double flow_completion_seconds_p99 = kNotDefined;
  double flow_slowdown_median = kNotDefined;
  double flow_slowdown_p99 = kNotDefined;
  double requests_completed = kNotDefined;
  double request_latency_seconds_median = kNotDefined;
  double request_latency_seconds_p99 = kNotDefined;
  double capture_frames_lost_fraction = kNotDefined;
};

/// Measures the groups of a run; empty if its case has none. Never fails: what the report does not
/// have is NaN.
std::vector<GroupMetrics> measure_groups(const Case& definition, const tg::GeneratorReport& report);

}  // namespace outrider::lab
