#include <algorithm>
#include <set>
#include <string_view>

#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/plan/plan_background.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/plan/plan_switches.h"

namespace outrider::lab {
namespace {

/// Returns the job's transport: TCP, or bounded loss, which has no connections to open anew and
/// uses no other setting of TCP.
tg::TransportConfig job_transport_of(const CaseParameters& p, const ProgramSettings& settings) {
  tg::TransportConfig transport = settings.ddl;
  if (p.protocol == tg::TransportProtocol::kTcp ||
      (p.protocol == tg::TransportProtocol::kMlt && p.connection == tg::ConnectionReuse::kKeep))
    transport.tcp.reuse = p.connection;
  for (std::uint32_t c = 0; c < p.layer_classes && p.layer_classes > 1; ++c)
    transport.mlt.class_dscps.push_back(layer_dscp(c, p.layer_classes));
  return transport;
}

/// Returns the signal faults of an arm. Without STARTs only forged signals are left, which need
/// no START.
tg::SignalFaultsConfig faults_of(const CaseParameters& p, Duration rtt) {
  tg::SignalFaultsConfig faults{.forged_per_second = p.signal_forged_per_second,
                                .forged_tag = p.signal_forged_tag,
                                .replayed_per_second = p.signal_replayed_per_second};
  if (p.lead_source == tg::LeadSource::kNone) return faults;
  faults.lost = p.signal_lost;
  faults.late = p.signal_late;
  faults.late_by = rtts_to_duration(p.signal_late_rtts, rtt);
  faults.early = p.signal_early;
  faults.early_by = rtts_to_duration(p.signal_early_rtts, rtt);
  faults.duplicated = p.signal_duplicated;
  faults.copies = p.signal_copies;
  faults.copy_gap = rtts_to_duration(p.signal_copy_gap_rtts, rtt);
  return faults;
}

/// Where windows are held, build_case() replaces an automatic lead.
void announce(const CaseParameters& p, Duration rtt, tg::AnnounceConfig& announce) {
  announce.lead_source = p.lead_source;
  announce.lead = rtts_to_duration(p.lead_rtts.value.value_or(kPaperLead_rtts), rtt);
  announce.threshold_packets = p.h_packets;
  announce.signal_form = p.signal_form;
  announce.faults = faults_of(p, rtt);
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
tg::JobConfig job_of(const ExperimentFile& e, const CaseParameters& p,
                     const ProgramSettings& settings, const Topology& t) {
  tg::JobConfig job = settings.job;
  job.iterations = p.iterations;
  job.schedule = p.schedule;
  job.first_due = from_seconds(p.warm_up_seconds);
  job.period = from_seconds(p.period_seconds);
  announce(p, t.rtt, job.announce);
  if (p.model.empty()) job.burst_bytes = p.burst_bytes;
  else job.model = path_of_file(kModelFile, p.model, e.directory);
  spread_compute(p, job);
  if (job.learner.model != tg::LearnerModel::kNone) job.learner.learning_rate = rate_of(p, job);
  if (p.model.empty() || p.compute_seconds > 0) job.compute = from_seconds(p.compute_seconds);
  return job;
}

/// Adds the jobs of a list. A job whose bursts have settings of their own gets a transport.
void add_listed_jobs(const ExperimentFile& e, const CaseParameters& of_case, const Topology& t,
                     tg::GeneratorConfig& config) {
  for (std::size_t j = 0; j < e.jobs.size(); ++j) {
    const ListedJob& listed = e.jobs[j];
    const CaseParameters p = parameters_of(listed, of_case);
    ConfigIssues ignored;  // build_case() reports them
    const auto settings = read_settings(p.settings, p.protocol, e.network.rtt, ignored);
    tg::JobConfig job = job_of(e, p, settings, t);
    job.name = listed.name;
    job.tcp_port = static_cast<std::uint16_t>(job.tcp_port + j);
    job.start = listed.start;
    job.workers = names_of(e, t, listed.name + "_worker");
    job.servers = names_of(e, t, listed.name + "_server");
    if (p.signal_signed) job.announce.signal_key = signal_key_file(j);
    if (listed.own.get("ddl") != nullptr || listed.own.get("protocol") != nullptr ||
        listed.own.get("connection") != nullptr) {
      config.transports.push_back(job_transport_of(p, settings));
      config.transports.back().name += "_" + listed.name;
      job.transport = config.transports.back().name;
    }
    config.jobs.push_back(std::move(job));
  }
}

}  // namespace

tg::GeneratorConfig plan_traffic(const ExperimentFile& e, const CaseParameters& p,
                                 const ProgramSettings& settings, const Topology& t,
                                 std::uint64_t seed) {
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
                            .tso_bytes = e.hosts[host.group].tso_bytes});
  }
  config.transports.push_back(job_transport_of(p, settings));
  add_background_transports(e, p, settings, config);
  if (e.jobs.empty()) config.jobs = plan_jobs(e, p, t, job_of(e, p, settings, t));
  else add_listed_jobs(e, p, t, config);
  config.tensorlights = settings.tensorlights;
  add_background(e, p, t, config);
  config.send_jitter = p.send_jitter;
  config.attribution = p.attribution;
  if (p.connection_sample_seconds > 0)
    config.connection_sample_period = from_seconds(p.connection_sample_seconds);
  config.bin = t.rtt;
  config.max_bins = kMaxBins;
  return config;
}

}  // namespace outrider::lab
