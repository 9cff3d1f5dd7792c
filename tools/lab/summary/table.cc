#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "tools/lab/measure/paper_reference.h"
#include "tools/lab/measure/summary_points.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_notes.h"
#include "tools/lab/summary/table_text.h"

namespace outrider {

namespace {

constexpr std::size_t kSeedsForClaims = 30;
constexpr std::size_t kPointsInFull =
    4;  // beyond, the table leaves the detail of costs to the file

/// A metric's column: how a value is shown, and the metric whose change is.
struct Column {
  const char* name;
  double scale;
};
constexpr std::array<Column, 8> kColumns{{{"start_queue_packets_mean", 1},
                                          {"max_queue_packets_mean", 1},
                                          {"burst_completion_seconds_median", 1e3},
                                          {"communication_seconds_median", 1e3},
                                          {"ddl_throughput_bits_per_second_mean", 1e-6},
                                          {"burst_sojourn_seconds_mean", 1e3},
                                          {"background_goodput_bits_per_second", 1e-6},
                                          {"rtos_per_burst", 1}}};
constexpr std::size_t kBackgroundColumn = 6;
constexpr std::size_t kRtoColumn = 7;

constexpr std::array<Column, 8> kCostColumns{{{"background_lost_fraction", 100},
                                              {"background_lost_bytes_per_iteration", 1e-3},
                                              {"background_transfer_bytes_per_iteration", 1e-3},
                                              {"background_waste_bytes_per_iteration", 1e-3},
                                              {"background_unexplained_bytes_per_iteration", 1e-3},
                                              {"background_lowest_share", 100},
                                              {"background_recovery_seconds", 1e3},
                                              {"ddl_bytes_gained_per_background_byte_lost", 1}}};

using Arms = std::vector<const ArmSummary*>;

// -- which arms, under which names

/// The parameters, among those that `keep` holds for, that differ between arms.
template <class Keep>
std::set<std::string> varying(const Arms& arms, Keep keep) {
  std::map<std::string, std::set<std::string>> values;
  for (const ArmSummary* arm : arms)
    for (const auto& [name, value] : arm->parameters)
      if (keep(name)) values[name].insert(text_of(value));
  std::set<std::string> names;
  for (const auto& [name, seen] : values) {
    const auto has = [&n = name](const ArmSummary* arm) {
      return std::ranges::find(arm->parameters, n, &Parameters::value_type::first) !=
             arm->parameters.end();
    };
    if (seen.size() > 1 || !std::ranges::all_of(arms, has)) names.insert(name);
  }
  return names;
}

std::string values_of(const ArmSummary& arm, const std::set<std::string>& names) {
  std::string text;
  for (const auto& [name, value] : arm.parameters)
    if (names.contains(name)) text += (text.empty() ? "" : ", ") + name + "=" + text_of(value);
  return text;
}

/// The label, with what its remedy is set to where the label is there twice.
std::string row_name(const ArmSummary& arm, const Arms& point) {
  Arms same;
  for (const ArmSummary* other : point)
    if (other->label == arm.label) same.push_back(other);
  const std::string settings = values_of(arm, varying(same, tells_arms_apart));
  return settings.empty() ? arm.label : arm.label + " " + settings;
}

// -- blocks

template <std::size_t N>
TableCells values(const ArmSummary& arm, const std::array<Column, N>& columns) {
  TableCells cells;
  for (std::size_t i = 0; i < N; ++i)
    cells[i] = shown(arm.metric(columns[i].name).value.value * columns[i].scale);
  return cells;
}

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
  std::string text = table_line("", {"start queue", "max queue", "burst", "communic.", "DDL",
                                     "sojourn", "background", "RTOs"});
  text += table_line("", {"packets", "packets", "ms", "ms", "Mbit/s", "ms", "Mbit/s", "/burst"});
  for (const ArmSummary* arm : point)
    text += table_line(row_name(*arm, point), values(*arm, kColumns));
  if (with_paper) {
    text += table_line("paper, PCN off", paper_row(kPaperOff));
    text += table_line("paper, PCN on", paper_row(kPaperOn));
  }
  return text;
}

/// The background's change is its loss in windows that all arms share, where there are any.
Estimate background_change(const ArmSummary& arm) {
  const Estimate lost = arm.metric("background_lost_fraction").value;
  return {.value = -lost.value, .low = -lost.high, .high = -lost.low};
}

std::string change_rows(const ArmSummary& arm, const std::string& name) {
  TableCells changes, intervals;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (i == kRtoColumn) continue;  // often none in off: a ratio says nothing
    const Estimate change =
        i == kBackgroundColumn ? background_change(arm) : arm.metric(kColumns[i].name).change;
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
  for (const ArmSummary* arm : point)
    if (!arm->off) rows += change_rows(*arm, row_name(*arm, point));
  if (rows.empty()) return "";
  std::string text = "Change against off, with 95 % confidence:\n" + rows;
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
  std::string text = "Cost to the background against off, per iteration" +
                     cost_windows_text(*point.front(), summary) + ":\n";
  text += table_line(
      "", {"lost", "lost", "transfer", "waste", "unexplained", "lowest", "95 % again", "gained"});
  text += table_line("", {"%", "kB", "kB", "kB", "kB", "% of before", "ms", "/lost"});
  for (const ArmSummary* arm : point)
    text += table_line(row_name(*arm, point), values(*arm, kCostColumns));
  return text;
}

/// Where the pushes' communication time went; empty without attribution.
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
    rows += table_line(row_name(*arm, point), cells);
  }
  if (rows.empty()) return "";
  return "Where the communication time of pushes went, in % of their sum:\n" +
         table_line("",
                    {"signal", "wire", "behind", "behind", "window", "recovery", "RTO", "rest"}) +
         table_line("", {"", "", "background", "other DDL", "", "", "", ""}) + rows;
}

