#include "tools/lab/tables/comparison_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/measure/paper_reference.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_notes.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/collective_table.h"
#include "tools/lab/tables/table_flows.h"
#include "tools/lab/tables/table_groups.h"
#include "tools/lab/tables/table_rows.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kSeedsForClaims = 30;
constexpr std::size_t kPointsInFull = 4;  // with more, the details of costs are only in the file

constexpr std::array<MetricCell, 8> kValueCells{{{"start_queue_packets_mean"},
                                                 {"max_queue_packets_mean"},
                                                 {"burst_completion_seconds_median"},
                                                 {"communication_seconds_median"},
                                                 {"ddl_throughput_bits_per_second_mean"},
                                                 {"burst_sojourn_seconds_mean"},
                                                 {"background_goodput_bits_per_second"},
                                                 {"rtos_per_burst"}}};
constexpr std::size_t kBackgroundColumn = 6;
constexpr std::size_t kRtoColumn = 7;

constexpr std::array<MetricCell, 5> kTailCells{
    {{"communication_seconds_p99"},
     {"communication_seconds_p99", MetricCell::kValueInterval},
     {"communication_p99_over_alone_median"},
     {"communication_p99_over_alone_median", MetricCell::kValueInterval},
     {"first_communication_seconds_median"}}};

constexpr std::array<MetricCell, 8> kCostCells{{{"background_lost_fraction"},
                                                {"background_bytes_lost_per_burst_byte"},
                                                {"background_lost_bytes_per_iteration"},
                                                {"background_transfer_bytes_per_iteration"},
                                                {"background_waste_bytes_per_iteration"},
                                                {"background_lowest_share"},
                                                {"background_recovery_seconds"},
                                                {"iterations_not_recovered"}}};

/// In a closed loop nothing is counted per iteration.
constexpr std::array<MetricCell, 6> kClosedLoopCostCells{
    {{"background_lost_fraction"},
     {"background_bytes_lost_per_burst_byte"},
     {"ddl_bytes_gained_per_background_byte_lost"},
     {"background_lowest_share"},
     {"background_recovery_seconds"},
     {"iterations_not_recovered"}}};

constexpr std::array<MetricCell, 5> kIterationCells{
    {{"iteration_seconds_median"},
     {"iteration_seconds_median", MetricCell::kChange},
     {"iteration_seconds_median", MetricCell::kInterval},
     {"first_layer_seconds_median"},
     {"nic_send_idle_share_median"}}};

constexpr std::array<MetricCell, 7> kLearningCells{{{"worker_iteration_seconds_mean"},
                                                    {"update_gap_variation"},
                                                    {"time_to_loss_seconds"},
                                                    {"time_to_loss_seconds", MetricCell::kChange},
                                                    {"time_to_loss_seconds", MetricCell::kInterval},
                                                    {"gradients_to_loss"},
                                                    {"last_loss"}}};

constexpr std::array<MetricCell, 8> kJobCells{
    {{"jobs_completion_seconds_mean"},
     {"jobs_completion_seconds_mean", MetricCell::kChange},
     {"jobs_completion_seconds_mean", MetricCell::kInterval},
     {"jobs_completion_seconds_range"},
     {"worker_spread_seconds_mean"},
     {"worker_spread_seconds_mean", MetricCell::kChange},
     {"server_nic_sending_share"},
     {"server_nic_receiving_share"}}};

constexpr std::array<MetricCell, 7> kRoceCells{{{"roce_queue_pairs"},
                                                {"roce_cnps_per_burst"},
                                                {"roce_naks_per_burst"},
                                                {"roce_retransmitted_per_burst"},
                                                {"rtos_per_burst"},
                                                {"pauses_per_burst"},
                                                {"host_paused_seconds_per_burst"}}};

// -- blocks

