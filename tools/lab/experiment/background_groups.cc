#include "tools/lab/experiment/background_groups.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include "common/config/config_file.h"
#include "tools/lab/experiment/background_sweeps.h"
#include "tools/lab/experiment/program_settings.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {

namespace {

constexpr std::uint32_t kMostFlowsOfGroup = 10'000;  ///< each has a port of its own
constexpr std::uint64_t kMostQueuePairs = 4096;
constexpr double kMostLoad = 2;
constexpr const char* kList = "background";

/// Reports the faults of a group's settings by the keys of the file.
void check_settings_of(const BackgroundGroup& group, ConfigIssues& issues) {
  ConfigTable settings;
  if (!group.transport.members.empty())
    (void)assign(settings, "background.transport", ConfigValue(group.transport));
  if (!group.requests.members.empty()) settings["requests"] = ConfigValue(group.requests);
  ConfigIssues found;
  check_settings(settings, group.place, {}, found);
  for (auto& issue : found) {
    constexpr std::string_view kPart = ".background.transport";
    if (const auto at = issue.key.find(kPart); at != std::string::npos)
      issue.key.replace(at, kPart.size(), ".transport");
    if (issue.key.ends_with(".transport.protocol"))
      issue.problem = "is set by protocol of the group itself";
    issues.push_back(std::move(issue));
  }
  issues.count_unkept(found);
}

std::vector<BackgroundGroup> read_groups(const ConfigValue& list, const std::string& path,
                                         ConfigIssues& issues) {
  std::vector<BackgroundGroup> groups;
  const auto& entries = *list.as<ConfigValue::Array>();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    groups.push_back(read_group(with_nested_keys(*entries[i].as<ConfigTable>()),
                                join_key(path, kList, i), issues));
    groups.back().text = text_as_written(groups.back(), {});
  }
  return groups;
}

// -- the shorthand

/// A protocol of the shorthand: the name of its transport, and its share of the load.
struct Carrier {
  const char* name;
  tg::TransportProtocol protocol;
  double share = 1;
};

std::vector<Carrier> carriers_of(const CaseParameters& p) {
  constexpr Carrier kTcp{"background", tg::TransportProtocol::kTcp};
  constexpr Carrier kRoce{"background_roce", tg::TransportProtocol::kRoce};
  const LabBackgroundProtocol protocol = p.programs().flows.protocol;
  if (protocol == LabBackgroundProtocol::kTcp) return {kTcp};
  if (protocol == LabBackgroundProtocol::kRoce) return {kRoce};
  return {{kTcp.name, kTcp.protocol, 0.5}, {kRoce.name, kRoce.protocol, 0.5}};
}

std::vector<BackgroundGroup> groups_of_shorthand(const ExperimentFile& e, const CaseParameters& p) {
  const std::vector<Carrier> carriers = carriers_of(p);
  const BackgroundFlows& all = p.programs().flows;
  const auto like = [&](const Carrier& carrier) {
    BackgroundGroup g;
    g.from = e.background.from;
    g.to = e.background.to;
    g.protocol = carrier.protocol;
    g.queue = all.queue;
    g.queue_pairs = all.queue_pairs;
    g.transport = table_in(p.settings, "background.transport");
    g.place = "background";
    g.carrier = carrier.name;
    return g;
  };
  std::vector<BackgroundGroup> groups;
  const auto add = [&](const Carrier& carrier, std::string name) -> BackgroundGroup& {
    groups.push_back(like(carrier));
    groups.back().name = std::move(name);
    return groups.back();
  };
  for (const Carrier& carrier : carriers) {
    if (const std::uint32_t flows = long_flows_per_pair(p); flows > 0) {
      BackgroundGroup& g = add(carrier, carrier.name);
      g.flows_per_pair = flows;
      g.both_ways = e.background.both_ways;
    }
    if (all.load > 0) {
      BackgroundGroup& g = add(carrier, std::string(carrier.name) + "_flows");
      g.load = all.load * carrier.share;
      g.sizes = all.sizes;
      g.both_ways = e.background.both_ways;
    }
  }
  const Carrier over_tcp{"background", tg::TransportProtocol::kTcp};
  if (!all.list.empty()) add(carriers.front(), "background_list").list = all.list;
  if (has_requests(p)) {
    BackgroundGroup& g = add(over_tcp, "background_requests");
    g.requests = table_in(p.settings, "requests");
    g.both_ways = e.background.both_ways;
  }
  if (!all.capture.empty()) add(over_tcp, "background_capture").capture = all.capture;
  return groups;
}

}  // namespace

void describe(Settings& v, BackgroundGroup& c) {
  v.value("name", c.name, {.required = true});
  v.value("from", c.from, {.required = true});
  v.value("to", c.to, {.required = true});
  v.value("both_ways", c.both_ways);
  v.choice("protocol", c.protocol, tg::kChannelProtocols);
  v.choice("queue", c.queue, kLabRoceQueues);
  v.value("long_flows", c.long_flows, {.range = integers(1, kMostFlowsOfGroup)});
  v.share("load", c.load, {.range = reals_above(0, kMostLoad)});
  v.value("sizes", c.sizes);
  v.value("list", c.list);
  v.value("capture", c.capture);
  v.value("queue_pairs", c.queue_pairs, {.range = integers(1, kMostQueuePairs)});
  v.free_table("transport", c.transport);
  v.free_table("requests", c.requests);
}

