#pragma once

#include <string_view>

#include "common/config/config_result.h"
#include "tools/lab/import/job_trace.h"

namespace outrider::lab {

/// Reads a workload of SimAI, which AICB writes: a line with the kinds of parallelism, the number
/// of layers, and a line for each layer:
///
///     HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1
///         all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0          (in one line)
///     1
///     name -1 forward-ns COMM bytes input-ns COMM bytes weight-ns COMM bytes update-ns
///
/// The forward pass takes the layers in order and waits for their collectives, the backward pass
/// takes them from the last on: collectives of weights run beside what follows. A collective is of
/// the groups of tensor parallelism, of weights of those of data parallelism; behind _EP and _DP_EP
/// of experts. Groups within a server of eight GPUs are left out: they do not use the network.
///
/// @return the steps, or the faults by line
/// Format: aliyun/SimAI, example/*.txt; order of passes: its astra-sim, workload/Workload.cc.
ConfigResult<JobTrace> parse_simai_workload(std::string_view text);

}  // namespace outrider::lab
