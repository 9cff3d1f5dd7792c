#include "tools/lab/results/summary_tables.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <variant>

#include "tools/lab/summary/metric.h"

namespace outrider::lab {

namespace {

constexpr CellKind kInteger = CellKind::kInteger, kReal = CellKind::kReal, kText = CellKind::kText;

template <class... T>
void put(RowSink& sink, const T&... values) {
  const Cell cells[]{cell_of(values)...};
  sink.row(cells);
}

Cell cell_of_parameter(const ParameterValue& value) {
  return std::visit(
      [](const auto& v) -> Cell {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, std::monostate>) return {};
        else return cell_of(v);
      },
      value);
}

/// Returns the index of each case's arm.
std::vector<std::size_t> arms_of_cases(const Summary& summary) {
  std::vector<std::size_t> arms(summary.cases.size());
  for (std::size_t a = 0; a < summary.arms.size(); ++a)
    for (const std::size_t c : summary.arms[a].cases) arms[c] = a;
  return arms;
}

void write_arms(RowSink& sink, const Summary& summary) {
  std::size_t index = 0;
  for (const ArmSummary& arm : summary.arms)
    put(sink, index++, arm.label, name_of(arm.role), arm.point, arm.off, arm.against);
}

void write_cases(RowSink& sink, const Summary& summary) {
  const auto arms = arms_of_cases(summary);
  for (std::size_t i = 0; i < summary.cases.size(); ++i) {
    const CaseSummary& c = summary.cases[i];
    put(sink, i, c.label, c.seed, arms[i], c.point, c.baseline ? cell_of(*c.baseline) : Cell{},
        c.interrupted, c.metrics.ledger_balanced,
        c.metrics.queue.switch_name + '.' + c.metrics.queue.port_name);
  }
}

void write_parameters(RowSink& sink, const Summary& summary) {
  std::size_t index = 0;
  for (const ArmSummary& arm : summary.arms) {
    for (const auto& [name, value] : arm.parameters)
      put(sink, index, name, cell_of_parameter(value));
    ++index;
  }
}

void write_metrics(RowSink& sink, const Summary&) {
  for (const Metric& m : metrics()) put(sink, m.name, name_of(m.unit), text_of(m), m.help);
}

void write_case_metrics(RowSink& sink, const Summary& summary) {
  for (std::size_t i = 0; i < summary.cases.size(); ++i) {
    const CaseSummary* one[]{&summary.cases[i]};
    for (const Metric& m : metrics())
      if (is_there(m, one)) put(sink, i, m.name, value_of(m, one));
  }
}

/// Returns the label of the baseline that all arms of a point are compared with; empty without one.
std::string_view first_baseline(const Summary& summary, std::size_t point) {
  for (const ArmSummary& arm : summary.arms)
    if (arm.off && arm.point == point) return arm.label;
  return {};
}

void write_arm_metrics(RowSink& sink, const Summary& summary) {
  std::size_t index = 0;
  const auto write = [&](const std::vector<ArmMetric>& all, std::string_view baseline) {
    for (const ArmMetric& m : all)
      put(sink, index, m.name, m.value.value, m.value.low, m.value.high, baseline, m.change.value,
          m.change.low, m.change.high);
  };
  for (const ArmSummary& arm : summary.arms) {
    const std::string_view first = first_baseline(summary, arm.point);
    write(arm.metrics, arm.against.empty() ? first : arm.against);
    write(arm.against_off, first);
    ++index;
  }
}

}  // namespace

std::span<const SummaryTable> summary_tables() {
  static const SummaryTable kTables[] = {
      {"arms",
       "an arm at a point of the sweeps, which is all its seeds",
       {{"arm", kInteger, "its index in summary.json"},
        {"label", kText},
        {"role", kText, "baseline or remedy"},
        {"point", kInteger, "point of the sweeps"},
        {"off", kInteger, "1: the baseline of its point"},
        {"against", kText, "label of its own baseline; empty: the one of its point"}},
       write_arms},
      {"parameters",
       "a parameter or setting of an arm",
       {{"arm", kInteger}, {"name", kText}, {"value", CellKind::kAny}},
       write_parameters},
      {"cases",
       "a run of an arm with one seed",
       {{"case_index", kInteger, "its index in summary.json"},
        {"label", kText},
        {"seed", kInteger},
        {"arm", kInteger},
        {"point", kInteger},
        {"baseline_case", kInteger, "case that it is compared with"},
        {"interrupted", kInteger},
        {"ledger_balanced", kInteger, "0: packets are not accounted for"},
        {"measured", kText, "SWITCH.PORT of the queue under study"}},
       write_cases},
      {"metrics",
       "a metric",
       {{"metric", kText}, {"unit", kText}, {"aggregate", kText}, {"help", kText}},
       write_metrics},
      {"case_metrics",
       "a metric of a case",
       {{"case_index", kInteger}, {"metric", kText}, {"value", kReal}},
       write_case_metrics},
      {"arm_metrics",
       "a metric of an arm, over its seeds, with 95 % intervals",
       {{"arm", kInteger},
        {"metric", kText},
        {"value", kReal},
        {"low", kReal},
        {"high", kReal},
        {"baseline", kText, "label of the arm that the change is against"},
        {"change", kReal, "ratio less 1"},
        {"change_low", kReal},
        {"change_high", kReal}},
       write_arm_metrics}};
  return kTables;
}

}  // namespace outrider::lab
