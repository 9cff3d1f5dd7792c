#include "common/config/quantities.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/config/addresses.h"
#include "common/core/quantity_bounds.h"

namespace outrider::quantities_test {
namespace {

using namespace std::chrono_literals;

struct Row {
  std::string_view text;
  std::optional<std::uint64_t> expected;
};

TEST(Quantities, Durations) {
  constexpr Row kRows[] = {{"100ns", 100},
                           {"100us", 100'000},
                           {"1.5ms", 1'500'000},
                           {"20s", 20'000'000'000},
                           {"2min", 120'000'000'000},
                           {"0s", 0},
                           {"10 ms", 10'000'000},
                           {"0.25us", 250},
                           {"1.50ms", 1'500'000},
                           {"10000000s", 10'000'000'000'000'000},  // the longest
                           {"10000000000000001ns", {}},
                           {"9223372036854775807ns", {}},
                           {"9223372036854775808ns", {}},
                           {"9223372037s", {}},
                           {"99999999999999999999s", {}},
                           {"1.5ns", {}},  // no whole number of ns
                           {"0.0001us", {}},
                           {"-1ms", {}},
                           {"+1ms", {}},
                           {"1e3us", {}},
                           {"5", {}},
                           {"ms", {}},
                           {"", {}},
                           {" 1ms", {}},
                           {"1ms ", {}},
                           {"1  ms", {}},
                           {"1.ms", {}},
                           {".5ms", {}},
                           {"1.2.3ms", {}},
                           {"1msx", {}},
                           {"1MS", {}},
                           {"1h", {}},
                           {"0x10ms", {}},
                           {"1,5ms", {}}};
  for (const auto& row : kRows) {
    const auto parsed = parse_duration(row.text);
    ASSERT_EQ(parsed.value.has_value(), row.expected.has_value()) << row.text << parsed.problem;
    EXPECT_EQ(parsed.problem.empty(), row.expected.has_value()) << row.text;
    if (!row.expected) continue;
    EXPECT_EQ(parsed.value->count(), static_cast<std::int64_t>(*row.expected)) << row.text;
  }
}

TEST(Quantities, Rates) {
  constexpr Row kRows[] = {{"200mbit", 200'000'000},
                           {"10gbit", 10'000'000'000},
                           {"10gbps", 10'000'000'000},
                           {"10 Gbit/s", 10'000'000'000},
                           {"9.5gbit", 9'500'000'000},
                           {"1bit", 1},
                           {"64kbps", 64'000},
                           {"0.4tbit", 400'000'000'000},  // the largest
                           {"400000000001bit", {}},
                           {"18446744073709551615bit", {}},
                           {"18446744073709551616bit", {}},
                           {"18446745tbit", {}},
                           {"0.5bit", {}},
                           {"10MB", {}},
                           {"10MBps", {}},
                           {"10g", {}},
                           {"10gbs", {}},
                           {"10", {}},
                           {"-1gbit", {}},
                           {"10ggbit", {}},
                           {"", {}}};
  for (const auto& row : kRows) {
    const auto parsed = parse_rate(row.text);
    ASSERT_EQ(parsed.value.has_value(), row.expected.has_value()) << row.text << parsed.problem;
    if (!row.expected) continue;
    EXPECT_EQ(parsed.value->bits_per_second, *row.expected) << row.text;
  }
}

TEST(Quantities, Bytes) {
  constexpr Row kRows[] = {{"1MB", 1'000'000},
                           {"64KiB", 65'536},
                           {"1.5KiB", 1536},
                           {"1.5kB", 1500},
                           {"7B", 7},
                           {"2GiB", 2147483648},
                           {"1TiB", 1099511627776},
                           {"1000TB", 1'000'000'000'000'000},  // the largest
                           {"1000000000000001B", {}},
                           {"16777215TiB", {}},
                           {"16777216TiB", {}},
                           {"1.3KiB", {}},
                           {"0.5B", {}},
                           {"1M", {}},
                           {"1mb", {}},
                           {"1Mbit", {}},
                           {"1", {}},
                           {"-1MB", {}}};
  for (const auto& row : kRows) {
    const auto parsed = parse_bytes(row.text);
    ASSERT_EQ(parsed.value.has_value(), row.expected.has_value()) << row.text << parsed.problem;
    if (!row.expected) continue;
    EXPECT_EQ(*parsed.value, *row.expected) << row.text;
  }
}

TEST(Quantities, Percentages) {
  EXPECT_EQ(parse_percentage("40%").value, 0.4);
  EXPECT_EQ(parse_percentage("12.5%").value, 0.125);
  EXPECT_EQ(parse_percentage("100 %").value, 1.0);
  for (const auto* text :
       {"40", "%", "-1%", "40%%", "1e2%", "99999999999999999999%", "0.0000000000000000001%"})
    EXPECT_FALSE(parse_percentage(text).value) << text;
}

TEST(Quantities, ProblemsSayWhatIsWrong) {
  EXPECT_EQ(parse_duration("-1ms").problem, "must not be negative");
  EXPECT_EQ(parse_duration("9223372037s").problem, "must be at most 10000000s");
  EXPECT_EQ(parse_duration("99999999999999999999s").problem, "must be at most 10000000s");
  EXPECT_EQ(parse_rate("401gbit").problem, "must be at most 400gbit");
  EXPECT_EQ(parse_packet_rate("2gpps").problem, "must be at most 1gpps");
  EXPECT_EQ(parse_bytes("1001TB").problem, "must be at most 1000TB");
  EXPECT_EQ(parse_percentage("0.000000000001%").problem, "must be 0, or at least 1e-12");
  EXPECT_EQ(parse_duration("1.5ns").problem, "must be a whole number of nanoseconds");
  EXPECT_TRUE(parse_rate("10gbs").problem.starts_with("unknown unit \"gbs\"; must be a bit rate"));
  EXPECT_TRUE(parse_bytes("5").problem.starts_with("has no unit; must be a size"));
}

TEST(Quantities, NumbersHaveFiniteInverses) {
  for (const double good : {0.0, 1e-12, -1e-12, 0.4, 1e15, -1e15})
    EXPECT_EQ(number_problem(good), "") << good;
  for (const double tiny : {1e-320, 9e-13, -9e-13})
    EXPECT_EQ(number_problem(tiny), "must be 0, or at least 1e-12") << tiny;
  EXPECT_EQ(number_problem(1.1e15), "must be at most 1e15");
  EXPECT_EQ(number_problem(std::numeric_limits<double>::infinity()), "must be a finite number");
  EXPECT_EQ(number_problem(std::numeric_limits<double>::quiet_NaN()), "must be a finite number");
}

// What computations give, such as a draw of a very rare event, never wraps.
TEST(Quantities, SecondsOfAnySizeAreATime) {
  EXPECT_EQ(from_seconds(1.5), 1500ms);
  EXPECT_EQ(from_seconds(-0.25), -250ms);
  for (const double huge : {1e10, 1e300, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_GT(from_seconds(huge), 290 * kLongestDuration) << huge;
    EXPECT_GT(Time{} + kLongestDuration + from_seconds(huge), Time{}) << huge;
  }
  EXPECT_LT(from_seconds(-1e300), -290 * kLongestDuration);
}

TEST(Quantities, FormatsReadBackExactly) {
  for (const auto d : {Duration{0}, Duration{1}, Duration{1500}, Duration{1500us}, Duration{20s},
                       Duration{999'999'999}, kLongestDuration - Duration{1}, kLongestDuration})
    EXPECT_EQ(parse_duration(format_duration(d)).value, d) << format_duration(d);
  EXPECT_EQ(format_duration(1500us), "1500us");
  EXPECT_EQ(format_duration(-5ms), "-5ms");
  for (const std::uint64_t r :
       {0ULL, 1ULL, 9'500'000'000ULL, 200'000'000ULL, 399'999'999'999ULL, 400'000'000'000ULL})
    EXPECT_EQ(parse_rate(format_rate({r})).value, BitRate{r}) << format_rate({r});
  EXPECT_EQ(format_rate({200'000'000}), "200mbit");
}

TEST(Addresses, Ipv4) {
  EXPECT_EQ(parse_ipv4("10.0.1.2").value, 0x0A000102U);
  EXPECT_EQ(parse_ipv4("255.255.255.255").value, 0xFFFFFFFFU);
  EXPECT_EQ(format_ipv4(0x0A000102U), "10.0.1.2");
  for (const auto* text : {"", "10.0.1", "10.0.1.2.3", "10.0.1.256", "10.0.01.2", "10.0.1.-2",
                           "10.0.1.2 ", "a.b.c.d", "10..1.2", "10.0.1.", "4294967296.0.0.0"})
    EXPECT_FALSE(parse_ipv4(text).value) << text;
}

TEST(Addresses, Prefix) {
  EXPECT_EQ(parse_prefix("10.0.1.0/24").value, (Prefix{0x0A000100, 24}));
  EXPECT_EQ(parse_prefix("0.0.0.0/0").value, (Prefix{0, 0}));
  EXPECT_TRUE(parse_prefix("10.0.1.7/32").value->contains(0x0A000107));
  EXPECT_TRUE(parse_prefix("0.0.0.0/0").value->contains(0xFFFFFFFF));
  EXPECT_FALSE(parse_prefix("10.0.1.0/24").value->contains(0x0A000200));
  EXPECT_EQ(parse_prefix("10.0.1.5/24").problem,
            "has bits beyond its length; the network is \"10.0.1.0/24\"");
  for (const auto* text :
       {"10.0.1.0", "10.0.1.0/33", "10.0.1.0/", "/24", "10.0.1.0/2 4", "10.0.1.0/024"})
    EXPECT_FALSE(parse_prefix(text).value) << text;
}

TEST(Addresses, Mac) {
  EXPECT_EQ(parse_mac("02:00:00:aB:00:ff").value, (MacAddress{2, 0, 0, 0xAB, 0, 0xFF}));
  for (const auto* text : {"", "02:00:00:00:00", "02:00:00:00:00:0", "02-00-00-00-00-01",
                           "02:00:00:00:00:0g", "02:00:00:00:00:01:02", "020:0:00:00:00:01"})
    EXPECT_FALSE(parse_mac(text).value) << text;
}

}  // namespace
}  // namespace outrider::quantities_test
