#include "switch/config/config_toml.h"

#include <filesystem>

#include "common/config/config_file.h"
#include "common/config/file_kind.h"

namespace outrider::sw {
namespace {

bool has_own_section(const ConfigTable& file, const std::string& port) {
  return find(file, port + ".queue") || find(file, port + ".marker") ||
         find(file, port + ".regulation");
}

/// Returns the key under which the user wrote a setting, or would write it. A port may take
/// settings from its switch: "switch[0].port[3].queue.x" becomes "switch[0].queue.x" if the
/// file has only that, or if the port has no such table of its own.
std::string place_of(const ConfigTable& file, const std::string& key) {
  const auto begin = key.find(".port[");
  const auto end = begin == key.npos ? begin : key.find("].", begin);
  if (end == key.npos || find(file, key) != nullptr) return key;
  const std::string setting = key.substr(end + 1);
  const bool inherited = setting.starts_with(".queue.") || setting.starts_with(".marker.") ||
                         setting.starts_with(".regulation.");
  if (!inherited) return key;
  std::string of_switch = key.substr(0, begin) + setting;
  const bool move = find(file, of_switch) || !has_own_section(file, key.substr(0, end + 1));
  return move ? of_switch : key;
}

/// Moves issues to the key that the user wrote.
ConfigIssues placed(const ConfigTable& file, ConfigIssues issues) {
  ConfigIssues out;
  for (auto& issue : issues) {
    issue.key = place_of(file, issue.key);
    out.push_back(std::move(issue));
  }
  out.count_unkept(issues);
  return out;
}

/// @param read_more  reads what the table refers to, and returns its issues
template <class ReadMore>
ConfigResult<SwitchProcessConfig> checked(const ConfigTable& file, const ReadMore& read_more) {
  ConfigResult<SwitchProcessConfig> result{SwitchProcessConfig{}, {}};
  read_config(file, "", *result.config, result.issues);
  merge_issues(result.issues, validate(*result.config));
  merge_issues(result.issues, read_more(*result.config));
  result.issues = placed(file, std::move(result.issues));
  if (!result.issues.empty()) result.config.reset();
  return result;
}

}  // namespace

ConfigResult<SwitchProcessConfig> switch_config_from(const ConfigTable& file) {
  return checked(file, [](SwitchProcessConfig&) { return ConfigIssues{}; });
}

ConfigResult<SwitchProcessConfig> load_switch_config(const std::string& path,
                                                     std::uint64_t key_floor) {
  auto file = read_file_of(path, FileKind::kSwitch);
  if (!file) return {{}, std::move(file.issues)};
  return checked(*file.config, [&](SwitchProcessConfig& config) {
    return load_signal_keys(config, std::filesystem::path(path).parent_path().string(), key_floor);
  });
}

std::string to_toml(const SwitchProcessConfig& config) { return write_config(config); }

}  // namespace outrider::sw
