#include "tools/lab/summary/table_text.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <numeric>

namespace outrider::lab {

namespace {

static_assert(std::accumulate(kCellWidths.begin(), kCellWidths.end(), kLabelWidth) ==
              kTableColumns);

constexpr double kLargestPercent = 999;

/// Returns a signed percentage, in whole numbers from 10 on.
std::string percent(double share) {
  const double p = share * 100;
  if (p > kLargestPercent) return ">999";
  return std::abs(p) < 9.95 ? formatted("%+.1f", p) : formatted("%+.0f", p);
}

}  // namespace

std::string formatted(const char* format, ...) {
  std::array<char, 256> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return text.data();
}

std::string shown(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  if (size >= 1e8) return formatted("%.3g", value);
  if (size >= 1000) return formatted("%.0f", value);
  return formatted("%.*f", size >= 100 ? 1 : size >= 10 ? 2 : 3, value);
}

std::string shown_change(double change) {
  return std::isnan(change) ? "-" : percent(change) + " %";
}

std::string shown_interval(const Estimate& change) {
  if (std::isnan(change.low) || std::isnan(change.high)) return "";
  return "[" + percent(change.low) + "," + percent(change.high) + "]";
}

std::string shown_bounds(const Estimate& value, double scale) {
  if (std::isnan(value.low) || std::isnan(value.high)) return "";
  const auto bound = [scale](double v) {  // "1180" rather than "1.18e+03"
    return formatted(std::abs(v * scale) < 1000 ? "%.3g" : "%.0f", v * scale);
  };
  return '[' + bound(value.low) + ',' + bound(value.high) + ']';
}

std::string table_line(const std::string& label, const TableCells& cells) {
  std::string line = label;
  std::size_t end =
      kLabelWidth;  // of the cell's column, at which it ends unless a label is in its way
  for (std::size_t i = 0; i < cells.size(); ++i) {
    end += kCellWidths[i];
    if (cells[i].empty()) continue;
    const std::size_t begin = end - std::min(end, cells[i].size());
    line.append(std::max(begin, line.size() + 1) - line.size(), ' ');
    line += cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string wrapped(const std::string& text) {
  std::string out;
  std::size_t from = 0;
  while (text.size() - from > 0) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (end - from <= kTableColumns) {
      out.append(text, from, end - from + 1);
      from = std::min(end + 1, text.size());
      continue;
    }
    std::size_t cut = text.rfind(' ', from + kTableColumns);
    if (cut == std::string::npos || cut <= from) cut = from + kTableColumns;
    out.append(text, from, cut - from).append("\n");
    from = text[cut] == ' ' ? cut + 1 : cut;
  }
  return out;
}

}  // namespace outrider::lab
