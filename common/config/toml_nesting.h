#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace outrider {

/// Deepest nesting of tables and arrays in a file. The deepest key of any configuration
/// of this project has nine parts.
inline constexpr std::size_t kMaxTomlNesting = 32;

/// Returns the line at which `text` nests tables, arrays and dotted keys deeper than
/// kMaxTomlNesting, if it does. The parser, and whoever walks or destroys what it has
/// parsed, call themselves once for every level, so this has to be known before parsing.
/// Reads brackets, quotes, dots and comments alone, and takes text that is not TOML.
std::optional<std::size_t> line_nested_too_deep(std::string_view text);

}  // namespace outrider
