#include "tools/lab/experiment/program_settings.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_file.h"
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
predict.idle_gap = "100rtt"
[switch.signals]
tokens_per_second = 10_000.0
token_burst = 256.0
[switch.marker]
red = { kmin_packets = 10.0, kmax_packets = 40.0 }
pie = { target = "1ms" }
codel = { target = "1ms", interval = "10ms" }
[job.announce]
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
  std::string_view key;        ///< stands for itself and all keys below it
  std::string_view parameter;  ///< the parameter that sets it; empty: the topology does
};

/// The settings that the plan sets, which an experiment must not give.
constexpr TakenKey kTaken[]{
    {"switch.name", ""},
    {"switch.port", ""},
    {"switch.route", ""},
    {"switch.mac_route", ""},
    {"switch.neighbour", ""},
    {"switch.address", ""},
    {"switch.rule", "protocol"},
    {"switch.classes", "scheduler"},
    {"switch.queue.weight", "ddl_weight"},
    {"switch.queue.floor_rate", "background_floor"},
    {"switch.regulation.mode", "regulation"},
    {"switch.regulation.recovery", "recovery"},
    {"switch.regulation.spare_ddl", "spare_ddl"},
    {"switch.regulation.steer_to_queue", "scheduler"},
    {"switch.regulation.predict.threshold_packets", "h_packets"},
    {"switch.signals.accept_tos", "signal_form"},
    {"switch.signals.accept_udp", "signal_form"},
    {"switch.signals.accept_from", ""},
    {"switch.signals.trusted", ""},
    {"switch.signals.signers", "signal_signed"},
    {"transport.name", ""},
    {"transport.protocol", "protocol"},
    {"transport.connections", "connection"},
    {"ddl.transport.name", ""},
    {"ddl.transport.protocol", "protocol"},
    {"ddl.transport.connections", "connection"},
    {"ddl.transport.mlt.class_dscps", "layer_classes"},
    {"background.transport.name", ""},
    {"background.transport.protocol", "background_protocol"},
    {"background.transport.connections", "connection"},
    {"requests.name", ""},
    {"requests.from", ""},
    {"requests.to", ""},
    {"requests.transport", ""},
    {"requests.latency_samples", ""},
    {"job.name", ""},
    {"job.workers", "workers"},
    {"job.servers", "servers"},
    {"job.transport", "protocol"},
    {"job.model", "model"},
    {"job.burst_bytes", "burst_bytes"},
    {"job.iterations", "iterations"},
    {"job.start", "job_offset"},
    {"job.schedule", "schedule"},
    {"job.first_due", "warm_up_seconds"},
    {"job.period", "period_seconds"},
    {"job.compute", "compute_seconds"},
    {"job.compute_factors", "compute_spread"},
    {"job.tcp_port", ""},
    {"job.learner.learning_rate", "learner_rate"},
    {"job.announce.lead_source", "lead_source"},
    {"job.announce.lead", "lead_rtts"},
    {"job.announce.threshold_packets", "h_packets"},
    {"job.announce.signal_form", "signal_form"},
    {"job.announce.signal_key", "signal_signed"},
    {"job.announce.faults", "signal_lost, signal_late, ..."},
};

/// A table with a transport in it, as `ddl` in `ddl.transport`.
struct TransportPart {
  tg::TransportConfig transport = tg::default_transport();
};

template <class V>
void describe(V& v, TransportPart& c) {
  v.table("transport", c.transport);
}

ConfigTable table_at(const ConfigTable& table, std::string_view key) {
  const ConfigValue* value = table.get(key);
  const auto* nested = value == nullptr ? nullptr : value->as<ConfigTable>();
  return nested == nullptr ? ConfigTable{} : *nested;
}

ConfigTable named(ConfigTable table, const char* name) {
  table["name"] = ConfigValue(std::string(name));
  return table;
}

// The programs' readers also require names, which every case has of its own.

sw::SwitchConfig switch_of(ConfigTable table, const std::string& path, ConfigIssues& issues) {
  table = named(std::move(table), "switch");
  table["port"] = ConfigValue(ConfigValue::Array{ConfigValue(named({}, "port"))});
  sw::SwitchConfig sw;
  read_config(table, path, sw, issues);
  return sw;
}

