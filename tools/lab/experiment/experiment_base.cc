#include <algorithm>
#include <array>
#include <string_view>

#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/shipped_file.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/experiment_files.h"

namespace outrider::lab {
namespace {

/// The tables that an experiment may take from its base: its environment, not its question.
constexpr std::array<std::string_view, 7> kInherited{"network", "fabric",     "switch", "link",
                                                     "hosts",   "background", "job"};

/// Keys by which a file has arms of its own. Without any of them it asks what its base asks, with
/// its arms and its seeds.
constexpr std::array<std::string_view, 4> kOfArms{"arm", "rivals", "sweep", "search"};

/// A file with a [fabric] takes no other network from its base, and one with switches no fabric.
bool replaces(const ConfigTable& file, std::string_view key) {
  const bool listed = file.get("switch") != nullptr || file.get("link") != nullptr;
  if (key == "fabric") return listed;
  const bool network = key == "network" || key == "switch" || key == "link" || key == "hosts";
  return network && file.get("fabric") != nullptr;
}

/// Refuses what the base's switches, which follow from the rate of its [network], exclude.
void check_network(const ConfigTable& base, const std::string& name, const ConfigTable& file,
                   ConfigIssues& issues) {
  const ConfigValue* rate = find(base, "network.rate");
  if (rate == nullptr || file.get("fabric") != nullptr || find(file, "network.rate") != nullptr)
    return;
  const std::string made =
      "the switches, the link and the hosts of base \"" + name + "\" follow from its network.rate";
  bool listed = false;
  for (const char* key : {"switch", "link", "hosts"}) {
    if (file.get(key) == nullptr) continue;
    listed = true;
    if (file.get("network") == nullptr)
      issues.push_back({key, made + ": leave this out, or list all of them here, with a [network] "
                                    "of measured and rtt"});
  }
  if (listed || file.get("network") == nullptr) return;
  const ConfigValue* rtt = find(base, "network.rtt");
  issues.push_back({"network", "stands for that of base \"" + name +
                                   "\" as a whole, from whose "
                                   "rate its switches and hosts follow: give rate and rtt, there " +
                                   display(*rate) + " and " +
                                   (rtt == nullptr ? "none" : display(*rtt))});
}

void inherit(const ConfigTable& base, ConfigTable& file) {
  const ConfigTable as_written = file;
  for (const std::string_view key : kInherited)
    if (const ConfigValue* value = base.get(key);
        value != nullptr && as_written.get(key) == nullptr && !replaces(as_written, key))
      file[key] = *value;
  const auto given = [&as_written](std::string_view key) { return as_written.get(key) != nullptr; };
  const auto of_base_alone = [&base](std::string_view key) {
    return key != "arm" && base.get(key) != nullptr;
  };
  // Of a base with sweeps or rivals, its [[arm]] would be half of what it asks.
  if (std::ranges::none_of(kOfArms, given) && std::ranges::none_of(kOfArms, of_base_alone))
    for (const char* key : {"arm", "question", "seeds"})
      if (const ConfigValue* value = base.get(key); value != nullptr && !given(key))
        file[key] = *value;
  const ConfigValue* of_base = base.get("parameters");
  if (of_base == nullptr || of_base->as<ConfigTable>() == nullptr) return;
  ConfigValue& own = file["parameters"];
  if (std::holds_alternative<ConfigValue::Unsupported>(own.data)) own = ConfigValue(ConfigTable{});
  const ConfigTable* parameters = own.as<ConfigTable>();
  if (parameters == nullptr) return;  // not a table: its reader reports the fault
  ConfigTable both = with_nested_keys(*of_base->as<ConfigTable>());
  // Groups stand for all that the base has of background.
  if (const ConfigValue* groups = as_written.get("background");
      groups != nullptr && is_array_of_tables(*groups))
    drop_shorthand(both);
  overlay(both, with_nested_keys(*parameters));
  own = ConfigValue(std::move(both));
}

}  // namespace

ConfigTable with_base(ConfigTable file, const std::filesystem::path& directory,
                      ConfigIssues& issues) {
  const auto at = std::ranges::find(file.members, "base", &ConfigMember::key);
  if (at == file.members.end()) return file;
  const ConfigValue value = at->value;
  file.members.erase(at);
  const auto* name = value.as<std::string>();
  if (name == nullptr) {
    issues.push_back(
        {"base",
         display(value) +
             ": must be the path of an experiment, or the name of one of conf/experiments"});
    return file;
  }
  if (const auto problem = name_problem(*name, "experiments", ".toml", directory);
      !problem.empty()) {
    issues.push_back({"base", "\"" + *name + "\": " + problem});
    return file;
  }
  const std::filesystem::path path = named_file(*name, "experiments", ".toml", directory);
  auto base = read_file_of(path.string(), FileKind::kExperiment);
  for (const auto& issue : base.issues)
    issues.push_back({"base", "\"" + *name + "\": " + issue.problem});
  if (!base) return file;
  if (base.config->get("base") != nullptr)
    issues.push_back({"base", "\"" + *name + "\": has a base itself; name that one"});
  *base.config = with_presets(std::move(*base.config), path.parent_path(), issues);
  const bool is_own = path == (directory / *name).lexically_normal();
  move_paths(*base.config, (is_own ? std::filesystem::path(*name) : path).parent_path(), directory);
  check_network(*base.config, *name, file, issues);
  inherit(*base.config, file);
  return file;
}

void name_base(const ConfigTable& as_written, const std::filesystem::path& directory,
               ConfigIssues& issues) {
  const ConfigValue* base = as_written.get("base");
  const auto* name = base == nullptr ? nullptr : base->as<std::string>();
  if (name == nullptr) return;
  const auto alone = load_experiment(named_file(*name, "experiments", ".toml", directory));
  for (ConfigIssue& issue : issues)
    if (std::ranges::find(alone.issues, issue) != alone.issues.end())
      issue.problem += " (in base \"" + *name + "\")";
}

}  // namespace outrider::lab
