#pragma once

#include <rte_build_config.h>

#include <cstdlib>
#include <string>

#include "common/machine/machine_check.h"

namespace outrider {

/// Returns this machine and what this build needs of it. It uses only DPDK's macros, so a
/// program that does not link DPDK may call it.
[[nodiscard]] inline Machine this_machine() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return {.march = OUTRIDER_MARCH,
          .dpdk_version = std::to_string(RTE_VER_YEAR) + "." + std::to_string(RTE_VER_MONTH) + "." +
                          std::to_string(RTE_VER_MINOR),
          .driver_directory = RTE_EAL_PMD_PATH,
          .runtime_directory = runtime == nullptr ? "" : runtime};
}

}  // namespace outrider
