#pragma once

#include <string>
#include <string_view>

#include "common/config/config_value.h"
#include "common/core/config_issue.h"

namespace outrider::lab {

/// Parameters that experiments had before they could set the programs' settings by their
/// dotted keys. @return "is now transport.min_rto, a duration such as \"20ms\""; empty: none
std::string renamed_parameter(std::string_view name);

/// The table without such parameters, each of which is a fault.
ConfigTable without_renamed(const ConfigTable& table, const std::string& path,
                            ConfigIssues& issues);

}  // namespace outrider::lab
