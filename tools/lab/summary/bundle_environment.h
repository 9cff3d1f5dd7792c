#pragma once

#include <string>
#include <utility>
#include <vector>

namespace outrider::lab {

/// What a caller knows of the machine and the build that no report holds, e.g.
/// {"dpdk", rte_version()}, {"command", "..."}: it goes to environment.json only.
using EnvironmentNotes = std::vector<std::pair<std::string, std::string>>;

/// environment.json: wall time, processor, kernel, compiler, and the notes. What
/// cannot be found out is null.
std::string environment_json(const EnvironmentNotes& notes);

}  // namespace outrider::lab
