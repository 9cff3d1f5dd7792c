#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/plan/plan_switches.h"
#include "trafficgen/roce/path_mtu.h"

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

tg::TransportConfig background_transport_of(const CaseParameters& p,
                                            const ProgramSettings& settings) {
  tg::TransportConfig transport = settings.background;
  transport.tcp.reuse = p.connection;
  if (p.background_protocol == LabBackgroundProtocol::kBoth)  // each has a class
    transport.tcp.priority = settings.transport.tcp.priority;
  return transport;
}

/// A transport that carries background, and its share of the load.
struct Carrier {
  std::string transport;
  double share = 1;
};

std::vector<Carrier> carriers_of(const CaseParameters& p) {
  if (p.background_protocol == LabBackgroundProtocol::kTcp) return {{"background"}};
  if (p.background_protocol == LabBackgroundProtocol::kRoce) return {{"background_roce"}};
  return {{"background", 0.5}, {"background_roce", 0.5}};
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

/// Adds what `forward` says; the same in the other direction too if background flows both ways.
template <class Flows>
void add_background(const ExperimentFile& e, Flows forward, std::vector<Flows>& all) {
  all.push_back(forward);
  if (!e.background.both_ways) return;
  std::swap(forward.from, forward.to);
  forward.name += "_back";
  all.push_back(std::move(forward));
}

/// Returns the rate of which background_load is a share [bit/s]: that of the measured link, or in a
/// fabric that of the NICs that send.
double loaded_rate(const ExperimentFile& e, const Topology& t) {
  if (!e.in_fabric) return static_cast<double>(t.measured_rate.bits_per_second);
  double sum = 0;
  for (const auto& host : t.hosts)
    if (e.hosts[host.group].name == e.background.from)
      sum += static_cast<double>(host.rate.bits_per_second);
  return sum;
}

/// Returns the share of payload in what the carrier sends.
double payload_share(const ExperimentFile& e, const Carrier& carrier) {
  constexpr double kOfSegment = 1448.0 / (1514 + kL1OverheadBytes);  // a full one
  if (carrier.transport == "background") return kOfSegment;
  const auto senders = std::ranges::find(e.hosts, e.background.from, &HostGroupEntry::name);
  const double payload = tg::path_mtu_of(senders->mtu_bytes);
  return payload / (payload + tg::kAroundPayloadBytes);
}

/// Returns the flows that start and end during the run and load a share of the measured link.
tg::FlowsConfig flows_of(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
                         const Carrier& carrier) {
  const double bits = p.background_load.value_or(0) * carrier.share * loaded_rate(e, t);
  return {.name = carrier.transport + "_flows",
          .from = background_from(e, t),
          .to = background_to(e, t),
          .distribution = path_of_file(kSizesFile, p.background_sizes, e.directory),
          .hosts = {},
          .rate = BitRate{static_cast<std::uint64_t>(bits * payload_share(e, carrier))},
          .transport = carrier.transport,
          .queue_pairs = p.background_queue_pairs};
}

/// Returns the flows of a list. Its hosts are those that send background, then those that receive
/// it and do not send.
tg::FlowsConfig listed_flows_of(const ExperimentFile& e, const CaseParameters& p,
                                const Topology& t) {
  constexpr std::uint16_t kPort = 33000;  // other groups may have the same receivers
  std::vector<std::string> hosts = background_from(e, t);
  for (std::string& name : background_to(e, t))
    if (std::ranges::find(hosts, name) == hosts.end()) hosts.push_back(std::move(name));
  return {.name = "background_list",
          .from = {},
          .to = {},
          .list = path_of_file(kFlowListFile, p.background_list, e.directory),
          .hosts = std::move(hosts),
          .transport = carriers_of(p).front().transport,
          .tcp_port = kPort,
          .queue_pairs = p.background_queue_pairs};
}

/// Returns the requests of `requests.*`. Their clients are the hosts that send background.
tg::RequestFlowsConfig requests_of(const ExperimentFile& e, const ProgramSettings& settings,
                                   const Topology& t) {
  tg::RequestFlowsConfig requests = settings.requests;
  requests.name = "background_requests";
  requests.from = background_from(e, t);
  requests.to = background_to(e, t);
  requests.transport = "background";
  return requests;
}

/// Returns the capture, which the first pair of background's hosts plays until the run ends. A host
/// that is not there is reported by the generator's rules.
tg::CaptureConfig capture_of(const ExperimentFile& e, const CaseParameters& p, const Topology& t) {
  const auto first_of = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string() : names.front();
  };
  return {.name = "background_capture",
          .from = first_of(background_from(e, t)),
          .to = first_of(background_to(e, t)),
          .file = path_of_file(kCaptureFile, p.background_capture, e.directory),
          .rounds = 0};
}

