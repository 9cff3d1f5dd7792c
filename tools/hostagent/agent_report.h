#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/hostagent/bpf_program.h"

namespace outrider::agent {

/// {"runs": n, "ns_per_run": x}; x is null if the program never ran, or nobody timed it.
nlohmann::ordered_json json_of(const ProgramCost& cost);

/// What BurstWatch counted. @param counts by AgentWatchCount
nlohmann::ordered_json json_of(const std::vector<std::uint64_t>& counts);

/// Prints it on one line and writes it to a file. Throws AgentError if that cannot be written.
void say_report(const std::string& path, const nlohmann::ordered_json& report);

/// Throws AgentError if the file cannot be written. @param path empty: nothing is
void write_report(const std::string& path, const nlohmann::ordered_json& report);

}  // namespace outrider::agent
