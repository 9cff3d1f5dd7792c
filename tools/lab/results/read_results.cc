#include "tools/lab/results/read_results.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "tools/lab/experiment/summary_points.h"

namespace outrider::lab {

namespace {

std::size_t index_of(const Query& row, std::size_t column) {
  return static_cast<std::size_t>(row.whole(column).value_or(0));
}

bool flag(const Query& row, std::size_t column) { return row.whole(column).value_or(0) != 0; }

/// Returns the estimate in a column and the next two.
Estimate estimate(const Query& row, std::size_t column) {
  return {row.number(column), row.number(column + 1), row.number(column + 2)};
}

ParameterValue parameter(const Query& row, std::size_t column) {
  return std::visit([](const auto& value) -> ParameterValue { return value; }, row.value(column));
}

void read_experiment(const ResultsReader& from, Results& to) {
  Query row = from.query(
      "SELECT experiment, question, runtime, interrupted, planned_cases, quick, results_version, "
      "(SELECT COUNT(*) FROM cases) FROM experiment");
  if (!row.next()) throw QueryError("the table experiment is empty");
  to.experiment = row.text(0);
  to.question = row.text(1);
  for (const Runtime r : {Runtime::kVirtual, Runtime::kLoopback, Runtime::kTestbed})
    if (row.text(2) == name_of(r)) to.runtime = r;
  to.interrupted = flag(row, 3);
  to.planned_cases = index_of(row, 4);
  to.quick = flag(row, 5);
  to.version = static_cast<int>(index_of(row, 6));
  to.finished_cases = index_of(row, 7);
}

void read_warnings(const ResultsReader& from, Results& to) {
  for (Query row = from.query("SELECT label, point, count, warning FROM warnings ORDER BY rowid");
       row.next();)
    if (row.is_null(0)) to.advice.push_back(row.text(3));
    else
      to.warnings.push_back({row.text(0), index_of(row, 1),
                             static_cast<std::uint64_t>(row.whole(2).value_or(0)), row.text(3)});
}

void read_arms(const ResultsReader& from, std::vector<ArmSummary>& arms) {
  for (Query row = from.query("SELECT label, role, point, off, against FROM arms ORDER BY rowid");
       row.next();)
    arms.push_back(
        {.label = row.text(0),
         .role = row.text(1) == name_of(ArmRole::kBaseline) ? ArmRole::kBaseline : ArmRole::kRemedy,
         .parameters = {},
         .point = index_of(row, 2),
         .off = flag(row, 3),
         .against = row.text(4)});
  constexpr const char* kParameters = "SELECT arm, name, value FROM parameters ORDER BY rowid";
  for (Query row = from.query(kParameters); row.next();)
    arms.at(index_of(row, 0)).parameters.emplace_back(row.text(1), parameter(row, 2));
  for (Query row = from.query("SELECT arm, case_index FROM cases ORDER BY rowid"); row.next();)
    arms.at(index_of(row, 0)).cases.push_back(index_of(row, 1));
}

void read_metrics(const ResultsReader& from, std::vector<ArmSummary>& arms) {
  const auto is_own = [](const ArmSummary& arm, const std::string& baseline) {
    return arm.against.empty() || arm.against == baseline;
  };
  for (Query row = from.query("SELECT arm, baseline, metric, value, low, high, change, change_low, "
                              "change_high FROM arm_metrics ORDER BY rowid");
       row.next();) {
    ArmSummary& arm = arms.at(index_of(row, 0));
    (is_own(arm, row.text(1)) ? arm.metrics : arm.against_off)
        .push_back({row.text(2), estimate(row, 3), estimate(row, 6)});
  }
  for (Query row = from.query("SELECT arm, baseline, difference FROM differences ORDER BY rowid");
       row.next();) {
    ArmSummary& arm = arms.at(index_of(row, 0));
    (is_own(arm, row.text(1)) ? arm.beside : arm.beside_off).push_back(row.text(2));
  }
  for (Query row = from.query("SELECT arm, group_name, figure, value, low, high, change, "
                              "change_low, change_high FROM arm_groups ORDER BY rowid");
       row.next();) {
    auto& groups = arms.at(index_of(row, 0)).groups;
    if (groups.empty() || groups.back().name != row.text(1)) groups.push_back({row.text(1)});
    groups.back().figures.push_back({row.text(2), estimate(row, 3), estimate(row, 6)});
  }
}

/// Results of a program that wrote no such table have none.
void read_collectives(const ResultsReader& from, std::vector<ArmSummary>& arms) {
  if (!from.query("SELECT 1 FROM sqlite_master WHERE name = 'arm_collectives'").next()) return;
  for (Query row = from.query("SELECT arm, job, collective, ranks, size_bytes, "
                              "communication_seconds_median, algbw_bits_per_second_median, "
                              "busbw_bits_per_second_median FROM arm_collectives ORDER BY rowid");
       row.next();)
    arms.at(index_of(row, 0))
        .collectives.push_back({row.text(1), row.text(2), index_of(row, 3), row.number(4),
                                row.number(5), row.number(6), row.number(7)});
}

/// Returns the place of a metric among those that are compared; their number if it is none.
std::size_t place_of(const std::string& metric) {
  const auto all = compared_metrics();
  return static_cast<std::size_t>(std::ranges::find(all, metric, &Metric::name) - all.begin());
}

}  // namespace

Results read_results(const ResultsReader& from) {
  Results results;
  read_experiment(from, results);
  read_warnings(from, results);
  read_arms(from, results.arms);
  read_metrics(from, results.arms);
  read_collectives(from, results.arms);
  name_arms(results.arms);
  return results;
}

ComparableResult read_comparable(const ResultsReader& from) {
  const Results results = read_results(from);
  ComparableResult out{.experiment = results.experiment,
                       .runtime = name_of(results.runtime),
                       .arms = {},
                       .results_version = results.version};
  const std::vector<double> none(compared_metrics().size(), kNotDefined);
  for (const ArmSummary& arm : results.arms) {
    ComparableArm& one = out.arms.emplace_back();
    one.label = arm.label;
    one.point = arm.point;
    for (const auto& [name, value] : arm.parameters)
      one.parameters.emplace_back(name, text_of(value));
    one.values = none;
    for (const ArmMetric& metric : arm.metrics)
      if (const std::size_t place = place_of(metric.name); place < none.size())
        one.values[place] = metric.value.value;
  }
  std::vector<std::pair<std::size_t, SeedValues>> seeds;  // of each case: its arm, its values
  for (Query row = from.query("SELECT arm, seed FROM cases ORDER BY rowid"); row.next();)
    seeds.push_back(
        {index_of(row, 0), {static_cast<std::uint64_t>(row.whole(1).value_or(0)), none}});
  for (Query row = from.query("SELECT case_index, metric, value FROM case_metrics"); row.next();)
    if (const std::size_t place = place_of(row.text(1)); place < none.size())
      seeds.at(index_of(row, 0)).second.values[place] = row.number(2);
  for (auto& [arm, values] : seeds) out.arms.at(arm).seeds.push_back(std::move(values));
  return out;
}

}  // namespace outrider::lab
