#pragma once

#include <string>
#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Returns over what time the costs of an arm's point are taken, such as
/// ", in [due - 3.5 ms, due + 85.2 ms]".
std::string cost_windows_text(const ArmSummary& arm, const Summary& summary);

/// Returns what makes figures of arms less reliable, from their runs.
std::vector<ArmWarning> warnings_of(const Summary& summary);

/// Returns the notes below the table: how the figures were taken, and all warnings.
std::string table_notes(const Summary& summary);

}  // namespace outrider::lab
