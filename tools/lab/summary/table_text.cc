#include "tools/lab/summary/table_text.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "common/telemetry/display_width.h"

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
  constexpr std::size_t kMostBeside = kLabelWidth + kCellWidths[0] - 1;
  const bool apart = display_width(label) > kMostBeside;
  std::string line = apart ? padded_to(label, 0) + '\n' : padded_to(label, 0);
  std::size_t at = apart ? 0 : display_width(label);
  // A cell ends where its column does unless the label is in its way.
  std::size_t end = kLabelWidth;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    end += kCellWidths[i];
    if (cells[i].empty()) continue;
    const std::size_t width = display_width(cells[i]);
    const std::size_t begin = std::max(end - std::min(end, width), at + (at == 0 ? 0 : 1));
    line.append(begin - at, ' ') += cells[i];
    at = begin + width;
  }
  line.erase(line.find_last_not_of(" \n") + 1);
  return line + "\n";
}

std::string wrapped(const std::string& text) {
  std::string out;
  std::size_t columns = 0, begin = 0;  // of the line, which begins in `out` there
  std::size_t blank = std::string::npos;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t c = take_character(rest);
    const std::string_view character = before.substr(0, before.size() - rest.size());
    columns += display_width(character);
    if (c == '\n') columns = 0, begin = out.size() + 1, blank = std::string::npos;
    if (columns > kTableColumns && c != ' ') {
      if (blank == std::string::npos) out += '\n', begin = out.size();
      else out[blank] = '\n', begin = blank + 1;
      blank = std::string::npos;
      columns = display_width(std::string_view(out).substr(begin)) + display_width(character);
    }
    if (c == ' ' && out.size() > begin) blank = out.size();
    out += character;
  }
  return out;
}

}  // namespace outrider::lab
