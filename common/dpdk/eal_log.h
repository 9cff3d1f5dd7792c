#pragma once

#include <string>

namespace outrider {

/// Sends DPDK's log to ours, at level debug, and remembers its last lines for
/// the message of a failure. Process-wide, like rte_log. Before rte_eal_init.
void capture_dpdk_log();

/// The last lines, oldest first, each indented; empty if there were none.
[[nodiscard]] std::string last_dpdk_lines();

/// While it lives, what the process writes to stdout and stderr is put aside:
/// DPDK prints its usage and its fatal errors past its own log.
class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// Ends the capture. @return what was written to stderr
  std::string finish();

 private:
  int errors_ = -1;          ///< memory file that stands in for stderr
  int saved_[2] = {-1, -1};  ///< stdout, stderr
};

}  // namespace outrider
