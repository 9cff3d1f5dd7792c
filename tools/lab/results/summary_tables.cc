#include "tools/lab/results/summary_tables.h"

#include <algorithm>
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
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) return {};
        else if constexpr (std::is_same_v<T, bool>) return std::string_view(v ? "true" : "false");
        else if constexpr (std::is_same_v<T, std::string>) return std::string_view(v);
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

void write_experiment(RowSink& sink, const Summary& summary) {
  put(sink, summary.experiment, summary.question, name_of(summary.runtime), summary.interrupted,
      summary.planned_cases, summary.quick, summary.version);
}

void write_arms(RowSink& sink, const Summary& summary) {
  std::size_t index = 0;
  for (const ArmSummary& arm : summary.arms)
    put(sink, index++, arm.label, name_of(arm.role), arm.point, arm.off, arm.against);
}

Cell cell_of_index(std::optional<std::size_t> index) { return index ? cell_of(*index) : Cell{}; }

void write_cases(RowSink& sink, const Summary& summary) {
  const auto arms = arms_of_cases(summary);
  for (std::size_t i = 0; i < summary.cases.size(); ++i) {
    const CaseSummary& c = summary.cases[i];
    const MeasuredQueue& queue = c.metrics.queue;
    const BackgroundCost& cost = c.background_cost;
    put(sink, i, c.label, c.seed, arms[i], c.point, cell_of_index(c.baseline), c.interrupted,
        c.metrics.ledger_balanced, queue.switch_name, queue.port_name, queue.number,
        queue.drain_bits_per_second, c.base_rtt.count(), c.references.ideal, c.references.alone,
        c.references.fair, c.metrics.measured_from_seconds, c.metrics.measured_to_seconds,
        name_of(cost.basis), cost.lead_seconds, cost.window_seconds);
  }
}

void write_jobs(RowSink& sink, const Summary& summary) {
  const CaseJob no_hosts;
  const JobMetrics no_metrics;
  for (std::size_t i = 0; i < summary.cases.size(); ++i) {
    const auto& hosts = summary.cases[i].jobs;
    const auto& measured = summary.cases[i].metrics.jobs.each;
    for (std::size_t job = 0; job < std::max(hosts.size(), measured.size()); ++job) {
      const CaseJob& own = job < hosts.size() ? hosts[job] : no_hosts;
      const JobMetrics& m = job < measured.size() ? measured[job] : no_metrics;
      put(sink, i, job, job < measured.size() ? m.name : own.name,
          job < hosts.size() ? cell_of(own.workers) : Cell{},
          job < hosts.size() ? cell_of(own.servers) : Cell{}, m.start_seconds, m.completion_seconds,
          m.iteration_seconds_median, m.iteration_seconds_p99, m.communication_seconds_median,
          m.communication_seconds_p99, m.worker_spread_seconds_mean, m.worst_link,
          m.worker_start_queue_packets_mean, m.worker_start_queue_total_packets_mean);
    }
  }
}

