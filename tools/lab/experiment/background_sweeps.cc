#include "tools/lab/experiment/background_sweeps.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/suggestion.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/program_settings.h"

namespace outrider::lab {

namespace {

constexpr std::string_view kSweptRoot = "background.";

template <class Groups>
auto* find_group(Groups& groups, const std::string& name) {
  const auto it = std::ranges::find(groups, name, &BackgroundGroup::name);
  return it == groups.end() ? nullptr : &*it;
}

/// Returns the group with another value of one of its keys, read anew.
BackgroundGroup with_value(const BackgroundGroup& group, const std::string& key,
                           const ConfigValue& value, ConfigIssues& issues) {
  ConfigTable table = group.written;
  if (!assign(table, key, value))
    issues.push_back(
        {join_key(group.place, key), display(value) + ": cannot be set beside another part of it"});
  BackgroundGroup changed = read_group(std::move(table), group.place, issues);
  changed.text = group.text;
  return changed;
}

constexpr const char* kFixedName = "unknown key: the name of a group is the same at all points";

std::string unknown_group(const std::string& name, const std::vector<BackgroundGroup>& groups) {
  std::vector<std::string_view> names;
  names.reserve(groups.size());
  for (const BackgroundGroup& one : groups) names.emplace_back(one.name);
  return "unknown group: no [[background]] of the file has this name" + suggestion(name, names);
}

ConfigIssues faults_of_list(const ExperimentFile& e, const std::vector<BackgroundGroup>& groups) {
  ConfigIssues issues;
  check_background_list(Checks(issues), e, groups);
  return issues;
}

}  // namespace

std::optional<GroupKey> group_key_of(std::string_view name) {
  if (!name.starts_with(kSweptRoot)) return std::nullopt;
  name.remove_prefix(kSweptRoot.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || name.substr(0, dot) == kTransportOfBackground)
    return std::nullopt;
  return GroupKey{std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

std::optional<std::vector<BackgroundGroup>> take_group_keys(
    ConfigTable& arm, const std::vector<BackgroundGroup>& of_file, const std::string& path,
    ConfigIssues& issues) {
  if (of_file.empty()) return std::nullopt;
  std::optional<std::vector<BackgroundGroup>> own;
  ConfigTable rest;
  for (const auto& [key, value] : with_dotted_keys(with_nested_keys(arm))) {
    const auto of_group = group_key_of(key);
    if (!of_group) {
      (void)assign(rest, key, value);
      continue;
    }
    if (!own) own = of_file;
    const std::string place = join_key(path, std::string(kSweptRoot) + of_group->group);
    BackgroundGroup* group = find_group(*own, of_group->group);
    if (group == nullptr || of_group->key == "name") {
      issues.push_back(
          {place, group != nullptr ? kFixedName : unknown_group(of_group->group, of_file)});
      continue;
    }
    group->place = place;
    *group = with_value(*group, of_group->key, value, issues);
    group->text = text_as_written(*group, {});
  }
  if (own) arm = std::move(rest);
  return own;
}

std::string assign_to_group(std::vector<BackgroundGroup>& groups, const GroupKey& key,
                            const ConfigValue& value) {
  BackgroundGroup* group = find_group(groups, key.group);
  if (group == nullptr) return "no [[background]] has the name " + Checks::quoted(key.group);
  ConfigIssues issues;
  BackgroundGroup changed = with_value(*group, key.key, value, issues);
  if (!issues.empty()) return issues.front().problem;
  *group = std::move(changed);
  return {};
}

ParameterValue value_of_name(const std::vector<BackgroundGroup>& groups,
                             const ConfigTable& settings, const std::string& name) {
  const auto key = group_key_of(name);
  if (!key || groups.empty()) return setting_value(settings, name);
  const BackgroundGroup* group = find_group(groups, key->group);
  return group == nullptr ? std::monostate{} : setting_value(group->written, key->key);
}

ConfigIssues faults_of_value(const ExperimentFile& e, const GroupKey& key,
                             const ConfigValue& value) {
  ConfigIssues issues;
  std::vector<BackgroundGroup> groups = e.parameters.groups;
  BackgroundGroup* group = find_group(groups, key.group);
  if (group == nullptr || key.key == "name") {
    issues.push_back({std::string(kSweptRoot) + key.group,
                      group != nullptr ? kFixedName : unknown_group(key.group, groups)});
    return issues;
  }
  const ConfigIssues before = faults_of_list(e, groups);
  *group = with_value(*group, key.key, value, issues);
  if (!issues.empty()) return issues;
  for (const ConfigIssue& issue : faults_of_list(e, groups))
    if (std::ranges::find(before, issue) == before.end()) issues.push_back(issue);
  return issues;
}

void settle_swept_groups(ExperimentFile& e, ConfigIssues& issues) {
  std::map<std::string, std::set<std::string>> swept;  // keys, by group
  if (e.parameters.groups.empty()) return;
  for (const Sweep& sweep : e.sweeps) {
    std::set<std::string> here;
    for (const Point& point : sweep.points)
      for (const auto& [name, value] : point)
        if (const auto key = group_key_of(name)) {
          swept[key->group].insert(key->key);
          here.insert(key->group);
        }
    for (const Arm& arm : e.arms)
      for (const std::string& group : here)
        if (std::ranges::find(sweep.arms, arm.label) != sweep.arms.end() &&
            find_group(e.parameters.groups, group) != nullptr &&  // or that is the fault
            find_group(arm.parameters.groups, group) == nullptr)
          issues.push_back(
              {join_key(sweep.key, "arms"), Checks::quoted(arm.label) +
                                                ": has groups of background of its own, "
                                                "and none of them is " +
                                                Checks::quoted(group)});
  }
  const auto settle = [&swept](std::vector<BackgroundGroup>& groups) {
    for (BackgroundGroup& group : groups)
      if (const auto it = swept.find(group.name); it != swept.end())
        group.text = text_as_written(group, it->second);
  };
  settle(e.parameters.groups);
  for (Arm& arm : e.arms) settle(arm.parameters.groups);
}

}  // namespace outrider::lab
