#pragma once

#include <string>
#include <vector>

#include "common/machine/machine_check.h"

namespace outrider {

/// Files that killed programs left behind, as paths of the machine, sorted.
struct Leftovers {
  std::vector<std::string> directories{};  ///< of DPDK, and of this project's programs in /tmp
  std::vector<std::string> sockets{};      ///< vhost sockets in /tmp on which no process listens
};

/// Finds leftovers. It excludes everything that a living process visibly uses: by the process id
/// in the name, a socket that it holds, or its command line. Processes of another PID or
/// network namespace are not visible. Directories that may not be read are left out.
[[nodiscard]] Leftovers find_leftovers(const Machine& machine);

}  // namespace outrider
