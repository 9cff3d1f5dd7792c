// Goal: arrivals offer the load that was asked for, and a group's draws are its
// own. Method: long seeded runs against exact means.
#include "trafficgen/background/flow_arrivals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace outrider::flow_arrivals_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

FlowSizes sizes() { return parse_flow_sizes("0 0\n10000 0.5\n100000 1\n").config.value(); }

DrawnArrivals::Setup setup(ArrivalProcess process, std::uint32_t group = 0) {
  return {.seed = 7,
          .group = group,
          .from = {1, 2, 3},
          .to = {3, 4},
          .mean_gap_s = 1e-4,
          .process = process,
          .begin = Time{1s}};
}

TEST(FlowArrivals, PoissonGapsAreExponential) {
  DrawnArrivals arrivals(setup(ArrivalProcess::kPoisson), sizes());
  constexpr int kFlows = 200'000;
  double sum = 0, squares = 0, bytes = 0;
  Time last{1s};
  for (int i = 0; i < kFlows; ++i) {
    const FlowArrival a = arrivals.next().value();
    ASSERT_GE(a.at, last);
    const double gap = seconds(a.at - last);
    sum += gap;
    squares += gap * gap;
    bytes += static_cast<double>(a.bytes);
    last = a.at;
  }
  const double mean = sum / kFlows;
  EXPECT_NEAR(mean, 1e-4, 1e-6);
  EXPECT_NEAR(std::sqrt(squares / kFlows - mean * mean), 1e-4, 2e-6) << "deviation == mean";
  EXPECT_NEAR(bytes / kFlows, sizes().mean_bytes(), 0.01 * sizes().mean_bytes());
}

TEST(FlowArrivals, FixedGapsAreEqualAndDoNotDrift) {
  auto s = setup(ArrivalProcess::kFixed);
  s.mean_gap_s = 1e-3 / 3;
  DrawnArrivals arrivals(std::move(s), sizes());
  const FlowArrival first = arrivals.next().value();
  EXPECT_GT(first.at, Time{1s});
  EXPECT_LE(first.at, Time{1s + 333'334ns});
  FlowArrival a;
  for (int i = 0; i < 300'000; ++i) a = arrivals.next().value();
  EXPECT_NEAR(static_cast<double>((a.at - first.at - 100s).count()), 0, 50) << "[ns]";
}

TEST(FlowArrivals, GroupsOfOneRateDoNotArriveTogether) {
  std::set<Time> at;
  for (std::uint32_t group = 0; group < 100; ++group)
    at.insert(DrawnArrivals(setup(ArrivalProcess::kFixed, group), sizes()).next().value().at);
  EXPECT_GT(at.size(), 95U);
}

TEST(FlowArrivals, NobodySendsToItself) {
  DrawnArrivals arrivals(setup(ArrivalProcess::kPoisson), sizes());
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
  for (int i = 0; i < 60'000; ++i) {
    const FlowArrival a = arrivals.next().value();
    ++pairs[{a.from, a.to}];
  }
  EXPECT_EQ(pairs.count({2, 0}), 0U) << "address 3 on both sides";
  EXPECT_EQ(pairs.size(), 5U);
  const int alone = pairs[{2, 1}], shared = pairs[{0, 0}];
  EXPECT_NEAR(alone, 20'000, 600) << "a sender in three";
  EXPECT_NEAR(shared, 10'000, 600);
}

TEST(FlowArrivals, EndAtTheirTimeOrNumber) {
  auto timed = setup(ArrivalProcess::kFixed);
  timed.end = Time{1s + 1ms};
  DrawnArrivals first(std::move(timed), sizes());
  int n = 0;
  while (const auto a = first.next()) {
    EXPECT_LT(a->at, Time{1s + 1ms});
    ++n;
  }
  EXPECT_NEAR(n, 10, 1);
  auto counted = setup(ArrivalProcess::kPoisson);
  counted.max_flows = 3;
  DrawnArrivals second(std::move(counted), sizes());
  for (n = 0; second.next(); ++n) {
  }
  EXPECT_EQ(n, 3);
}

TEST(FlowArrivals, AGroupsDrawsAreItsOwn) {
  DrawnArrivals a(setup(ArrivalProcess::kPoisson, 0), sizes());
  DrawnArrivals again(setup(ArrivalProcess::kPoisson, 0), sizes());
  DrawnArrivals other(setup(ArrivalProcess::kPoisson, 1), sizes());
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const FlowArrival x = a.next().value(), y = again.next().value(), z = other.next().value();
    ASSERT_EQ(x.at, y.at);
    ASSERT_EQ(x.bytes, y.bytes);
    if (x.bytes == z.bytes) ++equal;
  }
  EXPECT_LT(equal, 5);
}

TEST(FlowArrivals, AListIsPlayedFromItsBegin) {
  ListedArrivals arrivals({{0ns, 0, 1, 10}, {5us, 1, 0, 20}, {9us, 0, 1, 30}}, Time{1s},
                          Time{1s + 9us}, UINT64_MAX);
  EXPECT_EQ(arrivals.next()->at, Time{1s});
  const FlowArrival second = arrivals.next().value();
  EXPECT_EQ(second.at, Time{1s + 5us});
  EXPECT_EQ(second.from, 1U);
  EXPECT_EQ(second.bytes, 20U);
  EXPECT_FALSE(arrivals.next()) << "at the end, not before it";
}

TEST(FlowArrivals, LoadCountsWhatTheWireCarries) {
  const std::vector<FlowHost> to{{3, {600'000'000}}, {4, {400'000'000}}};
  FlowsConfig c;
  c.load = 0.5;
  const double payload = 1460.0 / 1538;
  EXPECT_NEAR(static_cast<double>(offered_rate(c, to, full_segment(1460)).bits_per_second),
              0.5e9 * payload, 1);
  c.load.reset();
  c.rate = BitRate{123};
  EXPECT_EQ(offered_rate(c, to, full_segment(1460)).bits_per_second, 123U);
}

}  // namespace
}  // namespace outrider::flow_arrivals_test
