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
#include "tools/lab/report/report_rows.h"
#include "tools/lab/report/report_views.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/summary/json_values.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/tables/results_answer.h"

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
    throw std::runtime_error(path.string() + " is not what `outrider-lab run` wrote: " + e.what());
  }
}

std::vector<ReportRun> runs_of(const ResultsReader& database, const Results& results) {
  std::vector<ReportRun> runs(results.finished_cases);
  for (const ArmSummary& arm : results.arms) {
    const ParameterValue* skip = parameter_of(arm, "skip_iterations");
    const auto* number = skip == nullptr ? nullptr : std::get_if<std::int64_t>(skip);
    for (const std::size_t i : arm.cases)
      if (number != nullptr) runs.at(i).skip_iterations = *number;
  }
  for (Query row = database.query("SELECT case_index, seed FROM cases"); row.next();)
    runs.at(static_cast<std::size_t>(*row.whole(0))).seed =
        static_cast<std::uint64_t>(*row.whole(1));
  for (Query row = database.query("SELECT case_index, workers FROM jobs WHERE workers IS NOT NULL "
                                  "ORDER BY case_index, job");
       row.next();)
    runs.at(static_cast<std::size_t>(*row.whole(0)))
        .workers.push_back(static_cast<std::size_t>(*row.whole(1)));
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

/// Returns over what time the costs of a point are taken.
ReportJson cost_of_point(const ResultsReader& database, std::size_t point) {
  return row_json(database,
                  "SELECT cost_basis AS basis, cost_lead_seconds AS lead_seconds, "
                  "cost_window_seconds AS window_seconds FROM cases WHERE point = " +
                      std::to_string(point) + " ORDER BY arm, case_index LIMIT 1");
}

void add_points(const ResultsReader& database, const Results& results,
                const std::vector<ReportViews>& views, ReportJson& out) {
  const ResultAnswer answer = answer_of_results(results);
  out["points"] = ReportJson::array();
  for (std::size_t p = 0; p < answer.points.size(); ++p)
    out["points"].push_back(
        {{"name", answer.points[p].name},
         {"answer", sentences(answer.points[p].sentences)},
         {"cost", cost_of_point(database, p)},
         {"views", {{"start", grid_json(views[p].start)}, {"due", grid_json(views[p].due)}}}});
  out["sweep"] = sentences(answer.sweep);
  out["warnings"] = answer.warnings;
}

void add_settings(const std::vector<ArmSummary>& arms, ReportJson& out) {
  ReportJson varying = ReportJson::object(), common = ReportJson::object();
  if (!arms.empty()) {
    for (const auto& [name, first] : arms[0].parameters) {
      ReportJson values = ReportJson::array();
      for (const auto& arm : arms) {
        const ParameterValue* value = parameter_of(arm, name);
        values.push_back(value == nullptr ? ReportJson(nullptr) : parameter_json(*value));
      }
      if (std::ranges::all_of(values, [&values](const auto& v) { return v == values[0]; }))
        common[name] = values[0];
      else varying[name] = std::move(values);
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
ReportJson heading(const ResultsReader& database, const Results& results) {
  std::size_t seeds = 0;
  for (const auto& arm : results.arms) seeds = std::max(seeds, arm.cases.size());
  ReportJson out{{"schema_version", kReportSchemaVersion},
                 {"experiment", results.experiment},
                 {"question", results.question},
                 {"runtime", name_of(results.runtime)},
                 {"interrupted", results.interrupted},
                 {"cases", results.finished_cases},
                 {"planned_cases", results.planned_cases},
                 {"seeds", seeds},
                 {"has_job", has_job(results.arms)},
                 {"queue", nullptr},
                 {"base_rtt_seconds", nullptr},
                 {"paper", nullptr}};
  const ReportJson first =
      row_json(database,
               "SELECT base_rtt_ns / 1e9 AS rtt, measured_switch AS switch, measured_port AS port, "
               "'data' AS queue, drain_bits_per_second FROM cases WHERE case_index = 0");
  if (!first.is_null()) {
    if (!first.at("port").is_null()) out["queue"] = first;
    if (!out["queue"].is_null()) out["queue"].erase("rtt");
    out["base_rtt_seconds"] = first.at("rtt");
  }
  if (is_papers_experiment(results.experiment)) out["paper"] = paper_json();
  return out;
}

/// Returns the base RTT, which is 1 ns at least.
std::int64_t rtt_ns_of(const ReportJson& heading) {
  const auto& rtt = heading.at("base_rtt_seconds");
  return rtt.is_number() ? std::max<std::int64_t>(std::llround(rtt.get<double>() * 1e9), 1) : 1;
}

ReportJson advice_of(const fs::path& directory) {
  std::ifstream in(directory / kAdviceFile);
  if (!in) return nullptr;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

ReportJson report_data(const fs::path& directory) {
  const ResultsReader database = open_results(directory);
  const Results results = read_results(database);
  std::vector<ReportRun> runs = runs_of(database, results);
  read_bursts(database, runs);
  const auto& arms = results.arms;

  ReportJson out = heading(database, results);
  out["advice"] = advice_of(directory);
  std::vector<ReportViews> views;
  HostLines hosts(arms, runs, rtt_ns_of(out));
  auto arm_views =
      queue_views(database, arms, runs, rtt_ns_of(out), views,
                  [&hosts](std::size_t run, const QueueBinValues& bin) { hosts.add(run, bin); });
  add_points(database, results, views, out);
  out["arms"] = ReportJson::array();
  for (std::size_t a = 0; a < arms.size(); ++a) {
    out["arms"].push_back(arm_json(database, arms[a], runs));
    out["arms"].back()["jobs"] = jobs_json(database, arms[a], runs);
    out["arms"].back()["views"] = std::move(arm_views[a]);
    out["arms"].back()["hosts"] = hosts.json(database, a);
  }
  share_alone(out["arms"]);
  add_fabric(database, arms, runs, out["arms"]);
  out["metrics"] = metric_rows_json();
  out["group_figures"] = group_rows_json();
  add_settings(arms, out);
  const fs::path environment = directory / "environment.json";
  out["environment"] = fs::exists(environment) ? read_json(environment) : ReportJson::object();
  if (out["environment"].is_object()) out["environment"].erase("results_key");  // written later
  return out;
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
