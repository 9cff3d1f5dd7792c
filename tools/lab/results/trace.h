#pragma once

#include <cstddef>
#include <filesystem>

#include "tools/lab/results/query.h"

namespace outrider::lab {

/// Writes what happened in a case as a timeline that Perfetto and chrome://tracing show: a JSON
/// array in Chrome's Trace Event Format, made of the tables of a database alone. Equal tables give
/// equal bytes.
///
/// A job is a process, and each worker has three threads: its iterations, its pushes and its pulls.
/// A queue is a process too, with counters of its occupancy and threshold, and a thread for the
/// time in which its threshold was lowered. Spans of one thread follow or contain each other; those
/// that would overlap are on further threads. Times are microseconds of the generator's clock.
///
/// @param index  case_index
/// @throws QueryError if a table or column is not there: another version wrote the database
/// @throws std::runtime_error if there is no such case, or naming the file and the cause
void write_trace(const ResultsReader& results, std::size_t index,
                 const std::filesystem::path& file);

}  // namespace outrider::lab
