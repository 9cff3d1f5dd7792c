#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/config/config_result.h"
#include "common/config/config_value.h"

namespace outrider {

/// Largest file that is read [MiB]. A million hosts take less.
inline constexpr std::uint32_t kMaxTomlMib = 64;

/// Reads a whole file. A file that cannot be read (missing, no regular file, no
/// permission, larger than kMaxTomlMib) gives one issue without a key.
ConfigResult<ConfigTable> read_toml_file(const std::string& path);

/// Parses a text. A syntax error gives one issue without a key, which names line and column;
/// so does nesting deeper than kMaxTomlNesting, with its line.
ConfigResult<ConfigTable> parse_toml(std::string_view text);

}  // namespace outrider
