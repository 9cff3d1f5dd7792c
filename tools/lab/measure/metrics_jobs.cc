#include "tools/lab/measure/metrics_jobs.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"
#include "tools/lab/measure/references.h"
#include "tools/lab/simulation/job_iterations.h"

namespace outrider::lab {
namespace {

/// Returns the time between the first and the last worker that has all its parameters.
double worker_spread(const IterationBursts& pulls) {
  std::int64_t first = pulls.delivered_ns;
  for (const tg::BurstRecord* b : pulls.bursts) first = std::min(first, b->delivered_ns);
  return to_seconds(pulls.delivered_ns - first);
}

void measure_times(const Case& definition, const tg::GeneratorReport& report, std::uint16_t index,
                   JobMetrics& job) {
  std::int64_t begin_ns = tg::kNotYet_ns, end_ns = tg::kNotYet_ns;
  for (const auto& r : report.iterations) {
    if (r.job != index || r.begin_ns == tg::kNotYet_ns || r.end_ns == tg::kNotYet_ns) continue;
    begin_ns = begin_ns == tg::kNotYet_ns ? r.begin_ns : std::min(begin_ns, r.begin_ns);
    end_ns = std::max(end_ns, r.end_ns);
  }
  if (begin_ns == tg::kNotYet_ns) return;
  job.start_seconds = to_seconds(begin_ns);
  std::vector<double> iterations = iteration_seconds_of(definition, report, index);
  job.iteration_seconds_p99 = quantile(iterations, 0.99);
  job.iteration_seconds_median = median(std::move(iterations));
  const auto summary = std::ranges::find(report.jobs, index, &tg::JobReport::job);
  if (summary != report.jobs.end() && summary->finished)
    job.completion_seconds = to_seconds(end_ns - begin_ns);
}

/// The payload of delivered bursts that each host sent and received [bytes].
struct HostBytes {
  double sent = 0;
  double received = 0;
};

std::map<std::string, HostBytes> bytes_of(const Case& definition,
                                          const tg::GeneratorReport& report) {
  std::map<std::string, HostBytes> hosts;
  for (const auto& b : report.bursts) {
    if (b.delivered_ns == tg::kNotYet_ns || b.identity.job >= definition.traffic.jobs.size())
      continue;
    const tg::JobConfig& job = definition.traffic.jobs[b.identity.job];
    if (b.identity.worker >= job.workers.size() || job.servers.empty()) continue;
    const bool push = b.identity.direction == BurstDirection::kPush;
    const auto bytes = static_cast<double>(b.bytes);
    auto& worker = hosts[job.workers[b.identity.worker]];
    (push ? worker.sent : worker.received) += bytes;
    for (const auto& name : job.servers) {
      auto& server = hosts[name];
      (push ? server.received : server.sent) += bytes / static_cast<double>(job.servers.size());
    }
  }
  return hosts;
}

void measure_nics(const Case& definition, const tg::GeneratorReport& report, JobsMetrics& m) {
  std::set<std::string> serving;
  for (const auto& job : definition.traffic.jobs)
    serving.insert(job.servers.begin(), job.servers.end());
  std::vector<double> sending[2], receiving[2];  // [1 for hosts with a server, else 0]
  for (const auto& [name, bytes] : bytes_of(definition, report)) {
    const auto host = std::ranges::find(definition.traffic.hosts, name, &tg::HostConfig::name);
    if (host == definition.traffic.hosts.end() || report.end_ns <= 0) continue;
    const double could = to_seconds(report.end_ns) *
                         static_cast<double>(host->rate.bits_per_second) / 8 *
                         wire_payload_share(definition);
    const bool serves = serving.contains(name);
    sending[serves].push_back(bytes.sent / could);
    receiving[serves].push_back(bytes.received / could);
  }
  m.server_hosts = {mean(sending[true]), mean(receiving[true])};
  m.other_hosts = {mean(sending[false]), mean(receiving[false])};
}

void measure_communication(const Case& definition, const tg::GeneratorReport& report,
                           JobsMetrics& m) {
  std::map<std::uint16_t, std::vector<double>> seconds;
  for (const auto& it : iterations_of(definition, report, BurstDirection::kPush))
    if (it.complete && it.job < m.each.size())
      seconds[it.job].push_back(to_seconds(it.delivered_ns - it.due_ns));
  for (auto& [job, values] : seconds) {
    m.each[job].communication_seconds_p99 = quantile(values, 0.99);
    m.each[job].communication_seconds_median = median(std::move(values));
  }
}

}  // namespace

void add_worst_links(const LinkResults& links, JobsMetrics& jobs) {
  for (const JobLink& link : links.jobs) {
    if (link.job >= jobs.each.size()) continue;
    JobMetrics& job = jobs.each[link.job];
    job.worst_link = link.link;
    if (link.bursts == 0) continue;
    const auto bursts = static_cast<double>(link.bursts);
    job.worker_start_queue_packets_mean =
        static_cast<double>(link.start_background_packets) / bursts;
    job.worker_start_queue_total_packets_mean = static_cast<double>(link.start_packets) / bursts;
  }
}

JobsMetrics measure_jobs(const Case& definition, const tg::GeneratorReport& report) {
  JobsMetrics m;
  if (definition.traffic.jobs.size() < 2) return m;
  for (const auto& job : definition.traffic.jobs) m.each.push_back({.name = job.name});
  for (std::size_t j = 0; j < m.each.size(); ++j)
    measure_times(definition, report, static_cast<std::uint16_t>(j), m.each[j]);
  std::map<std::uint16_t, std::vector<double>> spreads;
  for (const auto& it : iterations_of(definition, report, BurstDirection::kPull)) {
    if (!it.complete || it.job >= m.each.size()) continue;
    spreads[it.job].push_back(worker_spread(it));
    m.worker_spread_seconds.push_back(spreads[it.job].back());
  }
  for (const auto& [job, values] : spreads) m.each[job].worker_spread_seconds_mean = mean(values);
  measure_communication(definition, report, m);
  measure_nics(definition, report, m);
  return m;
}

}  // namespace outrider::lab
