#pragma once

#include "tools/hostagent/options.h"

namespace outrider::agent {

/// Runs `outrider-hostagent record` until a stop signal. Throws AgentError.
/// @return exit status
int run_record(const AgentOptions& options);

}  // namespace outrider::agent
