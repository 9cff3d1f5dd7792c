#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace outrider {

/// The most that a message shows of a value, and of a whole problem or key. Each may have any size.
inline constexpr std::size_t kShownValue_bytes = 120;
inline constexpr std::size_t kShownProblem_bytes = 2000;

/// Returns a text that is at most a little longer than `limit` bytes: its beginning, and how long
/// it was. Characters of UTF-8 stay whole. In the header, so that outrider-doctor, which runs on
/// any CPU, links nothing for it.
inline std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  constexpr unsigned kContinuation = 0x80, kContinuationMask = 0xC0;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & kContinuationMask) == kContinuation)
    --end;
  return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace outrider
