#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/lab/tables/column_table.h"

namespace outrider::lab {

/// A line of a table: an arm at a point.
struct TableLine {
  const ArmSummary* arm;
  std::vector<std::pair<std::string, std::string>> settings;  ///< those that vary in its label
  std::string off;  ///< label of what all arms of its point are compared with
};

/// Returns the lines that are asked for. @throws std::runtime_error if there are none
std::vector<TableLine> lines_of(const Results& results, const TableRequest& request);

/// Returns "LABEL SETTING=VALUE", with each setting that varies.
std::string name_of(const TableLine& line);

/// Returns a grid with a row for each line that says which it is: by its name in one column for a
/// terminal, else by its label, and each setting that varies in a column of its own.
Grid grid_of_lines(const std::vector<TableLine>& lines, TableForm form);

/// Returns a number for CSV: empty if it is not defined.
std::string csv_number(double value);

}  // namespace outrider::lab
