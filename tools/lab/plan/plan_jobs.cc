#include "tools/lab/plan/plan_jobs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "common/core/random.h"
#include "tools/lab/experiment/placement.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::lab {
namespace {

using Names = std::vector<std::string>;

/// Returns the j-th group of `count` names.
Names part_of(const Names& names, std::size_t j, std::size_t count) {
  const auto first = names.begin() + static_cast<std::ptrdiff_t>(j * count);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

void place_on_own_hosts(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                        std::vector<tg::JobConfig>& jobs) {
  const Names workers = names_of(e, t, e.job.workers), servers = names_of(e, t, e.job.servers);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].workers = part_of(workers, j, p.workers);
    jobs[j].servers = part_of(servers, j, p.servers);
  }
}

void place_on_shared_hosts(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                           std::vector<tg::JobConfig>& jobs) {
  const Names hosts = names_of(e, t, e.job.hosts);
  const std::string placement = p.placement.empty() ? "1x" + std::to_string(p.jobs) : p.placement;
  const auto host_of_job = server_hosts(*parse_placement(placement).value);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].servers = {hosts[host_of_job[j]]};
    for (std::size_t w = 1; w <= p.workers; ++w)
      jobs[j].workers.push_back(hosts[(host_of_job[j] + w) % hosts.size()]);
  }
}

/// Returns the first name of each group, then the second of each, and so on until all are used.
Names in_turn(const std::vector<Names>& groups) {
  Names all;
  std::size_t most = 0;
  for (const Names& group : groups) most = std::max(most, group.size());
  for (std::size_t i = 0; i < most; ++i)
    for (const Names& group : groups)
      if (i < group.size()) all.push_back(group[i]);
  return all;
}

void place_on_groups(const ExperimentFile& e, const Topology& t, tg::JobConfig& job) {
  std::vector<Names> groups;
  for (const auto& group : e.job.ring) groups.push_back(names_of(e, t, group));
  job.collective = e.job.collective(job.collective);
  job.workers = in_turn(groups);
}

/// Returns the time of an iteration, see plan_jobs(). It is zero if the model cannot be read,
/// which is reported elsewhere.
Duration nominal_iteration(const tg::JobConfig& job, const CaseParameters& p, BitRate rate) {
  if (job.schedule == tg::Schedule::kFixed) return job.period;
  Duration compute = job.compute.value_or(Duration{});
  std::uint64_t bytes = job.burst_bytes.value_or(0);
  if (job.model) {
    const auto model = tg::load_model_profile(*job.model);
    if (!model) return {};
    bytes = model.config->total_bytes;
    if (!job.compute) compute = model.config->compute().value_or(Duration{});
  }
  const double bits = 8.0 * static_cast<double>(bytes) * p.workers * (job.pull ? 2 : 1);
  return compute + from_seconds(bits / static_cast<double>(rate.bits_per_second));
}

/// Purpose of the draws for keys. Nothing else draws with it.
constexpr auto kKeyPurpose = static_cast<RandomPurpose>(0x5167'5EC2);

}  // namespace

std::string signal_key_file(std::size_t j) { return "signal-" + std::to_string(j) + ".key"; }

std::map<std::string, SignalKey> virtual_signal_keys(const tg::GeneratorConfig& traffic) {
  std::map<std::string, SignalKey> keys;
  for (std::uint32_t j = 0; j < traffic.jobs.size(); ++j) {
    const auto& file = traffic.jobs[j].announce.signal_key;
    if (!file) continue;
    RandomStream draws(traffic.seed, j, kKeyPurpose);
    SignalKey& key = keys[*file];
    key.id = static_cast<std::uint8_t>(j);
    for (std::uint8_t& byte : key.secret) byte = static_cast<std::uint8_t>(draws.next_u32());
  }
  return keys;
}

Names names_of(const ExperimentFile& e, const Topology& t, const std::string& group,
               std::optional<std::size_t> at_switch) {
  Names names;
  for (const auto& host : t.hosts)
    if (e.hosts[host.group].name == group && host.at_switch == at_switch.value_or(host.at_switch))
      names.push_back(host.name);
  return names;
}

std::vector<std::size_t> racks_of(const ExperimentFile& e) {
  std::vector<std::size_t> racks;
  for (const FabricSlot& slot : e.slots)
    if (racks.empty() || racks.back() != slot.at_switch) racks.push_back(slot.at_switch);
  return racks;
}

void check_racks(const Checks& at, const ExperimentFile& e, const CaseParameters& p,
                 const Topology& t) {
  if (e.background.racks.empty()) return;
  at.require(long_flows_per_pair(p) == 0, "background.flows_per_pair",
             std::to_string(long_flows_per_pair(p)),
             "must be 0 with a matrix, which shares background.load");
  const std::vector<std::size_t> racks = racks_of(e);
  const auto needs = [&](const std::string& group, std::size_t rack) {
    at.require(!names_of(e, t, group, racks[rack]).empty(), "background.matrix",
               Checks::quoted(e.background.matrix),
               "rack \"" + e.switches[racks[rack]].name + "\" has a share, and no host of \"" +
                   group + "\"");
  };
  for (std::size_t i = 0; i < racks.size(); ++i) {
    const auto& row = e.background.racks[i];
    const auto has_share = [](double share) { return share > 0; };
    if (std::ranges::any_of(row, has_share)) needs(e.background.from, i);
    if (std::ranges::any_of(e.background.racks, [&](const auto& r) { return r[i] > 0; }))
      needs(e.background.to, i);
  }
}

