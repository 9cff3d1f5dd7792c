#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/hostagent/bpf_program.h"

namespace outrider::agent {

/// Returns {"runs": n, "ns_per_run": x}. x is null if the program never ran or was not timed.
nlohmann::ordered_json json_of(const ProgramCost& cost);

/// Returns the counters of a BurstWatch. @param counts  [AgentWatchCount]
nlohmann::ordered_json json_of(const std::vector<std::uint64_t>& counts);

/// Prints the report on one line, and writes it to a file as write_report() does.
void say_report(const std::string& path, const nlohmann::ordered_json& report);

/// Writes the report to a file. Throws AgentError if the file cannot be written.
/// @param path  empty: writes nothing
void write_report(const std::string& path, const nlohmann::ordered_json& report);

}  // namespace outrider::agent
