#include "tools/lab/experiment/experiment_files.h"

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

}  // namespace

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
      if (auto* table = element.as<ConfigTable>()) move_paths_of_table(*table, folder, directory);
  }
}

}  // namespace outrider::lab
