#include "tools/lab/summary/summary_collectives.h"

#include <cstdint>
#include <string>
#include <utility>

#include "tools/lab/measure/collective_bandwidth.h"

namespace outrider::lab {
namespace {

/// Returns the values of each job, of all seeds.
ValuesByJob values_of_seeds(const std::vector<const CaseSummary*>& own,
                            JobSamples Samples::*values) {
  std::vector<const JobSamples*> runs;
  runs.reserve(own.size());
  for (const CaseSummary* c : own) runs.push_back(&(c->metrics.samples.*values));
  return values_by_job(runs);
}

}  // namespace

std::vector<CollectiveSummary> summarise_collectives(const std::vector<const CaseSummary*>& own) {
  std::vector<CollectiveSummary> all;
  if (own.empty()) return all;
  ValuesByJob sizes = values_of_seeds(own, &Samples::collective_bytes);
  ValuesByJob times = values_of_seeds(own, &Samples::communication_seconds);
  ValuesByJob algbw = values_of_seeds(own, &Samples::algbw_bits_per_second);
  ValuesByJob busbw = values_of_seeds(own, &Samples::busbw_bits_per_second);
  for (std::size_t j = 0; j < own.front()->jobs.size(); ++j) {
    const CaseJob& job = own.front()->jobs[j];
    if (job.workers < 2 || !bus_factor(job.collective, job.workers)) continue;
    const auto index = static_cast<std::uint16_t>(j);
    all.push_back({.job = job.name,
                   .collective = std::string(tg::name_of(job.collective)),
                   .ranks = job.workers,
                   .size_bytes = median(std::move(sizes[index])),
                   .seconds = median(std::move(times[index])),
                   .algbw_bits_per_second = median(std::move(algbw[index])),
                   .busbw_bits_per_second = median(std::move(busbw[index]))});
  }
  return all;
}

}  // namespace outrider::lab
