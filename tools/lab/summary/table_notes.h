#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// ", in [due - 3.5 ms, due + 85.2 ms]" or what else the costs of an arm's point
/// are taken over.
std::string cost_windows_text(const ArmSummary& arm, const Summary& summary);

/// Something that happened in runs of an arm and that its figures suffer from.
struct ArmWarning {
  std::string label;
  std::size_t point = 0;
  std::uint64_t count = 0;
  std::string text;  ///< after the count: "iterations never completed; ..."
};

std::vector<ArmWarning> warnings_of(const Summary& summary);

/// What the figures are of, and everything that should make a reader wary.
std::string table_notes(const Summary& summary);

}  // namespace outrider::lab
