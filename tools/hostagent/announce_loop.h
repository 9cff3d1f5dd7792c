#pragma once

#include "tools/hostagent/options.h"

namespace outrider::agent {

/// Runs `outrider-hostagent announce` until a stop signal. Throws AgentError.
/// @return exit status
int run_announce(const AgentOptions& options);

}  // namespace outrider::agent
