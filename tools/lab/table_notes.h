#pragma once

#include <string>

#include "tools/lab/summary.h"

namespace outrider {

/// ", in [due - 3.5 ms, due + 85.2 ms]" or what else the costs of an arm's point
/// are taken over.
std::string cost_windows_text(const ArmSummary& arm, const Summary& summary);

/// What the figures are of, and everything that should make a reader wary.
std::string table_notes(const Summary& summary);

}  // namespace outrider
