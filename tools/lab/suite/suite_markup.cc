#include "tools/lab/suite/suite_markup.h"

#include <sstream>
#include <vector>

namespace outrider::lab {
namespace {

/// Returns the cells of "| a | b |", without backquotes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    std::string cell;
    for (const char c : line.substr(at, end - at))
      if (c != '`') cell += c;
    const std::size_t from = cell.find_first_not_of(' '), to = cell.find_last_not_of(' ');
    cells.push_back(from == cell.npos ? "" : cell.substr(from, to - from + 1));
    at = end + 1;
  }
  return cells;
}

std::string row_of(const std::string& line, const char* cell) {
  std::string row = "<tr>";
  for (const std::string& text : cells_of(line))
    row += std::string("<") + cell + ">" + in_markup(text) + "</" + cell + ">";
  return row + "</tr>\n";
}

}  // namespace

std::string in_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string table_in_html(const std::string& markdown) {
  std::istringstream lines(markdown);
  std::string html;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) {
      if (inside) html += "</table>\n";
      inside = false;
      if (!line.empty()) html += "<p>" + in_markup(line) + "</p>\n";
    } else if (!inside) {
      html += "<table>\n" + row_of(line, "th");
      inside = true;
    } else if (!line.starts_with("|---")) {
      html += row_of(line, "td");
    }
  }
  return html + (inside ? "</table>\n" : "");
}

}  // namespace outrider::lab
