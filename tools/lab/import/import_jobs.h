#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/import/import_experiment.h"
#include "tools/lab/import/job_trace.h"

namespace outrider::lab {

/// A job of other files: one, or those of all ranks of a trace of Chakra, in their order.
struct ForeignJob {
  std::vector<ForeignFile> files;
};

/// Reads the trace of a job, whose kind foreign_kind_of() tells by the first file.
/// @return the trace, or the faults: by the path of the file
ConfigResult<JobTrace> read_job(const ForeignJob& job);

/// Returns the tables [[job]] and [parameters] of an experiment with these jobs, and adds the lists
/// of their steps to `made.files`, "NAME.steps.csv", and what is said of them to `made`.
/// @param jobs at least one
std::string jobs_text(const std::vector<JobTrace>& jobs, const std::string& name,
                      ImportedExperiment& made);

/// Returns the tables of a network that is assumed for so many hosts: racks of eight, 100 Gbit/s.
std::string assumed_network(std::size_t hosts);

}  // namespace outrider::lab
