#pragma once

#include <string>

#include "common/machine/finding.h"

namespace outrider {

/// Returns the findings as text: by group, one [tag] line each, with effect and remedy if the
/// finding is not ok, and a last line that counts them.
/// @param colour  whether to use escape sequences of a terminal
[[nodiscard]] std::string findings_text(const Findings& findings, bool colour);

/// Returns {"schema_version":1,"worst":"warn","exit_status":1,"findings":[{"check":...,
/// "severity":...,"cause":...,"effect":...,"remedy":...}]} and a newline.
[[nodiscard]] std::string findings_json(const Findings& findings);

/// Returns kExitFailure if there is a warning or worse, else kExitOk.
[[nodiscard]] int exit_status_of(const Findings& findings) noexcept;

}  // namespace outrider
