#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/lab/summary/results.h"
#include "tools/lab/tables/table_grid.h"

namespace outrider::lab {

/// Chooses the lines and columns of a table, and its form.
struct TableRequest {
  TableForm form = TableForm::kText;
  /// Names of metrics; if empty, those that `compare` tests. "NAME:range" adds the 95 % interval of
  /// the value, "NAME:change" is the change against the baseline with its interval. In CSV bounds
  /// are columns of their own: NAME_low, NAME_high, NAME_change_low.
  std::vector<std::string> columns{};
  std::vector<std::string> arms{};  ///< labels, in the order of the table; if empty, all
  /// Parameters and settings with the value that a line must have, as `plan` writes them.
  std::vector<std::pair<std::string, std::string>> where{};
};

/// Returns a table with a line per arm and point and a column per metric. As text it has the
/// units of tables, as CSV those of metrics.
/// @throws std::out_of_range if a name is no metric; std::runtime_error if nothing is as requested
std::string column_table(const Results& results, const TableRequest& request);

}  // namespace outrider::lab
