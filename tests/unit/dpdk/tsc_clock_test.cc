// Goal: ticks become nanoseconds exactly, for years, at any frequency.
#include "common/dpdk/eal/tsc_clock.h"

#include <gtest/gtest.h>

namespace outrider::tsc_clock_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kStart = 0xffff'ffff'0000'0000ULL;  // the counter wraps meanwhile

TEST(TscClock, StartsAtZeroAndCountsWholeNanoseconds) {
  const TscClock clock(2'600'000'000, kStart);
  EXPECT_EQ(clock.time_of(kStart), Time{});
  EXPECT_EQ(clock.time_of(kStart + 2'600), Time{1us});
  EXPECT_EQ(clock.time_of(kStart + 2'600'000'000), Time{1s});
}

TEST(TscClock, DoesNotDriftInAYear) {
  constexpr std::uint64_t kSeconds = 366ULL * 86'400;
  for (const std::uint64_t hz :
       {250'000'000ULL, 1'000'000'007ULL, 2'599'998'123ULL, 5'800'000'000ULL}) {
    const TscClock clock(hz, kStart);
    const Duration off =
        clock.time_of(kStart + hz * kSeconds) - Time{std::chrono::seconds{kSeconds}};
    EXPECT_LE(std::chrono::abs(off), 1ns) << hz;
  }
}

TEST(TscClock, NeverGoesBack) {
  const TscClock clock(2'599'998'123, kStart);
  Time last{};
  for (std::uint64_t tick = 0; tick < 10'000; ++tick) {
    const Time now = clock.time_of(kStart + tick);
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, Time{3us});
}

}  // namespace
}  // namespace outrider::tsc_clock_test