TableCells paper_row(const PaperFigures& f) {
  return {shown(f.start_queue_packets),
          shown(f.max_queue_packets),
          shown(f.burst_completion_seconds * 1e3),
          "-",
          shown(f.ddl_throughput_bits_per_second * 1e-6),
          shown(f.burst_sojourn_seconds * 1e3),
          "-",
          "-"};
}

std::string value_block(const Arms& point, bool with_paper) {
  std::string text = arms_rows(point, kValueCells);
  if (with_paper) {
    text += table_line("paper, PCN off", paper_row(kPaperOff));
    text += table_line("paper, PCN on", paper_row(kPaperOn));
  }
  return text;
}

/// Returns the background's change: its loss in the windows that all arms share, if there are any.
Estimate background_change(const Estimate& lost) {
  return {.value = -lost.value, .low = -lost.high, .high = -lost.low};
}

/// @param metric_of  ArmSummary::metric or ArmSummary::metric_against_off
std::string change_rows(const ArmSummary& arm, const std::string& name,
                        ArmMetric (ArmSummary::*metric_of)(std::string_view) const) {
  TableCells changes, intervals;
  for (std::size_t i = 0; i < kValueCells.size(); ++i) {
    if (i == kRtoColumn) continue;  // the baseline often has none, so a ratio is meaningless
    const Estimate change =
        i == kBackgroundColumn
            ? background_change((arm.*metric_of)("background_lost_fraction").value)
            : (arm.*metric_of)(kValueCells[i].metric).change;
    changes[i] = shown_change(change.value);
    intervals[i] = shown_interval(change);
  }
  std::string text = table_line(name, changes);
  if (std::ranges::any_of(intervals, [](const std::string& s) { return !s.empty(); }))
    text += table_line("", intervals);
  return text;
}

std::string change_block(const Arms& point, bool with_paper) {
  std::string rows;
  bool others = false;
  for (const ArmSummary* arm : point) {
    if (arm->off) continue;
    const bool other = has_other_baseline(*arm);
    others |= other;
    rows += change_rows(*arm, other ? baseline_name(*arm, point) : arm->name, &ArmSummary::metric);
    if (other) rows += change_rows(*arm, off_name(point), &ArmSummary::metric_against_off);
  }
  if (rows.empty()) return "";
  std::string text = "Change against " + off_label(point) +
                     (others ? ", or first against the baseline after the slash" : "") +
                     ", with 95 % confidence:\n" + rows;
  if (with_paper) {
    const PaperChanges& p = kPaperChanges;
    text +=
        table_line("paper", {shown_change(p.start_queue), shown_change(p.max_queue),
                             shown_change(p.burst_completion), "-", shown_change(p.ddl_throughput),
                             shown_change(p.burst_sojourn), shown_change(p.background), ""});
  }
  return text;
}

std::string cost_block(const Arms& point, const Summary& summary) {
  const bool closed_loop = std::ranges::any_of(point, [&summary](const ArmSummary* arm) {
    return std::ranges::any_of(arm->cases, [&summary](std::size_t i) {
      return summary.cases[i].background_cost.basis == CostBasis::kWholeRun;
    });
  });
  const bool others =
      std::ranges::any_of(point, [](const ArmSummary* arm) { return has_other_baseline(*arm); });
  return "Cost to the background against " + (others ? "the baseline" : off_label(point)) +
         (closed_loop ? ", as a whole" : ", per iteration") +
         cost_windows_text(*point.front(), summary) + ":\n" +
         (closed_loop ? arms_rows(point, kClosedLoopCostCells) : arms_rows(point, kCostCells));
}

std::string tail_block(const Arms& point) {
  return "Tail of the communication time, first bursts included:\n" + arms_rows(point, kTailCells);
}

bool has(const ArmSummary& arm, std::string_view metric) {
  return !std::isnan(arm.metric(metric).value.value);
}

