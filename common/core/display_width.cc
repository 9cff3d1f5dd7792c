#include "common/core/display_width.h"

#include <algorithm>
#include <array>
#include <span>

namespace outrider {
namespace {

struct Range {
  char32_t first, last;
};

// Unicode 15, UAX #11 and #9, by blocks.
constexpr std::array<Range, 14> kWide{{{0x1100, 0x115F},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0x33FF},
                                       {0x3400, 0x4DBF},
                                       {0x4E00, 0x9FFF},
                                       {0xA000, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1F64F},
                                       {0x1F680, 0x1F9FF},
                                       {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 8> kNoWidth{{{0x0300, 0x036F},
                                         {0x0591, 0x05BD},
                                         {0x064B, 0x065F},
                                         {0x1AB0, 0x1AFF},
                                         {0x200B, 0x200F},
                                         {0x20D0, 0x20FF},
                                         {0xFE00, 0xFE0F},
                                         {0xFE20, 0xFE2F}}};
constexpr std::array<Range, 4> kRightToLeft{
    {{0x0590, 0x08FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFE}, {0x10800, 0x10FFF}}};
constexpr std::array<Range, 8> kControls{{{0x0000, 0x001F},
                                          {0x007F, 0x009F},
                                          {0x061C, 0x061C},
                                          {0x200E, 0x200F},
                                          {0x2028, 0x202E},
                                          {0x2066, 0x2069},
                                          {0xFEFF, 0xFEFF},
                                          {0xFFF9, 0xFFFB}}};

bool is_in(char32_t c, std::span<const Range> ranges) noexcept {
  return std::ranges::any_of(ranges, [c](const Range& r) { return r.first <= c && c <= r.last; });
}

}  // namespace

char32_t take_character(std::string_view& text) noexcept {
  constexpr unsigned kContinuation = 0x80, kContinuationMask = 0xC0;
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  char32_t c = length < 2 ? first : first & (0xFFU >> (length + 1));
  std::size_t taken = 1;
  for (; taken < length && taken < text.size(); ++taken) {
    const auto next = static_cast<unsigned char>(text[taken]);
    if ((next & kContinuationMask) != kContinuation) break;
    c = c << 6U | (next & ~kContinuationMask & 0xFFU);
  }
  if (taken < length) c = first, taken = 1;
  text.remove_prefix(taken);
  return c;
}

bool is_control_character(char32_t c) noexcept { return is_in(c, kControls); }

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const char32_t c = take_character(text);
    width += is_in(c, kWide) ? 2 : is_in(c, kNoWidth) ? 0 : 1;
  }
  return width;
}

std::string padded_to(std::string_view text, std::size_t width) {
  constexpr std::string_view kLeftToRightMark = "\xE2\x80\x8E";
  std::string padded(text);
  bool from_right = false;
  for (std::string_view rest = text; !rest.empty();)
    from_right |= is_in(take_character(rest), kRightToLeft);
  if (from_right) padded += kLeftToRightMark;
  const std::size_t own = display_width(text);
  return padded.append(width - std::min(width, own), ' ');
}

}  // namespace outrider
