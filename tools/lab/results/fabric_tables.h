#pragma once

#include <vector>

#include "tools/lab/results/run_table.h"

namespace outrider::lab {

// The tables that only cases in a fabric have.

[[nodiscard]] bool has_links(const Case& definition, const RunResult& result);
[[nodiscard]] bool has_link_series(const Case& definition, const RunResult& result);

std::vector<TableColumn> links_columns();
void write_links_of(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result);

std::vector<TableColumn> link_slices_columns();
void write_link_slices_of(RunRows& rows, Runtime runtime, const RunName& name,
                          const RunResult& result);

}  // namespace outrider::lab
