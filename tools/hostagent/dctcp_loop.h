#pragma once

#include "tools/hostagent/options.h"

namespace outrider::agent {

/// Runs `outrider-hostagent dctcp` until a stop signal. Throws AgentError.
/// @return exit status
int run_dctcp(const AgentOptions& options);

}  // namespace outrider::agent
