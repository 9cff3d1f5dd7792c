#pragma once

#include <string_view>

#include "common/config/config_result.h"
#include "tools/lab/import/job_trace.h"

namespace outrider::lab {

/// Reads the CSV of AICB: a line with the ranks, or none, a line that names columns, and a line for
/// each communication:
///
///     [rank0 ~ rank15]
///     comm_type,comm_group,comm_group_size,msg_size,stage,...
///     CommType.all_reduce,CommGroup.dp_group,8,1024,backward,...
///
/// If there are several pipeline stages, the first is taken. An iteration is what stands between
/// the first two lines of CommType.epoch_end; without them, everything. All ranks do the same in
/// the order of the lines, and wait for each collective. Groups within a server of eight GPUs are
/// left out.
///
/// @return the steps, or the faults by line
/// Format: aliyun/aicb, workload/physical/model_workload/*.csv.
ConfigResult<JobTrace> parse_aicb_workload(std::string_view text);

}  // namespace outrider::lab
