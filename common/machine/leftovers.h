#pragma once

#include <string>
#include <vector>

#include "common/machine/machine_check.h"

namespace outrider {

/// What programs that were killed left behind, as paths of the machine, sorted.
struct Leftovers {
  std::vector<std::string> directories{};  ///< of DPDK, and of ours in /tmp
  std::vector<std::string> sockets{};      ///< vhost sockets in /tmp that nobody listens on
};

/// Nothing that a living process is seen to use: by its id in the name, a socket it
/// holds, or its command line. A process of another PID or network namespace is not
/// seen. Directories that may not be read are left out.
[[nodiscard]] Leftovers find_leftovers(const Machine& machine);

}  // namespace outrider
