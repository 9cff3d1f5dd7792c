#include "tools/lab/experiment/program_settings.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/range_checker.h"
#include "common/config/suggestion.h"
#include "switch/config/config_toml.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

/// Defaults of experiments where the programs' defaults fit only one network. The token bucket
/// protects against abuse and must not throttle the job under study.
constexpr std::string_view kLabDefaults = R"(
[switch.regulation]
hold = "10rtt"
idle_end = "4rtt"
expiry = "30rtt"
predict = { idle_gap = "100rtt", threshold_packets = "h" }
[switch.signals]
tokens_per_second = 10_000.0
token_burst = 256.0
[switch.marker]
red = { kmin_packets = 10.0, kmax_packets = 40.0 }
pie = { target = "1ms" }
codel = { target = "1ms", interval = "10ms" }
[switch.ddl_queue]
weight = 9.0
[switch.background_queue]
floor = 0.05
[transport]
connections = "idle_restart"
[job]
burst_bytes = "1MB"
iterations = 6
schedule = "fixed"
period = "7s"
[job.announce]
lead_source = "wait"
lead = "auto"
threshold_packets = "h"
signal_form = "tos"
ack_timeout = "20rtt"
[ddl.transport.mlt]
tolerance_push = 0.1
[ddl.transport.roce]
dscp = 26
[background.transport.roce]
dscp = 24
[requests]
connections = 0
)";

struct TakenKey {
  std::string_view key;  ///< stands for itself and all keys below it
  std::string_view by;   ///< the parameter or setting that says it; empty: the topology does
};

/// What follows from the topology, from roles or from a parameter, and is not to be given.
constexpr TakenKey kTaken[]{
    {"switch.name", ""},
    {"switch.port", ""},
    {"switch.route", ""},
    {"switch.mac_route", ""},
    {"switch.neighbour", ""},
    {"switch.address", ""},
    {"switch.rule", "ddl.transport.protocol"},
    {"switch.classes", "switch.scheduler"},
    {"switch.queue.weight", "switch.ddl_queue.weight"},
    {"switch.queue.floor_rate", "switch.background_queue.floor"},
    {"switch.ddl_queue.regulation", "switch.regulation"},
    {"switch.background_queue.regulation", "switch.regulation"},
    {"switch.ddl_queue.floor_rate", "switch.ddl_queue.floor"},
    {"switch.background_queue.floor_rate", "switch.background_queue.floor"},
    {"switch.regulation.steer_to_queue", "switch.scheduler"},
    {"switch.signals.accept_tos", "job.announce.signal_form"},
    {"switch.signals.accept_udp", "job.announce.signal_form"},
    {"switch.signals.accept_from", ""},
    {"switch.signals.trusted", ""},
    {"switch.signals.signers", "job.announce.signal_key"},
    {"transport.name", ""},
    {"transport.protocol", "ddl.transport.protocol"},
    {"ddl.transport.name", ""},
    {"background.transport.name", ""},
    {"background.transport.protocol", "background.protocol"},
    {"requests.name", ""},
    {"requests.from", ""},
    {"requests.to", ""},
    {"requests.transport", ""},
    {"requests.latency_samples", ""},
    {"job.name", ""},
    {"job.workers", "workers"},
    {"job.servers", "servers"},
    {"job.transport", "ddl.transport.protocol"},
    {"job.start", "job_offset"},
    {"job.first_due", "warm_up_seconds"},
    {"job.compute_factors", "compute_spread"},
    {"job.tcp_port", ""},
    {"job.learner.learning_rate", "learner_rate"},
};

/// What a `switch` table has beside the settings of a switch.
struct SwitchRoles {
  QueueRoles roles{};
  std::optional<Duration> flowlet_gap{};
  ConfigTable ddl{}, background{};
};

void describe(Settings& v, SwitchRoles& c) {
  v.choice("scheduler", c.roles.scheduler, kLabSchedulers);
  v.value("share_limit", c.roles.share_limit);
  v.duration("flowlet_gap", c.flowlet_gap,
             {.range = durations(sw::kMinFlowletGap, sw::kMaxFlowletGap)});
  v.free_table("ddl_queue", c.ddl);
  v.free_table("background_queue", c.background);
}

