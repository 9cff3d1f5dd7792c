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

}  // namespace

std::vector<TableColumn> counter_columns() {
  return {{"program", CellKind::kText, "switch or generator"},
          {"of", CellKind::kText, "SWITCH.PORT.QUEUE; empty: of the whole program"},
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
}

}  // namespace outrider::lab
