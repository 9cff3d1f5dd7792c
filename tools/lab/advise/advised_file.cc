#include "tools/lab/advise/advised_file.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/quantities.h"
#include "tools/lab/advise/assumed.h"
#include "tools/lab/advise/old_cluster.h"
#include "tools/lab/advise/scaled.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/experiment/headroom.h"
#include "tools/lab/experiment/usual_thresholds.h"
#include "tools/lab/plan/plan.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr auto kFreedoms = choices<SwitchFreedom>({{"nothing", SwitchFreedom::kNothing},
                                                   {"settings", SwitchFreedom::kSettings},
                                                   {"outrider", SwitchFreedom::kOutrider}});

/// Of Ethernet, IP, UDP, the base transport header and the invariant CRC.
constexpr std::uint32_t kRoceHeaderBytes = 14 + 20 + 8 + 12 + 4;

/// Takes a table out of the file and reads it.
template <class T>
void take(const char* key, ConfigTable& file, T& into, ConfigIssues& issues) {
  const auto at = std::ranges::find(file.members, key, &ConfigMember::key);
  if (at == file.members.end()) return;
  if (const auto* table = at->value.as<ConfigTable>()) read_config(*table, key, into, issues);
  else issues.push_back({key, "must be a table"});
  file.members.erase(at);
}

/// The arms are advise's, so a file has no sweeps of them.
void refuse_sweeps(const ConfigTable& file, ConfigIssues& issues) {
  for (const char* key : {"rivals", "sweep", "search"})
    if (file.get(key) != nullptr)
      issues.push_back({key,
                        "must be left out: advise has the arms of conf/remedies.toml or "
                        "conf/remedies-roce.toml, and those [[arm]] that the file adds"});
}

/// Puts the arm `off` before those of the file.
void add_off(ConfigTable& experiment) {
  ConfigValue& value = experiment["arm"];
  if (value.as<ConfigValue::Array>() == nullptr) value = ConfigValue(ConfigValue::Array{});
  auto& arms = *value.as<ConfigValue::Array>();
  const auto is_off = [](const ConfigValue& arm) {
    const auto* table = arm.as<ConfigTable>();
    const ConfigValue* label = table == nullptr ? nullptr : table->get("label");
    return label != nullptr && *label == text_value("off");
  };
  if (std::ranges::none_of(arms, is_off))
    arms.insert(arms.begin(), table_value({{"label", text_value("off")}}));
}

/// Returns a file's experiment with its base, absolute paths and an arm `off`.
ConfigTable whole_experiment(const ConfigTable& file, const fs::path& from, ConfigIssues& issues) {
  const bool own_arms = file.get("arm") != nullptr;
  ConfigTable joined = with_base(with_presets(file, from, issues), from, issues);
  // The base's question and arms are its own.
  if (!own_arms) std::erase_if(joined.members, [](const auto& m) { return m.key == "arm"; });
  std::erase_if(joined.members, [](const auto& m) { return m.key == "seeds"; });
  joined["question"] = text_value("What helps this cluster?");
  move_paths(joined, fs::absolute(from), "/");
  if (joined.get("fabric") != nullptr && joined.get("network") == nullptr)
    joined["network"] = table_value({{"measured", text_value(kWorstQueue)}});
  ConfigValue& parameters = joined["parameters"];
  const auto* table = parameters.as<ConfigTable>();
  parameters = ConfigValue(table == nullptr ? ConfigTable{} : with_nested_keys(*table));
  add_off(joined);
  return joined;
}

/// Returns the only case of the arm `off`, or why there is none.
std::optional<Case> case_of_off(const ExperimentFile& e, ConfigIssues& issues) {
  auto plan = make_plan(e, {.seeds = 1, .arms = {"off"}});
  merge_issues(issues, plan.issues);
  if (!plan || plan.config->empty()) return std::nullopt;
  return std::move(plan.config->front());
}

/// Returns the experiment without pauses, whose room is not known yet.
ConfigTable without_pauses(ConfigTable experiment) {
  auto& parameters = *experiment["parameters"].as<ConfigTable>();
  if (find(parameters, "switch.queue.lossless") != nullptr)
    (void)assign(parameters, "switch.queue.lossless",
                 table_value({{"xoff_bytes", ConfigValue(std::int64_t{0})}}));
  std::erase_if(*experiment["arm"].as<ConfigValue::Array>(), [](const ConfigValue& arm) {
    const auto* table = arm.as<ConfigTable>();
    const ConfigValue* label = table == nullptr ? nullptr : table->get("label");
    return label == nullptr || *label != text_value("off");
  });
  return experiment;
}

