#include "tools/hostagent/agent_report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

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

ReportFile::ReportFile(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  out_.open(path_);
  check();
}

void ReportFile::write(const nlohmann::ordered_json& report) {
  if (path_.empty()) return;
  out_ << report.dump(2) << '\n';
  out_.flush();
  check();
}

void ReportFile::say(const nlohmann::ordered_json& report) {
  std::printf("%s\n", report.dump().c_str());
  write(report);
}

void ReportFile::check() {
  if (!out_) throw AgentError(path_ + ": cannot be written: " + std::strerror(errno));
}

}  // namespace outrider::agent
