#include <algorithm>
#include <set>
#include <string_view>

#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/plan/plan_background.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/plan/plan_switches.h"

namespace outrider::lab {
namespace {

/// Without STARTs only forged signals are left, which need none. Where windows are held,
/// build_case() replaces an automatic lead.
void settle_signals(tg::AnnounceConfig& announce) {
  if (announce.lead_source != tg::LeadSource::kNone) return;
  const tg::SignalFaultsConfig given = announce.faults;
  announce.faults = {.forged_per_second = given.forged_per_second,
                     .forged_tag = given.forged_tag,
                     .replayed_per_second = given.replayed_per_second};
}

/// Returns the learning rate. N gradients applied one after the other move as far as their mean
/// at N times the rate, so this scaling makes one setting fair to all rules. The authors of R2SP
/// scale it too (cifar10_alexnet_bsp.py).
double rate_of(const CaseParameters& p, const tg::JobConfig& job) {
  const bool barrier =
      job.synchronisation == tg::Synchronisation::kBsp ||
      (job.synchronisation == tg::Synchronisation::kSsp && job.staleness_bound == 0);
  return barrier ? p.learner_rate * p.workers : p.learner_rate;
}

/// Spreads the computing times of workers; worker 0 is the slowest, as R2SP measures.
void spread_compute(const CaseParameters& p, tg::JobConfig& job) {
  const std::size_t workers = p.workers;
  for (std::size_t w = 0; w < workers && p.compute_spread > 0; ++w)
    job.compute_factors.push_back(1 +
                                  p.compute_spread * static_cast<double>(workers - 1 - w) /
                                      static_cast<double>(std::max<std::size_t>(workers, 2) - 1));
}

/// Returns the job without its name and hosts, which plan_jobs() adds.
tg::JobConfig job_of(const ExperimentFile& e, const CaseParameters& p) {
  tg::JobConfig job = p.programs().job;
  job.announce.signal_key.reset();  // plan_jobs() gives each its own
  job.first_due = from_seconds(p.warm_up_seconds);
  settle_signals(job.announce);
  if (job.model) job.model = path_of_file(kModelFile, *job.model, e.directory);
  if (job.steps) job.steps = path_of_file(kStepsFile, *job.steps, e.directory);
  spread_compute(p, job);
  if (job.learner.model != tg::LearnerModel::kNone) job.learner.learning_rate = rate_of(p, job);
  return job;
}

/// Adds the jobs of a list. A job whose bursts have settings of their own gets a transport.
void add_listed_jobs(const ExperimentFile& e, const CaseParameters& of_case, const Topology& t,
                     tg::GeneratorConfig& config) {
  for (std::size_t j = 0; j < e.jobs.size(); ++j) {
    const ListedJob& listed = e.jobs[j];
    const CaseParameters p = parameters_of(listed, of_case, e.network.rtt);
    tg::JobConfig job = job_of(e, p);
    job.name = listed.name;
    job.tcp_port = static_cast<std::uint16_t>(job.tcp_port + j);
    job.start = listed.start;
    job.workers = names_of(e, t, listed.name + "_worker");
    job.servers = names_of(e, t, listed.name + "_server");
    if (p.programs().signs()) job.announce.signal_key = signal_key_file(j);
    if (listed.own.get("ddl") != nullptr) {
      config.transports.push_back(p.programs().ddl);
      config.transports.back().name += "_" + listed.name;
      job.transport = config.transports.back().name;
    }
    config.jobs.push_back(std::move(job));
  }
}

}  // namespace

tg::GeneratorConfig plan_traffic(const ExperimentFile& e, const CaseParameters& p,
                                 const Topology& t, std::uint64_t seed) {
  const ProgramSettings& settings = p.programs();
  tg::GeneratorConfig config;
  config.seed = seed;
  std::set<std::string_view> known;
  for (const auto& host : t.hosts) {
    const auto& device = e.switches[host.at_switch].name;
    if (known.insert(device).second)
      config.devices.push_back(
          {.name = device, .device = virtio_user_device(config.devices.size(), device + ".sock")});
    config.hosts.push_back({.name = host.name,
                            .address = host.address,
                            .device = device,
                            .rate = host.rate,
                            .mtu_bytes = e.hosts[host.group].mtu_bytes,
                            .tso_bytes = e.hosts[host.group].tso_bytes,
                            .pause_storm = e.hosts[host.group].pause_storm});
  }
  config.transports.push_back(p.programs().ddl);
  add_background_transports(e, p, config);
  if (!e.jobs.empty()) add_listed_jobs(e, p, t, config);
  else if (e.has_job()) config.jobs = plan_jobs(e, p, t, job_of(e, p));
  config.tensorlights = settings.tensorlights;
  add_background(e, p, t, config);
  config.send_jitter = settings.traffic.send_jitter;
  config.attribution = settings.traffic.attribution;
  config.connection_sample_period = settings.traffic.connection_sample_period;
  config.bin = t.rtt;
  config.max_bins = kMaxBins;
  if (!e.has_job() && !tg::ends_with_lists(config)) config.duration = from_seconds(p.limit_seconds);
  return config;
}

}  // namespace outrider::lab
