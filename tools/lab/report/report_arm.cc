#include "tools/lab/report/report_arm.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "tools/lab/report/report_jobs.h"
#include "tools/lab/report/report_rows.h"
#include "tools/lab/summary/group_figures.h"
#include "tools/lab/summary/metric.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kTimes = 200;   // times of a distribution; a figure cannot show more
constexpr std::size_t kBursts = 300;  // bursts in an arm's time lines

/// Returns six numbers: value, its bounds, change, its bounds.
ReportJson estimates_json(const ArmMetric& metric) {
  ReportJson out = ReportJson::array();
  for (const Estimate& e : {metric.value, metric.change})
    for (const double v : {e.value, e.low, e.high}) out.push_back(short_number(v));
  return out;
}

ReportJson metrics_json(const std::vector<ArmMetric>& metrics) {
  ReportJson out = ReportJson::object();
  for (const ArmMetric& m : metrics) out[m.name] = estimates_json(m);
  return out;
}

ReportJson times_json(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  ReportJson out = ReportJson::array();
  if (seconds.size() <= kTimes) {
    for (const double s : seconds) out.push_back(short_number(s * 1e3));
    return out;
  }
  for (std::size_t i = 0; i < kTimes; ++i)
    out.push_back(short_number(
        quantile(seconds, static_cast<double>(i) / static_cast<double>(kTimes - 1)) * 1e3));
  return out;
}

/// Returns the mean parts over the pushes with attribution; null if there are none.
ReportJson attribution_json(const ArmSummary& arm, const std::vector<ReportRun>& runs) {
  BurstTimes sums;
  std::int64_t bursts = 0;
  for (const std::size_t i : arm.cases)
    for (const auto& it : runs[i].iterations) add_times(it, sums, bursts);
  return mean_times_json(sums, bursts);
}

/// Returns packets by class and reason per run, at the measured queue and at all switches. Pairs
/// that never occurred are left out.
/// @param counter  "marks" or "drops"  @param of_all  condition of rows that count all switches
ReportJson ends_json(const ResultsReader& results, const ArmSummary& arm,
                     const std::string& counter, const std::string& of_all) {
  const std::string runs = '/' + std::to_string(arm.cases.size()) + ".0";
  ReportJson out = rows_json(
      results,
      "SELECT class, reason, "
      "total(value) FILTER (WHERE of = measured_switch || '.' || measured_port || '.' || "
      "measured_queue)" +
          runs + " AS measured, total(value) FILTER (WHERE " + of_all + ")" + runs +
          " AS \"all\" FROM counters JOIN cases USING (case_index) WHERE " + of_arm(arm) +
          " AND run = 'measured' AND program = 'switch' AND reason IS NOT NULL AND counter = '" +
          counter + "' GROUP BY class, reason ORDER BY class, min(counters.rowid)");
  for (auto& end : out)
    for (const char* where : {"measured", "all"})
      end[where] = short_number(end[where].get<double>());
  return out;
}

/// Returns the figures of each group of background; null without groups.
ReportJson groups_of_arm_json(const ArmSummary& arm) {
  if (arm.groups.empty()) return nullptr;
  ReportJson out = ReportJson::array();
  for (const GroupSummary& group : arm.groups)
    out.push_back({{"name", group.name}, {"figures", metrics_json(group.figures)}});
  return out;
}

/// Returns what each job's collective reached; null without any.
ReportJson collectives_json(const ArmSummary& arm) {
  if (arm.collectives.empty()) return nullptr;
  ReportJson out = ReportJson::array();
  for (const CollectiveSummary& c : arm.collectives)
    out.push_back(
        {{"name", c.job},
         {"collective", c.collective},
         {"ranks", c.ranks},
         {"size_bytes", std::isnan(c.size_bytes) ? ReportJson() : ReportJson(c.size_bytes)},
         {"seconds", short_number(c.seconds)},
         {"algbw_bits_per_second", short_number(c.algbw_bits_per_second)},
         {"busbw_bits_per_second", short_number(c.busbw_bits_per_second)}});
  return out;
}

/// Returns bursts of whole iterations, one seed after another, as long as there is room.
ReportJson bursts_json(const ArmSummary& arm, const std::vector<ReportRun>& runs) {
  ReportJson out = ReportJson::array();
  for (const std::size_t i : arm.cases)
    for (const auto& it : runs[i].iterations) {
      if (!out.empty() && out.size() + it.bursts.size() > kBursts) return out;
      for (const auto& b : it.bursts) {
        const auto ms = [&it](std::optional<std::int64_t> at, std::int64_t ahead = 0) {
          return at ? short_number(static_cast<double>(*at - ahead - *it.due_ns) * 1e-6)
                    : ReportJson(nullptr);
        };
        out.push_back({runs[i].seed, it.job, it.iteration, b.worker, ms(b.due_ns), ms(b.start_ns),
                       ms(b.ack_ns), ms(b.first_sent_ns),
                       ms(b.queue_first_ns, runs[i].switch_ahead_ns), ms(b.delivered_ns), b.rtos});
      }
    }
  return out;
}

}  // namespace

ReportJson arm_json(const ResultsReader& results, const ArmSummary& arm,
                    const std::vector<ReportRun>& runs) {
  std::vector<double> times;
  std::vector<const JobSamples*> alone;
  std::size_t iterations = 0;
  ReportJson seeds = ReportJson::array();
  for (const std::size_t i : arm.cases) {
    const auto own = communication_seconds(runs[i].iterations);
    times.insert(times.end(), own.begin(), own.end());
    alone.push_back(&runs[i].alone_communication_seconds);
    iterations += runs[i].iterations.size();
    seeds.push_back(runs[i].seed);
  }
  return {{"label", arm.label},
          {"name", arm.name},
          {"point", arm.point},
          {"off", arm.off},
          {"against", arm.against},
          {"beside", arm.beside},
          {"against_off", metrics_json(arm.against_off)},
          {"seeds", seeds},
          {"iterations", iterations},
          {"complete", times.size()},
          {"metrics", metrics_json(arm.metrics)},
          {"times_ms", times_json(std::move(times))},
          {"alone_ms", short_number(mean_of_jobs(alone, &median) * 1e3)},
          {"groups", groups_of_arm_json(arm)},
          {"collectives", collectives_json(arm)},
          {"attribution", attribution_json(arm, runs)},
          {"marks", ends_json(results, arm, "marks", "of IS NOT NULL")},
          {"drops", ends_json(results, arm, "drops", "of IS NULL")},
          {"bursts", bursts_json(arm, runs)}};
}

ReportJson group_rows_json() {
  ReportJson out = ReportJson::array();
  for (const GroupFigure& f : group_figures()) {
    const Column column = column_of(f);
    out.push_back({{"name", f.name},
                   {"heading", column.heading},
                   {"unit", column.unit},
                   {"scale", column.scale},
                   {"help", f.help},
                   {"change", f.change}});
  }
  return out;
}

ReportJson metric_rows_json() {
  ReportJson out = ReportJson::array();
  for (const auto& m : metrics()) {
    const Shown shown = m.column.scale == 1 ? Shown{name_of(m.unit), 1} : shown_in(m.unit);
    out.push_back({{"name", m.name},
                   {"unit", shown.unit},
                   {"scale", shown.scale},
                   {"help", m.help},
                   {"over", text_of(m)},
                   {"change", m.change}});
  }
  return out;
}

}  // namespace outrider::lab
