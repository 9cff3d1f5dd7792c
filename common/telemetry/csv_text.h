#pragma once

#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/telemetry/record_cells.h"

namespace outrider {

/// Returns a cell as of RFC 4180: if it contains separators, quoted with its quotes doubled.
inline std::string csv_text(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

/// Appends a cell of a table. A number reads back as the same number.
inline void append_csv(std::string& text, const Cell& cell) {
  std::array<char, 32> digits{};
  const auto number = [&](auto value) {
    const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    text.append(digits.begin(), end);
  };
  if (const auto* i = std::get_if<std::int64_t>(&cell)) number(*i);
  else if (const auto* d = std::get_if<double>(&cell)) number(*d);
  else if (const auto* s = std::get_if<std::string_view>(&cell)) text += csv_text(*s);
}

inline void append_csv_line(std::string& text, std::span<const Cell> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) text += ',';
    append_csv(text, cells[i]);
  }
  text += '\n';
}

/// Appends the line of names, which is the first of a table.
inline void append_csv_head(std::string& text, std::span<const TableColumn> columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) (i == 0 ? text : text += ',') += columns[i].name;
  text += '\n';
}

/// Returns a line of names, then one line for each record.
template <class R>
std::string csv_of(const std::vector<R>& records) {
  std::string text;
  append_csv_head(text, columns_of<R>());
  std::vector<Cell> cells;
  for (const R& record : records) {
    cells.clear();
    append_cells(cells, record);
    append_csv_line(text, cells);
  }
  return text;
}

}  // namespace outrider
