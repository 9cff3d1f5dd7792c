#include "tools/lab/cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace outrider::lab {

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) == 1),
      began_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && shown_) std::fputc('\n', stderr);
}

std::string progress_text(std::size_t done, std::size_t total, double elapsed_seconds) {
  const auto whole = [](double s) { return std::to_string(std::llround(s)) + " s"; };
  std::string text =
      std::to_string(done) + '/' + std::to_string(total) + " cases, " + whole(elapsed_seconds);
  if (done != 0 && done < total)
    text += ", about " +
            whole(elapsed_seconds * static_cast<double>(total - done) / static_cast<double>(done)) +
            " left";
  return text;
}

void ProgressLine::show(std::size_t done, std::size_t total) {
  const std::size_t tenths = total == 0 ? 0 : 10 * done / total;
  if (!terminal_ && tenths == shown_tenths_) return;
  shown_tenths_ = tenths;
  shown_ = true;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
  const std::string text = what_ + ": " + progress_text(done, total, elapsed.count());
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
}

}  // namespace outrider::lab
