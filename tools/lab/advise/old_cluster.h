#pragma once

#include "common/config/config_value.h"
#include "common/core/config_issue.h"

namespace outrider::lab {

/// Returns what to write in place of each key of a file in the language that `advise` once had for
/// clusters; nothing if the file is not in it.
ConfigIssues faults_of_old_cluster(const ConfigTable& file);

}  // namespace outrider::lab
