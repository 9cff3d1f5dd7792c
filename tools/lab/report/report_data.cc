#include "tools/lab/report/report_data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>

#include "tools/lab/measure/paper_reference.h"
#include "tools/lab/report/report_arm.h"
#include "tools/lab/report/report_fabric.h"
#include "tools/lab/report/report_hosts.h"
#include "tools/lab/report/report_jobs.h"
#include "tools/lab/report/report_views.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/summary/result_answer.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

namespace fs = std::filesystem;

namespace {

std::unique_ptr<std::ifstream> opened(const fs::path& path) {
  auto in = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*in)
    throw std::runtime_error(path.string() + " cannot be read; `outrider-lab run` writes it");
  return in;
}

ReportJson read_json(const fs::path& path) {
  const std::string text{std::istreambuf_iterator<char>(*opened(path)), {}};
  try {
    return ReportJson::parse(text);
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error(path.string() + ' ' + why_no_result(text, e));
  }
}

std::vector<ReportRun> runs_of(const ReportJson& summary) {
  std::vector<ReportRun> runs;
  for (const auto& c : summary.at("cases")) {
    ReportRun run;
    run.skip_iterations = c.at("parameters").value("skip_iterations", std::int64_t{0});
    // A bundle of an earlier version does not have them.
    for (const auto& job : c.value("jobs", ReportJson::array()))
      run.workers.push_back(job.at("workers"));
    runs.push_back(std::move(run));
  }
  return runs;
}

ReportJson paper_json() {
  const auto figures = [](const PaperFigures& f) -> ReportJson {
    return {{"start_queue_packets_mean", short_number(f.start_queue_packets)},
            {"max_queue_packets_mean", short_number(f.max_queue_packets)},
            {"burst_completion_seconds", short_number(f.burst_completion_seconds)},
            {"ddl_throughput_bits_per_second_mean", short_number(f.ddl_throughput_bits_per_second)},
            {"burst_sojourn_seconds_mean", short_number(f.burst_sojourn_seconds)}};
  };
  return {{"source",
           "Kang, Yang, Yoo, Yoo, Sensors 2021, 21(1), 174; times and throughputs read off its "
           "bars, to about 1 %. They are burst completion times on BMv2, not communication times: "
           "compare the changes."},
          {"off", figures(kPaperOff)},
          {"on", figures(kPaperOn)},
          {"changes",
           {{"start_queue_packets_mean", short_number(kPaperChanges.start_queue)},
            {"burst_completion_seconds", short_number(kPaperChanges.burst_completion)},
            {"background", short_number(kPaperChanges.background)}}}};
}

ReportJson sentences(const std::vector<AnswerSentence>& all) {
  ReportJson out = ReportJson::array();
  for (const auto& s : all) out.push_back({{"kind", s.kind}, {"text", s.text}});
  return out;
}

ReportJson grid_json(const TimeGrid& grid) {
  return {{"from_ms", static_cast<double>(grid.from_ns) * 1e-6},
          {"step_ms", static_cast<double>(grid.step_ns) * 1e-6},
          {"cells", grid.cells}};
}

/// Returns over what time the costs of this point are taken.
ReportJson cost_of_point(const ReportJson& summary, const std::vector<ReportArm>& arms,
                         std::size_t point) {
  for (const auto& arm : arms)
    if (arm.point == point && !arm.cases.empty()) {
      const auto& cost = summary.at("cases").at(arm.cases[0]).at("metrics").at("background_cost");
      return {{"basis", cost.at("basis")},
              {"lead_seconds", cost.at("lead_seconds")},
              {"window_seconds", cost.at("window_seconds")}};
    }
  return nullptr;
}

void add_points(const ReportJson& summary, const std::vector<ReportArm>& arms,
                const std::vector<ReportViews>& views, ReportJson& out) {
  const ResultAnswer answer = answer_of_result(summary);
  out["points"] = ReportJson::array();
  for (std::size_t p = 0; p < answer.points.size(); ++p)
    out["points"].push_back(
        {{"name", answer.points[p].name},
         {"answer", sentences(answer.points[p].sentences)},
         {"cost", cost_of_point(summary, arms, p)},
         {"views", {{"start", grid_json(views[p].start)}, {"due", grid_json(views[p].due)}}}});
  out["sweep"] = sentences(answer.sweep);
  out["warnings"] = answer.warnings;
}

void add_settings(const std::vector<ReportArm>& arms, ReportJson& out) {
  ReportJson varying = ReportJson::object(), common = ReportJson::object();
  if (!arms.empty()) {
    for (const auto& [name, first] : arms[0].parameters.items()) {
      const auto value_in = [&key = name](const ReportArm& arm) {
        return arm.parameters.value(key, ReportJson(nullptr));
      };
      if (std::ranges::all_of(arms, [&, &v = first](const auto& a) { return value_in(a) == v; })) {
        common[name] = first;
        continue;
      }
      varying[name] = ReportJson::array();
      for (const auto& arm : arms) varying[name].push_back(value_in(arm));
    }
  }
  out["settings"] = {{"varying", std::move(varying)}, {"common", std::move(common)}};
}