/// Returns the experiment with some sizes in place of those that wait for the traits, which do not
/// depend on them: thresholds, and the packets of a buffer in bytes.
ConfigTable with_some_sizes(ConfigTable experiment) {
  auto& parameters = *experiment["parameters"].as<ConfigTable>();
  resolve_quantities(parameters,
                     {.rate = BitRate{1'000'000'000}, .frame_bytes = sw::kFullFrameBytes});
  if (find(parameters, "switch.queue.limit_packets") == nullptr)
    (void)assign(parameters, "switch.queue.limit_packets", ConfigValue(std::int64_t{65536}));
  return experiment;
}

std::uint32_t frame_bytes_of(const Case& c, bool roce) {
  const std::uint32_t mtu_bytes = longest_packet_bytes(c);
  return roce ? tg::path_mtu_of(mtu_bytes) + kRoceHeaderBytes : mtu_bytes + kEthernetBytes;
}

/// Adds what the ports have.
void look_at_ports(const Case& c, AdvisedTraits& traits) {
  const auto delays = trunk_delays(c);
  // A packet without data, or a pause of another priority, may leave before the pause does.
  constexpr std::uint64_t kSpareFrames = 2;
  const std::uint32_t frame_bytes = longest_packet_bytes(c) + kEthernetBytes;
  for (const sw::SwitchConfig& one : c.switches.switches) {
    traits.ports = std::max(traits.ports, one.ports.size());
    for (const sw::SwitchPortConfig& port : one.ports) {
      if (traits.rate.bits_per_second == 0 ||
          port.drain_rate.bits_per_second < traits.rate.bits_per_second)
        traits.rate = port.drain_rate;
      const auto trunk = delays.find(one.name + '.' + port.name);
      const Duration delay = trunk == delays.end() ? port.delay : trunk->second;
      traits.headroom_bytes = std::max(
          traits.headroom_bytes,
          headroom_needed_bytes(port.drain_rate, delay, frame_bytes) + kSpareFrames * frame_bytes);
    }
  }
}

/// Reads a number in front of a unit. @return nothing if the text is something else
std::optional<double> multiple_of(const std::string& text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  const std::string number = text.substr(0, text.size() - unit.size());
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || end != number.c_str() + number.size()) return std::nullopt;
  return value;
}

/// Returns the bytes that a text stands for, in its unit or at a rate.
std::optional<double> bytes_of(const std::string& text, const AdvisedTraits& traits) {
  if (const auto some = multiple_of(text, "headroom"))
    return *some * static_cast<double>(traits.headroom_bytes);
  if (const auto time = parse_duration(text); time.value)
    return seconds(*time.value) * static_cast<double>(traits.rate.bits_per_second) / 8;
  if (const auto bytes = parse_bytes(text); bytes.value) return static_cast<double>(*bytes.value);
  return std::nullopt;
}

void resolve(const std::string& key, ConfigValue& value, const AdvisedTraits& traits) {
  const std::string text = *value.as<std::string>();
  if (const auto share = multiple_of(text, "rate")) {
    value = text_value(format_rate(BitRate{static_cast<std::uint64_t>(
        std::llround(*share * static_cast<double>(traits.rate.bits_per_second)))}));
    return;
  }
  const bool packets = key.ends_with("_packets");
  if (!packets && !multiple_of(text, "headroom")) return;
  const auto bytes = bytes_of(text, traits);
  if (!bytes) return;  // its reader tells the fault
  if (!packets) value = ConfigValue(static_cast<std::int64_t>(std::llround(*bytes)));
  else if (const double some = *bytes / traits.frame_bytes; key.starts_with('k'))
    value = ConfigValue(some);
  else value = ConfigValue(static_cast<std::int64_t>(std::max(std::llround(some), 1LL)));
}

}  // namespace

void describe(Settings& v, AdviceChange& c) {
  v.choice("switches", c.switches, kFreedoms);
  v.value("second_queue", c.second_queue);
  v.value("pauses", c.pauses);
  v.value("hosts", c.hosts);
  v.value("nics", c.nics);
  v.value("policy", c.policy);
}

void describe(Settings& v, AdviceGoal& c) {
  v.value("background_lost", c.background_lost);
  v.value("short_flows", c.short_flows);
  v.share("gain", c.gain);
}

void resolve_quantities(ConfigTable& parameters, const AdvisedTraits& traits) {
  for (auto& [key, value] : parameters.members) {
    if (auto* table = value.as<ConfigTable>()) resolve_quantities(*table, traits);
    else if (value.as<std::string>() != nullptr) resolve(key, value, traits);
  }
}

void announce_if_heard(const ConfigTable& experiment, ConfigTable& arm) {
  ConfigTable whole = *experiment.get("parameters")->as<ConfigTable>();
  overlay(whole, arm);
  for (const char* key : {"switch.regulation.mode", "switch.regulation.grant.order"})
    if (const ConfigValue* value = find(whole, key);
        value != nullptr && *value != text_value("off"))
      return;
  (void)assign(arm, "job.announce.lead_source", text_value("none"));
}

void make_room(const ConfigTable& of_case, const AdvisedTraits& traits, ConfigTable& out) {
  const double xoff = number_of(of_case, "switch.queue.lossless.xoff_bytes", 0);
  const bool dynamic = number_of(of_case, "switch.queue.lossless.xoff_alpha", 0) > 0;
  if (xoff == 0 && !dynamic) return;
  const double own = xoff + number_of(of_case, "switch.queue.lossless.headroom_bytes", 0);
  const double most_bytes = dynamic ? number_of(of_case, "switch.buffer.total_bytes", 0)
                                    : own * static_cast<double>(traits.ports);
  const auto need = static_cast<std::int64_t>(std::ceil(most_bytes / sw::kFullFrameBytes));
  if (number_of(of_case, "switch.queue.limit_packets", 0) < static_cast<double>(need))
    (void)assign(out, "switch.queue.limit_packets", ConfigValue(need));
  if (const double bytes = number_of(of_case, "switch.queue.limit_bytes", 0);
      bytes > 0 && bytes < most_bytes)
    (void)assign(out, "switch.queue.limit_bytes", ConfigValue(need * sw::kFullFrameBytes));
}

ConfigResult<AdvisedTraits> traits_of(const ConfigTable& experiment) {
  ConfigResult<AdvisedTraits> result{AdvisedTraits{}, {}};
  const auto e = experiment_from(without_pauses(experiment), "/");
  merge_issues(result.issues, e.issues);
  const auto off = e ? case_of_off(*e.config, result.issues) : std::nullopt;
  if (!off) {
    result.config.reset();
    return result;
  }
  AdvisedTraits& traits = *result.config;
  const auto closed = [](const CaseParameters& p) {
    return p.programs().job.schedule != tg::Schedule::kFixed;
  };
  const auto roce = [](const CaseParameters& p) {
    return p.programs().ddl.protocol == tg::TransportProtocol::kRoce;
  };
  const CaseParameters& common = e.config->parameters;
  traits.closed_loop = closed(common);
  traits.roce = roce(common);
  if (const auto& jobs = e.config->jobs; !jobs.empty()) {
    const auto of = [&](const ListedJob& job) {
      return parameters_of(job, common, e.config->network.rtt);
    };
    traits.closed_loop = std::ranges::all_of(jobs, closed, of);
    traits.roce = std::ranges::any_of(jobs, roce, of);
  }
  traits.several_jobs = off->traffic.jobs.size() > 1;
  traits.has_order =
      e.config->jobs.empty() && traits.closed_loop && common.programs().job.model && !traits.roce;
  traits.by_rate = e.config->made_by_rate;
  traits.rtt = e.config->network.rtt;
  traits.frame_bytes = frame_bytes_of(*off, traits.roce);
  look_at_ports(*off, traits);
  return result;
}

ConfigResult<AdvisedFile> advised_from(const ConfigTable& file, const fs::path& from) {
  ConfigResult<AdvisedFile> result{AdvisedFile{}, faults_of_old_cluster(file)};
  AdvisedFile& advised = *result.config;
  const auto refused = [&result] {
    if (!result.issues.empty()) result.config.reset();
    return !result.issues.empty();
  };
  if (refused()) return result;
  ConfigTable rest = file;
  for (const auto& [key, value] : to_config_table(advised.change).members)
    if (find(file, "change." + key) == nullptr) advised.change_by_default.push_back(key);
  take("change", rest, advised.change, result.issues);
  take("goal", rest, advised.goal, result.issues);
  const Checks goal = Checks(result.issues).below("goal");
  goal.in_interval("background_lost", advised.goal.background_lost, 0, 100, true);
  goal.in_interval("short_flows", advised.goal.short_flows, 0, 100, false);
  refuse_sweeps(rest, result.issues);
  check_names(rest, from, result.issues);
  advised.experiment = whole_experiment(rest, from, result.issues);
  if (refused()) return result;
  advised.assumed = assume_before(advised.experiment);
  const auto traits = traits_of(with_some_sizes(advised.experiment));
  merge_issues(result.issues, traits.issues);
  if (refused()) return result;
  advised.traits = *traits.config;
  resolve_quantities(*advised.experiment["parameters"].as<ConfigTable>(), advised.traits);
  for (ConfigValue& arm : *advised.experiment["arm"].as<ConfigValue::Array>())
    if (arm.as<ConfigTable>() != nullptr) {
      arm = ConfigValue(with_nested_keys(*arm.as<ConfigTable>()));
      resolve_quantities(*arm.as<ConfigTable>(), advised.traits);
      announce_if_heard(advised.experiment, *arm.as<ConfigTable>());
    }
  const auto more = assume(advised.experiment, advised.traits);
  advised.assumed.insert(advised.assumed.end(), more.begin(), more.end());
  check_judged(advised.experiment, advised.traits, result.issues);
  if (refused()) return result;
  const auto whole = experiment_from(advised.experiment, "/");
  merge_issues(result.issues, whole.issues);
  if (whole) (void)case_of_off(*whole.config, result.issues);
  (void)refused();
  return result;
}

ConfigResult<AdvisedFile> load_advised(const std::string& path) {
  auto file = read_file_of(path, FileKind::kExperiment);
  if (!file) return {{}, std::move(file.issues)};
  (*file.config)["name"] = text_value("advise");
  return advised_from(*file.config, fs::absolute(path).parent_path());
}

}  // namespace outrider::lab
