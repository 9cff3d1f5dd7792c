#include <map>
#include <string>
#include <vector>

#include "common/core/burst_identity.h"
#include "switch/report/report_fields.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_groups.h"
#include "tools/lab/results/counter_table.h"
#include "tools/lab/results/fabric_tables.h"
#include "tools/lab/results/histogram_table.h"
#include "tools/lab/results/queue_tables.h"
#include "tools/lab/results/record_tables.h"
#include "tools/lab/results/run_table.h"
#include "tools/lab/summary/group_figures.h"
#include "trafficgen/import/step_list.h"
#include "trafficgen/report/report_fields.h"

namespace outrider::lab {

namespace {

constexpr std::string_view kMeasured = "measured";

std::vector<TableColumn> run_columns() {
  return {{"switch_ahead_ns", CellKind::kInteger,
           "the switch's clock less the generator's; 0 in virtual time, where there is one"},
          {"end_ns", CellKind::kInteger, "end of the run by the generator's clock"},
          {"switch_poll_gap_ns", CellKind::kInteger, "longest time between two polls of its loop"},
          {"generator_poll_gap_ns", CellKind::kInteger, "the same"}};
}

void write_run(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result) {
  const auto* queue = find_queue(result.switches, name.definition->measured_queue);
  rows.add(clock_offset_ns(runtime, queue, result.traffic), result.traffic.end_ns,
           result.switches.longest_poll_gap_ns, result.traffic.longest_poll_gap_ns)
      .end();
}

// -- bursts

/// Both records of a burst begin with its identity, which is written once.
std::size_t identity_columns() { return columns_of<BurstIdentity>().size(); }

std::vector<TableColumn> burst_columns() {
  auto columns = columns_of_record<tg::BurstRecord>();
  const auto queue = columns_of_record<sw::QueueBurstRecord>();
  columns.insert(columns.end(), queue.begin() + static_cast<std::ptrdiff_t>(identity_columns()),
                 queue.end());
  return columns;
}

void write_bursts_of(RunRows& rows, Runtime, const RunName& name, const RunResult& result) {
  struct Records {
    const tg::BurstRecord* sender = nullptr;
    const sw::QueueBurstRecord* queue = nullptr;
  };
  std::map<BurstIdentity, Records> bursts;
  for (const auto& b : result.traffic.bursts) bursts[b.identity].sender = &b;
  if (const auto* queue = find_queue(result.switches, name.definition->measured_queue))
    for (const auto& r : queue->bursts) bursts[r.identity].queue = &r;
  const std::size_t identity = identity_columns();
  const std::size_t of_sender = columns_of<tg::BurstRecord>().size() - identity;
  const std::size_t of_queue = columns_of<sw::QueueBurstRecord>().size() - identity;
  for (const auto& [id, records] : bursts) {
    if (records.sender != nullptr) rows.add_record(*records.sender);
    else rows.add_record(id).add_empty(of_sender);
    if (records.queue != nullptr) rows.add_record(*records.queue, identity);
    else rows.add_empty(of_queue);
    rows.end();
  }
}

// -- steps of jobs

std::vector<TableColumn> step_columns() {
  std::vector<TableColumn> columns{{"kind", CellKind::kText, "what it does, see the job's list"},
                                   {"name", CellKind::kText, "its name in the list"}};
  const auto record = columns_of_record<tg::StepRecord>();
  columns.insert(columns.begin(), record.begin(), record.end());
  return columns;
}

void write_steps_of(RunRows& rows, Runtime, const RunName& name, const RunResult& result) {
  std::map<std::uint16_t, std::vector<tg::JobStep>> lists;
  for (const tg::StepRecord& record : result.traffic.steps) {
    const auto [list, is_new] = lists.try_emplace(record.job);
    const auto& jobs = name.definition->traffic.jobs;
    if (is_new && record.job < jobs.size() && jobs[record.job].steps)
      if (auto read = tg::load_step_list(*jobs[record.job].steps))
        list->second = std::move(read.config->steps);
    const bool known = record.step < list->second.size();  // else the file has changed since
    const tg::JobStep step = known ? list->second[record.step] : tg::JobStep{};
    rows.add_record(record)
        .add(known ? std::string(tg::kStepKinds[static_cast<std::size_t>(step.kind)]) : "")
        .add(step.name)
        .end();
  }
}

bool has_steps(const Case&, const RunResult& result) { return !result.traffic.steps.empty(); }

// -- groups of background

std::vector<TableColumn> group_columns() {
  std::vector<TableColumn> columns{{"group", CellKind::kText, "its name in the file"}};
  for (const GroupFigure& figure : group_figures())
    columns.push_back({std::string(figure.name), CellKind::kReal, std::string(figure.help)});
  return columns;
}

void write_groups_of(RunRows& rows, Runtime, const RunName& name, const RunResult& result) {
  if (name.run != kMeasured) return;  // the other has no background
  for (const GroupMetrics& group : measure_groups(*name.definition, result.traffic)) {
    rows.add(group.name);
    for (const GroupFigure& figure : group_figures()) rows.add(group.*figure.value);
    rows.end();
  }
}

constexpr RunTable kTables[] = {
    {"runs", "a run", run_columns, write_run},
    {"bursts",
     "a push or pull of a worker: the generator's record, and that of the measured queue; if only "
     "the switch has seen a burst, only the switch's columns are filled",
     burst_columns, write_bursts_of},
    {"iterations", "an iteration of a worker of a job", columns_of_record<tg::IterationRecord>,
     [](RunRows& rows, Runtime, const RunName&, const RunResult& result) {
       write_records(rows, result.traffic.iterations);
     }},
    {"steps", "a step of a worker of a job; only of jobs with a list of them", step_columns,
     write_steps_of, has_steps},
    {"queue",
     "the measured queue and goodput over time: bins as recorded from 20 base RTTs before each "
     "START or due time to 20 after the burst, and 100 bins together elsewhere",
     queue_columns, write_queue_of},
    {"queues", "the same of other queues, without goodput; only with observe.queues",
     queues_columns, write_queues_of,
     [](const Case& definition, const RunResult&) { return !definition.observed.queues.empty(); }},
    {"spans",
     "a time during which a queue was regulated or stopped, or stopped its neighbour: the first "
     "65536 of a recorded port, and the first 4096 pauses of each kind and queue",
     span_columns, write_spans_of, has_spans},
    {"flows", "a direction of a connection that carried data", columns_of_record<tg::FlowReport>,
     [](RunRows& rows, Runtime, const RunName&, const RunResult& result) {
       write_records(rows, result.traffic.flows);
     }},
    {"flow_records",
     "a flow of a group of background whose connection has ended, in this order; only with "
     "observe.flows",
     flow_record_columns, write_flow_records_of, has_flow_records},
    {"requests", "an answered request of background, in this order; only with observe.requests",
     request_columns, write_requests_of, has_requests},
    {"learners", "what a job that trains has learned; only with a learner", learner_columns,
     write_learners_of, has_learners},
    {"losses", "the loss of a job that trains after an update", loss_columns, write_losses_of,
     has_learners},
    {"connections",
     "a sample of a sending connection; only with trafficgen.connection_sample_period",
     columns_of_record<tg::ConnectionSample>,
     [](RunRows& rows, Runtime, const RunName&, const RunResult& result) {
       write_records(rows, result.traffic.connections);
     },
     [](const Case&, const RunResult& result) { return !result.traffic.connections.empty(); }},
    {"groups", "a group of background; only with [[background]]", group_columns, write_groups_of,
     [](const Case& definition, const RunResult&) {
       return !definition.background_groups.empty();
     }},
    {"histograms", "a bucket with values of a distribution that metrics are computed from",
     histogram_columns, write_histograms_of},
    {"counters", "a number that a program has counted; of queues and reasons, one above 0",
     counter_columns, write_counters_of},
    {"links", "a link of a fabric, or several that are taken together", links_columns,
     write_links_of, has_links},
    {"link_slices", "what a busy link of a fabric sent in a slice of the run; of the first seed",
     link_slices_columns, write_link_slices_of, has_link_series}};

}  // namespace

std::span<const RunTable> run_tables() { return kTables; }

std::vector<TableColumn> all_columns(const RunTable& table) {
  std::vector<TableColumn> columns{
      {"case_index", CellKind::kInteger, "index of the case in summary.json"},
      {"label", CellKind::kText, "of the arm"},
      {"seed", CellKind::kInteger},
      {"run", CellKind::kText, "measured, or alone: the same case without background"}};
  const auto own = table.columns();
  columns.insert(columns.end(), own.begin(), own.end());
  return columns;
}

}  // namespace outrider::lab
