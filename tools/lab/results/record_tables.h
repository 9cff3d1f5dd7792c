#pragma once

#include <vector>

#include "tools/lab/results/run_table.h"

namespace outrider::lab {

// The tables of records that only some cases have: flows and requests of background that a case
// observes, and what a job's training has learned.

[[nodiscard]] bool has_flow_records(const Case& definition, const RunResult& result);
std::vector<TableColumn> flow_record_columns();
void write_flow_records_of(RunRows& rows, Runtime runtime, const RunName& name,
                           const RunResult& result);

[[nodiscard]] bool has_requests(const Case& definition, const RunResult& result);
std::vector<TableColumn> request_columns();
void write_requests_of(RunRows& rows, Runtime runtime, const RunName& name,
                       const RunResult& result);

[[nodiscard]] bool has_learners(const Case& definition, const RunResult& result);
std::vector<TableColumn> learner_columns();
void write_learners_of(RunRows& rows, Runtime runtime, const RunName& name,
                       const RunResult& result);

std::vector<TableColumn> loss_columns();
void write_losses_of(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result);

}  // namespace outrider::lab
