#pragma once

#include <cstddef>
#include <optional>

#include "trafficgen/workload/config/collective_config.h"

namespace outrider::lab {

/// Returns how many bytes a rank of a collective sends for each byte of its size, as nccl-tests
/// has it ("Performance reported by NCCL tests"): 2 (n - 1) / n of an all-reduce, (n - 1) / n of an
/// all-to-all. So busbw = algbw x this, and is what the slowest link carries, whatever n is.
/// @param workers  at least 1
/// @return nothing for parameter servers and pipelines, which nccl-tests does not have
std::optional<double> bus_factor(tg::Collective collective, std::size_t workers);

}  // namespace outrider::lab