tg::JobConfig job_of(ConfigTable table, const std::string& path, ConfigIssues& issues) {
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

/// Reports the faults of `ddl` or `background`, which may only have a transport.
void check_transport_part(ConfigTable table, const std::string& path, ConfigIssues& issues) {
  ConfigValue* nested = table.get("transport") == nullptr ? nullptr : &table["transport"];
  if (nested != nullptr && nested->as<ConfigTable>() != nullptr)
    *nested = ConfigValue(named(std::move(*nested->as<ConfigTable>()), "transport"));
  TransportPart part;
  read_config(table, path, part, issues);
}

/// Returns the number of round trips in "4rtt" or "0.5 rtt"; nothing for any other text.
std::optional<double> rtts_of(std::string_view text) {
  constexpr std::string_view kUnit = "rtt";
  if (!text.ends_with(kUnit)) return std::nullopt;
  text.remove_suffix(kUnit.size());
  if (text.ends_with(' ')) text.remove_suffix(1);
  double rtts = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rtts);
  constexpr double kMostRtts = 1e6;
  if (error != std::errc{} || end != text.data() + text.size() || !(rtts >= 0 && rtts <= kMostRtts))
    return std::nullopt;
  return rtts;
}

ConfigValue without_rtts(const ConfigValue& value, Duration rtt);

ConfigTable without_rtts(ConfigTable table, Duration rtt) {
  for (auto& member : table.members) member.value = without_rtts(member.value, rtt);
  return table;
}

ConfigValue without_rtts(const ConfigValue& value, Duration rtt) {
  if (const auto* table = value.as<ConfigTable>()) return ConfigValue(without_rtts(*table, rtt));
  if (const auto* array = value.as<ConfigValue::Array>()) {
    ConfigValue::Array all;
    for (const auto& element : *array) all.push_back(without_rtts(element, rtt));
    return ConfigValue(std::move(all));
  }
  const auto* text = value.as<std::string>();
  const auto rtts = text == nullptr ? std::nullopt : rtts_of(*text);
  return rtts ? ConfigValue(format_duration(rtts_to_duration(*rtts, rtt))) : value;
}

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
        issues.push_back(
            {join_key(path, key), t->parameter.empty()
                                      ? "is not to be set: it follows from the topology"
                                      : "is set by the parameter " + std::string(t->parameter)});
      } else if (!assign(settings, key, set)) {
        issues.push_back({join_key(path, key), "cannot be set beside another part of it"});
      }
    }
  }
  return settings;
}

ConfigTable written_port(const sw::SwitchConfig& sw) {
  ConfigTable table = to_config_table(sw);
  const ConfigTable port = to_config_table(sw.ports.front());
  for (const char* key : {"queue", "marker", "regulation"}) table[key] = *port.get(key);
  return table;
}

ConfigTable transport_part(const tg::TransportConfig& transport) {
  ConfigTable table;
  table["transport"] = ConfigValue(to_config_table(transport));
  return table;
}

}  // namespace

std::string_view parameter_of(const std::string& setting) {
  const TakenKey* t = taken(setting);
  return t == nullptr ? std::string_view{} : t->parameter;
}

Duration rtts_to_duration(double rtts, Duration rtt) { return from_seconds(rtts * seconds(rtt)); }

ConfigTable with_nested_keys(const ConfigTable& table) {
  ConfigTable nested;
  for (const auto& [key, value] : table.members) {
    ConfigTable one;
    if (!is_setting(key) || !assign(one, key, value)) one[key] = value;
    overlay(nested, one);
  }
  return nested;
}

std::vector<std::pair<std::string, ConfigValue>> with_dotted_keys(const ConfigTable& table) {
  std::vector<std::pair<std::string, ConfigValue>> all;
  for (const auto& [key, value] : table.members) {
    const auto* nested = value.as<ConfigTable>();
    if (nested == nullptr) all.emplace_back(key, value);
    else
      for (auto& [below, leaf] : with_dotted_keys(*nested))
        all.emplace_back(join_key(key, below), std::move(leaf));
  }
  return all;
}

void overlay(ConfigTable& into, const ConfigTable& over) {
  for (const auto& [key, value] : over.members) {
    const auto* nested = value.as<ConfigTable>();
    ConfigValue& target = into[key];
    if (nested != nullptr && target.as<ConfigTable>() != nullptr)
      overlay(*target.as<ConfigTable>(), *nested);
    else target = value;
  }
}

