#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_value.h"
#include "tools/lab/experiment/background_group.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// Takes the lists [[background]] out of the file and of its arms, and reads them.
struct BackgroundTaken {
  std::vector<BackgroundGroup> of_file{};
  /// Of each arm; absent: it has those of the file.
  std::vector<std::optional<std::vector<BackgroundGroup>>> of_arms{};
};
BackgroundTaken take_background_groups(ConfigTable& file, ConfigIssues& issues);

/// Reads one group. @param table  of it, with nested keys  @param place  its key, for messages
BackgroundGroup read_group(ConfigTable table, std::string place, ConfigIssues& issues);

/// Returns what the file says of a group, but for these of its keys.
std::string text_as_written(const BackgroundGroup& group, const std::set<std::string>& left_out);

/// Gives arms that have groups of their own these. @pre arms are read
void give_to_arms(BackgroundTaken&& background, ExperimentFile& experiment);

/// Refuses the shorthand beside groups, each of its keys with the group's key that says the same.
/// @param file  as written
void check_shorthand(const ConfigTable& file, ConfigIssues& issues);

/// Removes the keys of the shorthand from [parameters].
void drop_shorthand(ConfigTable& parameters);

/// Checks groups that send together.
void check_background_list(const Checks& root, const ExperimentFile& experiment,
                           const std::vector<BackgroundGroup>& groups);

/// Checks the groups of the file and those of its arms.
void check_groups_of_background(const Checks& root, const ExperimentFile& experiment);

/// Returns the groups of a case: its own, or those for which the shorthand stands. These have one
/// group for each kind of traffic and each protocol.
std::vector<BackgroundGroup> background_of(const ExperimentFile& experiment,
                                           const CaseParameters& parameters);

/// Returns the name of a protocol that a group may have.
std::string name_of(tg::TransportProtocol protocol);

/// Returns the programs' settings of a case with those of a group in the place of background's.
ProgramSettings settings_of(const BackgroundGroup& group, const CaseParameters& parameters,
                            Duration rtt);

/// Background over RoCEv2 as switches see it.
struct RoceBackground {
  std::string key;  ///< of its DSCP, for messages
  LabRoceQueue queue = LabRoceQueue::kBackground;
  tg::TransportConfig transport{};
};

/// Returns what the parameters say of background over RoCEv2: one for each group, or one.
std::vector<RoceBackground> roce_background_of(const CaseParameters& parameters);

/// Returns what the file says of the groups, which tells those of two arms apart.
std::string text_of_groups(const std::vector<BackgroundGroup>& groups);

/// Returns what a group sends where, as a line for people.
std::string line_of(const BackgroundGroup& group);

/// Returns the groups of the file, and those of its arms.
std::vector<BackgroundGroup> all_groups(const ExperimentFile& experiment);

}  // namespace outrider::lab
