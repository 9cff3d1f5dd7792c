#pragma once

#include "tools/hostagent/options.h"

namespace outrider::agent {

/// Runs `outrider-hostagent answer` until a stop signal. Throws AgentError.
/// @return exit status
int run_answer(const AgentOptions& options);

}  // namespace outrider::agent