void check_settings(const ConfigTable& table, const std::string& path, Duration rtt,
                    ConfigIssues& issues) {
  const ConfigTable settings = without_rtts(free_settings(table, path, issues), rtt);
  for (const auto& [root, value] : settings.members) {
    const ConfigTable& part = *value.as<ConfigTable>();
    const std::string at = join_key(path, root);
    if (root == "switch") (void)switch_of(part, at, issues);
    if (root == "job") (void)job_of(part, at, issues);
    if (root == "transport") (void)transport_of(part, "transport", at, issues);
    if (root == "requests") (void)requests_of(part, at, issues);
    if (root == "ddl" || root == "background") check_transport_part(part, at, issues);
    if (root == "tensorlights") {
      tg::TensorLightsConfig tensorlights;
      read_config(part, at, tensorlights, issues);
    }
  }
}

ProgramSettings read_settings(const ConfigTable& settings, tg::TransportProtocol protocol,
                              Duration rtt, ConfigIssues& issues) {
  static const ConfigTable kDefaults = parse_toml(kLabDefaults).config.value();
  ConfigTable all = kDefaults;
  overlay(all, settings);
  all = without_rtts(std::move(all), rtt);

  const ConfigTable shared = table_at(all, "transport");
  ConfigTable ddl = table_at(table_at(all, "ddl"), "transport"), background = shared;
  if (protocol == tg::TransportProtocol::kTcp) {
    std::erase_if(ddl.members,
                  [](const ConfigMember& m) { return m.key == "mlt" || m.key == "roce"; });
    ConfigTable own = std::move(ddl);
    ddl = shared;
    overlay(ddl, own);
  } else if (protocol == tg::TransportProtocol::kRoce) {
    std::erase_if(ddl.members, [](const ConfigMember& m) { return m.key == "mlt"; });
    ddl["protocol"] = ConfigValue(std::string("roce"));
  } else {
    std::erase_if(ddl.members, [](const ConfigMember& m) { return m.key == "roce"; });
    ddl["protocol"] = ConfigValue(std::string("mlt"));
    if (ddl.get("controller") == nullptr) ddl["controller"] = ConfigValue(std::string("dctcp"));
  }
  const ConfigTable own_background = table_at(table_at(all, "background"), "transport");
  overlay(background, own_background);
  std::erase_if(background.members, [](const ConfigMember& m) {
    return m.key == "protocol" || is_table_of_protocol(m.key);
  });

  ProgramSettings s;
  s.sw = switch_of(table_at(all, "switch"), "switch", issues);
  s.transport = transport_of(shared, "transport", "transport", issues);
  s.ddl = transport_of(ddl, "ddl", "ddl.transport", issues);
  s.background = transport_of(background, "background", "background.transport", issues);
  s.background_roce =
      transport_of(beside_tcp(own_background), "background_roce", "background.transport", issues);
  s.job = job_of(table_at(all, "job"), "job", issues);
  read_config(table_at(all, "tensorlights"), "tensorlights", s.tensorlights, issues);
  s.requests = requests_of(table_at(all, "requests"), "requests", issues);
  return s;
}

bool is_table_of_protocol(std::string_view key) {
  return std::ranges::find(tg::kTransportProtocols, key, &Choice<tg::TransportProtocol>::name) !=
         tg::kTransportProtocols.end();
}

bool grants_bursts(const ConfigTable& settings) {
  const ConfigTable grant = table_at(table_at(table_at(settings, "switch"), "regulation"), "grant");
  const ConfigValue* order = grant.get("order");
  return order != nullptr && !(*order == ConfigValue(std::string("off")));
}

ConfigTable to_table(const ProgramSettings& settings) {
  ConfigTable table;
  table["switch"] = ConfigValue(written_port(settings.sw));
  table["transport"] = ConfigValue(to_config_table(settings.transport));
  table["ddl"] = ConfigValue(transport_part(settings.ddl));
  table["background"] = ConfigValue(transport_part(settings.background));
  (void)assign(table, "background.transport.roce",
               *to_config_table(settings.background_roce).get("roce"));
  table["job"] = ConfigValue(to_config_table(settings.job));
  table["tensorlights"] = ConfigValue(to_config_table(settings.tensorlights));
  table["requests"] = ConfigValue(to_config_table(settings.requests));
  return table;
}

ParameterValue setting_value(const ConfigTable& table, const std::string& name) {
  const ConfigValue* v = find(table, name);
  if (v == nullptr) return std::monostate{};
  if (const auto* b = v->as<bool>()) return *b;
  if (const auto* i = v->as<std::int64_t>()) return *i;
  if (const auto* d = v->as<double>()) return *d;
  if (const auto* s = v->as<std::string>()) return *s;
  return to_toml_text(*v);
}

}  // namespace outrider::lab