/// Splits flows by pairs of racks, each with its share of the rate. @pre check_racks()
void add_by_racks(const ExperimentFile& e, const Topology& t, const tg::FlowsConfig& all,
                  tg::GeneratorConfig& config) {
  const std::vector<std::size_t> racks = racks_of(e);
  double sum = 0;
  for (const auto& row : e.background.racks) sum += std::reduce(row.begin(), row.end());
  for (std::size_t i = 0; i < racks.size(); ++i)
    for (std::size_t j = 0; j < racks.size(); ++j) {
      const double share = e.background.racks[i][j] / sum;
      if (share == 0) continue;
      tg::FlowsConfig pair = all;
      pair.name += "_" + std::to_string(i) + "_" + std::to_string(j);
      pair.tcp_port =
          static_cast<std::uint16_t>(pair.tcp_port + i);  // a host receives of each rack
      pair.from = names_at(e, t, e.background.from, racks[i]);
      pair.to = names_at(e, t, e.background.to, racks[j]);
      pair.rate = BitRate{static_cast<std::uint64_t>(
          share * static_cast<double>(all.rate.value_or(BitRate{}).bits_per_second))};
      config.flows.push_back(std::move(pair));
    }
}

/// Adds the long flows and the flows with sizes that a transport carries.
void add_flows(const ExperimentFile& e, const CaseParameters& p, const Topology& t,
               const Carrier& carrier, tg::GeneratorConfig& config) {
  if (const std::uint32_t flows = long_flows_per_pair(p); flows > 0)
    add_background(e,
                   tg::LongFlowsConfig{.name = carrier.transport,
                                       .from = background_from(e, t),
                                       .to = background_to(e, t),
                                       .flows_per_pair = flows,
                                       .transport = carrier.transport,
                                       .start_spread = from_seconds(p.start_spread_seconds)},
                   config.long_flows);
  if (p.background_load.value_or(0) == 0) return;
  const tg::FlowsConfig flows = flows_of(e, p, t, carrier);
  if (e.background.racks.empty()) add_background(e, flows, config.flows);
  else add_by_racks(e, t, flows, config);
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
  config.transports.push_back(background_transport_of(p, settings));
  if (p.background_protocol != LabBackgroundProtocol::kTcp)
    config.transports.push_back(settings.background_roce);
  if (e.jobs.empty()) config.jobs = plan_jobs(e, p, t, job_of(e, p, settings, t));
  else add_listed_jobs(e, p, t, config);
  config.tensorlights = settings.tensorlights;
  const bool has_hosts = !e.background.from.empty();
  if (has_hosts)
    for (const Carrier& carrier : carriers_of(p)) add_flows(e, p, t, carrier, config);
  if (!p.background_list.empty() && has_hosts) config.flows.push_back(listed_flows_of(e, p, t));
  if (settings.requests.connections > 0 && has_hosts)
    add_background(e, requests_of(e, settings, t), config.requests);
  if (!p.background_capture.empty() && has_hosts) config.captures.push_back(capture_of(e, p, t));
  config.send_jitter = p.send_jitter;
  config.attribution = p.attribution;
  if (p.connection_sample_seconds > 0)
    config.connection_sample_period = from_seconds(p.connection_sample_seconds);
  config.bin = t.rtt;
  config.max_bins = kMaxBins;
  return config;
}

}  // namespace outrider::lab