/// Moves the keys that `is_taken` says out of a table.
template <class Is>
ConfigTable take(ConfigTable& table, Is is_taken) {
  ConfigTable taken;
  for (const auto& member : table.members)
    if (is_taken(member.key)) taken.members.push_back(member);
  std::erase_if(table.members, [&](const ConfigMember& m) { return is_taken(m.key); });
  return taken;
}

/// Reads part of a table into a struct that has its own keys, with their ranges checked.
template <class T>
void read_part(const ConfigTable& table, const std::string& path, T& into, ConfigIssues& issues) {
  read_config(table, path, into, issues);
  check_ranges(Checks(issues, path), into);
}

/// A table with a transport in it, as `ddl` in `ddl.transport`.
struct TransportPart {
  tg::TransportConfig transport = tg::default_transport();
};

template <class V>
void describe(V& v, TransportPart& c) {
  v.table("transport", c.transport);
}

ConfigTable named(ConfigTable table, const char* name) {
  table["name"] = ConfigValue(std::string(name));
  return table;
}

// The programs' readers also require names, which every case has of its own.

bool is_of_role(const std::string& key) { return key == "floor"; }

/// Reads the overlay of a role's queue, which the switch's own reader checks.
void read_role(ConfigTable table, const std::string& path, QueueRole& role, ConfigIssues& issues) {
  read_part(take(table, is_of_role), path, role, issues);
  sw::PortQueueConfig queue;
  read_part(table, path, queue, issues);
  role.own = std::move(table);
}

