// Goal: each kind of range refuses just beyond its bounds, with the value and the rule, and
// says in the reference what it allows.
#include "common/config/setting_range.h"

#include <gtest/gtest.h>

#include <cmath>

namespace outrider::setting_range_test {
namespace {

using namespace std::chrono_literals;

TEST(SettingRange, IntegersIncludeTheirBounds) {
  constexpr SettingRange kRange = integers(2, 5, "packets");
  EXPECT_EQ(kRange.breach(std::uint64_t{2}), "");
  EXPECT_EQ(kRange.breach(std::uint64_t{5}), "");
  EXPECT_EQ(kRange.breach(std::uint64_t{1}), "1 packets: must be at least 2");
  EXPECT_EQ(kRange.breach(std::uint64_t{6}), "6 packets: must be at most 5");
  EXPECT_EQ(kRange.breach(std::int64_t{-1}), "-1 packets: must be at least 2");
  EXPECT_EQ(kRange.text(), "2 to 5 [packets]");
  EXPECT_EQ(integers_from(7).text(), "at least 7");
  EXPECT_EQ(SettingRange{}.breach(std::int64_t{-1}), "");
}

TEST(SettingRange, PowersOfTwo) {
  constexpr SettingRange kRange = powers_of_two(32, 64);
  EXPECT_EQ(kRange.breach(std::uint64_t{32}), "");
  EXPECT_EQ(kRange.breach(std::uint64_t{64}), "");
  for (const std::uint64_t refused : {16U, 33U, 128U})
    EXPECT_EQ(kRange.breach(refused),
              std::to_string(refused) + ": must be a power of two, 32 to 64");
  EXPECT_EQ(kRange.text(), "power of two, 32 to 64");
}

TEST(SettingRange, RealsExcludeTheBoundsThatTheyName) {
  EXPECT_EQ(reals(0, 1).breach(0.0), "");
  EXPECT_EQ(reals(0, 1).breach(1.0), "");
  EXPECT_EQ(reals(0, 1).breach(1.5), "1.5: must be at least 0.0 and at most 1.0");
  EXPECT_EQ(reals(0, 1).breach(std::nan("")), "nan: must be at least 0.0 and at most 1.0");
  EXPECT_EQ(reals_above(0, 1).breach(0.0), "0.0: must be more than 0.0 and at most 1.0");
  EXPECT_EQ(reals_above(0, 1).breach(1.0), "");
  EXPECT_EQ(reals_below(0, 1).breach(0.0), "");
  EXPECT_EQ(reals_below(0, 1).breach(1.0), "1.0: must be at least 0.0 and less than 1.0");
  EXPECT_NE(reals_between(0, 1).breach(0.0), "");
  EXPECT_NE(reals_between(0, 1).breach(1.0), "");
  EXPECT_EQ(reals_between(0, 0.5).text(), "above 0 to below 0.5");
}

TEST(SettingRange, Durations) {
  EXPECT_EQ(durations_above_zero().breach(1ns), "");
  EXPECT_EQ(durations_above_zero().breach(0ns), "0s: must be longer than zero");
  EXPECT_EQ(durations_from(0ns).breach(Duration(-1)), "-1ns: must not be negative");
  EXPECT_EQ(durations_from(1us).breach(999ns), "999ns: must be at least 1us");
  EXPECT_EQ(durations(0s, 10s).breach(10s), "");
  EXPECT_EQ(durations(0s, 10s).breach(10001ms), "10001ms: must be at most 10s");
  EXPECT_EQ(durations_up_to(1h).breach(0s), "0s: must be longer than zero");
  EXPECT_EQ(durations_above_zero().text(), "above 0");
  EXPECT_EQ(durations_from(1us).text(), "`\"1us\"` or more");
  EXPECT_EQ(durations(0s, 10s).text(), "0 to `\"10s\"`");
}

TEST(SettingRange, LinkRates) {
  EXPECT_EQ(link_rates().breach(kMaxRate), "");
  EXPECT_EQ(link_rates().breach(BitRate{0}), "0bit: must be more than 0bit and at most 400gbit");
  EXPECT_NE(link_rates().breach(BitRate{kMaxRate.bits_per_second + 1}), "");
  EXPECT_EQ(link_rates().text(), "above 0 to `\"400gbit\"`");
}

}  // namespace
}  // namespace outrider::setting_range_test
