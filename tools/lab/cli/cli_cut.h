#pragma once

#include <string>

#include "tools/lab/world/partition.h"

namespace outrider::lab {

/// What --cut takes, as the help text says it.
inline constexpr const char* kCutForms = "blocks|turns|metis|FILE";

/// Returns the rule of this name; of any other word, the file, which is not read yet.
[[nodiscard]] Cut cut_named(const std::string& word);

/// Reads the file, if the cut is one. @return why it cannot be read; empty if nothing is in the way
[[nodiscard]] std::string read_cut(Cut& cut);

}  // namespace outrider::lab
