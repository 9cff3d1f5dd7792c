#include "tools/lab/results/counter_table.h"

#include <string>
#include <string_view>

#include "common/telemetry/figures.h"
#include "switch/report/figures.h"
#include "tools/lab/results/run_table.h"
#include "trafficgen/measure/generator_counts.h"

namespace outrider::lab {

namespace {

/// @param of  the queue; empty: the whole program, of which a 0 has a row, so that what it does not
///            count is told apart; reasons and queues are always counted
void write_counters(RunRows& rows, std::string_view program, std::string_view of,
                    const std::vector<FigureValue>& figures) {
  for (const FigureValue& f : figures)
    if (f.value != 0 || (of.empty() && f.reason.empty()))
      rows.add(program, of, f.part, f.figure.field, f.traffic_class, f.reason, f.value,
               f.figure.unit)
          .end();
}

/// Writes the counts of queue pairs of RoCEv2, if there are any.
void write_queue_pairs(RunRows& rows, std::string_view part, const tg::RoceCounters& counts) {
  if (counts == tg::RoceCounters{}) return;
  auto figures = figures_of_fields(counts);
  for (FigureValue& f : figures) f.part = part;
  write_counters(rows, "generator", "", figures);
}

/// Writes what the reports of groups of background have counted.
template <class Counts, class Report>
void write_groups(RunRows& rows, const std::vector<Report>& groups) {
  for (const Report& group : groups)
    write_counters(rows, "generator", group.name,
                   figures_of_fields(static_cast<const Counts&>(group)));
}

}  // namespace

std::vector<TableColumn> counter_columns() {
  return {
      {"program", CellKind::kText, "switch or generator"},
      {"of", CellKind::kText,
       "SWITCH.PORT.QUEUE, or a group of background or a pair of its hosts; empty: of the whole "
       "program"},
      {"part", CellKind::kText, "of the queue or program that counts; empty: itself"},
      {"counter", CellKind::kText, "as in the program's report"},
      {"class", CellKind::kText, "of traffic; empty: all together"},
      {"reason", CellKind::kText, "of a drop or mark; empty: all together"},
      {"value", CellKind::kInteger, "at the end of the run"},
      {"unit", CellKind::kText}};
}

void write_counters_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  write_counters(rows, "switch", "", sw::figures_of(result.switches));
  for (const sw::QueueReport& queue : result.switches.queues)
    write_counters(rows, "switch", name_of(queue),
                   sw::figures_of(static_cast<const sw::QueueCounts&>(queue)));
  const tg::GeneratorCounts& counts = result.traffic;
  write_counters(rows, "generator", "", figures_of_fields(counts));
  write_queue_pairs(rows, "roce", result.traffic.roce);
  write_queue_pairs(rows, "background_roce", result.traffic.background_roce);
  write_groups<tg::FlowGroupCounts>(rows, result.traffic.flow_groups);
  write_groups<tg::RequestCounts>(rows, result.traffic.requests);
  write_groups<tg::CaptureCounts>(rows, result.traffic.captures);
}

}  // namespace outrider::lab
