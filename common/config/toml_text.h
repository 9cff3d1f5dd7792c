#pragma once

#include <string>

#include "common/config/config_value.h"

namespace outrider {

/// Writes TOML 1.0. Within a table plain values come first, then sub-tables,
/// then arrays of tables, each in the order given: the text depends on nothing
/// but the table.
std::string to_toml_text(const ConfigTable& table);

/// One value as it stands after "key = "; tables in their inline form.
std::string to_toml_text(const ConfigValue& value);

}  // namespace outrider
