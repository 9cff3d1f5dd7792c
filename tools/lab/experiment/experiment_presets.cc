#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/shipped_file.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/experiment/replaced_parameters.h"

namespace outrider::lab {
namespace {

constexpr const char* kPresets = "presets";

/// Reads the overlay that a preset's file has, with nested keys.
ConfigTable read_preset(const std::string& name, const std::string& place,
                        const std::filesystem::path& directory, ConfigIssues& issues) {
  const auto fault = [&](const std::string& problem) {
    issues.push_back({place, Checks::quoted(name) + ": " + problem});
    return ConfigTable{};
  };
  if (const auto problem = name_problem(name, kPresets, ".toml", directory); !problem.empty())
    return fault(problem);
  auto file = read_toml_file(named_file(name, kPresets, ".toml", directory));
  for (const auto& issue : file.issues) fault(issue.problem);
  if (!file) return {};
  ConfigIssues earlier;
  const ConfigTable known = without_replaced(*file.config, "", earlier, ParameterPlace::kPreset);
  for (const auto& issue : earlier) fault(issue.key + ' ' + issue.problem);
  for (const char* key :
       {"name", "network", "arm", "parameters", "label", "role", "against", "seeds"})
    if (file.config->get(key) != nullptr)
      return fault(std::string("has ") + key + ", and a preset has parameters and settings alone");
  if (file.config->get(kPresets) != nullptr) return fault("has presets itself; name those");
  ConfigTable whole;
  whole["parameters"] = ConfigValue(with_nested_keys(known));
  const std::filesystem::path folder =
      std::filesystem::path(named_file(name, kPresets, ".toml", directory)).parent_path();
  move_paths(whole, folder.lexically_proximate(directory), directory);
  return *whole["parameters"].as<ConfigTable>();
}

/// Returns the names that a table gives as its presets.
std::vector<std::string> names_of_presets(const ConfigValue& given, const std::string& place,
                                          ConfigIssues& issues) {
  std::vector<std::string> names;
  if (const auto* name = given.as<std::string>()) names.push_back(*name);
  if (const auto* list = given.as<ConfigValue::Array>())
    for (const ConfigValue& one : *list) {
      const auto* name = one.as<std::string>();
      if (name != nullptr) names.push_back(*name);
      else issues.push_back({place, display(one) + ": must be the name of a preset"});
    }
  if (names.empty())
    issues.push_back({place, display(given) + ": must be the name of a preset, or a list of them"});
  return names;
}

/// Puts what the presets of a table have below what it says itself.
void expand(ConfigTable& table, const std::string& path, const std::filesystem::path& directory,
            ConfigIssues& issues) {
  const ConfigValue* given = table.get(kPresets);
  if (given == nullptr) return;
  const std::string place = join_key(path, kPresets);
  const std::vector<std::string> names = names_of_presets(*given, place, issues);
  ConfigTable all;
  for (const std::string& name : names) overlay(all, read_preset(name, place, directory, issues));
  std::erase_if(table.members, [](const ConfigMember& m) { return m.key == kPresets; });
  overlay(all, with_nested_keys(table));
  table = std::move(all);
}

}  // namespace

void name_presets(const ConfigTable& as_written, const std::filesystem::path& directory,
                  ConfigIssues& issues) {
  const auto look_at = [&](const ConfigTable& table, const std::string& path) {
    if (table.get(kPresets) == nullptr) return;
    const ConfigTable own = with_nested_keys(table);
    for (ConfigIssue& issue : issues) {
      if (!issue.key.starts_with(path + '.')) continue;
      const std::string key = issue.key.substr(path.size() + 1);
      if (find(own, key) != nullptr) continue;
      ConfigIssues told;  // before
      for (const std::string& name : names_of_presets(*table.get(kPresets), path, told))
        if (find(read_preset(name, path, directory, told), key) != nullptr)
          issue.problem += " (in preset " + Checks::quoted(name) + ')';
    }
  };
  if (const ConfigValue* value = as_written.get("parameters"))
    if (const auto* table = value->as<ConfigTable>()) look_at(*table, "parameters");
  for_each_table(as_written, "arm", [&](const ConfigTable& table, std::size_t i) {
    look_at(table, join_key("", "arm", i));
  });
}

ConfigTable with_presets(ConfigTable file, const std::filesystem::path& directory,
                         ConfigIssues& issues) {
  const auto expand_all = [&](ConfigTable& below, const char* path, const char* list) {
    for_each_table(below, list, [&](ConfigTable& table, std::size_t i) {
      expand(table, join_key(path, list, i), directory, issues);
    });
  };
  for (auto& [key, value] : file.members) {
    auto* table = value.as<ConfigTable>();
    if (table != nullptr && key == "parameters") expand(*table, key, directory, issues);
    if (table != nullptr && key == "search") expand_all(*table, "search", "family");
  }
  expand_all(file, "", "arm");
  return file;
}

}  // namespace outrider::lab