/// Iterations as training feels them; empty on a fixed schedule, which paces them.
std::string iteration_block(const Arms& point) {
  const auto closed_loop = [](const ArmSummary* arm) {
    const auto schedule =
        std::ranges::find(arm->parameters, "schedule", &Parameters::value_type::first);
    return schedule != arm->parameters.end() && text_of(schedule->second) == "closed_loop";
  };
  if (!std::ranges::any_of(point, closed_loop)) return "";
  std::string text =
      "Iterations:\n" +
      table_line("", {"iteration", "against off", "95 %", "first layer", "NIC idle"}) +
      table_line("", {"ms, median", "", "", "ms", "% sending"});
  for (const ArmSummary* arm : point) {
    const ArmMetric iteration = arm->metric("iteration_seconds_median");
    text += table_line(
        row_name(*arm, point),
        {shown(iteration.value.value * 1e3), arm->off ? "" : shown_change(iteration.change.value),
         arm->off ? "" : shown_interval(iteration.change),
         shown(arm->metric("first_layer_seconds_median").value.value * 1e3),
         shown(arm->metric("nic_send_idle_share_median").value.value * 100)});
  }
  return text;
}

/// What iterations are worth; empty where nobody learns.
std::string learning_block(const Arms& point) {
  std::string rows;
  for (const ArmSummary* arm : point) {
    const ArmMetric to_loss = arm->metric("time_to_loss_seconds");
    const double last = arm->metric("last_loss").value.value;
    if (std::isnan(last)) continue;
    rows +=
        table_line(row_name(*arm, point),
                   {shown(arm->metric("worker_iteration_seconds_mean").value.value * 1e3),
                    shown(arm->metric("update_gap_variation").value.value),
                    shown(to_loss.value.value), arm->off ? "" : shown_change(to_loss.change.value),
                    arm->off ? "" : shown_interval(to_loss.change),
                    shown(arm->metric("gradients_to_loss").value.value), shown(last)});
  }
  if (rows.empty()) return "";
  return "Learning:\n" +
         table_line("", {"iteration", "update", "to loss", "against off", "95 %", "gradients",
                         "last loss"}) +
         table_line("", {"ms, worker", "gaps", "s", "", "", "to loss", "nats"}) + rows;
}

/// What several jobs on one network do to each other; empty of a sole one.
std::string jobs_block(const Arms& point) {
  std::string rows;
  for (const ArmSummary* arm : point) {
    const ArmMetric completion = arm->metric("jobs_completion_seconds_mean");
    const ArmMetric spread = arm->metric("worker_spread_seconds_mean");
    if (std::isnan(completion.value.value) && std::isnan(spread.value.value)) continue;
    rows += table_line(
        row_name(*arm, point),
        {shown(completion.value.value), arm->off ? "" : shown_change(completion.change.value),
         arm->off ? "" : shown_interval(completion.change),
         shown(arm->metric("jobs_completion_seconds_range").value.value),
         shown(spread.value.value * 1e3), arm->off ? "" : shown_change(spread.change.value),
         shown(arm->metric("server_nic_sending_share").value.value * 100),
         shown(arm->metric("server_nic_receiving_share").value.value * 100)});
  }
  if (rows.empty()) return "";
  return "Jobs: completion, mean of the jobs, and what an iteration's workers are apart:\n" +
         table_line("", {"completion", "against off", "95 %", "last-first", "workers",
                         "against off", "servers'", "NIC"}) +
         table_line("", {"s", "", "", "job, s", "ms apart", "", "% sending", "% recv."}) + rows;
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
    text += ", quick: two iterations at the first point: it runs, and nothing else is shown";
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

/// What tells the points apart; an off arm speaks for its point.
std::string point_heading(const std::vector<Arms>& points, const Arms& point) {
  const auto speaker = [](const Arms& arms) {
    const auto off = std::ranges::find_if(arms, [](const ArmSummary* a) { return a->off; });
    return off == arms.end() ? arms.front() : *off;
  };
  Arms speakers;
  for (const auto& p : points) speakers.push_back(speaker(p));
  const auto names = varying(speakers, [](std::string_view n) { return !tells_on_from_off(n); });
  return values_of(*speaker(point), names);
}

}  // namespace

std::string comparison_table(const Summary& summary) {
  std::string text = heading(summary);
  const auto points = by_point(summary);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool with_paper = i == 0 && is_papers_experiment(summary.experiment);
    text += "\n";
    if (points.size() > 1) text += "== " + point_heading(points, points[i]) + "\n";
    text += value_block(points[i], with_paper) + change_block(points[i], with_paper);
    text += iteration_block(points[i]) + learning_block(points[i]) + jobs_block(points[i]) +
            time_block(points[i]);
    if (points.size() <= kPointsInFull) text += cost_block(points[i], summary);
  }
  return wrapped(text + table_notes(summary));
}

}  // namespace outrider
