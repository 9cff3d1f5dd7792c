#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace outrider::lab {

/// Prints the progress of an experiment on stderr: on a terminal one line that is
/// rewritten, elsewhere a line for every tenth of the work.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::size_t done, std::size_t total);

 private:
  std::string what_;
  bool terminal_;
  std::chrono::steady_clock::time_point began_;
  std::size_t shown_tenths_ = SIZE_MAX;  ///< SIZE_MAX: nothing shown yet
  bool shown_ = false;
};

/// Returns "12/180 cases, 8 s, about 112 s left". @param elapsed_seconds since the start
std::string progress_text(std::size_t done, std::size_t total, double elapsed_seconds);

}  // namespace outrider::lab
