#include "tools/lab/plan/plan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "common/config/checks.h"
#include "common/config/toml_text.h"
#include "switch/config/config_toml.h"
#include "tools/lab/plan/case_faults.h"
#include "tools/lab/plan/plan_background.h"
#include "tools/lab/plan/plan_failures.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/plan/plan_lead.h"
#include "tools/lab/plan/plan_rows.h"
#include "tools/lab/plan/plan_switches.h"
#include "tools/lab/plan/topology.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

/// Returns the experiment with the rates of all links and hosts multiplied by `factor`.
ExperimentFile with_rates(ExperimentFile e, double factor) {
  const auto scale = [factor](BitRate& rate) {
    rate.bits_per_second = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(rate.bits_per_second) * factor));
  };
  if (factor == 1) return e;
  for (auto& trunk : e.trunks) scale(trunk.rate);
  for (auto& group : e.hosts) scale(group.rate);
  for (auto& slot : e.slots) scale(slot.rate);
  return e;
}

/// Refuses a factor that makes a rate which no link may have, before each of its links does.
bool check_rate_factor(const ExperimentFile& scaled, double factor, ConfigIssues& issues) {
  std::vector<BitRate> rates;
  for (const auto& trunk : scaled.trunks) rates.push_back(trunk.rate);
  for (const auto& group : scaled.hosts) rates.push_back(group.rate);
  for (const auto& slot : scaled.slots) rates.push_back(slot.rate);
  const auto most = std::ranges::max_element(rates, {}, &BitRate::bits_per_second);
  if (factor == 1 || rates.empty() || *most <= kMaxRate) return true;
  issues.push_back({"rate_factor", display(ConfigValue(factor)) + ": makes a link of " +
                                       format_rate(*most) + ", and links have at most " +
                                       format_rate(kMaxRate)});
  return false;
}

void require_known_arms(const ExperimentFile& e, const PlanOptions& options, ConfigIssues& issues) {
  const auto names_of_arms = [&e] {
    std::string names;
    for (const auto& arm : e.arms) names += (names.empty() ? "" : ", ") + arm.label;
    return names;
  };
  for (const auto& label : options.arms)
    if (std::ranges::find(e.arms, label, &Arm::label) == e.arms.end())
      issues.push_back({"--arms", Checks::quoted(label) + ": is no arm of the file, which has " +
                                      names_of_arms()});
}

void append(ConfigIssues& issues, const std::string& program, const ConfigIssues& more) {
  for (const auto& issue : more) issues.push_back({program + ": " + issue.key, issue.problem});
  issues.count_unkept(more);
}

/// Names the faults of a job that stands in a line of a list by that line.
void name_by_lines(const ExperimentFile& e, ConfigIssues& issues) {
  constexpr std::string_view kJob = "trafficgen: job[";
  ConfigIssues named;
  for (auto& issue : issues) {
    std::size_t index = 0;
    const char* end = issue.key.data() + issue.key.size();
    if (!issue.key.starts_with(kJob)) continue;
    const auto [rest, error] = std::from_chars(issue.key.data() + kJob.size(), end, index);
    if (error != std::errc{} || index >= e.jobs.size() || e.jobs[index].line == 0) continue;
    const std::string own(std::min(rest + 2, end), end);  // behind "]."
    fault_of_job(Checks(named), e.jobs[index], own, issue.problem);
    issue = named.back();
  }
}

/// Names faults of a host's MTU by its [[hosts]]. Those of one group are then one fault.
void name_by_hosts(const ExperimentFile& e, const Topology& t, ConfigIssues& issues) {
  constexpr std::string_view kMtu = ": mtu_bytes ";
  ConfigIssues named;
  for (const auto& issue : issues) {
    const auto host = std::ranges::find_if(t.hosts, [&issue, kMtu](const PlacedHost& h) {
      return issue.problem.starts_with(Checks::quoted(h.name) + std::string(kMtu));
    });
    if (host == t.hosts.end() || e.hosts[host->group].of_job) {
      named.push_back(issue);
      continue;
    }
    const std::size_t rest = Checks::quoted(host->name).size() + kMtu.size();
    std::string problem = issue.problem.substr(rest);
    problem.insert(problem.find(' '), " bytes:");
    // The file says nothing of hosts that follow from network.rate.
    if (e.made_by_rate)
      named.push_back({"transport.mss_bytes", "the MTU of hosts by network.rate is " + problem});
    else named.push_back({join_key(join_key("", "hosts", host->group), "mtu_bytes"), problem});
  }
  named.count_unkept(issues);
  issues = std::move(named);
}

