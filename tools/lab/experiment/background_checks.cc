#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/range_checker.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/program_settings.h"

namespace outrider::lab {

namespace {

void check_group_name(const Checks& at, std::set<std::string>& taken, const std::string& name) {
  at.require(!name.empty() && name.find_first_of(". /") == name.npos, "name", Checks::quoted(name),
             "must not be empty or hold a dot, a blank or a slash");
  at.require(!name.ends_with(kBackRow), "name", Checks::quoted(name),
             std::string("must not end with \"") + kBackRow + "\", which names what flows back");
  at.require(name != kTransportOfBackground, "name", Checks::quoted(name),
             "must be another one: background.transport.* are settings of all background");
  at.require(taken.insert(name).second, "name", Checks::quoted(name),
             "is that of another [[background]]");
}

void check_ends(const Checks& at, const ExperimentFile& e, const BackgroundGroup& g) {
  const HostGroupEntry* from = find_named(at, "from", e.hosts, g.from, "hosts");
  const HostGroupEntry* to = find_named(at, "to", e.hosts, g.to, "hosts");
  if (from == nullptr || from != to) return;
  at.require(!from->count.parameter.empty() || from->count.fixed > 1, "to", Checks::quoted(g.to),
             "has one host, which cannot send to itself");
}

/// Checks that the group sends one kind of traffic.
void check_kind(const Checks& at, const BackgroundGroup& g) {
  std::vector<const char*> given;
  if (g.long_flows) given.push_back("long_flows");
  if (g.load) given.push_back("load");
  if (!g.list.empty()) given.push_back("list");
  if (!g.capture.empty()) given.push_back("capture");
  if (!g.requests.members.empty()) given.push_back("requests");
  if (given.empty())
    return at.fault("long_flows",
                    "one of long_flows, load, list, capture and requests is "
                    "required: the group would send nothing");
  for (std::size_t i = 1; i < given.size(); ++i)
    at.fault(given[i], std::string("must not be given together with ") + given[0] +
                           ": a group sends one kind of traffic; make another [[background]]");
}

void check_fit(const Checks& at, const BackgroundGroup& g) {
  const bool has_sizes = !g.sizes.empty();
  if (g.load && !has_sizes)
    at.fault("sizes", "is required with load, e.g. \"../distributions/web-search.cdf\"");
  if (!g.load && has_sizes)
    at.fault("sizes", Checks::quoted(g.sizes), "needs load: these are the sizes of its flows");
  if (g.queue_pairs)
    at.require(g.over_roce() && (g.load || !g.list.empty()), "queue_pairs",
               std::to_string(*g.queue_pairs), "needs protocol \"roce\", and load or list");
  at.require(g.queue == LabRoceQueue::kBackground || g.over_roce(), "queue", "\"ddl\"",
             "needs protocol \"roce\": TCP of background has the other queue");
  at.require(!g.both_ways || (g.list.empty() && g.capture.empty()), "both_ways", "true",
             "must be left out with a list or a capture, which say who sends");
  if (const ConfigValue* n = find(g.requests, "connections");
      !g.requests.members.empty() && (n == nullptr || *n == ConfigValue(std::int64_t{0})))
    at.fault("requests.connections", "is required above 0: there would be no requests");
}

/// Checks that the transport's settings belong to its protocol.
void check_transport(const Checks& at, const BackgroundGroup& g) {
  if (!g.capture.empty()) {
    if (g.over_roce())
      at.fault("protocol", "must be left out with a capture, whose frames are played as they are");
    if (!g.transport.members.empty())
      at.fault("transport", "must be left out with a capture, whose frames are played as they are");
    return;
  }
  const std::string own = name_of(g.protocol);
  for (const auto& [key, value] : g.transport.members) {
    const std::string name = "transport." + key;
    if (key == own || key == "priority") continue;
    if (key == "mlt") at.fault(name, "is of bounded loss, which carries the bursts of jobs alone");
    else if (is_table_of_protocol(key)) at.fault(name, "needs protocol = " + Checks::quoted(key));
    else if (g.protocol != tg::TransportProtocol::kTcp)
      at.fault(name, display(value),
               "needs protocol = \"tcp\": over " + Checks::quoted(own) +
                   " a group has priority and those of transport." + own);
  }
}

// -- the shorthand

/// A key of the shorthand, and the key of a group that says the same.
struct Shorthand {
  std::string_view was;  ///< one that ends with a dot stands for all settings below it
  std::string_view is;
};

constexpr std::array kShorthand{Shorthand{"background.flows_per_pair", "long_flows"},
                                Shorthand{"background.load", "load"},
                                Shorthand{"background.sizes", "sizes"},
                                Shorthand{"background.list", "list"},
                                Shorthand{"background.capture", "capture"},
                                Shorthand{"background.protocol", "protocol"},
                                Shorthand{"background.queue_pairs", "queue_pairs"},
                                Shorthand{"background.queue", "queue"},
                                Shorthand{"background.transport.", "transport."},
                                Shorthand{"requests.", "requests."}};

/// Returns the key of a group for one of the shorthand; empty: it is none.
std::string key_of_group(std::string_view key) {
  for (const auto& [was, is] : kShorthand) {
    if (key == was) return std::string(is);
    if (was.ends_with('.') && key.starts_with(was))
      return std::string(is) + std::string(key.substr(was.size()));
  }
  return {};
}

bool has_list(const ConfigTable& table) {
  const ConfigValue* value = table.get("background");
  return value != nullptr && is_array_of_tables(*value);
}

}  // namespace

void check_shorthand(const ConfigTable& file, ConfigIssues& issues) {
  bool any = has_list(file);
  for_each_table(file, "arm", [&](const ConfigTable& arm, std::size_t) { any |= has_list(arm); });
  if (!any) return;
  const auto refuse = [&issues](const ConfigTable& table, const std::string& path) {
    for (const auto& [key, value] : with_dotted_keys(with_nested_keys(table)))
      if (const std::string own = key_of_group(key); !own.empty())
        Checks(issues, path)
            .fault(key, display(value),
                   "must be left out beside [[background]], of which a group says it by " + own);
  };
  refuse(table_in(file, "parameters"), "parameters");
  for (const char* list : {"arm", "sweep"})
    for_each_table(file, list, [&](const ConfigTable& table, std::size_t i) {
      refuse(table, join_key("", list, i));
    });
}

void drop_shorthand(ConfigTable& parameters) {
  ConfigTable kept;
  for (const auto& [key, value] : with_dotted_keys(with_nested_keys(parameters)))
    if (key_of_group(key).empty()) (void)assign(kept, key, value);
  parameters = std::move(kept);
}

void check_background_list(const Checks& root, const ExperimentFile& e,
                           const std::vector<BackgroundGroup>& groups) {
  std::set<std::string> names;
  for (const BackgroundGroup& g : groups) {
    const Checks at = root.below(g.place);
    check_ranges(at, g);
    check_group_name(at, names, g.name);
    check_ends(at, e, g);
    check_kind(at, g);
    check_fit(at, g);
    check_transport(at, g);
  }
}

void check_groups_of_background(const Checks& root, const ExperimentFile& e) {
  check_background_list(root, e, e.parameters.groups);
  for (const Arm& arm : e.arms)
    if (arm.own_background) check_background_list(root, e, arm.parameters.groups);
}

void check_background(const Checks& at, const ExperimentFile& e, const CaseParameters& p) {
  if (!e.background.from.empty() || !p.groups.empty()) return;
  const char* rule = e.made_by_rate
                         ? "needs network.background_hosts above 0, which send and receive it"
                         : "needs a [background], whose hosts send and receive it";
  const BackgroundFlows& all = p.programs().flows;
  at.require(all.load == 0, "background.load", display(ConfigValue(all.load)), rule);
  at.require(all.list.empty(), "background.list", Checks::quoted(all.list), rule);
  at.require(all.capture.empty(), "background.capture", Checks::quoted(all.capture), rule);
  if (find(p.settings, "requests.connections") != nullptr) at.fault("requests.connections", rule);
  if (all.protocol != LabBackgroundProtocol::kTcp) at.fault("background.protocol", rule);
  const std::uint32_t flows = all.flows_per_pair.value_or(0);
  at.require(flows == 0, "background.flows_per_pair", std::to_string(flows), rule);
}

}  // namespace outrider::lab
