#include "tools/hostagent/agent_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

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

ReportFile::ReportFile(const std::string& path) : path_(path), claim_(path) {
  if (path_.empty()) return;
  if (!claim_.problem().empty()) throw AgentError(claim_.problem());
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(errno);
}

ReportFile::~ReportFile() {
  if (fd_ >= 0) close(fd_);
}

void ReportFile::write(const nlohmann::ordered_json& report) {
  if (path_.empty()) return;
  const std::string text = report.dump(2) + '\n';
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      // A device cannot be emptied, and holds no half of a report.
      static_cast<void>(ftruncate(fd_, 0) == 0);
      fail(error);
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

void ReportFile::say(const nlohmann::ordered_json& report) {
  std::printf("%s\n", report.dump().c_str());
  write(report);
}

void ReportFile::fail(int error) const {
  throw AgentError(path_ + ": cannot be written: " + std::strerror(error) + " (errno " +
                   std::to_string(error) + ")");
}

}  // namespace outrider::agent
