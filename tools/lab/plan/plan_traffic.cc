#include <algorithm>

#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/plan/plan_switches.h"

namespace outrider {
namespace {

Controller ddl_controller(const CaseParameters& p) {
  switch (p.tcp_ddl) {
    case DdlTcp::kReno:
      return Controller::kReno;
    case DdlTcp::kCubic:
      return Controller::kCubic;
    case DdlTcp::kDctcp:
      return Controller::kDctcp;
    case DdlTcp::kSame:
      break;
  }
  return p.tcp;
}

TransportConfig transport_of(std::string name, const CaseParameters& p, Controller controller,
                             EcnUse ecn) {
  TransportConfig transport{.name = std::move(name), .tcp = {}};
  TcpConfig& tcp = transport.tcp;
  tcp.control.controller = controller;
  tcp.control.initial_window_segments = p.initial_window_segments;
  tcp.ecn = ecn != EcnUse::kOff;
  tcp.obey_ece = ecn != EcnUse::kIgnore;
  tcp.reuse = p.connection;
  tcp.min_rto = from_seconds(p.min_rto_seconds);
  tcp.initial_rto = from_seconds(p.initial_rto_seconds);
  tcp.delayed_ack = from_seconds(p.delayed_ack_seconds);
  tcp.receive_buffer_bytes = p.receive_buffer_bytes;
  return transport;
}

/// The job's: TCP, or bounded loss with what it takes of the same parameters.
TransportConfig job_transport_of(const CaseParameters& p) {
  if (p.protocol == TransportProtocol::kTcp)
    return transport_of("ddl", p, ddl_controller(p), p.ddl_ecn);
  TransportConfig transport{.name = "ddl", .tcp = {}, .protocol = TransportProtocol::kMlt};
  transport.tcp.control.controller = Controller::kDctcp;
  transport.tcp.control.initial_window_segments = p.initial_window_segments;
  transport.tcp.ecn = p.ddl_ecn != EcnUse::kOff;
  transport.tcp.obey_ece = p.ddl_ecn != EcnUse::kIgnore;
  transport.mlt = {.tolerance_push = p.tolerance,
                   .tolerance_pull = p.tolerance_pull,
                   .probe_timeout = from_seconds(p.probe_timeout_seconds),
                   .front_share = p.front_share,
                   .small_share = p.small_share};
  for (std::uint32_t c = 0; c < p.layer_classes && p.layer_classes > 1; ++c)
    transport.mlt.class_dscps.push_back(layer_dscp(c, p.layer_classes));
  return transport;
}

/// An arm that sends no START has none that could fail; forging needs nobody.
SignalFaultsConfig faults_of(const CaseParameters& p, Duration rtt) {
  SignalFaultsConfig faults{.forged_per_second = p.signal_forged_per_second};
  if (p.lead_source == LeadSource::kNone) return faults;
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

AnnounceConfig announce_of(const CaseParameters& p, Duration rtt) {
  return {.lead_source = p.lead_source,
          .lead = rtts_to_duration(p.lead_rtts, rtt),
          .threshold_packets = p.h_packets,
          .ack_timeout = rtts_to_duration(p.ack_timeout_rtts, rtt),
          .signal_form = p.signal_form,
          .faults = faults_of(p, rtt)};
}

PolicyConfig policy_of(const CaseParameters& p) {
  PolicyConfig policy{.granularity = p.granularity};
  if (p.partition_bytes > 0) policy.partition_bytes = p.partition_bytes;
  if (p.credit_bytes > 0) policy.credit_bytes = p.credit_bytes;
  if (p.fusion_bytes > 0) policy.fusion_bytes = p.fusion_bytes;
  if (p.fusion_cycle_seconds > 0) policy.cycle = from_seconds(p.fusion_cycle_seconds);
  if (p.bandwidth_error != 1) policy.bandwidth_error = p.bandwidth_error;
  return policy;
}

/// N gradients one after the other move as far as their mean at N times the rate: so one
/// setting is fair to all rules. The authors of R2SP do it too (cifar10_alexnet_bsp.py).
double rate_of(const CaseParameters& p) {
  const bool barrier = p.synchronisation == Synchronisation::kBsp ||
                       (p.synchronisation == Synchronisation::kSsp && p.staleness_bound == 0);
  return barrier ? p.learner_rate * p.workers : p.learner_rate;
}

/// Who waits for whom, and what is learnt. Worker 0 is the slowest: R2SP's measure.
void set_learning(const CaseParameters& p, JobConfig& job) {
  job.synchronisation = p.synchronisation;
  if (p.synchronisation == Synchronisation::kSsp) job.staleness_bound = p.staleness_bound;
  const std::size_t workers = p.workers;
  for (std::size_t w = 0; w < workers && p.compute_spread > 0; ++w)
    job.compute_factors.push_back(1 +
                                  p.compute_spread * static_cast<double>(workers - 1 - w) /
                                      static_cast<double>(std::max<std::size_t>(workers, 2) - 1));
  const bool learns = p.learner != LearnerModel::kNone;
  if (p.synchronisation == Synchronisation::kR2sp) {
    job.r2sp = {.slack = p.r2sp_slack,
                .warm_up_iterations = p.r2sp_warm_up_iterations,
                .tune_batch = p.r2sp_tune_batch};
    if (p.r2sp_tune_batch && !learns) job.r2sp.batch = p.learner_batch;
  }
  if (!learns) return;
  job.learner = {.model = p.learner,
                 .features = p.learner_features,
                 .samples = p.learner_samples,
                 .batch = p.learner_batch,
                 .learning_rate = rate_of(p)};
  if (p.learner == LearnerModel::kPerceptron) job.learner.hidden = p.learner_hidden;
  if (p.target_loss > 0) job.learner.target_loss = p.target_loss;
}

/// Its name and its hosts are still to come.
JobConfig job_of(const ExperimentFile& e, const CaseParameters& p, const Topology& t) {
  JobConfig job{.name = {},
                .workers = {},
                .transport = "ddl",
                .send_policy = p.send_policy,
                .policy = policy_of(p),
                .pull = p.pull,
                .iterations = p.iterations,
                .schedule = p.schedule,
                .first_due = from_seconds(p.warm_up_seconds),
                .period = from_seconds(p.period_seconds),
                .due_jitter = from_seconds(p.due_jitter_seconds),
                .compute_jitter = p.compute_jitter,
                .announce = announce_of(p, t.rtt)};
  if (p.model.empty()) job.burst_bytes = p.burst_bytes;
  else job.model = (e.directory / p.model).lexically_normal().string();
  set_learning(p, job);
  if (p.model.empty() || p.compute_seconds > 0) job.compute = from_seconds(p.compute_seconds);
  return job;
}

/// Flows that come and go, at a share of the measured link.
FlowsConfig flows_of(const ExperimentFile& e, const CaseParameters& p, const Topology& t) {
  constexpr double kPayloadShare = 1448.0 / (1514 + kL1OverheadBytes);  // of a full segment
  const double bits = p.background_load * static_cast<double>(t.measured_rate.bits_per_second);
  return {.name = "background_flows",
          .from = background_from(e, t),
          .to = background_to(e, t),
          .distribution = (e.directory / p.background_sizes).lexically_normal().string(),
          .hosts = {},
          .rate = BitRate{static_cast<std::uint64_t>(bits * kPayloadShare)},
          .transport = "background"};
}

}  // namespace

GeneratorConfig plan_traffic(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                             std::uint64_t seed) {
  GeneratorConfig config;
  config.seed = seed;
  for (const auto& host : t.hosts) {
    const auto& device = e.switches[host.at_switch].name;
    if (std::ranges::find(config.devices, device, &GeneratorDeviceConfig::name) ==
        config.devices.end())
      config.devices.push_back(
          {.name = device, .device = virtio_user_device(config.devices.size(), device + ".sock")});
    config.hosts.push_back({.name = host.name,
                            .address = host.address,
                            .device = device,
                            .rate = e.hosts[host.group].rate,
                            .tso_bytes = e.hosts[host.group].tso_bytes});
  }
  config.transports.push_back(job_transport_of(p));
  config.transports.push_back(transport_of("background", p, p.tcp, p.background_ecn));
  config.jobs = plan_jobs(e, p, t, job_of(e, p, t));
  config.tensorlights.mode = p.tensorlights;
  config.tensorlights.interval = from_seconds(p.tensorlights_interval_seconds);
  if (p.background_flows_per_pair > 0 && !e.background.from.empty())
    config.long_flows.push_back({.name = "background",
                                 .from = background_from(e, t),
                                 .to = background_to(e, t),
                                 .flows_per_pair = p.background_flows_per_pair,
                                 .transport = "background",
                                 .start_spread = from_seconds(p.start_spread_seconds)});
  if (p.background_load > 0 && !e.background.from.empty())
    config.flows.push_back(flows_of(e, p, t));
  config.send_jitter = p.send_jitter;
  config.attribution = p.attribution;
  config.bin = t.rtt;
  config.max_bins = kMaxBins;
  return config;
}

}  // namespace outrider
