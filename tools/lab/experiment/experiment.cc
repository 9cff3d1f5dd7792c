#include "tools/lab/experiment/experiment.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <set>

#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/range_checker.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/background_sweeps.h"
#include "tools/lab/experiment/experiment_binding.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/experiment/replaced_parameters.h"
#include "tools/lab/experiment/search_file.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

constexpr std::uint32_t kMaxGroupHosts = 10'000;
constexpr std::uint32_t kMaxObserved = 1'000'000;  ///< packets, flows or requests

void counts_as_texts(ConfigValue& hosts) {
  auto* groups = hosts.as<ConfigValue::Array>();
  if (groups == nullptr) return;
  for (auto& group : *groups) {
    auto* table = group.as<ConfigTable>();
    if (table == nullptr) continue;
    for (auto& member : table->members)
      if (const auto* number = member.value.as<std::int64_t>();
          number != nullptr && member.key == "count")
        member.value = ConfigValue(std::to_string(*number));
  }
}

/// Calls f(table, key) for [parameters] and each [[arm]].
void for_each_of_parameters(ConfigTable& file,
                            const std::function<void(ConfigTable&, const std::string& key)>& f) {
  for (auto& [key, value] : file.members)
    if (key == "parameters" && value.as<ConfigTable>() != nullptr) f(*value.as<ConfigTable>(), key);
  for_each_table(file, "arm",
                 [&f](ConfigTable& arm, std::size_t i) { f(arm, join_key("", "arm", i)); });
}

/// Makes a text a list of one.
void text_as_list(ConfigValue& value) {
  if (value.as<std::string>() != nullptr) value = ConfigValue(ConfigValue::Array{value});
}

/// Returns the part of the file that the bindings read, without what is read by hand. Host counts
/// become texts, a measured port a list, and keys of settings are nested. Replaced parameters are
/// faults.
ConfigTable bound_part(const ConfigTable& file, ConfigIssues& issues) {
  ConfigTable bound = file;
  for (const char* key : {"sweep", "goal", "change"})  // the last two are advise's
    std::erase_if(bound.members, [key](const ConfigMember& m) { return m.key == key; });
  for (auto& member : bound.members)
    if (member.key == "hosts") counts_as_texts(member.value);
    else if (auto* table = member.value.as<ConfigTable>(); table && member.key == "network")
      for (auto& key : table->members)
        if (key.key == "measured") text_as_list(key.value);
  for_each_of_parameters(bound, [&issues](ConfigTable& table, const std::string& key) {
    table = with_nested_keys(without_replaced(table, key, issues));
  });
  return bound;
}