/// Notes the groups of background, and counts the long flows that share the measured queue with
/// bursts. Those back cross it as ACKs alone. In a fabric they are at all leaves, and a queue has
/// one leaf's share.
void note_background(const ExperimentFile& e, const CaseParameters& p, const Topology& t, Case& c) {
  for (const BackgroundGroup& group : p.groups) c.background_groups.push_back(group.name);
  c.background_flows = background_flows_of(e, p, t, c.traffic);
  if (!e.in_fabric || c.background_flows == 0) return;
  if (!p.groups.empty() && !e.network.measures_all()) return;  // they are those of its ports
  const auto leaves = static_cast<std::uint32_t>(c.traffic.devices.size());
  c.background_flows = (c.background_flows + leaves - 1) / leaves;
}

/// Returns the workers of a job, in a list those of the mean job.
std::uint32_t workers_of_job(const ExperimentFile& e, const CaseParameters& p) {
  if (!e.has_job()) return 0;
  if (e.jobs.empty()) return p.workers;
  std::size_t sum = 0;
  for (const auto& job : e.jobs) sum += parameters_of(job, p, e.network.rtt).workers;
  return static_cast<std::uint32_t>(std::max<std::size_t>(sum / e.jobs.size(), 1));
}

}  // namespace

std::optional<Case> build_case(const ExperimentFile& file, const std::string& label,
                               const CaseParameters& p, std::uint64_t seed, ConfigIssues& issues) {
  ExperimentFile e = with_rates(file, p.rate_factor);
  if (!check_rate_factor(e, p.rate_factor, issues)) return std::nullopt;
  // At a point of a sweep, values that are valid alone may be invalid together.
  ConfigIssues unfit = validate(p);
  check_placement(Checks(unfit), e, p);
  check_background(Checks(unfit), e, p);
  issues.add(unfit);
  const auto topology = make_topology(e, p, seed, issues);
  if (!topology || !unfit.empty()) return std::nullopt;
  e.network.measured = measured_ports(e, *topology);
  ConfigIssues of_racks;
  check_racks(Checks(of_racks), e, p, *topology);
  issues.add(of_racks);
  if (!of_racks.empty()) return std::nullopt;
  tg::GeneratorConfig traffic = plan_traffic(e, p, *topology, seed);
  for (auto& flows : traffic.flows) flows.records = e.observed.flows;
  for (auto& requests : traffic.requests) requests.latency_samples = e.observed.requests;
  sw::SwitchProcessConfig switches = plan_switches(e, p, *topology, traffic);
  Case c{.label = label,
         .parameters = resolved_parameters(e, p),
         .seed = seed,
         .switches = std::move(switches),
         .traffic = std::move(traffic),
         .measured_queue = e.network.measured_queue(),
         .base_rtt = topology->rtt,
         .bottleneck = topology->measured_rate,
         .has_job = e.has_job(),
         .workers = workers_of_job(e, p),
         .skip_iterations = p.skip_iterations,
         .cost_window = from_seconds(p.cost_window_seconds),
         .link_results = e.in_fabric,
         .observed = e.observed};
  c.changes = plan_failures(e, p, *topology, c.switches, issues);
  if (c.changes.empty() && !e.fabric.failures.empty()) return std::nullopt;
  note_background(e, p, *topology, c);
  if (p.programs().lead_is_auto && holds_windows(p.programs().mode()))
    for (std::size_t j = 0; j < c.traffic.jobs.size(); ++j)
      if (e.jobs.empty() || find(e.jobs[j].own, "job.announce.lead") == nullptr)
        c.traffic.jobs[j].announce.lead = lead_by_rule(c).lead;
  ConfigIssues refused;
  plan_telemetry(e, p, c.traffic, c.switches, refused);
  append(refused, "switch", validate(c.switches, kMaxFabricSwitches));
  append(refused, "trafficgen", validate(c.traffic, kMaxFabricSwitches));
  append(refused, "trafficgen", validate_models(c.traffic));
  name_by_lines(e, refused);
  name_by_groups(p, c.traffic, refused);
  name_by_hosts(e, *topology, refused);
  issues.add(refused);
  if (!refused.empty()) return std::nullopt;
  return c;
}

