// Goal: the arithmetic of DCTCP's sender, by hand from RFC 8257, sections 3.3 and 3.5.
#include "tools/hostagent/bpf/dctcp.h"

#include <gtest/gtest.h>

namespace outrider::dctcp_test {
namespace {

constexpr std::uint32_t kOne = 1'048'576;  // the fixed point: 2^20

TEST(DctcpArithmetic, AlphaMovesBySixteenthsOfTheMarkedShare) {
  struct Row {
    std::uint32_t alpha, acked_bytes, echoed_bytes, expected;
    const char* why;
  };
  constexpr Row kRows[] = {
      {kOne, 14480, 14480, kOne, "all marked: stays one"},
      {kOne, 14480, 0, 983'040, "none marked: 15/16"},
      {0, 14480, 14480, 65'536, "from zero, all marked: 1/16"},
      {0, 14480, 7240, 32'768, "from zero, half marked: 1/32"},
      {524'288, 1448, 362, 507'904, "1/2 x 15/16 + 1/4 x 1/16 = 31/64"},
      {0, 3, 1, 21'845, "1/48 of 2^20 is 21845.3: rounded down"},
      {1, 1448, 0, 0, "reaches zero"},
      {kOne, 4'000'000'000, 4'000'000'000, kOne, "no overflow at the largest window"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(agent_dctcp_alpha(row.alpha, row.acked_bytes, row.echoed_bytes), row.expected)
        << row.why;
}

TEST(DctcpArithmetic, AlphaGetsNoFurtherFromOneThanItsRounding) {
  std::uint32_t alpha = 0;
  for (int window = 0; window < 500; ++window) alpha = agent_dctcp_alpha(alpha, 1448, 1448);
  EXPECT_EQ(alpha, kOne - 15);
}

TEST(DctcpArithmetic, MarksTakeHalfOfAlphaFromTheWindow) {
  struct Row {
    std::uint32_t window, alpha, expected;
    const char* why;
  };
  constexpr Row kRows[] = {
      {100, kOne, 50, "all marked: as a loss"},
      {100, kOne / 2, 75, "alpha 1/2: a quarter less"},
      {100, kOne / 16, 97, "96.875 to the nearest"},
      {100, 0, 100, "no congestion: nothing"},
      {10, 104'857, 10, "alpha just below 0.1: 9.500002"},
      {10, 104'858, 9, "alpha just above 0.1: 9.499998"},
      {3, kOne, 2, "1.5 to the nearest"},
      {2, kOne, 2, "never below two"},
      {1, 0, 2, "never below two"},
      {4'000'000'000, kOne, 2'000'000'000, "no overflow"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(agent_dctcp_after_marks(row.window, row.alpha), row.expected) << row.why;
}

TEST(DctcpArithmetic, ALossHalvesTheWindow) {
  EXPECT_EQ(agent_dctcp_after_loss(100), 50U);
  EXPECT_EQ(agent_dctcp_after_loss(7), 3U);
  EXPECT_EQ(agent_dctcp_after_loss(3), 2U);
  EXPECT_EQ(agent_dctcp_after_loss(1), 2U);
}

}  // namespace
}  // namespace outrider::dctcp_test