/// Collects the names and the faults of the settings in [parameters] and the arms.
void collect_settings(ConfigTable& bound, ExperimentFile& e, ConfigIssues& issues) {
  for_each_of_parameters(bound, [&](ConfigTable& table, const std::string& key) {
    check_settings(table, key, {.rtt = e.network.rtt}, issues);
  });
  const auto add = [&names = e.setting_names](const std::string& name) {
    if (is_setting(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& [name, value] : with_dotted_keys(e.parameters.settings)) add(name);
  for (const auto& arm : e.arms)
    for (const auto& [name, value] : with_dotted_keys(arm.parameters.settings)) add(name);
  for (const auto& sweep : e.sweeps)
    for (const auto& point : sweep.points)
      for (const auto& [name, value] : point) add(name);
}

/// Returns the labels of the [[arm]] of a file.
std::vector<std::string> labels_of_arms(const ConfigTable& file) {
  std::vector<std::string> labels;
  for_each_table(file, "arm", [&labels](const ConfigTable& arm, std::size_t) {
    const ConfigValue* label = arm.get("label");
    if (label != nullptr && label->as<std::string>() != nullptr)
      labels.push_back(*label->as<std::string>());
  });
  return labels;
}

void check_name(const Checks& at, std::set<std::string>& taken, const std::string& name) {
  at.require(!name.empty() && name.find_first_of(". /") == name.npos, "name", Checks::quoted(name),
             "must not be empty or hold a dot, a blank or a slash");
  at.require(taken.insert(name).second, "name", Checks::quoted(name), "is used twice");
}

void check_trunks(const Checks& root, const ExperimentFile& e) {
  std::set<std::pair<std::string, std::string>> joined;
  for (std::size_t i = 0; i < e.trunks.size(); ++i) {
    const auto at = root.below("link", i);
    const auto& t = e.trunks[i];
    find_named(at, "a", e.switches, t.a, "switch");
    find_named(at, "b", e.switches, t.b, "switch");
    at.require(t.a != t.b, "b", Checks::quoted(t.b), "must be another switch than a");
    at.require(joined.insert(std::minmax(t.a, t.b)).second, "b", Checks::quoted(t.b),
               "is joined to \"" + t.a + "\" already");
    at.rate("rate", t.rate);
    at.not_negative("delay", t.delay);
  }
}

/// Where the hosts of a group are: at a switch, with a cable of their own, or in the fabric.
void check_place(const Checks& at, const ExperimentFile& e, const HostGroupEntry& g) {
  constexpr const char* kFabric = "must be left out: a place in the fabric says it";
  const bool no_fabric = e.in_fabric && e.slots.empty();  // has a fault, which is told
  if (!g.at_switch.empty() && !no_fabric)
    find_named(at, "switch", e.switches, g.at_switch, "switch");
  if (!e.in_fabric) {
    if (g.at_switch.empty()) at.fault("switch", "is required without [fabric]");
    if (g.placement) at.fault("placement", "needs a [fabric]");
    if (g.rate.bits_per_second == 0) at.fault("rate", "is required without [fabric]");
    else at.rate("rate", g.rate);
    at.not_negative("delay", g.delay);
    return;
  }
  if (g.rate.bits_per_second != 0) at.fault("rate", kFabric);
  if (g.delay != Duration{}) at.fault("delay", kFabric);
  if (g.placement && !g.at_switch.empty())
    at.fault("placement", "must be left out with switch, which is the place");
}

void check_groups(const Checks& root, const ExperimentFile& e, std::set<std::string>& names) {
  for (std::size_t i = 0; i < e.hosts.size(); ++i) {
    const auto& g = e.hosts[i];
    if (g.of_job) {  // made by read_job_list()
      check_name(root.below("job", e.jobs[*g.of_job].entry), names, g.name);
      continue;
    }
    const auto at = root.below("hosts", i);
    check_name(at, names, g.name);
    check_place(at, e, g);
    at.require(g.delay_spread >= 0 && g.delay_spread < 1, "delay_spread",
               std::to_string(g.delay_spread), "must be at least 0 and less than 1");
    check_ranges(at.below("pause_storm"), g.pause_storm);
    check(at.below("pause_storm"), g.pause_storm);
  }
}

void check_job_group(const Checks& at, std::string_view key, const ExperimentFile& e,
                     const std::string& name) {
  const auto* group = find_named(at, key, e.hosts, name, "hosts");
  if (group == nullptr) return;
  const std::string count = key == "hosts" ? kWorkersAndServer : std::string(key);
  at.require(group->count.parameter == count, key, Checks::quoted(name),
             "needs count = \"" + count + "\" in its [[hosts]]");
}

void check_ring_groups(const Checks& at, const ExperimentFile& e) {
  at.require(e.job.hosts.empty(), "hosts", Checks::quoted(e.job.hosts),
             "must not be given together with ring");
  std::set<std::string> seen;
  for (const auto& name : e.job.ring) {
    const auto* group = find_named(at, "ring", e.hosts, name, "hosts");
    if (group == nullptr) continue;
    at.require(seen.insert(name).second, "ring", Checks::quoted(name), "is named twice");
    at.require(group->count.parameter.empty(), "ring", Checks::quoted(name),
               "needs a number as its count");
  }
}

void check_job_groups(const Checks& at, const ExperimentFile& e) {
  if (!e.jobs.empty() || e.job.is_none()) return;
  if (!e.job.ring.empty()) return check_ring_groups(at, e);
  if (!e.job.hosts.empty()) return check_job_group(at, "hosts", e, e.job.hosts);
  check_job_group(at, "workers", e, e.job.workers);
  check_job_group(at, "servers", e, e.job.servers);
}

constexpr const char* kGroupsOfBackground =
    "a group with a number. To send to the port of a server, let workers and server share a group: "
    "[job] hosts = \"NAME\", [[hosts]] count = \"workers + 1\", [background] to = \"NAME\"";

void check_roles(const Checks& root, const ExperimentFile& e) {
  check_job_groups(root.below("job"), e);
  if (e.background.from.empty() && e.background.to.empty()) return;
  const auto at = root.below("background");
  if (!e.in_fabric && !e.background.matrix.empty())
    at.fault("matrix", "needs a [fabric], whose racks it is about");
  if (e.background.both_ways && !e.background.matrix.empty())
    at.fault("both_ways", "must be left out with a matrix, which has both directions");
  const auto* from = find_named(at, "from", e.hosts, e.background.from, "hosts");
  const auto* to = find_named(at, "to", e.hosts, e.background.to, "hosts");
  if (from == nullptr || to == nullptr) return;
  const auto shared = [&e](const HostGroupEntry* group) {
    return group->of_job.has_value() || (!e.job.hosts.empty() && group->name == e.job.hosts);
  };
  bool numbers = true;
  for (const auto* group : {from, to})
    numbers &=
        at.require(group->count.parameter.empty() || (shared(group) && group == to),
                   group == from ? "from" : "to", Checks::quoted(group->name),
                   "has count = \"" + group->count.parameter + "\", and background needs " +
                       (group == from ? "a group of its own, with a number" : kGroupsOfBackground));
  // check_placement() checks that a shared group has as many hosts as there are senders. Flows to a
  // listed job's hosts are drawn; long ones need pairs, which the generator checks
  if (shared(to) || !numbers) return;
  at.require(from->count.fixed == to->count.fixed, "to", std::to_string(to->count.fixed) + " hosts",
             "must be as many as from has, " + std::to_string(from->count.fixed));
}

/// Returns the faults of a set of parameters, by their keys in it.
ConfigIssues parameter_faults(const ExperimentFile& e, const CaseParameters& p) {
  ConfigIssues faults = validate(p);
  check_background(Checks(faults), e, p);
  return faults;
}

/// Tells a fault of a table's parameters by their key there, or that of a group by its own.
void fault_of_parameters(const Checks& root, const Checks& table, const ConfigIssue& issue) {
  const bool of_group = issue.key.find("background[") != std::string::npos;
  (of_group ? root : table).fault(issue.key, issue.problem);
}

/// An arm has the values of [parameters], and so their faults, which are told once: there.
void check_parameters(const Checks& root, const ExperimentFile& e) {
  const ConfigIssues common = parameter_faults(e, e.parameters);
  for (const auto& issue : common) fault_of_parameters(root, root.below("parameters"), issue);
  for (std::size_t i = 0; i < e.arms.size(); ++i)
    for (const auto& issue : parameter_faults(e, e.arms[i].parameters))
      if (std::ranges::find(common, issue) == common.end())
        fault_of_parameters(root, root.below("arm", i), issue);
}

}  // namespace

Parsed<HostCount> parse_host_count(std::string_view text) {
  if (text == "workers" || text == "servers" || text == kWorkersAndServer)
    return {HostCount{0, std::string(text)}, {}};
  HostCount count;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), count.fixed);
  if (error != std::errc{} || end != text.end() || count.fixed == 0 || count.fixed > kMaxGroupHosts)
    return {{}, R"(must be a number from 1 to 10000, "workers", "servers" or "workers + 1")"};
  return {count, {}};
}

