#include "common/telemetry/display_width.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <cwctype>
#include <span>

namespace outrider {
namespace {

static_assert(sizeof(wchar_t) == sizeof(char32_t), "the C library's characters are Unicode's");

/// Has the C library know Unicode's characters in this thread while it exists, whatever the user's
/// locale is. Where C.UTF-8 is not installed, bytes beyond ASCII count as one column each.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    before_ = uselocale(kUtf8);
  }
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t before_;
};

struct Range {
  char32_t first, last;
};

// The C library does not know directions. Unicode 15, UAX #9, by blocks.
constexpr std::array<Range, 4> kRightToLeft{
    {{0x0590, 0x08FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFE}, {0x10800, 0x10FFF}}};
/// Marks that turn the direction of writing, and others that only say how to read a text.
constexpr std::array<Range, 6> kMarks{{{0x061C, 0x061C},
                                       {0x200E, 0x200F},
                                       {0x202A, 0x202E},
                                       {0x2066, 0x2069},
                                       {0xFEFF, 0xFEFF},
                                       {0xFFF9, 0xFFFB}}};

bool is_in(char32_t c, std::span<const Range> ranges) noexcept {
  return std::ranges::any_of(ranges, [c](const Range& r) { return r.first <= c && c <= r.last; });
}

}  // namespace

char32_t take_character(std::string_view& text) noexcept {
  const Utf8Locale utf8;
  mbstate_t state{};
  wchar_t c = 0;
  const std::size_t read = mbrtowc(&c, text.data(), text.size(), &state);
  const bool whole = read != 0 && read <= text.size();  // else 0, or one of the large error values
  const auto byte = static_cast<unsigned char>(text.front());
  text.remove_prefix(whole ? read : 1);
  return whole ? static_cast<char32_t>(c) : byte;
}

bool is_control_character(char32_t c) noexcept {
  const Utf8Locale utf8;
  return std::iswcntrl(static_cast<std::wint_t>(c)) != 0 || is_in(c, kMarks);
}

std::size_t display_width(std::string_view text) noexcept {
  const Utf8Locale utf8;
  std::size_t width = 0;
  while (!text.empty()) {
    const int columns = wcwidth(static_cast<wchar_t>(take_character(text)));
    width += columns < 0 ? 1 : static_cast<std::size_t>(columns);
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
