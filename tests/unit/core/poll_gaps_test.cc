// Goal: the longest gaps are kept, with their instants, whatever the order they come in.
#include "common/core/poll_gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/core/random.h"

namespace outrider::poll_gaps_test {
namespace {

using namespace std::chrono_literals;

std::vector<PollGap> kept_of(const PollGaps& gaps) {
  return merged({gaps.kept().begin(), gaps.kept().end()});
}

TEST(PollGaps, KeepsWhatIsLongerThanTheShortest) {
  PollGaps gaps;
  gaps.note(Time{5ms}, 30us);
  gaps.note(Time{1ms}, 10us);
  gaps.note(Time{2ms}, 10001ns);
  EXPECT_THAT(kept_of(gaps),
              testing::ElementsAre(PollGap{2'000'000, 10'001}, PollGap{5'000'000, 30'000}));
  EXPECT_EQ(complete_above_ns(gaps.kept()), 10'000);
}

TEST(PollGaps, KeepsTheLongestOfTooMany) {
  RandomStream random(1, 0, RandomPurpose{});
  PollGaps gaps;
  std::vector<PollGap> all;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const auto length = static_cast<std::int64_t>(11'000 + random.uniform() * 1e12);
    gaps.note(Time{Duration{i}}, Duration{length});
    all.push_back({i, length});
  }
  const std::vector<PollGap> kept = kept_of(gaps);
  EXPECT_EQ(kept.size(), PollGaps::kKept);
  EXPECT_EQ(kept, merged(all)) << "draws of equal length would be a matter of luck";
  std::ranges::sort(all, std::ranges::greater{}, &PollGap::length_ns);
  EXPECT_EQ(complete_above_ns(kept), all[PollGaps::kKept - 1].length_ns);
}

}  // namespace
}  // namespace outrider::poll_gaps_test
