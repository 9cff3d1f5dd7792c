#include "common/config/quantities.h"

#include <gtest/gtest.h>

#include "common/config/addresses.h"

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
                           {"9223372036854775807ns", 9223372036854775807ULL},  // the largest
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
                           {"1tbit", 1'000'000'000'000},
                           {"18446744073709551615bit", 18446744073709551615ULL},
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
                           {"16777215TiB", 18446742974197923840ULL},
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
  EXPECT_EQ(parse_duration("9223372037s").problem, "is too large");
  EXPECT_EQ(parse_duration("1.5ns").problem, "must be a whole number of nanoseconds");
  EXPECT_TRUE(parse_rate("10gbs").problem.starts_with("unknown unit \"gbs\"; must be a bit rate"));
  EXPECT_TRUE(parse_bytes("5").problem.starts_with("has no unit; must be a size"));
}

TEST(Quantities, FormatsReadBackExactly) {
  for (const auto d : {Duration{0}, Duration{1}, Duration{1500}, Duration{1500us}, Duration{20s},
                       Duration{999'999'999}, Duration::max()})
    EXPECT_EQ(parse_duration(format_duration(d)).value, d) << format_duration(d);
  EXPECT_EQ(format_duration(1500us), "1500us");
  EXPECT_EQ(format_duration(-5ms), "-5ms");
  for (const std::uint64_t r :
       {0ULL, 1ULL, 9'500'000'000ULL, 200'000'000ULL, 18446744073709551615ULL})
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
