#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// A key of a group of background as a sweep names it: "background.NAME.KEY".
struct GroupKey {
  std::string group;
  std::string key;
};

/// Returns it; nothing if the name is another one, such as the settings `background.transport.*`.
std::optional<GroupKey> group_key_of(std::string_view name);

/// Takes out of an arm what it says of single groups of the file, "background.NAME.KEY".
/// @return the file's groups with that; nothing if the arm says nothing of them
std::optional<std::vector<BackgroundGroup>> take_group_keys(
    ConfigTable& arm, const std::vector<BackgroundGroup>& of_file, const std::string& path,
    ConfigIssues& issues);

/// Sets a key of the group of that name, as if the file had that value. @return the fault, or empty
std::string assign_to_group(std::vector<BackgroundGroup>& groups, const GroupKey& key,
                            const ConfigValue& value);

/// Returns what a group's table says of a key; without the key, or the group, std::monostate. Of a
/// name that is no group's it returns the setting.
/// @param settings  as to_table() makes them
ParameterValue value_of_name(const std::vector<BackgroundGroup>& groups,
                             const ConfigTable& settings, const std::string& name);

/// Returns the faults that a value makes in a group of the file, by the file's keys. A group or a
/// key that there is not has a problem that begins with "unknown".
ConfigIssues faults_of_value(const ExperimentFile& experiment, const GroupKey& key,
                             const ConfigValue& value);

/// Refuses arms with groups of their own in sweeps of a group that they do not have, and leaves
/// what sweeps set out of what groups say of themselves. @pre sweeps are read
void settle_swept_groups(ExperimentFile& experiment, ConfigIssues& issues);

}  // namespace outrider::lab
