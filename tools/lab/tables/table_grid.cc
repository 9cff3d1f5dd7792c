#include "tools/lab/tables/table_grid.h"

#include <algorithm>
#include <cstddef>

#include "common/telemetry/csv_text.h"
#include "common/telemetry/display_width.h"
#include "common/telemetry/markup_text.h"

namespace outrider::lab {
namespace {

std::string csv(const Grid& grid) {
  std::string text;
  for (const GridColumn& column : grid.columns) text += (text.empty() ? "" : ",") + column.heading;
  for (const auto& row : grid.rows) {
    text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + csv_text(row[i]);
  }
  return text + '\n';
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

/// Numbers are to the right, the rest to the left; two blanks are between columns.
std::string terminal(const Grid& grid) {
  std::vector<std::string> lines(2 + grid.rows.size());
  for (std::size_t c = 0; c < grid.columns.size(); ++c) {
    const GridColumn& column = grid.columns[c];
    std::vector<std::string> cells{column.heading, column.unit};
    for (const auto& row : grid.rows) cells.push_back(row[c]);
    std::size_t width = 0;
    for (const auto& cell : cells) width = std::max(width, display_width(cell));
    for (std::size_t i = 0; i < lines.size(); ++i)
      lines[i] += (c == 0 ? "" : "  ") + (column.cells == GridCells::kNumber
                                              ? right_aligned(cells[i], width)
                                              : padded_to(cells[i], width));
  }
  std::string text;
  for (auto& line : lines) text += line.erase(line.find_last_not_of(' ') + 1) + '\n';
  return text;
}

std::string heading_with_unit(const GridColumn& column) {
  if (column.unit.empty()) return column.heading;
  return column.heading +
         (column.unit.starts_with('/') ? ' ' + column.unit : " [" + column.unit + ']');
}

std::string markdown(const Grid& grid) {
  std::string text = "|", rule = "|";
  for (const GridColumn& column : grid.columns) {
    const bool setting = column.cells == GridCells::kSetting;
    text += ' ' + (setting ? '`' + column.heading + '`' : heading_with_unit(column)) + " |";
    rule += "---|";
  }
  text += '\n' + rule + '\n';
  for (const auto& row : grid.rows) {
    text += '|';
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool name = grid.columns[i].cells == GridCells::kName;
      text += (row[i].empty() ? "" : ' ' + (name ? '`' + row[i] + '`' : row[i])) + " |";
    }
    text += '\n';
  }
  return text;
}

std::string html(const Grid& grid) {
  const auto cell = [](const char* tag, const std::string& text) {
    return std::string("<") + tag + '>' + markup_text(text) + "</" + tag + '>';
  };
  std::string text = "<table>\n<tr>";
  for (const GridColumn& column : grid.columns) text += cell("th", heading_with_unit(column));
  for (const auto& row : grid.rows) {
    text += "</tr>\n<tr>";
    for (const auto& one : row) text += cell("td", one);
  }
  return text + "</tr>\n</table>\n";
}

}  // namespace

std::string text_of(const Grid& grid, TableForm form) {
  switch (form) {
    case TableForm::kCsv:
      return csv(grid);
    case TableForm::kMarkdown:
      return markdown(grid);
    case TableForm::kHtml:
      return html(grid);
    case TableForm::kText:
      break;
  }
  return terminal(grid);
}

}  // namespace outrider::lab
