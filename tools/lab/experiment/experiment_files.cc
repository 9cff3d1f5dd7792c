#include "tools/lab/experiment/experiment_files.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "common/config/checks.h"
#include "common/config/shipped_file.h"

namespace outrider::lab {

namespace fs = std::filesystem;

namespace {

const FileKey* file_key(std::string_view key) {
  const std::string_view last = key.substr(key.rfind('.') + 1);
  const auto it = std::ranges::find(kFileKeys, last, &FileKey::name);
  return it == kFileKeys.end() ? nullptr : &*it;
}

/// Calls f(key of a file, its text, place) for each path in a table and the tables in it.
template <class Table, class F>
void for_each_path(Table& table, const std::string& place, F f) {
  for (auto& [key, value] : table.members) {
    const std::string at = join_key(place, key);
    if (auto* nested = value.template as<ConfigTable>()) for_each_path(*nested, at, f);
    if (auto* list = value.template as<ConfigValue::Array>())
      for (std::size_t i = 0; i < list->size(); ++i)
        if (auto* element = (*list)[i].template as<ConfigTable>())
          for_each_path(*element, join_key(place, key, i), f);
    const FileKey* of_file = file_key(key);
    if (auto* text = value.template as<std::string>(); text != nullptr && of_file != nullptr)
      f(*of_file, *text, at);
  }
}

}  // namespace

void check_names(const ConfigTable& experiment, const fs::path& directory, ConfigIssues& issues) {
  for_each_path(
      experiment, "", [&](const FileKey& key, const std::string& name, const std::string& place) {
        if (key.shipped.empty()) return;
        const std::string problem = name_problem(name, key.shipped, key.extension, directory);
        if (!problem.empty()) issues.push_back({place, Checks::quoted(name) + ": " + problem});
      });
}

std::string path_of_file(const FileKey& key, const std::string& value, const fs::path& directory) {
  if (!key.shipped.empty()) return named_file(value, key.shipped, key.extension, directory);
  return (directory / value).lexically_normal().string();
}

void move_paths(ConfigTable& experiment, const fs::path& folder, const fs::path& directory) {
  for_each_path(experiment, "", [&](const FileKey& key, std::string& path, const std::string&) {
    if (path.empty()) return;
    if (path_of_file(key, path, directory / folder) != path_of_file(key, path, directory))
      path = (folder / path).lexically_normal().string();
  });
}

}  // namespace outrider::lab
