#include "tools/lab/report/report_jobs.h"

#include <algorithm>
#include <string>
#include <vector>

namespace outrider::lab {

namespace {

/// Returns what the runs' summaries say of the job with this index.
std::vector<const ReportJson*> of_runs(const ReportJson& cases, const ReportArm& arm,
                                       std::size_t job) {
  std::vector<const ReportJson*> out;
  for (const std::size_t i : arm.cases)
    out.push_back(&cases.at(i).at("metrics").at("jobs").at("each").at(job));
  return out;
}

ReportJson mean_of(const std::vector<const ReportJson*>& runs, const char* name) {
  double sum = 0;
  for (const ReportJson* run : runs) {
    if (!run->at(name).is_number()) return nullptr;
    sum += run->at(name).get<double>();
  }
  return short_number(sum / static_cast<double>(runs.size()));
}

/// Adds the number of complete iterations, and where the time of the job's pushes went.
void add_from_bursts(const ReportArm& arm, const std::vector<ReportRun>& runs, std::size_t job,
                     ReportJson& out) {
  BurstTimes sums;
  std::int64_t iterations = 0, bursts = 0;
  for (const std::size_t i : arm.cases)
    for (const auto& it : runs[i].iterations) {
      if (it.job != static_cast<std::int64_t>(job)) continue;
      iterations += it.delivered_ns ? 1 : 0;
      for (const auto& b : it.bursts) {
        if (!b.times) continue;
        ++bursts;
        for (std::size_t k = 0; k < kBurstTimes; ++k) sums.ns[k] += b.times->ns[k];
      }
    }
  out["iterations"] = iterations;
  out["attribution"] = nullptr;
  for (std::size_t k = 0; bursts > 0 && k < kBurstTimes; ++k)
    out["attribution"][std::string(kBurstTimeNames[k])] =
        short_number(static_cast<double>(sums.ns[k]) * 1e-6 / static_cast<double>(bursts));
}

/// Adds what links say of the job.
void add_from_links(const std::vector<const ReportJson*>& runs, ReportJson& out) {
  auto& links = out["worst_links"] = ReportJson::array();
  for (const ReportJson* run : runs)
    if (std::ranges::find(links, run->at("worst_link")) == links.end())
      links.push_back(run->at("worst_link"));
  for (const char* name :
       {"worker_start_queue_packets_mean", "worker_start_queue_total_packets_mean"})
    out[name] = mean_of(runs, name);
}

}  // namespace

ReportJson jobs_json(const ReportJson& summary, const ReportArm& arm,
                     const std::vector<ReportRun>& runs) {
  const auto& cases = summary.at("cases");
  if (arm.cases.empty() || !cases.at(arm.cases.front()).at("metrics").contains("jobs"))
    return nullptr;
  ReportJson out = ReportJson::array();
  const std::size_t jobs = cases.at(arm.cases.front()).at("metrics").at("jobs").at("each").size();
  for (std::size_t job = 0; job < jobs; ++job) {
    const auto own = of_runs(cases, arm, job);
    ReportJson one{{"name", own.front()->at("name")}};
    for (const char* name :
         {"completion_seconds", "iteration_seconds_median", "iteration_seconds_p99",
          "communication_seconds_median", "communication_seconds_p99"})
      one[name] = mean_of(own, name);
    add_from_bursts(arm, runs, job, one);
    if (std::ranges::all_of(own, [](const auto* run) { return run->contains("worst_link"); }))
      add_from_links(own, one);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace outrider::lab
