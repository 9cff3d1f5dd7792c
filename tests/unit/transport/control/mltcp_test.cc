// Goal: F of MLTCP is as it is written, and scales what Reno and CUBIC add, and nothing else. That
// of DCQCN is in dcqcn_test.cc. Method: values by hand; segments of 1000 bytes.
#include "trafficgen/core/mltcp.h"

#include <gtest/gtest.h>

#include "trafficgen/transport/control/cubic.h"
#include "trafficgen/transport/control/reno.h"

namespace outrider::mltcp_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Kind = CongestionControl::Congestion;

constexpr std::uint32_t kMss = 1000;

ControllerConfig config_of(Controller c, std::uint32_t initial_segments) {
  return {.controller = c, .initial_window_segments = initial_segments};
}

AckEvent ack_of(std::uint32_t bytes, Time now = Time{}, Duration srtt = {}) {
  return {.now = now, .acked_bytes = bytes, .srtt = srtt, .snd_una = 1, .cwnd_limited = true};
}

TEST(Mltcp, FIsLinear) {
  EXPECT_DOUBLE_EQ(mltcp_factor(0), 0.25);
  EXPECT_DOUBLE_EQ(mltcp_factor(0.4), 0.95);
  EXPECT_DOUBLE_EQ(mltcp_factor(1), 2);
  MltcpGrowth growth;
  EXPECT_EQ(growth.of(1000), 1000) << "nobody has told a share";
  growth.note_share(0.4);
  EXPECT_EQ(growth.of(1000), 953.125) << "61/64, the nearest";
  growth.note_share(1);
  EXPECT_EQ(growth.of(1000), 2000);
}

TEST(Mltcp, AShareIsOfTheBurstAlone) {
  const BurstExtent burst{.begin = 5'000, .bytes = 2'000};
  EXPECT_EQ(burst.share(4'000), 0) << "the burst before is still in flight";
  EXPECT_EQ(burst.share(5'000), 0);
  EXPECT_EQ(burst.share(5'500), 0.25);
  EXPECT_EQ(burst.share(7'000), 1);
  EXPECT_EQ(burst.share(7'001), 1);
  EXPECT_EQ(BurstExtent{}.share(100), 0);
}

TEST(Mltcp, ScalesTheStepsOfReno) {
  const ControllerConfig config = config_of(Controller::kReno, 10);
  Reno cc(config, kMss);
  cc.note_share(0);
  cc.on_ack(ack_of(1000));
  EXPECT_EQ(cc.cwnd_bytes(), 11'000U) << "slow start is what it was";
  cc.on_congestion(Kind::kLoss, 20'000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 10'000U) << "and so are reductions";
  struct Row {
    double share;
    std::uint32_t cwnd;
  };
  for (const Row& row : {Row{0, 10'250}, Row{1, 12'250}, Row{0.5, 13'375}}) {
    cc.note_share(row.share);
    cc.on_ack(ack_of(cc.cwnd_bytes()));
    EXPECT_EQ(cc.cwnd_bytes(), row.cwnd) << row.share;
  }
}

// alpha = 0.9 / 1.7 of a segment is what CUBIC adds to the window that Reno would have.
TEST(Mltcp, ScalesCubicWhereRenoIsFaster) {
  const ControllerConfig config = config_of(Controller::kCubic, 10);
  Cubic cc(config, kMss);
  cc.on_congestion(Kind::kLoss, 10'000, Time{});
  double expected = 7;
  Time now{1s};
  for (const double share : {0.0, 1.0, 0.5}) {
    cc.note_share(share);
    cc.on_ack(ack_of(cc.cwnd_bytes(), now += 1ms, 1ms));
    expected += mltcp_factor(share) * 0.9 / 1.7;
    EXPECT_NEAR(cc.cwnd_bytes() / 1000.0, expected, 2e-3) << share;
  }
}

// As in Cubic.GrowsConcaveThenConvex: K = 4.217 s, W(0.8 s) = 84.0391 and W(1.2 s) = 89.0136.
TEST(Mltcp, ScalesTheWayToCubicsCurve) {
  const ControllerConfig config = config_of(Controller::kCubic, 100);
  Cubic cc(config, kMss);
  cc.on_congestion(Kind::kLoss, 100'000, Time{});
  cc.note_share(0);
  cc.on_ack(ack_of(cc.cwnd_bytes(), Time{10s}, 400ms));
  EXPECT_NEAR(cc.cwnd_bytes() / 1000.0, 70.1324, 1e-3) << "a quarter of alpha";
  cc.on_ack(ack_of(cc.cwnd_bytes(), Time{10s + 400ms}, 400ms));
  EXPECT_NEAR(cc.cwnd_bytes() / 1000.0, 73.6091, 1e-3) << "a quarter of the way to 84.0391";
  cc.note_share(0.4285714);  // F = 1
  cc.on_ack(ack_of(cc.cwnd_bytes(), Time{10s + 800ms}, 400ms));
  EXPECT_NEAR(cc.cwnd_bytes() / 1000.0, 89.0136, 1e-3) << "all of it";
}

}  // namespace
}  // namespace outrider::mltcp_test
