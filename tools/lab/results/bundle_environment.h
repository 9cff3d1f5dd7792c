#pragma once

#include <string>
#include <utility>
#include <vector>

namespace outrider::lab {

/// Facts about the machine and the build that no report has, e.g. {"dpdk", rte_version()},
/// {"command", "..."}. They are written to environment.json only.
using EnvironmentNotes = std::vector<std::pair<std::string, std::string>>;

/// Returns environment.json: wall time, processor, kernel, compiler and the notes. A value
/// that cannot be determined is null.
std::string environment_json(const EnvironmentNotes& notes);

}  // namespace outrider::lab
