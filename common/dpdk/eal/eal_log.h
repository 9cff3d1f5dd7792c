#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace outrider {

/// Receives one line of text, because this library does not know the program's log.
using LineSink = std::function<void(std::string_view)>;

/// Sends DPDK's log to `sink`, line by line, and keeps the last lines for messages of failures.
/// DPDK's control threads call `sink` too, one at a time. Process-wide, like rte_log. Call it
/// before rte_eal_init.
void capture_dpdk_log(LineSink sink);

/// Returns the last lines, oldest first, each indented; empty if there were none.
[[nodiscard]] std::string last_dpdk_lines();

/// Captures what the process writes to stdout and stderr while it exists: DPDK prints its
/// usage and its fatal errors directly, not to its log.
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
