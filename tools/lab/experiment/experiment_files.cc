#include "tools/lab/experiment/experiment_files.h"

#include "common/config/checks.h"
#include "common/config/shipped_file.h"

namespace outrider::lab {

namespace fs = std::filesystem;

namespace {

void move_paths_of_table(ConfigTable& table, const fs::path& folder, const fs::path& directory) {
  for (const FileKey& key : kFileKeys) {
    if (table.get(key.name) == nullptr) continue;
    auto* value = table[key.name].as<std::string>();
    if (value == nullptr || value->empty()) continue;
    if (path_of_file(key, *value, directory / folder) != path_of_file(key, *value, directory))
      *value = (folder / *value).lexically_normal().string();
  }
}

void check_names_of_table(const ConfigTable& table, const std::string& place,
                          const fs::path& directory, ConfigIssues& issues) {
  for (const FileKey& key : kFileKeys) {
    const ConfigValue* value = key.shipped.empty() ? nullptr : table.get(key.name);
    const auto* name = value == nullptr ? nullptr : value->as<std::string>();
    if (name == nullptr) continue;
    const std::string problem = name_problem(*name, key.shipped, key.extension, directory);
    if (!problem.empty())
      issues.push_back({join_key(place, key.name), Checks::quoted(*name) + ": " + problem});
  }
}

// An arm may have groups of background, whose files they name.

void move_paths_of_entry(ConfigTable& table, const fs::path& folder, const fs::path& directory) {
  move_paths_of_table(table, folder, directory);
  if (table.get("background") == nullptr) return;
  auto* groups = table["background"].as<ConfigValue::Array>();
  for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i)
    if (auto* group = (*groups)[i].as<ConfigTable>())
      move_paths_of_table(*group, folder, directory);
}

void check_names_of_entry(const ConfigTable& table, const std::string& place,
                          const fs::path& directory, ConfigIssues& issues) {
  check_names_of_table(table, place, directory, issues);
  const ConfigValue* list = table.get("background");
  const auto* groups = list == nullptr ? nullptr : list->as<ConfigValue::Array>();
  for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i)
    if (const auto* group = (*groups)[i].as<ConfigTable>())
      check_names_of_table(*group, join_key(place, "background", i), directory, issues);
}

}  // namespace

void check_names(const ConfigTable& experiment, const fs::path& directory, ConfigIssues& issues) {
  for (const auto& [name, value] : experiment.members) {
    if (const auto* table = value.as<ConfigTable>())
      check_names_of_table(*table, name, directory, issues);
    const auto* list = value.as<ConfigValue::Array>();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (const auto* table = (*list)[i].as<ConfigTable>())
        check_names_of_entry(*table, join_key("", name, i), directory, issues);
  }
}

std::string path_of_file(const FileKey& key, const std::string& value, const fs::path& directory) {
  if (!key.shipped.empty()) return named_file(value, key.shipped, key.extension, directory);
  return (directory / value).lexically_normal().string();
}

void move_paths(ConfigTable& experiment, const fs::path& folder, const fs::path& directory) {
  for (auto& [name, value] : experiment.members) {
    if (auto* table = value.as<ConfigTable>()) move_paths_of_table(*table, folder, directory);
    auto* list = value.as<ConfigValue::Array>();
    if (list == nullptr) continue;
    for (ConfigValue& element : *list)
      if (auto* table = element.as<ConfigTable>()) move_paths_of_entry(*table, folder, directory);
  }
}

}  // namespace outrider::lab
