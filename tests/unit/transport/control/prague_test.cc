// Goal: Prague's window and rate follow the formula at round trips below, at and above the
// virtual one. Method: a path without a queue, in virtual time, marks each packet with a fixed
// probability. The test plays the sender's part of the contract.
#include "trafficgen/transport/control/prague.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/core/random.h"
#include "trafficgen/transport/control/dctcp.h"

namespace outrider::prague_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Kind = CongestionControl::Congestion;

constexpr std::uint32_t kMss = 1000;

ControllerConfig settings() {
  return {.controller = Controller::kPrague, .initial_window_segments = 100};
}

AckEvent ack_at(Time now, Duration rtt, std::uint32_t marked_bytes = 0) {
  return {.now = now,
          .acked_bytes = kMss,
          .ece_bytes = marked_bytes,
          .srtt = rtt,
          .rtt = rtt,
          .in_recovery = marked_bytes != 0,
          .cwnd_limited = true};
}

/// Returns the mean window over `duration` [segments], without its first fifth.
template <class C>
double mean_window(Duration rtt, double marks, Duration duration) {
  const ControllerConfig config = settings();
  C cc(config, kMss);
  RandomStream draws(1, 0, RandomPurpose::kTest);
  Time now = Time{} + 1s;
  cc.on_congestion(Kind::kEce, cc.cwnd_bytes(), now);
  const Time from = now + duration / 5, end = now + duration;
  std::uint64_t una = 0, reduced_until = 0;
  double sum = 0, weight = 0;
  while (now < end) {
    const double window = cc.cwnd_bytes() / static_cast<double>(kMss);
    const auto gap = Duration{static_cast<std::int64_t>(static_cast<double>(rtt.count()) / window)};
    now += gap;
    una += kMss;
    const bool marked = draws.uniform() < marks;
    AckEvent e = ack_at(now, rtt, marked ? kMss : 0);
    e.snd_una = una;
    e.snd_nxt = una + cc.cwnd_bytes();
    e.in_recovery = marked || una < reduced_until;
    cc.on_ack(e);
    if (marked && una > reduced_until) {
      cc.on_congestion(Kind::kEce, cc.cwnd_bytes(), now);
      reduced_until = e.snd_nxt;
    }
    if (now < from) continue;
    sum += window * seconds(gap);
    weight += seconds(gap);
  }
  return sum / weight;
}

/// Returns the window by the formula: a reduction by alpha / 2, alpha = p, comes with the first
/// mark after max(R, Rv). The test allows a tenth because the sender reports marks only once per
/// real round trip.
double expected_window(Duration rtt, double marks) {
  const double below = std::min(1.0, seconds(rtt) / seconds(Prague::kVirtualRtt));
  return (1 + std::sqrt(3)) * below / marks;
}

TEST(Prague, WindowFollowsTheFormula) {
  struct Row {
    Duration rtt;
    double marks;
  };
  for (const Row& r :
       {Row{5ms, 0.01}, Row{5ms, 0.003}, Row{12500us, 0.01}, Row{25ms, 0.01}, Row{50ms, 0.01}}) {
    const double expected = expected_window(r.rtt, r.marks);
    EXPECT_NEAR(mean_window<Prague>(r.rtt, r.marks, 100s), expected, 0.1 * expected)
        << seconds(r.rtt) << " s, " << r.marks;
  }
}

TEST(Prague, RateDoesNotDependOnShortRoundTrips) {
  const auto rate = [](auto window, Duration rtt) { return window / seconds(rtt); };
  const double near = rate(mean_window<Prague>(5ms, 0.01, 100s), 5ms);
  const double far = rate(mean_window<Prague>(25ms, 0.01, 100s), 25ms);
  EXPECT_NEAR(near / far, 1, 0.1);
  const double near_dctcp = rate(mean_window<Dctcp>(5ms, 0.01, 100s), 5ms);
  const double far_dctcp = rate(mean_window<Dctcp>(25ms, 0.01, 100s), 25ms);
  EXPECT_NEAR(near_dctcp / far_dctcp, 5, 0.5) << "what it is reduced from";
}

TEST(Prague, EstimatesAndReducesOnceAVirtualRoundTrip) {
  const ControllerConfig config = settings();
  Prague cc(config, kMss);
  const Time start = Time{} + 1s;
  cc.on_ack(ack_at(start, 1ms));
  cc.on_ack(ack_at(start + 30ms, 1ms));
  EXPECT_FLOAT_EQ(static_cast<float>(*cc.alpha()), 1) << "not before the first mark";
  const std::uint32_t grown = cc.cwnd_bytes();
  EXPECT_EQ(grown, 102'000U) << "slow start";

  const Time first = start + 31ms;
  cc.on_ack(ack_at(first, 1ms, kMss));
  cc.on_congestion(Kind::kEce, grown, first);
  EXPECT_EQ(cc.cwnd_bytes(), grown / 2) << "1 - 1 / 2";
  cc.on_congestion(Kind::kEce, grown, first + 24ms);
  EXPECT_EQ(cc.cwnd_bytes(), grown / 2) << "within the virtual round trip";

  cc.on_ack(ack_at(start + 54ms, 1ms));
  EXPECT_FLOAT_EQ(static_cast<float>(*cc.alpha()), 1);
  cc.on_ack(ack_at(start + 55ms, 1ms));  // 1 of 3 since the last step
  EXPECT_NEAR(*cc.alpha(), 15.0 / 16 + 1.0 / 3 / 16, 1e-6);
  cc.on_congestion(Kind::kEce, grown, first + 25ms);
  EXPECT_LT(cc.cwnd_bytes(), grown / 2);
}

TEST(Prague, UnmarkedBytesGrowTheWindowUnlessALossIsRepaired) {
  const ControllerConfig config = settings();
  for (const bool loss : {false, true}) {
    Prague cc(config, kMss);
    cc.on_congestion(Kind::kEce, 100'000, Time{} + 1s);
    ASSERT_EQ(cc.cwnd_bytes(), 50'000U);
    AckEvent e = ack_at(Time{} + 2s, 25ms);
    e.in_recovery = true;
    e.in_loss_recovery = loss;
    for (int i = 0; i < 51; ++i) cc.on_ack(e);
    EXPECT_EQ(cc.cwnd_bytes(), loss ? 50'000U : 51'000U);
    e.ece_bytes = kMss;
    for (int i = 0; i < 500; ++i) cc.on_ack(e);
    EXPECT_EQ(cc.cwnd_bytes(), loss ? 50'000U : 51'000U) << "marked ones do not";
  }
}

TEST(Prague, ALossHalves) {
  const ControllerConfig config = settings();
  Prague cc(config, kMss);
  cc.on_congestion(Kind::kLoss, 100'000, Time{} + 1s);
  EXPECT_EQ(cc.cwnd_bytes(), 50'000U);
  cc.on_congestion(Kind::kLoss, 50'000, Time{} + 1ms);
  EXPECT_EQ(cc.cwnd_bytes(), 25'000U) << "each time that the sender says so";
}

}  // namespace
}  // namespace outrider::prague_test
