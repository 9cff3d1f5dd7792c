#pragma once

#include <cstdint>
#include <optional>

#include "common/machine/machine_tree.h"

namespace outrider {

/// Returns the memory [MiB] that this process can still have in ordinary pages without swapping:
/// what the machine has, and what the limits of its control groups (version 2) leave. Caches of
/// files count as free. Nothing if /proc/meminfo does not say.
[[nodiscard]] std::optional<std::uint64_t> free_memory_mb(const MachineTree& tree);

}  // namespace outrider
