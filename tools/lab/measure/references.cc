#include "tools/lab/measure/references.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/net/burst_option.h"
#include "tools/lab/measure/job_samples.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"

namespace outrider::lab {

namespace {

/// Headers of a burst's segment: Ethernet, IPv4, TCP, identity.
constexpr std::uint32_t kHeaderBytes = 14 + 20 + 20 + kBurstOptionBytes;

std::uint32_t mss_of(const tg::GeneratorConfig& traffic, const tg::JobConfig& job) {
  for (const auto& t : traffic.transports)
    if (t.name == job.transport) return t.tcp.mss_bytes;
  return tg::TcpConfig{}.mss_bytes;
}

const tg::HostConfig* find_host(const tg::GeneratorConfig& traffic, const std::string& name) {
  const auto it = std::ranges::find(traffic.hosts, name, &tg::HostConfig::name);
  return it == traffic.hosts.end() ? nullptr : &*it;
}

/// Returns the bytes of one worker's burst in frames, split evenly over the servers.
double burst_bytes_on(RateLayer layer, std::uint64_t payload, std::size_t servers,
                      std::uint32_t mss) {
  const std::uint64_t share = (payload + servers - 1) / servers;
  const std::uint64_t segments = servers * ((share + mss - 1) / mss);
  const std::uint32_t each = kHeaderBytes + (layer == RateLayer::kL1 ? kL1OverheadBytes : 0);
  return static_cast<double>(payload + segments * each);
}

/// The load of one iteration's push on the bottleneck and on the workers' NICs.
struct Loads {
  double queue_seconds = 0;
  double nic_seconds = 0;
};

Loads loads_of(const Case& definition, const IterationBursts& it,
               const std::set<std::pair<std::uint16_t, std::uint16_t>>& crossing) {
  static const tg::JobConfig kNone{};
  const tg::JobConfig& job =
      it.job < definition.traffic.jobs.size() ? definition.traffic.jobs[it.job] : kNone;
  const std::size_t servers = std::max<std::size_t>(job.servers.size(), 1);
  const std::uint32_t mss = std::max(mss_of(definition.traffic, job), 1U);
  const sw::SwitchPortConfig* port = find_port(definition);
  const RateLayer layer = port == nullptr ? RateLayer::kL1 : port->rate_layer;

  Loads loads;
  double queue_bytes = 0;
  for (const tg::BurstRecord* b : it.bursts) {
    if (crossing.empty() || crossing.contains({it.job, b->identity.worker}))
      queue_bytes += burst_bytes_on(layer, b->bytes, servers, mss);
    if (b->identity.worker >= job.workers.size()) continue;
    if (const tg::HostConfig* host = find_host(definition.traffic, job.workers[b->identity.worker]))
      loads.nic_seconds =
          std::max(loads.nic_seconds, burst_bytes_on(RateLayer::kL1, b->bytes, servers, mss) * 8 /
                                          static_cast<double>(host->rate.bits_per_second));
  }
  loads.queue_seconds =
      queue_bytes * 8 / static_cast<double>(definition.bottleneck.bits_per_second);
  return loads;
}

double alone_seconds(const Case& definition, const RunResult& alone) {
  JobSamples completions;
  for (const auto& it : iterations_of(definition, alone.traffic, BurstDirection::kPush))
    if (it.complete) completions.add(it.job, static_cast<double>(it.completion_ns) / 1e9);
  return statistics_of(completions).median;
}

}  // namespace

namespace {

double share_beside(std::uint32_t header_bytes, const Case& definition) {
  const auto& jobs = definition.traffic.jobs;
  const std::uint32_t mss =
      mss_of(definition.traffic, jobs.empty() ? tg::JobConfig{} : jobs.front());
  return static_cast<double>(mss) / (mss + header_bytes);
}

}  // namespace

double payload_share(const Case& definition) { return share_beside(kHeaderBytes, definition); }

double wire_payload_share(const Case& definition) {
  return share_beside(kHeaderBytes + kL1OverheadBytes, definition);
}

References references_of(const Case& definition, const RunResult& result, const RunResult* alone) {
  References out{.ideal = kNotDefined, .alone = kNotDefined, .fair = kNotDefined};
  if (alone != nullptr) out.alone = alone_seconds(definition, *alone);
  if (definition.bottleneck.bits_per_second == 0) return out;

  std::set<std::pair<std::uint16_t, std::uint16_t>> crossing;
  if (const sw::QueueReport* queue = find_queue(result.switches, definition.measured_queue))
    for (const auto& r : queue->bursts)
      if (r.identity.direction == BurstDirection::kPush)
        crossing.insert({r.identity.job, r.identity.worker});

  const double workers = static_cast<double>(
      definition.workers * std::max<std::size_t>(definition.traffic.jobs.size(), 1));
  const double share = workers > 0 ? workers / (workers + definition.background_flows) : 1;
  std::vector<double> ideal, fair;
  for (const auto& it : iterations_of(definition, result.traffic, BurstDirection::kPush)) {
    if (it.bursts.size() != workers_of(definition, it.job, it.bursts.size())) continue;
    const Loads loads = loads_of(definition, it, crossing);
    const double rtt = seconds(definition.base_rtt);
    ideal.push_back(rtt + std::max(loads.queue_seconds, loads.nic_seconds));
    fair.push_back(rtt + std::max(loads.queue_seconds / share, loads.nic_seconds));
  }
  out.ideal = median(std::move(ideal));
  out.fair = median(std::move(fair));
  return out;
}

}  // namespace outrider::lab
