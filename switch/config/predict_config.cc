#include "switch/config/predict_config.h"

#include <string>

#include "common/config/quantities.h"

namespace outrider {

void check(const Checks& at, const PredictPolicy& policy) {
  at.in_range("threshold_packets", policy.threshold_packets, 1, 65535, "packets");
  if (at.positive("idle_gap", policy.idle_gap))
    at.require(policy.max_period >= policy.idle_gap, "max_period",
               format_duration(policy.max_period),
               "must not be shorter than idle_gap, " + format_duration(policy.idle_gap));
  at.require(policy.tolerance > 0 && policy.tolerance < 0.5, "tolerance",
             std::to_string(policy.tolerance), "must be above 0 and below 0.5");
  at.in_range("missed_limit", policy.missed_limit, 1, 1000);
  at.in_range("max_jobs", policy.max_jobs, 1, 256);
}

}  // namespace outrider
