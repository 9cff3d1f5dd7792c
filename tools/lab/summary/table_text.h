#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

inline constexpr std::size_t kTableColumns = 110;
inline constexpr std::size_t kLabelWidth = 18;
inline constexpr std::array<std::size_t, 8> kCellWidths{12, 12, 12, 12, 12, 12, 12, 8};

using TableCells = std::array<std::string, kCellWidths.size()>;

/// Formats like printf(); returns at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// Returns a value with three or four digits; "-" if not defined.
std::string shown(double value);

/// Returns a ratio - 1 as "-39 %" or "+4.2 %"; "-" if not defined, ">999 %" if larger.
std::string shown_change(double change);

/// Returns an interval in percent, "[-45,-30]"; empty if not defined.
std::string shown_interval(const Estimate& change);

/// Returns an interval of values, each times `scale`, "[12.5,31.2]"; empty if not defined.
std::string shown_bounds(const Estimate& value, double scale);

/// Returns a line with the label on the left and the cells right-aligned. A label that is in the
/// way of the first cells moves them to the right, and has a line of its own if it is longer than
/// their column. Columns are those of a terminal, see display_width().
std::string table_line(const std::string& label, const TableCells& cells);

/// Wraps text to lines of at most kTableColumns, at spaces if possible.
std::string wrapped(const std::string& text);

}  // namespace outrider::lab
