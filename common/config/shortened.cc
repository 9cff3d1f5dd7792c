#include "common/config/shortened.h"

namespace outrider {

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  constexpr unsigned kContinuation = 0x80, kContinuationMask = 0xC0;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & kContinuationMask) == kContinuation)
    --end;
  return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace outrider