void write_tiers(RowSink& sink, const Summary& summary) {
  for (std::size_t i = 0; i < summary.cases.size(); ++i)
    for (const TierMetrics& t : summary.cases[i].metrics.links.tiers)
      put(sink, i, summary.cases[i].metrics.links.span_seconds, t.tier, t.links, t.joined,
          t.utilisation_mean, t.utilisation_max, t.busiest, t.marks, t.drops, t.longest_wait,
          t.worker_start_queue_packets_mean, t.worker_start_queue_total_packets_mean);
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

void write_warnings(RowSink& sink, const Summary& summary) {
  for (const std::string& advice : summary.advice) put(sink, Cell{}, Cell{}, Cell{}, advice);
  for (const ArmWarning& w : summary.warnings) put(sink, w.label, w.point, w.count, w.text);
}

void write_differences(RowSink& sink, const Summary& summary) {
  std::size_t index = 0;
  for (const ArmSummary& arm : summary.arms) {
    const std::string_view first = first_baseline(summary, arm.point);
    for (const std::string& text : arm.beside)
      put(sink, index, arm.against.empty() ? first : arm.against, text);
    for (const std::string& text : arm.beside_off) put(sink, index, first, text);
    ++index;
  }
}

void write_arm_groups(RowSink& sink, const Summary& summary) {
  std::size_t index = 0;
  for (const ArmSummary& arm : summary.arms) {
    for (const GroupSummary& group : arm.groups)
      for (const ArmMetric& m : group.figures)
        put(sink, index, group.name, m.name, m.value.value, m.value.low, m.value.high,
            m.change.value, m.change.low, m.change.high);
    ++index;
  }
}

void write_arm_collectives(RowSink& sink, const Summary& summary) {
  std::size_t index = 0;
  for (const ArmSummary& arm : summary.arms) {
    for (const CollectiveSummary& c : arm.collectives)
      put(sink, index, c.job, c.collective, c.ranks, c.size_bytes, c.seconds,
          c.algbw_bits_per_second, c.busbw_bits_per_second);
    ++index;
  }
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

// -- columns

std::vector<TableColumn> columns_of_experiment() {
  return {{"experiment", kText, "its name"},
          {"question", kText},
          {"runtime", kText, "virtual, loopback or testbed"},
          {"interrupted", kInteger, "1: cases are missing"},
          {"planned_cases", kInteger},
          {"quick", kInteger, "1: made with --quick"},
          {"results_version", kInteger}};
}

std::vector<TableColumn> columns_of_arms() {
  return {{"arm", kInteger, "its index in summary.json"},
          {"label", kText},
          {"role", kText, "baseline or remedy"},
          {"point", kInteger, "point of the sweeps"},
          {"off", kInteger, "1: the baseline of its point"},
          {"against", kText, "label of its own baseline; empty: the one of its point"}};
}

std::vector<TableColumn> columns_of_parameters() {
  return {{"arm", kInteger},
          {"name", kText},
          {"value", CellKind::kAny, "a number or a text; true and false are texts"}};
}

std::vector<TableColumn> columns_of_cases() {
  return {{"case_index", kInteger, "its index in summary.json"},
          {"label", kText},
          {"seed", kInteger},
          {"arm", kInteger},
          {"point", kInteger},
          {"baseline_case", kInteger, "case that it is compared with"},
          {"interrupted", kInteger},
          {"ledger_balanced", kInteger, "0: packets are not accounted for"},
          {"measured_switch", kText, "with measured_port the queue under study"},
          {"measured_port", kText},
          {"measured_queue", kInteger, "its number in the port"},
          {"drain_bits_per_second", kInteger, "of that port"},
          {"base_rtt_ns", kInteger},
          {"ideal_seconds", kReal, "a burst's completion at the link's rate"},
          {"alone_seconds", kReal, "the same without background, median"},
          {"fair_seconds", kReal, "the same with a fair share of the link"},
          {"goodput_from_seconds", kReal, "goodputs are taken from here"},
          {"goodput_to_seconds", kReal, "to here"},
          {"cost_basis", kText, "how the background's cost is taken"},
          {"cost_lead_seconds", kReal, "from here before a burst is due"},
          {"cost_window_seconds", kReal, "to here after"}};
}

std::vector<TableColumn> columns_of_jobs() {
  return {{"case_index", kInteger},
          {"job", kInteger},
          {"name", kText},
          {"workers", kInteger, "none: a later run of a job with arrivals"},
          {"servers", kInteger, "0: the workers send to each other"},
          {"start_seconds", kReal, "of its first iteration, in the run"},
          {"completion_seconds", kReal, "from there to its end"},
          {"iteration_seconds_median", kReal},
          {"iteration_seconds_p99", kReal},
          {"communication_seconds_median", kReal},
          {"communication_seconds_p99", kReal},
          {"worker_spread_seconds_mean", kReal, "last less first worker of an iteration"},
          {"worst_link", kText, "where its packets waited longest, in a fabric"},
          {"worker_start_queue_packets_mean", kReal, "background there when a burst comes"},
          {"worker_start_queue_total_packets_mean", kReal, "the same, of all classes"}};
}

std::vector<TableColumn> columns_of_tiers() {
  return {{"case_index", kInteger},
          {"span_seconds", kReal, "of the run"},
          {"tier", kText, "kinds of both ends"},
          {"links", kInteger, "in one direction"},
          {"joined", kInteger, "of these, that share the row others of the table links"},
          {"utilisation_mean", kReal, "share of the capacity of all"},
          {"utilisation_max", kReal, "of the busiest"},
          {"busiest", kText, "its port"},
          {"ce_marks", kInteger, "packets"},
          {"drops", kInteger, "packets"},
          {"longest_wait", kText, "port where packets of bursts waited longest"},
          {"worker_start_queue_packets_mean", kReal, "background there when a burst comes"},
          {"worker_start_queue_total_packets_mean", kReal, "the same, of all classes"}};
}

std::vector<TableColumn> columns_of_metrics() {
  return {{"metric", kText}, {"unit", kText}, {"aggregate", kText}, {"help", kText}};
}

std::vector<TableColumn> columns_of_case_metrics() {
  return {{"case_index", kInteger}, {"metric", kText}, {"value", kReal}};
}

std::vector<TableColumn> columns_of_arm_metrics() {
  return {{"arm", kInteger},
          {"metric", kText},
          {"value", kReal},
          {"low", kReal},
          {"high", kReal},
          {"baseline", kText, "label of the arm that the change is against"},
          {"change", kReal, "ratio less 1"},
          {"change_low", kReal},
          {"change_high", kReal}};
}

std::vector<TableColumn> columns_of_arm_groups() {
  return {{"arm", kInteger},
          {"group_name", kText},
          {"figure", kText, "a column of the table groups"},
          {"value", kReal},
          {"low", kReal},
          {"high", kReal},
          {"change", kReal, "ratio to the arm's baseline, less 1"},
          {"change_low", kReal},
          {"change_high", kReal}};
}

std::vector<TableColumn> columns_of_arm_collectives() {
  return {{"arm", kInteger},
          {"job", kText, "its name"},
          {"collective", kText, "as job.collective has it"},
          {"ranks", kInteger},
          {"size_bytes", kReal, "of an iteration"},
          {"communication_seconds_median", kReal},
          {"algbw_bits_per_second_median", kReal},
          {"busbw_bits_per_second_median", kReal}};
}

std::vector<TableColumn> columns_of_differences() {
  return {{"arm", kInteger}, {"baseline", kText, "label of the other"}, {"difference", kText}};
}

std::vector<TableColumn> columns_of_warnings() {
  return {{"label", kText, "of the arm; none: of the whole experiment"},
          {"point", kInteger},
          {"count", kInteger, "of events"},
          {"warning", kText}};
}

constexpr SummaryTable kSummaryTables[] = {
    {"experiment", "the experiment, in one row", columns_of_experiment, write_experiment},
    {"arms", "an arm at a point of the sweeps, which is all its seeds", columns_of_arms,
     write_arms},
    {"parameters", "a parameter or setting of an arm", columns_of_parameters, write_parameters},
    {"cases", "a run of an arm with one seed", columns_of_cases, write_cases},
    {"jobs", "a job of a case; times of several jobs alone", columns_of_jobs, write_jobs},
    {"tiers", "a tier of a fabric's links in a case, over the whole run", columns_of_tiers,
     write_tiers},
    {"metrics", "a metric", columns_of_metrics, write_metrics},
    {"case_metrics", "a metric of a case", columns_of_case_metrics, write_case_metrics},
    {"arm_metrics", "a metric of an arm, over its seeds, with 95 % intervals",
     columns_of_arm_metrics, write_arm_metrics},
    {"arm_groups",
     "a figure of a group of background in an arm, over its seeds, with 95 % intervals",
     columns_of_arm_groups, write_arm_groups},
    {"arm_collectives", "a job's collective in an arm, in the words of nccl-tests",
     columns_of_arm_collectives, write_arm_collectives},
    {"differences", "what distinguishes an arm from a baseline beside its remedy",
     columns_of_differences, write_differences},
    {"warnings", "what makes figures doubtful", columns_of_warnings, write_warnings},
};

}  // namespace

std::span<const SummaryTable> summary_tables() { return kSummaryTables; }

}  // namespace outrider::lab