bool is_of_roles(const std::string& key) {
  constexpr std::string_view kKeys[]{"scheduler", "share_limit", "flowlet_gap", "ddl_queue",
                                     "background_queue"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

void read_switch(ConfigTable table, const std::string& path, ProgramSettings& into,
                 ConfigIssues& issues) {
  SwitchRoles read;
  read_part(take(table, is_of_roles), path, read, issues);
  into.flowlet_gap = read.flowlet_gap;
  QueueRoles& roles = into.queues = read.roles;
  read_role(std::move(read.ddl), join_key(path, "ddl_queue"), roles.ddl, issues);
  read_role(std::move(read.background), join_key(path, "background_queue"), roles.background,
            issues);
  table = named(std::move(table), "switch");
  table["port"] = ConfigValue(ConfigValue::Array{ConfigValue(named({}, "port"))});
  read_config(table, path, into.sw = {}, issues);
}

constexpr const char* kLead = "announce.lead";

/// Returns whether job.announce.lead is "auto", and removes it from `table` if so.
bool take_auto_lead(ConfigTable& table) {
  const ConfigValue* lead = find(table, kLead);
  if (lead == nullptr || *lead != ConfigValue(std::string("auto"))) return false;
  std::erase_if(table["announce"].as<ConfigTable>()->members,
                [](const ConfigMember& m) { return m.key == "lead"; });
  return true;
}

/// One of a model, a list of steps and a burst's length says how long bursts are: "" is no model.
void settle_bursts(tg::JobConfig& job) {
  if (job.model && job.model->empty()) job.model.reset();
  if (job.model || job.steps) job.burst_bytes.reset();
  // A model's own computing time holds where none is given.
  if (job.model && job.compute == Duration{}) job.compute.reset();
  if (!job.model && !job.compute) job.compute = Duration{};
}

tg::JobConfig job_of(ConfigTable table, const std::string& path, ConfigIssues& issues) {
  (void)take_auto_lead(table);
  table = named(std::move(table), "job");
  table["workers"] = ConfigValue(ConfigValue::Array{});
  table["transport"] = ConfigValue(std::string("ddl"));
  tg::JobConfig job;
  read_config(table, path, job, issues);
  return job;
}

tg::RequestFlowsConfig requests_of(ConfigTable table, const std::string& path,
                                   ConfigIssues& issues) {
  table = named(std::move(table), "requests");
  for (const char* side : {"from", "to"}) table[side] = ConfigValue(ConfigValue::Array{});
  table["transport"] = ConfigValue(std::string("background"));
  tg::RequestFlowsConfig requests;
  read_config(table, path, requests, issues);
  return requests;
}

tg::TransportConfig transport_of(ConfigTable table, const char* name, const std::string& path,
                                 ConfigIssues& issues) {
  tg::TransportConfig transport = tg::default_transport();
  read_config(named(std::move(table), name), path, transport, issues);
  return transport;
}

/// Returns what background over another protocol than TCP uses of `background.transport`: the
/// priority, and the table that has the protocol's name. That is `protocol`, or RoCEv2.
ConfigTable beside_tcp(ConfigTable table) {
  const ConfigValue* given = table.get("protocol");
  const auto* name = given == nullptr ? nullptr : given->as<std::string>();
  const std::string own = name == nullptr ? "roce" : *name;
  std::erase_if(table.members,
                [&own](const ConfigMember& m) { return m.key != "priority" && m.key != own; });
  table["protocol"] = ConfigValue(own);
  return table;
}

/// Reports the faults of `ddl` or `background`, whose transport this is.
void check_transport_part(ConfigTable table, const std::string& path, ConfigIssues& issues) {
  ConfigValue* nested = table.get("transport") == nullptr ? nullptr : &table["transport"];
  if (nested != nullptr && nested->as<ConfigTable>() != nullptr)
    *nested = ConfigValue(named(std::move(*nested->as<ConfigTable>()), "transport"));
  TransportPart part;
  read_config(table, path, part, issues);
}

bool is_transport(const std::string& key) { return key == "transport"; }

const TakenKey* taken(const std::string& key) {
  for (const auto& t : kTaken)
    if (key == t.key || key.starts_with(std::string(t.key) + '.')) return &t;
  return nullptr;
}

/// Returns the settings of `table` that an experiment may set, and reports the others as faults.
ConfigTable free_settings(const ConfigTable& table, const std::string& path, ConfigIssues& issues) {
  ConfigTable settings;
  for (const std::string_view root : kSettingRoots) {
    const ConfigValue* value = table.get(root);
    if (value == nullptr || value->as<ConfigTable>() == nullptr) continue;
    settings[root] = ConfigValue(ConfigTable{});
    ConfigTable one;
    one[root] = *value;
    for (const auto& [key, set] : with_dotted_keys(one)) {
      if (const TakenKey* t = taken(key)) {
        issues.push_back({join_key(path, key), t->by.empty()
                                                   ? "follows from the topology"
                                                   : "follows from " + std::string(t->by)});
      } else if (!assign(settings, key, set)) {
        issues.push_back({join_key(path, key), "cannot be set beside another part of it"});
      }
    }
  }
  return settings;
}

}  // namespace

std::string_view parameter_of(const std::string& setting) {
  const TakenKey* t = taken(setting);
  return t == nullptr ? std::string_view{} : t->by;
}

void check_settings(const ConfigTable& table, const std::string& path, const Quantities& quantities,
                    ConfigIssues& issues) {
  const ConfigTable settings = with_quantities(free_settings(table, path, issues), quantities);
  ProgramSettings read;
  for (const auto& [root, value] : settings.members) {
    ConfigTable part = *value.as<ConfigTable>();
    const std::string at = join_key(path, root);
    if (root == "switch") read_switch(part, at, read, issues);
    if (root == "job") (void)job_of(part, at, issues);
    if (root == "transport") (void)transport_of(part, "transport", at, issues);
    if (root == "requests") (void)requests_of(part, at, issues);
    if (root == "ddl") check_transport_part(part, at, issues);
    if (root == "background") {
      check_transport_part(take(part, is_transport), at, issues);
      BackgroundFlows flows;
      read_part(part, at, flows, issues);
    }
    if (root == "trafficgen") {
      TrafficSettings traffic;
      read_part(part, at, traffic, issues);
    }
    if (root == "tensorlights") {
      tg::TensorLightsConfig tensorlights;
      read_config(part, at, tensorlights, issues);
    }
  }
}

namespace {

/// Returns what bursts use: with TCP what is shared, and what is their own.
ConfigTable transport_of_bursts(const ConfigTable& shared, ConfigTable own) {
  const ConfigValue* protocol = own.get("protocol");
  const auto* given = protocol == nullptr ? nullptr : protocol->as<std::string>();
  const std::string name = given == nullptr ? "tcp" : *given;
  if (name == "tcp") {
    std::erase_if(own.members,
                  [](const ConfigMember& m) { return m.key == "mlt" || m.key == "roce"; });
    ConfigTable both = shared;
    overlay(both, own);
    return both;
  }
  std::erase_if(own.members, [&name](const ConfigMember& m) {
    return m.key != name && (m.key == "mlt" || m.key == "roce");
  });
  if (name != "mlt") return own;
  if (own.get("controller") == nullptr) own["controller"] = ConfigValue(std::string("dctcp"));
  // It has no connections to open anew.
  const ConfigValue* reuse = shared.get("connections");
  if (reuse != nullptr && *reuse == ConfigValue(std::string("keep"))) own["connections"] = *reuse;
  return own;
}

}  // namespace

ProgramSettings read_settings(const ConfigTable& settings, const Quantities& quantities,
                              ConfigIssues& issues) {
  static const ConfigTable kDefaults = parse_toml(kLabDefaults).config.value();
  ConfigTable all = kDefaults;
  overlay(all, settings);
  Quantities named = quantities;
  if (const ConfigValue* k = find(all, "switch.marker.threshold_packets"))
    if (const auto* packets = k->as<std::int64_t>())
      named.threshold_packets = static_cast<std::uint32_t>(
          std::clamp<std::int64_t>(*packets, 0, std::numeric_limits<std::uint32_t>::max()));
  all = with_quantities(std::move(all), named);

  const ConfigTable shared = table_in(all, "transport");
  ConfigTable of_background = table_in(all, "background"), background = shared;
  const ConfigTable own_background = table_in(take(of_background, is_transport), "transport");
  overlay(background, own_background);
  std::erase_if(background.members, [](const ConfigMember& m) {
    return m.key == "protocol" || is_table_of_protocol(m.key);
  });
  ConfigTable job = table_in(all, "job");

  ProgramSettings s;
  read_switch(table_in(all, "switch"), "switch", s, issues);
  s.transport = transport_of(shared, "transport", "transport", issues);
  s.ddl = transport_of(transport_of_bursts(shared, table_in(all, "ddl.transport")), "ddl",
                       "ddl.transport", issues);
  s.background = transport_of(background, "background", "background.transport", issues);
  s.background_roce =
      transport_of(beside_tcp(own_background), "background_roce", "background.transport", issues);
  read_part(of_background, "background", s.flows, issues);
  s.lead_is_auto = take_auto_lead(job);
  s.job = job_of(job, "job", issues);
  if (s.lead_is_auto) s.job.announce.lead = quantities.rtt;  // as the PCN paper has it
  settle_bursts(s.job);
  read_config(table_in(all, "tensorlights"), "tensorlights", s.tensorlights, issues);
  s.requests = requests_of(table_in(all, "requests"), "requests", issues);
  read_part(table_in(all, "trafficgen"), "trafficgen", s.traffic, issues);
  return s;
}

sw::PortQueueConfig queue_of(const QueueRole& role, sw::PortQueueConfig queue) {
  ConfigIssues ignored;  // reported where the overlay is given
  read_config(role.own, "", queue, ignored);
  return queue;
}

bool is_table_of_protocol(std::string_view key) {
  return std::ranges::find(tg::kTransportProtocols, key, &Choice<tg::TransportProtocol>::name) !=
         tg::kTransportProtocols.end();
}

}  // namespace outrider::lab
