#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tools/lab/results/run_table.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// A table of results.sqlite with what a summary says of arms and cases.
struct SummaryTable {
  std::string_view name;
  std::string_view help;  ///< what a row is, without a full stop
  std::vector<TableColumn> (*columns)();
  void (*rows)(RowSink& sink, const Summary& summary);
};

std::span<const SummaryTable> summary_tables();

}  // namespace outrider::lab
