#include "tools/lab/report/report_fabric.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "tools/lab/report/report_rows.h"
#include "tools/lab/simulation/link_report.h"

namespace outrider::lab {
namespace {

/// A page with more marks of iterations than this of an arm is slow, and they are too narrow.
constexpr std::size_t kMostIterations = 4000;

double ms_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

void add_rows(const ResultsReader& results, std::size_t first, ReportJson& arm) {
  enum Column : std::uint8_t { kTier, kLink, kLinks, kLength, kBytes, kRate };
  Query row = results.query(
      "SELECT tier, link, links, length_ns, wire_bytes, bits_per_second FROM link_slices "
      "WHERE run = 'measured' AND case_index = " +
      std::to_string(first) + " ORDER BY rowid");
  ReportJson& links = arm["links"];
  while (row.next()) {
    const std::string tier = row.text(kTier), link = row.text(kLink);
    auto& tiers = links["tiers"];
    const auto own =
        std::ranges::find_if(tiers, [&](const auto& t) { return t.at("tier") == tier; });
    if (own == tiers.end())
      throw std::runtime_error("link_slices has the tier \"" + tier +
                               "\", which the table tiers does not have");
    auto& rows = (*own)["rows"];
    if (rows.empty() || rows.back().at("link") != link)
      rows.push_back({{"link", link},
                      {"links", row.whole(kLinks).value_or(1)},
                      {"cells", ReportJson::array()}});
    const std::int64_t length_ns = row.whole(kLength).value_or(0);
    // The first slice of all is as long as any.
    if (links.at("step_ms") == 0) links["step_ms"] = ms_of(length_ns);
    const auto count = [&row](std::size_t column) {
      return static_cast<std::uint64_t>(row.whole(column).value_or(0));
    };
    // In thousandths: a page has thousands of cells.
    rows.back()["cells"].push_back(
        std::llround(1000 * utilisation(count(kBytes), count(kRate), length_ns)));
  }
}

// Instants of each iteration of a job between which its workers computed and communicated: the
// earliest begin and first gradient of any worker, and the latest of the others, if all have it.
constexpr const char* kIterations =
    "SELECT job, iteration, min(begin_ns), min(first_gradient_ns), "
    "CASE count(*) WHEN count(ready_ns) THEN max(ready_ns) END, "
    "CASE count(*) WHEN count(parameters_ns) THEN max(parameters_ns) END, "
    "CASE count(*) WHEN count(end_ns) THEN max(end_ns) END "
    "FROM iterations WHERE run = 'measured' AND case_index = ";

void add_iterations(const ResultsReader& results, std::size_t first, ReportJson& arm) {
  auto& jobs = arm["jobs_over_time"]["jobs"];
  Query row = results.query(kIterations + std::to_string(first) + " GROUP BY job, iteration");
  while (row.next()) {
    const auto index = static_cast<std::size_t>(row.whole(0).value_or(0));
    while (jobs.size() <= index) jobs.push_back({{"name", "job " + std::to_string(jobs.size())}});
    auto& job = jobs[index];
    if (!job.contains("iterations"))
      job.update({{"iterations", ReportJson::array()}, {"left_out", 0}});
    if (job["iterations"].size() >= std::max<std::size_t>(kMostIterations / jobs.size(), 1)) {
      job["left_out"] = job["left_out"].get<std::int64_t>() + 1;
      continue;
    }
    ReportJson iteration{row.whole(1).value_or(0)};
    for (std::size_t c = 2; c < row.columns().size(); ++c) {
      const auto ns = row.whole(c);
      iteration.push_back(ns ? ReportJson(ms_of(*ns)) : ReportJson(nullptr));
    }
    job["iterations"].push_back(std::move(iteration));
  }
}

}  // namespace

void add_fabric(const ResultsReader& results, const std::vector<ArmSummary>& arms,
                const std::vector<ReportRun>& runs, ReportJson& out) {
  for (std::size_t a = 0; a < arms.size(); ++a) {
    out[a]["links"] = out[a]["jobs_over_time"] = nullptr;
    if (arms[a].cases.empty()) continue;
    const std::size_t first = arms[a].cases.front();
    const auto tiers =
        rows_json(results,
                  "SELECT tier, links, joined, utilisation_mean, utilisation_max, "
                  "ifnull(busiest, '') AS busiest, ce_marks, drops, "
                  "ifnull(longest_wait, '') AS longest_wait, "
                  "worker_start_queue_packets_mean, "
                  "worker_start_queue_total_packets_mean, span_seconds FROM tiers WHERE " +
                      of_case(first) + " ORDER BY rowid");
    if (tiers.empty()) continue;
    const double end_ms = tiers[0].at("span_seconds").get<double>() * 1e3;
    auto& links = out[a]["links"];
    links = {{"seed", runs[first].seed}, {"end_ms", end_ms}, {"step_ms", 0}, {"tiers", tiers}};
    for (auto& tier : links["tiers"]) {
      tier["rows"] = ReportJson::array();
      tier.erase("span_seconds");
    }
    out[a]["jobs_over_time"] = {
        {"seed", runs[first].seed},
        {"end_ms", end_ms},
        {"jobs", rows_json(results, "SELECT ifnull(name, '') AS name FROM jobs WHERE " +
                                        of_case(first) + " AND (SELECT count(*) FROM jobs WHERE " +
                                        of_case(first) + ") > 1 ORDER BY job")}};
    add_iterations(results, first, out[a]);
    add_rows(results, first, out[a]);
  }
}

}  // namespace outrider::lab