/// Returns the parts of the pushes' communication time; empty without attribution.
std::string time_block(const Arms& point) {
  constexpr std::array<const char*, 7> kShown{
      "time_signal_share",     "time_serialisation_share", "time_behind_background_share",
      "time_behind_ddl_share", "time_window_share",        "time_recovery_share",
      "time_rto_share"};
  constexpr std::array<const char*, 4> kRest{"time_opening_share", "time_compute_share",
                                             "time_others_share", "time_held_share"};
  std::string rows;
  for (const ArmSummary* arm : point) {
    TableCells cells;
    for (std::size_t i = 0; i < kShown.size(); ++i)
      cells[i] = shown(arm->metric(kShown[i]).value.value * 100);
    double rest = 0;
    for (const char* name : kRest) rest += arm->metric(name).value.value;
    if (std::isnan(rest)) continue;
    cells[kShown.size()] = shown(rest * 100);
    rows += table_line(arm->name, cells);
  }
  if (rows.empty()) return "";
  return "Where the communication time of pushes went, in % of their sum:\n" +
         table_line("",
                    {"signal", "wire", "behind", "behind", "window", "recovery", "RTO", "rest"}) +
         table_line("", {"", "", "background", "other DDL", "", "", "", ""}) + rows;
}

/// Returns the iterations' times; empty on a fixed schedule, which determines them.
std::string iteration_block(const Arms& point) {
  const auto closed_loop = [](const ArmSummary* arm) {
    const auto schedule =
        std::ranges::find(arm->parameters, "schedule", &Parameters::value_type::first);
    return schedule != arm->parameters.end() && text_of(schedule->second) == "closed_loop";
  };
  if (!std::ranges::any_of(point, closed_loop)) return "";
  return "Iterations:\n" + arms_rows(point, kIterationCells);
}

/// Returns how well the jobs learn; empty if no job has a learner.
std::string learning_block(const Arms& point) {
  std::string rows;
  for (const ArmSummary* arm : point)
    if (has(*arm, "last_loss")) rows += arm_rows(*arm, point, kLearningCells);
  return rows.empty() ? "" : "Learning:\n" + cell_headings(kLearningCells) + rows;
}

/// Returns what queue pairs sent beside data; empty if no burst is over RoCEv2.
std::string roce_block(const Arms& point) {
  std::string rows;
  for (const ArmSummary* arm : point)
    if (has(*arm, "roce_cnps_per_burst")) rows += arm_rows(*arm, point, kRoceCells);
  return rows.empty() ? "" : "Bursts over RoCEv2:\n" + cell_headings(kRoceCells) + rows;
}

/// Returns how several jobs on one network affect each other; empty for a single job.
std::string jobs_block(const Arms& point) {
  std::string rows;
  for (const ArmSummary* arm : point)
    if (has(*arm, "jobs_completion_seconds_mean") || has(*arm, "worker_spread_seconds_mean"))
      rows += arm_rows(*arm, point, kJobCells);
  if (rows.empty()) return "";
  return "Jobs: completion, mean of the jobs, and what an iteration's workers are apart:\n" +
         cell_headings(kJobCells) + rows;
}

/// Returns the mean over an arm's seeds of what a tier of links had.
template <class T>
double mean_of_tier(const ArmSummary& arm, const Summary& summary, std::size_t tier,
                    T TierMetrics::*member) {
  std::vector<double> values;
  for (const std::size_t i : arm.cases) {
    const auto& tiers = summary.cases[i].metrics.links.tiers;
    if (tier < tiers.size()) values.push_back(static_cast<double>(tiers[tier].*member));
  }
  return mean(values);
}

