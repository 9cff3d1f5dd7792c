#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace outrider {

/// Takes one line of text. This library does not know the program's log.
using LineSink = std::function<void(std::string_view)>;

/// Sends DPDK's log to `sink`, line by line, and remembers the last lines for
/// the message of a failure. DPDK's control threads call `sink` too, one at a
/// time. Process-wide, like rte_log. Before rte_eal_init.
void capture_dpdk_log(LineSink sink);

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
