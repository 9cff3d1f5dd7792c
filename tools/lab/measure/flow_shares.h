#pragma once

#include <vector>

#include "tools/lab/measure/statistics.h"
#include "trafficgen/hosts/connection_sample.h"

namespace outrider::lab {

/// How evenly the flows of a run share the network once all of them have begun.
struct FlowShares {
  /// From the begin of the last flow to the end of the first 10 ms in which each flow got a tenth
  /// more or less than their mean; NaN if there were none
  double convergence_seconds = kNotDefined;
  /// Jain's index (Jain, Chiu, Hawe 1984) of what the flows got in the second half of the time from
  /// the begin of the last flow until the first has no more data; NaN without two flows
  double jain_index = kNotDefined;
};

/// Measures flows by what was acknowledged to their senders, as samples say that the setting
/// `connection_sample_period` makes. A flow begins with its first sample.
/// Source: "within 10 % of the fair share" is the BMWG draft on AI training fabrics, DCQCN
/// convergence.
FlowShares flow_shares(const std::vector<tg::ConnectionSample>& samples);

}  // namespace outrider::lab
