#pragma once

#include <string>

#include "common/machine/finding.h"

namespace outrider {

/// Findings in their groups, one [tag] line each, what is not ok with effect and remedy,
/// and a last line that counts them. @param colour  with escape sequences of a terminal
[[nodiscard]] std::string findings_text(const Findings& findings, bool colour);

/// {"schema_version":1,"worst":"warn","exit_status":1,"findings":[{"check":...,
/// "severity":...,"cause":...,"effect":...,"remedy":...}]}, a line at its end.
[[nodiscard]] std::string findings_json(const Findings& findings);

/// kExitOk, or kExitFailure if there is a warning or worse.
[[nodiscard]] int exit_status_of(const Findings& findings) noexcept;

}  // namespace outrider
