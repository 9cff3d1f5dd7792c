#include "tools/lab/measure/job_samples.h"

#include <algorithm>
#include <utility>

namespace outrider::lab {

ValuesByJob values_by_job(std::span<const JobSamples* const> runs) {
  ValuesByJob jobs;
  for (const JobSamples* run : runs) {
    auto from = run->values().begin();
    for (const JobSamples::Row& row : run->rows()) {
      const auto end = run->values().begin() + static_cast<std::ptrdiff_t>(row.end);
      auto& of_job = jobs[row.job];
      of_job.insert(of_job.end(), from, end);
      from = end;
    }
  }
  return jobs;
}

double mean_of_jobs(std::span<const JobSamples* const> runs,
                    const std::function<double(std::vector<double>)>& figure) {
  std::vector<double> figures;
  for (auto& [job, values] : values_by_job(runs)) figures.push_back(figure(std::move(values)));
  return mean(figures);
}

double mean_of_jobs(std::span<const JobSamples* const> runs,
                    std::span<const JobSamples* const> others,
                    const std::function<double(std::vector<double>, std::vector<double>)>& figure) {
  std::vector<double> figures;
  ValuesByJob of_others = values_by_job(others);
  for (auto& [job, values] : values_by_job(runs))
    if (const auto other = of_others.find(job); other != of_others.end())
      figures.push_back(figure(std::move(values), std::move(other->second)));
  return mean(figures);
}

Statistics statistics_of(const JobSamples& run) {
  Statistics s = statistics_of(std::span<const double>(run.values()));
  const JobSamples* const runs[]{&run};
  s.mean = mean_of_jobs(runs, [](std::vector<double> v) { return mean(v); });
  s.median = mean_of_jobs(runs, [](std::vector<double> v) { return median(std::move(v)); });
  s.p99 = mean_of_jobs(runs, [](std::vector<double> v) { return quantile(std::move(v), 0.99); });
  return s;
}

}  // namespace outrider::lab
