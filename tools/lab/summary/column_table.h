#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace outrider::lab {

enum class TableForm : std::uint8_t { kText, kCsv };

/// Returns a table with a line per arm and point and a column per metric. As text it has the
/// units of tables, as CSV those of summary.json.
/// @param summary  text of a summary.json
/// @param columns  names of metrics; if empty, those that `compare` tests
/// @throws std::out_of_range if a name is no metric; std::runtime_error if `summary` is no summary
std::string column_table(const std::string& summary, std::vector<std::string> columns,
                         TableForm form);

}  // namespace outrider::lab
