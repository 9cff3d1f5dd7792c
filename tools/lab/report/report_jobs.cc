#include "tools/lab/report/report_jobs.h"

#include <algorithm>
#include <string>
#include <vector>

namespace outrider::lab {

namespace {

/// Returns the mean over the runs; null if one of them has none.
ReportJson mean_of_runs(const ResultsReader& results, const std::string& of_job,
                        const std::string& column) {
  const auto row = row_json(results, "SELECT avg(" + column + ") AS mean, count(*) = count(" +
                                         column + ") AS whole FROM jobs WHERE " + of_job);
  if (row.at("whole") != 1 || !row.at("mean").is_number()) return nullptr;
  return short_number(row.at("mean").get<double>());
}

/// Adds the number of complete iterations, and where the time of the job's pushes went.
void add_from_bursts(const ArmSummary& arm, const std::vector<ReportRun>& runs, std::int64_t job,
                     ReportJson& out) {
  BurstTimes sums;
  std::int64_t iterations = 0, bursts = 0;
  for (const std::size_t i : arm.cases)
    for (const auto& it : runs[i].iterations) {
      if (it.job != job) continue;
      iterations += it.delivered_ns ? 1 : 0;
      add_times(it, sums, bursts);
    }
  out["iterations"] = iterations;
  out["attribution"] = mean_times_json(sums, bursts);
}

/// Adds what links say of the job, if they do in every run.
void add_from_links(const ResultsReader& results, const std::string& of_job, ReportJson& out) {
  const auto rows = rows_json(results, "SELECT worst_link, min(case_index) FROM jobs WHERE " +
                                           of_job + " GROUP BY worst_link ORDER BY 2");
  ReportJson links = ReportJson::array();
  for (const auto& row : rows)
    if (const auto& link = row.at("worst_link"); link.is_null()) return;
    else links.push_back(link);
  out["worst_links"] = std::move(links);
  for (const char* name :
       {"worker_start_queue_packets_mean", "worker_start_queue_total_packets_mean"})
    out[name] = mean_of_runs(results, of_job, name);
}

}  // namespace

void add_times(const ReportIteration& iteration, BurstTimes& sums, std::int64_t& bursts) {
  for (const auto& b : iteration.bursts) {
    if (!b.times) continue;
    ++bursts;
    for (std::size_t k = 0; k < kBurstTimes; ++k) sums.ns[k] += b.times->ns[k];
  }
}

ReportJson mean_times_json(const BurstTimes& sums, std::int64_t bursts) {
  ReportJson out = nullptr;
  for (std::size_t k = 0; bursts > 0 && k < kBurstTimes; ++k)
    out[std::string(kBurstTimeNames[k])] =
        short_number(static_cast<double>(sums.ns[k]) * 1e-6 / static_cast<double>(bursts));
  return out;
}

ReportJson jobs_json(const ResultsReader& results, const ArmSummary& arm,
                     const std::vector<ReportRun>& runs) {
  ReportJson out = ReportJson::array();
  for (const auto& row :
       rows_json(results, "SELECT job, ifnull(name, '') AS name FROM jobs WHERE " + of_arm(arm) +
                              " GROUP BY job ORDER BY job")) {
    const auto job = row.at("job").get<std::int64_t>();
    const std::string of_job = of_arm(arm) + " AND job = " + std::to_string(job);
    ReportJson one{{"name", row.at("name")}};
    for (const char* name :
         {"completion_seconds", "iteration_seconds_median", "iteration_seconds_p99",
          "communication_seconds_median", "communication_seconds_p99"})
      one[name] = mean_of_runs(results, of_job, name);
    add_from_bursts(arm, runs, job, one);
    add_from_links(results, of_job, one);
    out.push_back(std::move(one));
  }
  return out.size() > 1 ? out : ReportJson(nullptr);
}

}  // namespace outrider::lab