/// A job without servers is on the hosts of [job] ring, whatever its collective.
void check_collective(const Checks& at, const ExperimentFile& e, const CaseParameters& p) {
  const ConfigValue* value = find(p.settings, "job.collective");
  const auto* name = value == nullptr ? nullptr : value->as<std::string>();
  if (name == nullptr) return;
  const bool servers = *name == tg::name_of(tg::Collective::kPs);
  at.require(servers == e.job.ring.empty(), "job.collective", Checks::quoted(*name),
             servers ? "must be one without servers with ring in [job]"
                     : "needs ring in [job]: its workers are on the hosts of these groups");
}

void check_ring(const Checks& at, const ExperimentFile& e, const CaseParameters& p) {
  at.require(p.jobs == 1, "jobs", std::to_string(p.jobs), "must be 1 with ring in [job]");
  at.require(p.servers == 1, "servers", std::to_string(p.servers),
             "must be left out with ring in [job]: it has none");
  at.require(p.placement.empty(), "placement", Checks::quoted(p.placement),
             "must be left out with ring in [job]: it has no servers");
  std::uint32_t hosts = 0;
  for (const auto& group : e.hosts)
    if (e.job.is_on(group.name)) hosts += group.count.fixed;
  at.require(p.workers == hosts, "workers", std::to_string(p.workers),
             "must be the hosts of [job] ring, " + std::to_string(hosts));
}

void check_listed_jobs(const Checks& at, const ExperimentFile& e, const CaseParameters& p) {
  constexpr const char* kRule = "must be left out with a list of jobs, which says it";
  at.require(p.jobs == 1, "jobs", std::to_string(p.jobs), kRule);
  at.require(p.placement.empty(), "placement", Checks::quoted(p.placement), kRule);
  at.require(p.job_offset == 0, "job_offset", std::to_string(p.job_offset), kRule);
  at.require(p.worker_rate_spread == 0, "worker_rate_spread", std::to_string(p.worker_rate_spread),
             "must be 0 with a list of jobs: their hosts have the rates of the fabric");
  std::size_t last = e.jobs.size();                    // entry that was checked before
  std::set<std::pair<std::string, std::string>> told;  // a column's fault is that of all lines
  std::vector<std::uint32_t> classes;                  // of layers
  for (const auto& listed : e.jobs) {
    if (std::exchange(last, listed.entry) == listed.entry && listed.line == 0) continue;
    const CaseParameters of_job = parameters_of(listed, p, e.network.rtt);
    const tg::TransportConfig& ddl = of_job.programs().ddl;
    if (ddl.protocol == tg::TransportProtocol::kMlt && !ddl.mlt.class_dscps.empty()) {
      if (classes.empty()) classes = ddl.mlt.class_dscps;
      if (ddl.mlt.class_dscps != classes)
        fault_of_job(at, listed, "transport.mlt.class_dscps",
                     "must be those of the other jobs that have classes: each has one queue");
    }
    for (const auto& issue : validate(of_job))
      if (told.emplace(issue.key, issue.problem).second)
        fault_of_job(at, listed, issue.key, issue.problem);
  }
}

void check_placement(const Checks& at, const ExperimentFile& e, const CaseParameters& p) {
  if (!e.jobs.empty()) return check_listed_jobs(at, e, p);
  if (!e.has_job()) return;
  check_collective(at, e, p);
  at.require(p.worker_rate_spread == 0 || (e.job.ring.empty() && e.job.hosts.empty()),
             "worker_rate_spread", std::to_string(p.worker_rate_spread),
             "must be 0 with hosts or ring in [job]: it needs workers on hosts of their own");
  if (!e.job.ring.empty()) return check_ring(at, e, p);
  if (e.job.hosts.empty()) {
    at.require(p.placement.empty(), "placement", Checks::quoted(p.placement),
               "needs hosts in [job]: on hosts of their own servers share none");
    return;
  }
  at.require(p.servers == 1, "servers", std::to_string(p.servers),
             "must be 1 with hosts in [job]: placement says where the server of each job is");
  const auto senders = std::ranges::find(e.hosts, e.background.from, &HostGroupEntry::name);
  if (senders != e.hosts.end() && e.background.to == e.job.hosts)
    at.require(
        senders->count.fixed <= p.workers + 1, "workers", std::to_string(p.workers),
        "makes fewer hosts than background has senders, " + std::to_string(senders->count.fixed));
  at.require(!p.placement.empty() || p.jobs <= p.workers + 1, "jobs", std::to_string(p.jobs),
             "needs a placement: there are fewer hosts, " + std::to_string(p.workers + 1));
}

std::vector<tg::JobConfig> plan_jobs(const ExperimentFile& e, const CaseParameters& p,
                                     const Topology& t, const tg::JobConfig& like) {
  std::vector<tg::JobConfig> jobs(p.jobs, like);
  const Duration iteration =
      p.job_offset > 0 ? nominal_iteration(like, p, t.measured_rate) : Duration{};
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].name = p.jobs == 1 ? "job" : "job" + std::to_string(j);
    jobs[j].tcp_port = static_cast<std::uint16_t>(like.tcp_port + j);
    jobs[j].announce.threshold_packets =
        static_cast<std::uint16_t>(like.announce.threshold_packets + j * p.job_h_step_packets);
    if (like.burst_bytes && j > 0)
      jobs[j].burst_bytes = static_cast<std::uint64_t>(
          std::llround(static_cast<double>(*jobs[j - 1].burst_bytes) * p.job_burst_factor));
    if (p.programs().signs()) jobs[j].announce.signal_key = signal_key_file(j);
    jobs[j].start = from_seconds(static_cast<double>(j) * p.job_offset * seconds(iteration));
  }
  if (!e.job.ring.empty()) place_on_groups(e, t, jobs.front());
  else if (e.job.hosts.empty()) place_on_own_hosts(e, p, t, jobs);
  else place_on_shared_hosts(e, p, t, jobs);
  return jobs;
}

}  // namespace outrider::lab
