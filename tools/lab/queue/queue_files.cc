#include "tools/lab/queue/queue_files.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <system_error>

#include "common/config/config_file.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// Returns how many folders a path leads up before it leads down.
std::size_t steps_up(const fs::path& path) {
  return static_cast<std::size_t>(std::ranges::count(path.lexically_normal(), fs::path("..")));
}

}  // namespace

std::vector<fs::path> files_of(const fs::path& file, const std::vector<Case>& cases) {
  std::set<fs::path> files{file.lexically_normal()};
  const auto add = [&files, &file](const fs::path& path) {
    if (path.is_absolute())
      throw std::runtime_error(file.string() + " names " + path.string() +
                               " by an absolute path, which a queue does not copy; name it by a "
                               "path from the experiment's file");
    files.insert(path.lexically_normal());
  };
  const auto table = read_toml_file(file.string());
  const auto add_named = [&](const ConfigTable* of, const char* key) {
    const ConfigValue* value = of != nullptr ? of->get(key) : nullptr;
    const auto* name = value != nullptr ? value->as<std::string>() : nullptr;
    if (name != nullptr) add(file.parent_path() / *name);
  };
  const auto part = [&](const char* key) {
    const ConfigValue* value = table ? table.config->get(key) : nullptr;
    return value != nullptr ? value->as<ConfigTable>() : nullptr;
  };
  for (const char* key : {"base", "rivals"}) add_named(table ? &*table.config : nullptr, key);
  add_named(part("fabric"), "file");
  add_named(part("background"), "matrix");
  if (const ConfigValue* jobs = table ? table.config->get("job") : nullptr;
      jobs != nullptr && is_array_of_tables(*jobs))
    for (const ConfigValue& job : *jobs->as<ConfigValue::Array>())
      add_named(job.as<ConfigTable>(), "list");
  for (const Case& c : cases) {
    for (const auto& job : c.traffic.jobs)
      if (job.model) add(*job.model);
    for (const auto& flows : c.traffic.flows) tg::for_each_file(flows, add);
    for (const auto& capture : c.traffic.captures) add(capture.file);
  }
  return {files.begin(), files.end()};
}

fs::path copy_files(const std::vector<fs::path>& files, const fs::path& directory) {
  std::size_t depth = 0;
  for (const auto& file : files) depth = std::max(depth, steps_up(file));
  fs::path root = "files";
  for (std::size_t i = 0; i < depth; ++i) root /= "in";  // so that ".." stays within the queue
  for (const auto& file : files) {
    const fs::path to = (directory / root / file).lexically_normal();
    std::error_code error;
    fs::create_directories(directory / root, error);
    if (!error) fs::create_directories(to.parent_path(), error);
    if (!error) fs::copy_file(file, to, error);
    if (error)
      throw std::runtime_error(file.string() + ": cannot be copied to " + to.string() + ": " +
                               error.message());
  }
  return root;
}

}  // namespace outrider::lab