std::string format_host_count(const HostCount& count) {
  return count.parameter.empty() ? std::to_string(count.fixed) : count.parameter;
}

void check_switches_and_hosts(const Checks& root, const ExperimentFile& e) {
  if (e.switches.empty() && !e.in_fabric)
    root.fault("switch", "there must be at least one [[switch]], or [fabric]");
  std::set<std::string> names;
  for (std::size_t i = 0; i < e.switches.size(); ++i)
    check_name(root.below("switch", i), names, e.switches[i].name);
  if (!e.in_fabric) check_trunks(root, e);
  check_groups(root, e, names);
}

ConfigIssues validate(const ExperimentFile& e) {
  ConfigIssues issues;
  const Checks root(issues);
  root.require(!e.name.empty() && e.name.find_first_of("/ ") == e.name.npos, "name",
               Checks::quoted(e.name),
               "must not be empty or hold a blank or a slash: it names the directory of results");
  root.in_range("seeds", e.seeds, 1, 1'000'000);
  check_switches_and_hosts(root, e);
  check_roles(root, e);
  check_groups_of_background(root, e);
  if (e.network.rtt != Duration{}) root.below("network").positive("rtt", e.network.rtt);
  else if (!e.in_fabric) root.below("network").fault("rtt", "is required without [fabric]");
  const auto observe = root.below("observe");
  observe.not_negative("capture_from", e.observed.capture_from);
  observe.in_range("capture_packets", e.observed.capture_packets, 1, kMaxObserved);
  observe.in_range("flows", e.observed.flows, 0, kMaxObserved);
  observe.in_range("requests", e.observed.requests, 0, kMaxObserved);
  check_parameters(root, e);
  check_arms(root, e);
  return issues;
}

