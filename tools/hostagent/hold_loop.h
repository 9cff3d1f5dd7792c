#pragma once

#include "tools/hostagent/options.h"

namespace outrider::agent {

/// Runs `outrider-hostagent hold` until a stop signal. Throws AgentError.
/// @return exit status
int run_hold(const AgentOptions& options);

}  // namespace outrider::agent
