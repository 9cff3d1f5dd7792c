// Goal: a text is as wide as a terminal shows it, and what would turn a line round is known.
#include "common/telemetry/display_width.h"

#include <gtest/gtest.h>

namespace outrider::display_width_test {
namespace {

TEST(DisplayWidth, IsInColumnsOfATerminal) {
  EXPECT_EQ(display_width("on-window"), 9U);
  EXPECT_EQ(display_width("on-gr\u00F6\u00DFe"), 8U);
  EXPECT_EQ(display_width("on-\u6F22\u5B57"), 7U) << "wide ones take two";
  EXPECT_EQ(display_width("on-e\u0301"), 4U) << "an accent of its own takes none";
  EXPECT_EQ(display_width("on-\U0001F680"), 5U);
  EXPECT_EQ(display_width("\xFF\xC3"), 2U) << "no UTF-8";
  EXPECT_EQ(display_width(""), 0U);
}

TEST(DisplayWidth, PaddingKeepsFiguresWhereTheyAre) {
  EXPECT_EQ(padded_to("on", 4), "on  ");
  EXPECT_EQ(padded_to("on-\u6F22", 6), "on-\u6F22 ");
  EXPECT_EQ(padded_to("longer", 3), "longer");
  EXPECT_EQ(padded_to("on-\u05E9", 5), "on-\u05E9\u200E ") << "Hebrew, and a mark behind it";
}

TEST(DisplayWidth, KnowsWhatShowsNothingItself) {
  for (const char32_t c :
       {U'\n', U'\x7F', U'\x85', U'\u200E', U'\u2028', U'\u202E', U'\u2066', U'\uFEFF'})
    EXPECT_TRUE(is_control_character(c)) << static_cast<unsigned>(c);
  for (const char32_t c : {U'a', U' ', U'\u00E4', U'\u05E9', U'\u6F22', U'\u200D'})
    EXPECT_FALSE(is_control_character(c)) << static_cast<unsigned>(c);
}

}  // namespace
}  // namespace outrider::display_width_test
