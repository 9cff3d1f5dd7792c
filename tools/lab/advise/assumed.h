#pragma once

#include <string>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/advise/advised_file.h"

namespace outrider::lab {

/// Adds to [parameters] what the experiment does not say and what does not depend on its network.
/// @param experiment  with nested parameters  @return "name = value" of each
std::vector<std::string> assume_before(ConfigTable& experiment);

/// Adds the rest: times in round trips, thresholds that follow from the rate, and over RoCEv2 that
/// hosts obey pauses.
std::vector<std::string> assume(ConfigTable& experiment, const AdvisedTraits& traits);

/// Refuses an experiment in which nothing could be judged: without background, without a buffer, or
/// without a time from burst to burst.
void check_judged(const ConfigTable& experiment, const AdvisedTraits& traits, ConfigIssues& issues);

}  // namespace outrider::lab
