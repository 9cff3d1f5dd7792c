#include <algorithm>
#include <string>
#include <string_view>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/search_file.h"

namespace outrider::lab {
namespace {

constexpr std::string_view kRivals = "rivals";

const ConfigValue* label_of(const ConfigValue& arm) {
  const auto* table = arm.as<ConfigTable>();
  return table == nullptr ? nullptr : table->get("label");
}

/// Returns the array at `key`, which is made if there is none; nullptr: it is something else.
ConfigValue::Array* array_at(ConfigTable& table, std::string_view key) {
  ConfigValue& value = table[key];
  if (std::holds_alternative<ConfigValue::Unsupported>(value.data))
    value = ConfigValue(ConfigValue::Array{});
  return value.as<ConfigValue::Array>();
}

/// Appends the rivals to the arms of the file. An arm of the file replaces the rival with its
/// label. @return the labels of all rivals
ConfigValue::Array add_arms(const ConfigValue::Array& rivals, ConfigTable& file) {
  ConfigValue::Array labels;
  ConfigValue::Array* arms = array_at(file, "arm");
  for (const auto& rival : rivals) {
    const ConfigValue* label = label_of(rival);
    if (label == nullptr) continue;
    labels.push_back(*label);
    if (arms == nullptr) continue;  // its reader reports the fault
    const bool own = std::ranges::any_of(*arms, [label](const ConfigValue& arm) {
      const ConfigValue* other = label_of(arm);
      return other != nullptr && *other == *label;
    });
    if (!own) arms->push_back(rival);
  }
  return labels;
}

/// Gives the file the [search] of its rivals, whose families name them. A key of the file's own
/// stays.
void add_search(const ConfigValue& of_rivals, ConfigTable& file) {
  const auto* lent = of_rivals.as<ConfigTable>();
  ConfigValue& value = file[kSearch];
  if (std::holds_alternative<ConfigValue::Unsupported>(value.data)) value = of_rivals;
  auto* own = value.as<ConfigTable>();
  if (lent == nullptr || own == nullptr) return;  // its reader reports the fault
  for (const auto& [key, given] : lent->members)
    if (own->get(key) == nullptr) (*own)[key] = given;
}

/// Puts the labels in the place of "rivals" in the arms of sweeps, each arm once.
void expand(ConfigValue& sweep, const ConfigValue::Array& labels) {
  auto* table = sweep.as<ConfigTable>();
  if (table == nullptr || table->get("arms") == nullptr) return;
  auto* arms = (*table)["arms"].as<ConfigValue::Array>();
  if (arms == nullptr || std::ranges::find(*arms, ConfigValue(std::string(kRivals))) == arms->end())
    return;
  ConfigValue::Array all;
  const auto add = [&all](const ConfigValue& label) {
    if (std::ranges::find(all, label) == all.end()) all.push_back(label);
  };
  for (const auto& arm : *arms) {
    if (arm == ConfigValue(std::string(kRivals))) std::ranges::for_each(labels, add);
    else add(arm);
  }
  *arms = std::move(all);
}

}  // namespace

ConfigTable with_rivals(ConfigTable file, const std::filesystem::path& directory,
                        ConfigIssues& issues) {
  const auto at = std::ranges::find(file.members, kRivals, &ConfigMember::key);
  if (at == file.members.end()) return file;
  const ConfigValue value = at->value;
  file.members.erase(at);
  const auto* name = value.as<std::string>();
  if (name == nullptr) {
    issues.push_back(
        {std::string(kRivals), display(value) + ": must be the path of a file of arms"});
    return file;
  }
  const auto read = read_file_of((directory / *name).string(), FileKind::kArms);
  for (const auto& issue : read.issues)
    issues.push_back({std::string(kRivals), "\"" + *name + "\": " + issue.problem});
  if (!read) return file;
  const ConfigTable rivals = with_presets(*read.config, (directory / *name).parent_path(), issues);
  const ConfigValue* arms = rivals.get("arm");
  const ConfigValue* search = read.config->get(kSearch);
  const std::size_t known = search == nullptr ? 1 : 2;
  if (arms == nullptr || !is_array_of_tables(*arms) || read.config->members.size() != known) {
    issues.push_back({std::string(kRivals),
                      "\"" + *name + "\": must have [[arm]], may have [search], and nothing else"});
    return file;
  }
  if (search != nullptr) add_search(*search, file);
  const ConfigValue::Array labels = add_arms(*arms->as<ConfigValue::Array>(), file);
  if (file.get("sweep") != nullptr)
    if (auto* list = file["sweep"].as<ConfigValue::Array>())
      for (auto& sweep : *list) expand(sweep, labels);
  return file;
}

}  // namespace outrider::lab