/// Makes what the off arm takes without background the reference of all arms of its point.
void share_alone(ReportJson& arms) {
  for (const auto& off : arms) {
    if (!off.at("off").get<bool>()) continue;
    const ReportJson point = off.at("point"), alone = off.at("alone_ms");
    for (auto& arm : arms)
      if (arm.at("point") == point) arm["alone_ms"] = alone;
  }
}

/// Returns the data for the head of the page.
ReportJson heading(const ReportJson& summary, const std::vector<ReportArm>& arms) {
  std::size_t seeds = 0;
  for (const auto& arm : arms) seeds = std::max(seeds, arm.cases.size());
  ReportJson out{{"schema_version", kReportSchemaVersion},
                 {"experiment", summary.at("experiment")},
                 {"question", summary.value("question", "")},
                 {"runtime", summary.at("runtime")},
                 {"interrupted", summary.at("interrupted")},
                 {"cases", summary.at("cases").size()},
                 {"planned_cases", summary.at("planned_cases")},
                 {"seeds", seeds},
                 {"queue", nullptr},
                 {"base_rtt_seconds", nullptr},
                 {"paper", nullptr}};
  if (!summary.at("cases").empty()) {
    const auto& first = summary.at("cases").at(0);
    const auto& queue = first.at("metrics").at("measured_queue");
    out["queue"] = {{"switch", queue.at("switch")},
                    {"port", queue.at("port")},
                    {"queue", queue.at("queue")},
                    {"drain_bits_per_second", queue.at("drain_bits_per_second")}};
    out["base_rtt_seconds"] = first.value("base_rtt_seconds", ReportJson(nullptr));
  }
  if (is_papers_experiment(summary.at("experiment").get<std::string>()))
    out["paper"] = paper_json();
  return out;
}

/// Returns the base RTT; 1 ms for a bundle of an earlier version, which does not state it.
std::int64_t rtt_ns_of(const ReportJson& heading) {
  const auto& rtt = heading.at("base_rtt_seconds");
  constexpr std::int64_t kUnknown_ns = 1'000'000;
  if (!rtt.is_number()) return kUnknown_ns;
  return std::max<std::int64_t>(std::llround(rtt.get<double>() * 1e9), 1);
}

ReportJson advice_of(const fs::path& directory) {
  std::ifstream in(directory / kAdviceFile);
  if (!in) return nullptr;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

ReportJson made(const fs::path& directory) {
  const ReportJson summary = read_json(directory / "summary.json");
  if (summary.at("schema_version") != kSummarySchemaVersion)
    throw std::runtime_error((directory / "summary.json").string() + " has schema_version " +
                             summary.at("schema_version").dump() + ", not " +
                             std::to_string(kSummarySchemaVersion) +
                             ": use the version that wrote it");
  std::vector<ReportRun> runs = runs_of(summary);
  const ResultsReader results = open_results(directory);
  read_bursts(results, runs);
  const auto arms = report_arms(summary);

  ReportJson out = heading(summary, arms);
  out["advice"] = advice_of(directory);
  std::vector<ReportViews> views;
  HostLines hosts(arms, runs, rtt_ns_of(out));
  auto arm_views =
      queue_views(results, arms, runs, rtt_ns_of(out), views,
                  [&hosts](std::size_t run, const QueueBinValues& bin) { hosts.add(run, bin); });
  add_points(summary, arms, views, out);
  out["arms"] = ReportJson::array();
  for (std::size_t a = 0; a < arms.size(); ++a) {
    out["arms"].push_back(arm_json(summary, arms[a], runs));
    out["arms"].back()["jobs"] = jobs_json(summary, arms[a], runs);
    out["arms"].back()["views"] = std::move(arm_views[a]);
    out["arms"].back()["hosts"] = hosts.json(summary, a);
  }
  share_alone(out["arms"]);
  add_fabric(results, summary, arms, out["arms"]);
  out["metrics"] = metric_rows_json();
  out["group_figures"] = group_rows_json();
  add_settings(arms, out);
  out["environment"] = read_json(directory / "environment.json");
  if (out["environment"].is_object()) out["environment"].erase("results_key");  // written later
  return out;
}

}  // namespace

ReportJson report_data(const fs::path& directory) {
  try {
    return made(directory);
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error((directory / "summary.json").string() + ' ' + why_no_result("{}", e));
  }
}

ReportJson short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.5g", value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + length, rounded);
  return rounded == 0 ? ReportJson(0) : ReportJson(rounded);
}

}  // namespace outrider::lab
