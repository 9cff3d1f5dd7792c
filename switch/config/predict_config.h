#pragma once

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/regulation/regulation_policy.h"

namespace outrider {

// Binding of [switch.regulation.predict], see common/config/config_binding.h.

inline constexpr auto kPredictFroms = choices<PredictFrom>({{"off", PredictFrom::kOff},
                                                            {"traffic", PredictFrom::kTraffic},
                                                            {"signals", PredictFrom::kSignals}});

template <class V>
void describe(V& v, PredictPolicy& c) {
  v.choice("from", c.from, kPredictFroms);
  v.value("threshold_packets", c.threshold_packets);
  v.duration("idle_gap", c.idle_gap);
  v.duration("max_period", c.max_period);
  v.value("tolerance", c.tolerance);
  v.value("missed_limit", c.missed_limit);
  v.value("max_jobs", c.max_jobs);
}

void check(const Checks& at, const PredictPolicy& policy);

}  // namespace outrider
