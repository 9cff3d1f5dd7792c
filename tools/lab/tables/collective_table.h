#pragma once

#include <cstddef>
#include <string>

#include "tools/lab/tables/column_table.h"

namespace outrider::lab {

/// What the columns of collective_table() are, in a sentence.
inline constexpr const char* kCollectiveWords =
    "In the words of nccl-tests: size S of an iteration, median t of the communication times, "
    "algbw = S / t, busbw = algbw x 2 (n - 1) / n of an all-reduce among n ranks, "
    "x (n - 1) / n of an all-to-all. Both count payload.";

/// Returns a table with a line for each arm, point and job with a collective, in the units of
/// nccl-tests: bytes, us and GB/s, and busbw as other tables have it. CSV has the units of metrics.
/// @param request  its columns are not read
/// @param most     lines at most; a last line says how many there are more
/// @return empty if no job has a collective
/// @throws std::runtime_error if no arm is as requested
std::string collective_table(const Results& results, const TableRequest& request,
                             std::size_t most = static_cast<std::size_t>(-1));

}  // namespace outrider::lab