std::string name_of(tg::TransportProtocol protocol) {
  return std::string(
      std::ranges::find(tg::kChannelProtocols, protocol, &Choice<tg::TransportProtocol>::value)
          ->name);
}

BackgroundGroup read_group(ConfigTable table, std::string place, ConfigIssues& issues) {
  BackgroundGroup group;
  group.place = std::move(place);
  read_config(table, group.place, group, issues);
  group.written = std::move(table);
  check_settings_of(group, issues);
  return group;
}

std::string text_as_written(const BackgroundGroup& group, const std::set<std::string>& left_out) {
  std::string text;
  for (const auto& [key, value] : with_dotted_keys(group.written))
    if (key != "name" && !left_out.contains(key))
      text += (text.empty() ? "" : ", ") + key + '=' + to_toml_text(value);
  return group.name + " (" + text + ')';
}

BackgroundTaken take_background_groups(ConfigTable& file, ConfigIssues& issues) {
  BackgroundTaken taken;
  if (const auto list = take_list(file, kList)) taken.of_file = read_groups(*list, "", issues);
  for_each_table(file, "arm", [&](ConfigTable& arm, std::size_t i) {
    auto& own = taken.of_arms.emplace_back();
    const std::string path = join_key("", "arm", i);
    const auto list = take_list(arm, kList);
    if (!list) {
      own = take_group_keys(arm, taken.of_file, path, issues);
      return;
    }
    own = read_groups(*list, path, issues);
    if (taken.of_file.empty())
      issues.push_back({join_key(path, kList),
                        "needs a [[background]] of the file, in whose place an arm has its own"});
  });
  return taken;
}

void give_to_arms(BackgroundTaken&& background, ExperimentFile& e) {
  const std::size_t arms = std::min(e.arms.size(), background.of_arms.size());
  for (std::size_t i = 0; i < arms; ++i) {
    if (!background.of_arms[i]) continue;
    e.arms[i].parameters.groups = *std::move(background.of_arms[i]);
    e.arms[i].own_background = true;
  }
}

std::vector<BackgroundGroup> background_of(const ExperimentFile& e, const CaseParameters& p) {
  if (!p.groups.empty()) return p.groups;
  return e.background.from.empty() ? std::vector<BackgroundGroup>{} : groups_of_shorthand(e, p);
}

ProgramSettings settings_of(const BackgroundGroup& group, const CaseParameters& p, Duration rtt) {
  ConfigTable settings = p.settings;
  if (!group.transport.members.empty())
    (void)assign(settings, "background.transport", ConfigValue(group.transport));
  if (group.protocol != tg::TransportProtocol::kTcp)
    (void)assign(settings, "background.transport.protocol", ConfigValue(name_of(group.protocol)));
  if (!group.requests.members.empty()) settings["requests"] = ConfigValue(group.requests);
  ConfigIssues ignored;  // reported where the group is given
  return read_settings(settings, {.rtt = rtt, .h_packets = p.h_packets}, ignored);
}

std::vector<RoceBackground> roce_background_of(const CaseParameters& p) {
  std::vector<RoceBackground> all;
  const ProgramSettings& s = p.programs();
  if (p.groups.empty() && s.flows.protocol != LabBackgroundProtocol::kTcp)
    all.push_back({"background.transport.roce.dscp", s.flows.queue, s.background_roce});
  for (const BackgroundGroup& group : p.groups)
    if (group.over_roce())  // no round trips are in what is asked for
      all.push_back({group.place + ".transport.roce.dscp", group.queue,
                     settings_of(group, p, std::chrono::microseconds(1)).background_roce});
  return all;
}

std::string text_of_groups(const std::vector<BackgroundGroup>& groups) {
  std::string text;
  for (const BackgroundGroup& group : groups) text += (text.empty() ? "" : "; ") + group.text;
  return text;
}

std::string line_of(const BackgroundGroup& g) {
  const auto what = [&g]() -> std::string {
    switch (g.kind()) {
      case BackgroundKind::kLongFlows:
        return std::to_string(g.long_flows.value_or(0)) +
               (g.long_flows == 1U ? " long flow" : " long flows");
      case BackgroundKind::kLoad:
        return "a load of " + display(ConfigValue(g.load.value_or(0))) + " of " + g.sizes;
      case BackgroundKind::kList:
        return "the flows of " + g.list;
      case BackgroundKind::kRequests:
        return "requests";
      case BackgroundKind::kCapture:
        return "the frames of " + g.capture;
    }
    return {};
  };
  std::string settings;
  for (const auto& [key, value] : with_dotted_keys(g.transport))
    settings += (settings.empty() ? ", with " : ", ") + key + " = " + display(value);
  return g.place + " \"" + g.name + "\": " + what() + " from " + g.from + " to " + g.to +
         (g.both_ways ? ", and back" : "") +
         (g.kind() == BackgroundKind::kCapture ? "" : " over " + name_of(g.protocol)) + settings;
}

std::vector<BackgroundGroup> all_groups(const ExperimentFile& e) {
  std::vector<BackgroundGroup> all = e.parameters.groups;
  for (const Arm& arm : e.arms)
    if (arm.own_background)
      for (const BackgroundGroup& own : arm.parameters.groups)
        if (std::ranges::find(all, own.place, &BackgroundGroup::place) == all.end())
          all.push_back(own);
  return all;
}

}  // namespace outrider::lab
