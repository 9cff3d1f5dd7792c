#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/range_checker.h"
#include "common/config/suggestion.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/experiment/job_list.h"
#include "tools/lab/experiment/replaced_parameters.h"

namespace outrider::lab {
namespace {

/// The parameters of a case that one job may have for itself.
constexpr std::array<std::string_view, 6> kOwnParameters{
    "workers", "servers", "warm_up_seconds", "compute_spread", "learner_rate", "h_packets"};

/// What [[job]] says of a job itself. All its other keys are parameters or settings of the job.
struct JobHead {
  std::string name;
  std::uint32_t count = 1;  ///< jobs alike, "NAME_0", "NAME_1", ...
  std::optional<HostPlacement> placement;
  Duration start{};
  std::uint32_t mtu_bytes = 1500;  ///< of its hosts
  std::string list;  ///< path of a list of jobs, relative to the experiment's file; empty: none
};

void describe(Settings& v, JobHead& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("count", c.count, {.range = integers(1, kMaxListedJobs)});
  v.choice("placement", c.placement, kHostPlacements);
  v.duration("start", c.start);
  v.value("mtu_bytes", c.mtu_bytes);
  v.value("list", c.list);
}

bool is_of_head(std::string_view key) {
  static const ConfigTable kAll = [] {
    JobHead all;
    all.placement = HostPlacement::kPack;  // an absent one would not be written
    return to_config_table(all);
  }();
  return kAll.get(key) != nullptr;
}

/// Returns the keys of a job as a case has them: a parameter stays, "transport" is that of bursts,
/// and all else is a setting of the job.
ConfigTable as_parameters(const ConfigTable& own) {
  ConfigTable table;
  for (const auto& [key, value] : own.members) {
    ConfigTable one;
    if (std::ranges::find(kOwnParameters, key) != kOwnParameters.end()) one[key] = value;
    else (void)assign(one, key == "transport" ? "ddl.transport" : "job." + key, value);
    overlay(table, one);
  }
  return table;
}

/// Reports the faults of a job's own keys by the keys of the file.
void check_own(const ConfigTable& own, const std::string& path, ConfigIssues& issues) {
  ConfigIssues found;
  CaseParameters ignored;
  read_config(own, path, ignored, found);
  // Switches hear the signals of all jobs alike.
  for (const char* key : {"job.announce.signal_form", "job.announce.signal_key"})
    if (find(own, key) != nullptr)
      found.push_back({join_key(path, key), "is that of all jobs: give it in [parameters]"});
  const ConfigValue* lead = find(own, "job.announce.lead");
  if (lead != nullptr && *lead == ConfigValue(std::string("auto")))
    found.push_back({join_key(path, "job.announce.lead"),
                     "\"auto\": is what a job has that leaves this out, if [parameters] have it"});
  check_settings(own, path, {}, found);
  for (auto& issue : found) {
    for (const std::string_view part : {".job.", ".ddl.transport"})
      if (const auto at = issue.key.find(part); at != std::string::npos)
        issue.key.replace(at, part.size(), part == ".job." ? "." : ".transport");
    issues.push_back(std::move(issue));
  }
  issues.count_unkept(found);
}

/// Adds the groups of hosts of the job that was added last. A job without servers has none in the
/// second.
void add_groups(ExperimentFile& e) {
  const std::size_t index = e.jobs.size() - 1;
  const ListedJob& job = e.jobs.back();
  const auto add = [&](const char* role, const char* count) {
    HostGroupEntry group;
    group.name = job.name + role;
    group.count = {0, count};
    group.placement = job.placement;
    group.mtu_bytes = job.mtu_bytes;
    group.of_job = index;
    e.hosts.push_back(std::move(group));
  };
  add("_worker", "workers");
  add("_server", "servers");
}

/// Adds the jobs of the list that a [[job]] names. What a line says replaces what the [[job]] says.
void add_arriving(const JobHead& head, std::size_t entry, const ConfigTable& own, ExperimentFile& e,
                  ConfigIssues& issues) {
  const Checks at = Checks(issues).below("job", entry);
  const std::string path = path_of_file(kJobListFile, head.list, e.directory);
  const auto tell = [&](const ConfigIssue& issue) {
    at.fault("list", Checks::quoted(head.list),
             issue.key.empty() ? issue.problem : issue.key + ": " + issue.problem);
  };
  at.require(head.count == 1, "count", std::to_string(head.count),
             "must be left out with list, whose lines are the jobs");
  at.require(head.start == Duration{}, "start", format_duration(head.start),
             "must be left out with list, whose lines say it");
  auto list = load_job_list(path);
  for (const ConfigIssue& issue : list.issues) tell(issue);
  if (!list) return;
  std::set<std::pair<std::string, std::string>> told;  // a column's fault is that of all lines
  for (const ArrivingJob& job : *list.config) {
    const std::string line = "line " + std::to_string(job.line);
    ConfigTable all = own;
    ConfigIssues found;
    overlay(all, without_replaced(job.own, line, found, ParameterPlace::kColumn));
    if (job.stop_after) all["stop_after"] = ConfigValue(format_duration(*job.stop_after));
    ConfigTable parameters = as_parameters(all);
    check_own(parameters, line, found);
    for (ConfigIssue& issue : found) {
      const std::size_t column = issue.key.find('.');
      if (!told.emplace(issue.key.substr(column), issue.problem).second) continue;
      issue.key.replace(column, 1, ": ");
      tell(issue);
    }
    e.jobs.push_back({.name = job.name.empty() ? head.name + '_' + std::to_string(job.line)
                                               : head.name + '_' + job.name,
                      .placement = head.placement,
                      .start = job.start,
                      .mtu_bytes = head.mtu_bytes,
                      .entry = entry,
                      .line = job.line,
                      .own = std::move(parameters)});
    add_groups(e);
  }
}

void read_job(const ConfigTable& table, std::size_t entry, ExperimentFile& e,
              ConfigIssues& issues) {
  const std::string path = join_key("", "job", entry);
  ConfigTable of_head, own;
  for (const auto& [key, value] : with_nested_keys(table).members)
    (is_of_head(key) ? of_head : own)[key] = value;
  JobHead head;
  read_config(of_head, path, head, issues);
  check_ranges(Checks(issues, path), head);
  own = without_replaced(own, path, issues, ParameterPlace::kJob);
  const ConfigTable parameters = as_parameters(own);
  check_own(parameters, path, issues);
  if (!head.list.empty()) return add_arriving(head, entry, own, e, issues);
  for (std::size_t i = 0; i < std::min<std::size_t>(head.count, kMaxListedJobs); ++i) {
    e.jobs.push_back({.name = head.count == 1 ? head.name : head.name + '_' + std::to_string(i),
                      .placement = head.placement,
                      .start = head.start,
                      .mtu_bytes = head.mtu_bytes,
                      .entry = entry,
                      .own = parameters});
    add_groups(e);
  }
}

}  // namespace

CaseParameters parameters_of(const ListedJob& job, const CaseParameters& of_case, Duration rtt) {
  CaseParameters p = of_case;
  ConfigIssues ignored;  // reported when the file was read
  read_config(job.own, "", p, ignored);
  settle(p, rtt);
  return p;
}

void fault_of_job(const Checks& root, const ListedJob& job, std::string_view key,
                  std::string_view problem) {
  const Checks at = root.below("job", job.entry);
  if (job.line == 0) return at.fault(key, problem);
  at.fault("list",
           ("line " + std::to_string(job.line) + ": ").append(key).append(": ").append(problem));
}

bool has_servers(const CaseParameters& p) { return tg::has_servers(p.programs().job.collective); }

void read_job_list(const ConfigValue& list, ExperimentFile& e, ConfigIssues& issues) {
  const auto& entries = *list.as<ConfigValue::Array>();
  for (std::size_t i = 0; i < entries.size(); ++i)
    read_job(*entries[i].as<ConfigTable>(), i, e, issues);
  const Checks root(issues);
  if (!e.in_fabric) root.fault("job", "as a list needs a [fabric]");
  if (e.jobs.size() > kMaxListedJobs)
    root.fault("job", std::to_string(e.jobs.size()) + " jobs: a case may have " +
                          std::to_string(kMaxListedJobs));
}

}  // namespace outrider::lab
