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

/// As printf() writes it; at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// Three or four digits; "-" if not defined.
std::string shown(double value);

/// A ratio - 1 as "-39 %" or "+4.2 %"; "-" if not defined, ">999 %" if beyond.
std::string shown_change(double change);

/// "[-45,-30]" in percent, empty if not defined.
std::string shown_interval(const Estimate& change);

/// One line: label left, cells right; a long label gets a line of its own.
std::string table_line(const std::string& label, const TableCells& cells);

/// No line longer than kTableColumns: breaks at a space, or where it must.
std::string wrapped(const std::string& text);

}  // namespace outrider::lab
