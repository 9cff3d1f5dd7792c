#include "switch/aqm/step_marker.h"

#include <gtest/gtest.h>

#include "common/core/ecn.h"

namespace outrider::step_marker_test {
namespace {

struct Row {
  std::uint32_t occupancy, threshold;
  MarkVerdict verdict;
  const char* why;
};

TEST(StepMarker, MarksFromTheThresholdOn) {
  constexpr Row kRows[] = {
      {0, 40, MarkVerdict::kPass, "empty queue"},
      {39, 40, MarkVerdict::kPass, "one below"},
      {40, 40, MarkVerdict::kMark, "reached counts"},
      {41, 40, MarkVerdict::kMark, "above"},
      {0, 1, MarkVerdict::kPass, "lowest threshold still lets an empty queue pass"},
      {1, 1, MarkVerdict::kMark, "one waits"},
      {~0U, 75, MarkVerdict::kMark, "no narrow type"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(judge_step(row.occupancy, row.threshold), row.verdict) << row.why;
}

// RFC 3168, section 5, over every TOS byte.
TEST(Ecn, CodepointsAreTheLowTwoBits) {
  for (unsigned tos = 0; tos < 256; ++tos) {
    const Ecn e = ecn_of(static_cast<std::uint8_t>(tos));
    EXPECT_EQ(static_cast<unsigned>(e), tos % 4);
    EXPECT_EQ(is_ect(e), tos % 4 != 0);
  }
  EXPECT_EQ(ecn_of(0xB9), Ecn::kEct1);
  EXPECT_EQ(ecn_of(0xBA), Ecn::kEct0);
  EXPECT_EQ(ecn_of(0xBB), Ecn::kCe);
}

}  // namespace
}  // namespace outrider::step_marker_test