namespace {

/// Builds each arm at each point, with each of its seeds or the first alone, and hands it to
/// `take`.
/// @return the faults of all
ConfigIssues build_rows(const ExperimentFile& e, const PlanOptions& options, std::uint32_t seeds,
                        const std::function<void(Case&&)>& take) {
  std::vector<PlannedRow> rows = options.quick ? quick_rows(e) : rows_of(e);
  ConfigIssues of_points;
  refuse_equal_rows(e, rows, of_points);
  require_baselines(e, rows, of_points);
  const std::set<std::string> wanted = wanted_arms(options, rows);
  CaseFaults faults(e.parameters);
  ExperimentFile there = e;
  there.sweeps.clear();
  for (const auto& row : rows) {
    if (!wanted.contains(row.label)) continue;
    there.parameters = row.common;
    for (std::uint32_t s = 0; s < seeds; ++s) {
      ConfigIssues found;
      auto built = build_case(there, row.label, row.parameters, options.first_seed + s, found);
      faults.add(row, found);
      if (!found.empty()) break;  // the other seeds have the same fault
      built->point = row.point;
      built->role = row.role;
      built->against = row.against;
      built->off = row.off;
      built->link_series = built->link_results && s == 0;
      take(std::move(*built));
    }
  }
  ConfigIssues issues = faults.told();
  require_known_arms(e, options, issues);
  if (issues.empty()) issues = std::move(of_points);
  return issues;
}

std::uint32_t seeds_of(const ExperimentFile& e, const PlanOptions& options) {
  return options.quick ? 1 : options.seeds.value_or(e.seeds);
}

}  // namespace

ConfigResult<std::vector<Case>> make_plan(const ExperimentFile& e, const PlanOptions& options) {
  ConfigResult<std::vector<Case>> result{std::vector<Case>{}, {}};
  result.issues = build_rows(e, options, seeds_of(e, options), [&](Case&& built) {
    if (case_name(e, built).find(options.filter) != std::string::npos)
      result.config->push_back(std::move(built));
  });
  if (!result.issues.empty()) result.config.reset();
  return result;
}

ConfigIssues walk_plan(
    const ExperimentFile& e, const PlanOptions& options,
    const std::function<void(const Case& first, std::vector<std::string> names)>& take) {
  return build_rows(e, options, 1, [&](Case&& first) {
    const std::string of_first = case_name(e, first);
    const std::size_t end = of_first.rfind(std::to_string(first.seed));  // the name ends with it
    std::vector<std::string> names;
    for (std::uint32_t s = 0; s < seeds_of(e, options); ++s) {
      std::string name = of_first.substr(0, end) + std::to_string(options.first_seed + s);
      if (name.find(options.filter) != std::string::npos) names.push_back(std::move(name));
    }
    if (!names.empty()) take(first, std::move(names));
  });
}

std::string case_name(const ExperimentFile& e, const Case& c) {
  const auto arm = std::ranges::find(e.arms, c.label, &Arm::label);
  const CaseParameters& own = arm == e.arms.end() ? e.parameters : arm->parameters;
  Parameters base = to_all_parameters(own);
  std::ranges::copy(resolved_settings(e, own), std::back_inserter(base));
  std::string name = c.label;
  for (const auto& [key, value] : base)
    if (const auto& here = value_in(c.parameters, key); here != value)
      name += ' ' + key + '=' + value_text(here);
  return name + " seed " + std::to_string(c.seed);
}

Case without_background(const Case& c) {
  constexpr int kSettle_rtts = 10;
  Case alone = c;
  alone.traffic.long_flows.clear();
  alone.traffic.flows.clear();
  alone.traffic.requests.clear();
  alone.traffic.captures.clear();
  alone.background_flows = 0;
  alone.link_results = alone.link_series = false;
  alone.observed = {};
  alone.changes.clear();  // a failure is a cost to show, not what the network allows
  for (auto& host : alone.traffic.hosts) host.pause_storm = {};
  for (auto& job : alone.traffic.jobs) {
    job.announce.faults = {};  // the reference shows what the network allows, without lost STARTs
    job.first_due = job.announce.lead + kSettle_rtts * c.base_rtt;
  }
  return alone;
}

Case with_job_alone(const Case& c, std::size_t job) {
  Case alone = without_background(c);
  auto& jobs = alone.traffic.jobs;
  jobs = {std::move(jobs[job])};
  return alone;
}

}  // namespace outrider::lab
