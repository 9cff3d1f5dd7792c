#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace outrider::lab {

enum class TableForm : std::uint8_t { kText, kCsv };

/// A line per arm and point, a column per metric. For a terminal, values are in the units of
/// tables; as CSV, in those of summary.json.
/// @param summary  text of a summary.json
/// @param columns  names of metrics; empty: those that `compare` tests
/// @throws std::out_of_range if one is no metric; std::runtime_error if it is no summary
std::string column_table(const std::string& summary, std::vector<std::string> columns,
                         TableForm form);

}  // namespace outrider::lab
