#pragma once

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/regulation/regulation_policy.h"

namespace outrider {

// Binding of [switch.regulation.predict], see common/config/config_binding.h.

inline constexpr auto kPredictFroms = choices<PredictFrom>({{"off", PredictFrom::kOff},
                                                            {"traffic", PredictFrom::kTraffic},
                                                            {"signals", PredictFrom::kSignals}});

void describe(Settings& v, PredictPolicy& c);

/// The rule that joins two settings; ranges stand in describe().
void check(const Checks& at, const PredictPolicy& policy);

}  // namespace outrider
