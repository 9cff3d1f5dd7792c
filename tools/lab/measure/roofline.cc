#include "tools/lab/measure/roofline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/lab/measure/collective_bandwidth.h"

namespace outrider::lab {
namespace {

/// One iteration of a job, over its ranks.
struct Iteration {
  std::int64_t took_ns = 0;  ///< the slowest
  double roofline_ns = 0;    ///< the longest
  bool ended = true;
};

using ByIteration = std::map<std::pair<std::uint16_t, std::uint32_t>, Iteration>;

/// Returns the bits per nanosecond of a rank's NIC; 0: the configuration does not have it.
double rate_of(const Case& definition, std::uint16_t job, std::uint16_t worker) {
  const std::string& name = definition.traffic.jobs[job].workers[worker];
  const auto host = std::ranges::find(definition.traffic.hosts, name, &tg::HostConfig::name);
  if (host == definition.traffic.hosts.end()) return 0;
  return static_cast<double>(host->rate.bits_per_second) / 1e9;
}

bool counts(const Case& definition, std::uint16_t job, std::uint16_t worker,
            std::uint32_t iteration) {
  if (job >= definition.traffic.jobs.size() || iteration < definition.skip_iterations) return false;
  const tg::JobConfig& config = definition.traffic.jobs[job];
  return worker < config.workers.size() && bus_factor(config.collective, config.workers.size());
}

}  // namespace

std::vector<double> over_roofline(const CaseRun& run) {
  const Case& definition = *run.definition;
  ByIteration iterations;
  std::map<BurstIdentity, double> sending_ns;
  for (const tg::BurstRecord& b : run.result.traffic.bursts) {
    if (!counts(definition, b.identity.job, b.identity.worker, b.identity.iteration)) continue;
    const double rate = rate_of(definition, b.identity.job, b.identity.worker);
    if (rate > 0) sending_ns[b.identity] = static_cast<double>(b.bytes) * 8 / rate;
  }
  for (const tg::IterationRecord& r : run.result.traffic.iterations) {
    if (!counts(definition, r.job, r.worker, r.iteration)) continue;
    Iteration& it = iterations[{r.job, r.iteration}];
    const auto sending = sending_ns.find({r.job, r.worker, r.iteration});
    it.ended &= r.begin_ns != tg::kNotYet_ns && r.ready_ns != tg::kNotYet_ns &&
                r.end_ns != tg::kNotYet_ns && sending != sending_ns.end();
    if (!it.ended) continue;
    it.took_ns = std::max(it.took_ns, r.end_ns - r.begin_ns);
    it.roofline_ns =
        std::max(it.roofline_ns, static_cast<double>(r.ready_ns - r.begin_ns) + sending->second);
  }
  std::vector<double> ratios;
  for (const auto& [key, it] : iterations)
    if (it.ended && it.roofline_ns > 0)
      ratios.push_back(static_cast<double>(it.took_ns) / it.roofline_ns);
  return ratios;
}

}  // namespace outrider::lab
