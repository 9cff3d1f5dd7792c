#include "tools/lab/experiment/other_fabric.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/experiment_binding.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kOfNetwork{"fabric", "switch", "link", "hosts"};

void drop(ConfigTable& table, std::string_view key) {
  std::erase_if(table.members, [key](const ConfigMember& m) { return m.key == key; });
}

/// Returns the tables of a network alone. A number of hosts is a text, as its binding has it.
ConfigTable network_of(const ConfigTable& file) {
  ConfigTable network;
  network["name"] = text_value("network");
  for (const std::string_view key : kOfNetwork)
    if (const ConfigValue* value = file.get(key)) network[std::string(key)] = *value;
  for_each_table(network, "hosts", [](ConfigTable& group, std::size_t) {
    if (const ConfigValue* count = group.get("count"))
      if (const auto* number = count->as<std::int64_t>())
        group["count"] = text_value(std::to_string(*number));
  });
  return network;
}

/// Makes places of the hosts, in the order of their switches.
void add_places(const ExperimentFile& e, Fabric& fabric, ConfigIssues& issues) {
  const Checks root(issues);
  for (std::size_t s = 0; s < e.switches.size(); ++s)
    for (std::size_t g = 0; g < e.hosts.size(); ++g) {
      const HostGroupEntry& group = e.hosts[g];
      if (group.at_switch != e.switches[s].name) continue;
      const Checks at = root.below("hosts", g);
      at.require(group.count.parameter.empty(), "count", Checks::quoted(group.count.parameter),
                 "must be a number: hosts are places of the network here");
      at.require(group.delay_spread == 0, "delay_spread", std::to_string(group.delay_spread),
                 "must be left out: a place of the network has one delay");
      for (std::uint32_t i = 0; i < group.count.fixed; ++i)
        fabric.slots.push_back({s, group.rate, group.delay});
    }
  root.in_range("hosts", fabric.slots.size(), 1, kMaxFabricHosts, "places for hosts");
}

/// Refuses keys of the file's own switches or links that another network's do not have.
void refuse_own(const ConfigTable& file, const char* list, std::span<const std::string_view> known,
                const OtherFabric& other, ConfigIssues& issues) {
  for_each_table(file, list, [&](const ConfigTable& one, std::size_t i) {
    for (const ConfigMember& member : one.members)
      if (std::ranges::find(known, member.key) == known.end())
        issues.push_back({join_key(join_key("", list, i), member.key),
                          "is of this experiment's own network, and " + other.path +
                              " has another: the experiment cannot be run there"});
  });
}

/// Returns the switches at which a file without a fabric has its hosts.
std::set<std::string> switches_of_hosts(const ConfigTable& file) {
  std::set<std::string> names;
  for_each_table(file, "hosts", [&names](const ConfigTable& group, std::size_t) {
    const ConfigValue* at = group.get("switch");
    if (at != nullptr && at->as<std::string>() != nullptr) names.insert(*at->as<std::string>());
  });
  return names;
}

/// Keeps the name of a port between two switches of the network, and "worst"; of a port to a host
/// the part behind its switch.
void measure_there(ConfigValue& port, const Fabric& fabric) {
  auto* name = port.as<std::string>();
  if (name == nullptr || link_with_port(fabric.trunks, *name) < fabric.trunks.size()) return;
  if (const auto dot = name->find('.'); dot != std::string::npos) *name = name->substr(dot + 1);
}

/// Keys of a [fabric] that say what happens to the network.
ConfigValue events_of(const ConfigTable& file) {
  ConfigTable events;
  events["kind"] = text_value("file");
  const ConfigValue* fabric = file.get("fabric");
  const ConfigTable* own = fabric == nullptr ? nullptr : fabric->as<ConfigTable>();
  for (const char* key : {"failed_links", "gray_links", "failure"})
    if (own != nullptr && own->get(key) != nullptr) events[key] = *own->get(key);
  return ConfigValue(std::move(events));
}

}  // namespace

ConfigResult<OtherFabric> load_other_fabric(const std::string& path) {
  ConfigResult<OtherFabric> result{OtherFabric{.path = path}, {}};
  ConfigIssues& issues = result.issues;
  const fs::path directory = fs::path(path).parent_path();
  auto file = read_file_of(path, FileKind::kExperiment);
  if (!file) return {{}, std::move(file.issues)};
  const ConfigTable network =
      network_of(with_dumbbell(with_base(std::move(*file.config), directory, issues), issues));
  ExperimentFile e;
  if (issues.empty()) read_config(network, "", e, issues);
  Fabric& fabric = result.config->fabric;
  if (!issues.empty()) {
    result.config.reset();
    return result;
  }
  if (network.get("fabric") != nullptr) {
    if (auto built = build_fabric(e.fabric, directory, issues)) fabric = std::move(*built);
    result.config->failures = std::move(e.fabric.failures);
  } else {
    check_switches_and_hosts(Checks(issues), e);
    add_places(e, fabric, issues);
    fabric.switches = std::move(e.switches);
    fabric.trunks = std::move(e.trunks);
  }
  if (!issues.empty()) result.config.reset();
  return result;
}

ConfigTable on_other_fabric(ConfigTable file, const OtherFabric& other, ConfigIssues& issues) {
  constexpr std::array<std::string_view, 1> kOfSwitch{"name"};
  constexpr std::array<std::string_view, 4> kOfLink{"a", "b", "rate", "delay"};
  refuse_own(file, "switch", kOfSwitch, other, issues);
  refuse_own(file, "link", kOfLink, other, issues);
  const bool anywhere = file.get("fabric") == nullptr && switches_of_hosts(file).size() == 1;
  for_each_table(file, "hosts", [anywhere](ConfigTable& group, std::size_t) {
    for (const char* key : {"rate", "delay"}) drop(group, key);
    if (anywhere) drop(group, "switch");
  });
  file["fabric"] = events_of(file);
  for (const char* key : {"switch", "link"}) drop(file, key);
  ConfigValue& value = file["network"];
  auto* network = value.as<ConfigTable>();
  if (network == nullptr) return file;
  drop(*network, "rtt");
  for (ConfigMember& member : network->members) {
    if (member.key != "measured") continue;
    measure_there(member.value, other.fabric);
    if (auto* list = member.value.as<ConfigValue::Array>())
      for (ConfigValue& port : *list) measure_there(port, other.fabric);
  }
  return file;
}

}  // namespace outrider::lab
