#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace outrider::lab {

enum class TableForm : std::uint8_t {
  kText,      ///< for a terminal
  kCsv,       ///< in the units of metrics
  kMarkdown,  ///< for a page: settings that vary have columns of their own
  kHtml,      ///< the same as a <table>
};

/// What a column of a grid holds.
enum class GridCells : std::uint8_t { kName, kSetting, kWord, kNumber };

struct GridColumn {
  std::string heading;
  std::string unit{};  ///< CSV does not have it
  GridCells cells = GridCells::kNumber;
};

/// A table of texts.
struct Grid {
  std::vector<GridColumn> columns{};
  std::vector<std::vector<std::string>> rows{};  ///< a cell for each column
};

/// Returns the grid in a form, with a line break at its end. What users wrote is escaped.
std::string text_of(const Grid& grid, TableForm form);

}  // namespace outrider::lab
