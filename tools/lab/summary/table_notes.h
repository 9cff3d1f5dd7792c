#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Returns over what time the costs of an arm's point are taken, such as
/// ", in [due - 3.5 ms, due + 85.2 ms]".
std::string cost_windows_text(const ArmSummary& arm, const Summary& summary);

/// An event in the runs of an arm that makes its figures less reliable.
struct ArmWarning {
  std::string label;
  std::size_t point = 0;
  std::uint64_t count = 0;
  std::string text;  ///< after the count: "iterations never completed; ..."
};

std::vector<ArmWarning> warnings_of(const Summary& summary);

/// Returns the notes below the table: how the figures were taken, and all warnings.
std::string table_notes(const Summary& summary);

}  // namespace outrider::lab
