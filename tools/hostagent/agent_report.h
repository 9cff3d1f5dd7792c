#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/telemetry/sole_writer.h"
#include "tools/hostagent/bpf_program.h"

namespace outrider::agent {

/// Returns {"runs": n, "ns_per_run": x}. x is null if the program never ran or was not timed.
nlohmann::ordered_json json_of(const ProgramCost& cost);

/// Returns the counters of a BurstWatch. @param counts  [AgentWatchCount]
nlohmann::ordered_json json_of(const std::vector<std::uint64_t>& counts);

/// The file of --report. It is open from the start, because the user that the agent goes on as
/// may have no right to make it. A report that does not fit leaves it empty.
class ReportFile {
 public:
  /// @param path  empty: there is no file. @throws AgentError if it cannot be written
  explicit ReportFile(const std::string& path);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// @throws AgentError
  void write(const nlohmann::ordered_json& report);
  /// Prints the report on one line, too. @throws AgentError
  void say(const nlohmann::ordered_json& report);

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  SoleWriter claim_;
  int fd_ = -1;
};

}  // namespace outrider::agent
