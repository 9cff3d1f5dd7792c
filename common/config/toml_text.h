#pragma once

#include <string>

#include "common/config/config_value.h"

namespace outrider {

/// Writes TOML 1.0. Within a table plain values come first, then sub-tables, then arrays of
/// tables, each in their given order, so the text depends only on the table.
std::string to_toml_text(const ConfigTable& table);

/// Returns one value as written after "key = "; tables in their inline form.
std::string to_toml_text(const ConfigValue& value);

}  // namespace outrider
