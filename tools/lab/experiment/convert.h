#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_value.h"
#include "common/core/config_issue.h"

namespace outrider::lab {

/// What convert_experiment() made of a file.
struct Converted {
  std::string text;
  std::size_t changes = 0;                ///< lines that are rewritten
  std::vector<std::string> left_alone{};  ///< "line 12: ...": what a person has to rewrite
};

/// Rewrites the text of an experiment, or of a file of arms, of the earlier language: parameters
/// that were one setting of a program become overlays on it (`regulation` is
/// `switch.regulation.mode`), and
/// [[vary]] and [[cross]] become [[sweep]]. Comments and the order stay. A text without old keys
/// stays as it is.
Converted convert_experiment(std::string_view text);

/// Says what replaces a parameter of the earlier language: "is switch.regulation.mode now:
/// `outrider-lab convert FILE` rewrites the file"; empty if `name` is no such parameter.
std::string replaced_parameter(std::string_view name);

/// Takes [matrix], [[vary]] and [[cross]] out of an experiment, and adds a fault for each.
void refuse_old_sweeps(ConfigTable& experiment, ConfigIssues& issues);

/// Returns the table without such parameters, and adds a fault for each.
ConfigTable without_replaced(const ConfigTable& table, const std::string& path,
                             ConfigIssues& issues);

}  // namespace outrider::lab
