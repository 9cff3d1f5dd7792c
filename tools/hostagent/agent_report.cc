#include "tools/hostagent/agent_report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/bpf/wire.h"

namespace outrider::agent {

nlohmann::ordered_json json_of(const ProgramCost& cost) {
  nlohmann::ordered_json out{{"runs", cost.runs}, {"ns_per_run", nullptr}};
  if (cost.runs > 0)
    out["ns_per_run"] = static_cast<double>(cost.nanoseconds) / static_cast<double>(cost.runs);
  return out;
}

nlohmann::ordered_json json_of(const std::vector<std::uint64_t>& counts) {
  return {{"payload_packets", counts[kAgentPayloads]},
          {"onsets", counts[kAgentOnsets]},
          {"onsets_lost", counts[kAgentEventsLost]},
          {"packets_without_flow", counts[kAgentFlowsLost]}};
}

void say_report(const std::string& path, const nlohmann::ordered_json& report) {
  std::printf("%s\n", report.dump().c_str());
  write_report(path, report);
}

void write_report(const std::string& path, const nlohmann::ordered_json& report) {
  if (path.empty()) return;
  std::ofstream out(path);
  out << report.dump(2) << '\n';
  out.flush();
  if (!out) throw AgentError(path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace outrider::agent
