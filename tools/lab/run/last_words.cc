#include "tools/lab/run/last_words.h"

#include <algorithm>
#include <deque>

namespace outrider::lab {
namespace {

constexpr std::size_t kFewest = 5;
constexpr std::size_t kMost = 20;

/// See the pattern in common/telemetry/log.cc: time, program, level.
bool tells_an_error(const std::string& line) {
  return line.find(" outrider") != std::string::npos && line.find(" error: ") != std::string::npos;
}

}  // namespace

std::string last_words(std::istream& log) {
  std::deque<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    lines.push_back(line);
    if (lines.size() > kMost) lines.pop_front();
  }
  const auto error = std::find_if(lines.rbegin(), lines.rend(), tells_an_error);
  const auto after = static_cast<std::size_t>(error - lines.rbegin());
  const std::size_t wanted = error == lines.rend() ? kFewest : std::max(kFewest, after + 1);
  std::string text;
  for (std::size_t i = lines.size() - std::min(wanted, lines.size()); i < lines.size(); ++i)
    text += "\n    " + lines[i];
  return text;
}

}  // namespace outrider::lab
