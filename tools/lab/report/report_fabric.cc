#include "tools/lab/report/report_fabric.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tools/lab/report/report_csv.h"
#include "tools/lab/simulation/link_report.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// A page with more marks of iterations than this of an arm is slow, and they are too narrow.
constexpr std::size_t kMostIterations = 4000;

double ms_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

/// Calls `read(csv, arm)` for each line of a file that belongs to the first case of an arm.
/// @param first  arm by the index of its first case
template <class Read>
void read_lines(const fs::path& path, const std::map<std::size_t, std::size_t>& first, Read read) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw std::runtime_error(path.string() +
                             " cannot be read; `outrider-lab run` writes it for a [fabric]");
  CsvReader csv(in, path.string());
  const std::size_t index = csv.column("case");
  while (csv.next()) {
    const auto arm = first.find(static_cast<std::size_t>(csv.whole(index).value_or(-1)));
    if (arm != first.end()) read(csv, arm->second);
  }
}

std::uint64_t count_of(const CsvReader& csv, const char* column) {
  return static_cast<std::uint64_t>(csv.whole(csv.column(column)).value_or(0));
}

void add_rows(const fs::path& path, const std::map<std::size_t, std::size_t>& first,
              ReportJson& out) {
  read_lines(path, first, [&](const CsvReader& csv, std::size_t arm) {
    const std::size_t tier = csv.column("tier"), link = csv.column("link");
    ReportJson& links = out[arm]["links"];
    auto& tiers = links["tiers"];
    const auto own =
        std::ranges::find_if(tiers, [&](const auto& t) { return t.at("tier") == csv.text(tier); });
    if (own == tiers.end())
      throw std::runtime_error(path.string() + " has the tier \"" + csv.text(tier) +
                               "\", which summary.json does not have");
    auto& rows = (*own)["rows"];
    if (rows.empty() || rows.back().at("link") != csv.text(link))
      rows.push_back({{"link", csv.text(link)},
                      {"links", csv.whole(csv.column("links")).value_or(1)},
                      {"cells", ReportJson::array()}});
    const std::int64_t length_ns = csv.whole(csv.column("length_ns")).value_or(0);
    // The first slice of all is as long as any.
    if (links.at("step_ms") == 0) links["step_ms"] = ms_of(length_ns);
    // In thousandths: a page has thousands of cells.
    rows.back()["cells"].push_back(
        std::llround(1000 * utilisation(count_of(csv, "wire_bytes"),
                                        count_of(csv, "bits_per_second"), length_ns)));
  });
}

ReportJson instant_of(const CsvReader& csv, const char* column) {
  const auto ns = csv.whole(csv.column(column));
  return ns ? ReportJson(ms_of(*ns)) : ReportJson(nullptr);
}

void add_iterations(const fs::path& path, const std::map<std::size_t, std::size_t>& first,
                    ReportJson& out) {
  read_lines(path, first, [&](const CsvReader& csv, std::size_t arm) {
    auto& jobs = out[arm]["jobs_over_time"]["jobs"];
    const auto index = static_cast<std::size_t>(csv.whole(csv.column("job")).value_or(0));
    while (jobs.size() <= index) jobs.push_back({{"name", "job " + std::to_string(jobs.size())}});
    auto& job = jobs[index];
    if (!job.contains("iterations"))
      job.update({{"iterations", ReportJson::array()}, {"left_out", 0}});
    if (job["iterations"].size() >= std::max<std::size_t>(kMostIterations / jobs.size(), 1)) {
      job["left_out"] = job["left_out"].get<std::int64_t>() + 1;
      return;
    }
    job["iterations"].push_back({csv.whole(csv.column("iteration")).value_or(0),
                                 instant_of(csv, "begin_ns"), instant_of(csv, "first_gradient_ns"),
                                 instant_of(csv, "ready_ns"), instant_of(csv, "parameters_ns"),
                                 instant_of(csv, "end_ns")});
  });
}

/// Returns what summary.json has of the links and jobs of a case.
std::pair<ReportJson, ReportJson> from_summary(const ReportJson& of_case) {
  const ReportJson& metrics = of_case.at("metrics");
  if (!metrics.contains("links")) return {};
  const double end_ms = metrics.at("links").at("span_seconds").get<double>() * 1e3;
  ReportJson links{{"seed", of_case.at("seed")},
                   {"end_ms", end_ms},
                   {"step_ms", 0},
                   {"tiers", metrics.at("links").at("tiers")}};
  for (auto& tier : links["tiers"]) tier["rows"] = ReportJson::array();
  ReportJson jobs{{"seed", of_case.at("seed")}, {"end_ms", end_ms}, {"jobs", ReportJson::array()}};
  if (metrics.contains("jobs"))
    for (const auto& job : metrics.at("jobs").at("each"))
      jobs["jobs"].push_back({{"name", job.at("name")}});
  return {std::move(links), std::move(jobs)};
}

}  // namespace

void add_fabric(const fs::path& directory, const ReportJson& summary,
                const std::vector<ReportArm>& arms, ReportJson& out) {
  std::map<std::size_t, std::size_t> first;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    std::pair<ReportJson, ReportJson> own;
    if (!arms[a].cases.empty()) own = from_summary(summary.at("cases").at(arms[a].cases.front()));
    if (!own.first.is_null()) first[arms[a].cases.front()] = a;
    out[a]["links"] = std::move(own.first);
    out[a]["jobs_over_time"] = std::move(own.second);
  }
  if (first.empty()) return;
  add_iterations(directory / "iterations.csv", first, out);
  if (fs::exists(directory / "link_slices.csv"))
    add_rows(directory / "link_slices.csv", first, out);
}

}  // namespace outrider::lab
