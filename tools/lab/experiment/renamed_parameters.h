#pragma once

#include <string>
#include <string_view>

#include "common/config/config_value.h"
#include "common/core/config_issue.h"

namespace outrider::lab {

/// Says which setting replaces a parameter of older experiments, from before settings could be
/// given by their dotted keys. @return "is now transport.min_rto, a duration such as
/// \"20ms\""; empty if `name` is no such parameter
std::string renamed_parameter(std::string_view name);

/// Returns the table without such parameters and adds a fault to `issues` for each.
ConfigTable without_renamed(const ConfigTable& table, const std::string& path,
                            ConfigIssues& issues);

}  // namespace outrider::lab