ConfigResult<ExperimentFile> experiment_from(const ConfigTable& as_written,
                                             const std::filesystem::path& directory,
                                             const OtherFabric* other) {
  ConfigResult<ExperimentFile> result{ExperimentFile{}, {}};
  check_names(as_written, directory, result.issues);
  const ConfigTable expanded = with_presets(as_written, directory, result.issues);
  ConfigTable joined =
      with_rivals(with_base(expanded, directory, result.issues), directory, result.issues);
  if (!result.issues.empty())  // what is missing in it would be told as missing here
    return {{}, std::move(result.issues)};
  refuse_old_sweeps(joined, result.issues);
  const bool lists_hosts = joined.get("hosts") != nullptr;
  ConfigTable with_all = with_dumbbell(std::move(joined), result.issues);
  if (other != nullptr) with_all = on_other_fabric(std::move(with_all), *other, result.issues);
  if (!result.issues.empty()) {
    name_base(as_written, directory, result.issues);
    result.config.reset();
    return result;
  }
  const SearchTaken searched = take_search(with_all, result.issues);
  const ConfigTable& file = searched.file;
  ExperimentFile& e = *result.config;
  e.directory = directory;
  for (auto& [key, value] : with_dotted_keys(table_in(as_written, "parameters")))
    e.own_parameters.push_back(std::move(key));
  e.for_advise = as_written.get("goal") != nullptr || as_written.get("change") != nullptr;
  e.lent_arms = labels_of_arms(with_all);
  for (const std::string& own : labels_of_arms(as_written)) std::erase(e.lent_arms, own);
  e.made_by_rate = !lists_hosts && with_all.get("hosts") != nullptr;
  ConfigTable bound = bound_part(file, result.issues);
  const auto jobs = take_list(bound, "job");
  BackgroundTaken background = take_background_groups(bound, result.issues);
  e.parameters.groups = std::move(background.of_file);
  e.in_fabric = bound.get("fabric") != nullptr;
  if (e.in_fabric) e.parameters.paths = LabPaths::kFlow;  // one path of many would be no fabric
  read_config(bound, "", e, result.issues);
  give_to_arms(std::move(background), e);
  const bool no_job = is_without_job(file);
  if (no_job) e.job.clear();
  if (e.in_fabric) use_fabric(e, other, result.issues);
  if (jobs) read_job_list(*jobs, e, result.issues);
  settle(e.parameters, e.network.rtt);
  for (Arm& arm : e.arms) settle(arm.parameters, e.network.rtt);
  read_sweeps(file, e, result.issues);
  check_shorthand(file, result.issues);
  collect_settings(bound, e, result.issues);
  if (no_job) refuse_settings_of_jobs(as_written, result.issues);
  else if (find(with_all, "network.measured") == nullptr)
    result.issues.push_back({"network.measured", "is required"});
  merge_issues(result.issues, validate(e));
  if (no_job) check_without_job(Checks(result.issues), e, with_all);
  use_search(searched, e, result.issues);
  name_by_search(searched, result.issues);
  if (!result.issues.empty()) {
    name_presets(as_written, directory, result.issues);
    name_base(as_written, directory, result.issues);
    result.config.reset();
  }
  return result;
}

namespace {

/// Returns whether a setting is of a transport that jobs of the list alone use: the case's own
/// settings do not have it then.
bool is_of_jobs_alone(const ExperimentFile& e, const CaseParameters& p, std::string_view name) {
  constexpr std::string_view kBursts = "ddl.transport.";
  return std::ranges::any_of(tg::kTransportProtocols, [&](const auto& transport) {
    const std::string own = std::string(kBursts) + std::string(transport.name) + '.';
    const ConfigValue word{std::string(transport.name)};
    return name.starts_with(own) && transport.value != p.programs().ddl.protocol &&
           std::ranges::any_of(e.jobs, [&word](const ListedJob& job) {
             const ConfigValue* protocol = find(job.own, "ddl.transport.protocol");
             return protocol != nullptr && *protocol == word;
           });
  });
}

}  // namespace

Parameters resolved_settings(const ExperimentFile& e, const CaseParameters& p) {
  ProgramSettings settings = p.programs();
  settings.job.collective = e.job.collective(settings.job.collective);
  const ConfigTable table = to_table(settings);
  Parameters all;
  all.reserve(e.setting_names.size());
  for (const auto& name : e.setting_names)
    all.emplace_back(name, is_of_jobs_alone(e, p, name) ? setting_value(p.settings, name)
                                                        : value_of_name(p.groups, table, name));
  return all;
}

Parameters resolved_parameters(const ExperimentFile& e, const CaseParameters& p) {
  Parameters all = to_parameters(p);
  std::ranges::copy(resolved_settings(e, p), std::back_inserter(all));
  return all;
}

ConfigResult<ExperimentFile> load_experiment(const std::string& path, const OtherFabric* other) {
  auto file = read_file_of(path, FileKind::kExperiment);
  if (!file) return {{}, std::move(file.issues)};
  if (file.config->get("name") == nullptr)
    (*file.config)["name"] = ConfigValue(std::filesystem::path(path).stem().string());
  return experiment_from(*file.config, std::filesystem::path(path).parent_path(), other);
}

}  // namespace outrider::lab
