#pragma once

#include <string>
#include <string_view>

#include "common/config/config_result.h"
#include "common/config/config_value.h"

namespace outrider {

/// Reads a whole file. A file that cannot be read (missing, a directory, no permission) and a
/// syntax error give one issue without a key. That of a syntax error names line and column.
ConfigResult<ConfigTable> read_toml_file(const std::string& path);

ConfigResult<ConfigTable> parse_toml(std::string_view text);

}  // namespace outrider