/// Returns what the tiers of a fabric's links had; empty without a fabric.
std::string link_block(const Arms& point, const Summary& summary) {
  std::string rows;
  for (const ArmSummary* arm : point) {
    if (arm->cases.empty()) continue;
    const auto& tiers = summary.cases[arm->cases.front()].metrics.links.tiers;
    if (!tiers.empty()) rows += table_line(arm->name, {});
    for (std::size_t t = 0; t < tiers.size(); ++t) {
      const auto tier = [&](auto member) { return mean_of_tier(*arm, summary, t, member); };
      rows += table_line("  " + tiers[t].tier,
                         {shown(100 * tier(&TierMetrics::utilisation_mean)),
                          shown(100 * tier(&TierMetrics::utilisation_max)),
                          shown(tier(&TierMetrics::marks)), shown(tier(&TierMetrics::drops)),
                          shown(tier(&TierMetrics::worker_start_queue_packets_mean)),
                          shown(tier(&TierMetrics::worker_start_queue_total_packets_mean))});
    }
  }
  if (rows.empty()) return "";
  return "Links of each tier, over the whole run:\n" +
         table_line("",
                    {"use, mean", "busiest", "CE marks", "drops", "start queue", "start, all"}) +
         table_line("", {"%", "%", "packets", "packets", "packets", "packets"}) + rows;
}

// -- the whole

std::string heading(const Summary& summary) {
  std::size_t seeds = 0;
  for (const auto& arm : summary.arms) seeds = std::max(seeds, arm.cases.size());
  std::string text =
      summary.experiment + ", " +
      (summary.runtime == Runtime::kVirtual ? "virtual time" : name_of(summary.runtime)) + ", " +
      std::to_string(seeds) + (seeds == 1 ? " seed" : " seeds");
  if (summary.quick)
    text += ", quick: two measured iterations at the first point, to see that it runs";
  else if (seeds < kSeedsForClaims)
    text += ": a demonstration; claims rest on " + std::to_string(kSeedsForClaims) + " or more";
  if (summary.interrupted)
    text += "\nIncomplete: " + std::to_string(summary.cases.size()) + " of " +
            std::to_string(summary.planned_cases) + " cases have results";
  return text.append("\n");
}

std::vector<Arms> by_point(const Summary& summary) {
  std::vector<Arms> points;
  for (const auto& arm : summary.arms) {
    if (points.empty() || points.back().front()->point != arm.point) points.emplace_back();
    points.back().push_back(&arm);
  }
  return points;
}

/// Returns what collectives of jobs reach, all points together; empty without any.
std::string collectives_text(const Summary& summary) {
  constexpr std::size_t kMostLines = 48;
  if (summary.arms.empty()) return "";
  const std::string table = collective_table(summary, {}, kMostLines);
  return table.empty() ? "" : '\n' + wrapped(kCollectiveWords) + '\n' + table;
}

constexpr const char* kDashNote =
    "\n-: not defined here: nothing was counted, there is no baseline to compare with, or it has "
    "none.\n";

/// Says whether a cell is a dash.
bool has_dash(const std::string& text) {
  return text.find("  - ") != std::string::npos || text.find("  -\n") != std::string::npos;
}

}  // namespace

std::string comparison_table(const Summary& summary) {
  std::string text = heading(summary);
  const auto points = by_point(summary);
  const auto names = point_names(summary.arms);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool with_paper = i == 0 && is_papers_experiment(summary.experiment);
    text += "\n";
    if (points.size() > 1) text += "== " + names[i] + "\n";
    if (!has_job(summary.arms)) {
      text += flows_alone_block(points[i]) + flow_block(points[i]) + group_block(points[i]) +
              link_block(points[i], summary);
      continue;
    }
    text += value_block(points[i], with_paper) + change_block(points[i], with_paper);
    text += iteration_block(points[i]) + learning_block(points[i]) + jobs_block(points[i]) +
            roce_block(points[i]) + flow_block(points[i]) + group_block(points[i]) +
            time_block(points[i]);
    if (points.size() <= kPointsInFull)
      text +=
          tail_block(points[i]) + cost_block(points[i], summary) + link_block(points[i], summary);
  }
  const std::string notes = (has_dash(text) ? kDashNote : "") + table_notes(summary);
  return wrapped(text) + collectives_text(summary) + wrapped(notes);
}

}  // namespace outrider::lab
