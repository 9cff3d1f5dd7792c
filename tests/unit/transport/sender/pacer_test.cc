// Goal: departures keep a rate, and an unresponsive controller keeps its own.
// Method: literal timelines.
#include "trafficgen/transport/sender/pacer.h"

#include <gtest/gtest.h>

#include "trafficgen/transport/control/unresponsive.h"

namespace outrider::pacer_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

TEST(Pacer, SpacesByBytes) {
  Pacer p;
  EXPECT_TRUE(p.may_send(Time{})) << "the first is free";
  p.on_sent(1500, {1'000'000'000}, Time{});
  EXPECT_EQ(p.next_release(), Time{12us});
  EXPECT_FALSE(p.may_send(Time{12us - 1ns}));
  EXPECT_TRUE(p.may_send(Time{12us}));
  p.on_sent(500, {1'000'000'000}, Time{12us});
  EXPECT_EQ(p.next_release(), Time{16us});
  p.on_sent(500, {2'000'000'000}, Time{16us});
  EXPECT_EQ(p.next_release(), Time{18us}) << "another rate";
}

TEST(Pacer, IdleTimeEarnsNoBurst) {
  Pacer p;
  p.on_sent(1500, {1'000'000'000}, Time{});
  p.on_sent(1500, {1'000'000'000}, Time{1s});
  EXPECT_EQ(p.next_release(), Time{1s + 12us});
}

TEST(Pacer, LatenessWithinTheCatchUpIsMadeUpFor) {
  Pacer p;
  p.on_sent(1500, {1'000'000'000}, Time{}, 5us);
  p.on_sent(1500, {1'000'000'000}, Time{17us}, 5us);
  EXPECT_EQ(p.next_release(), Time{24us}) << "5 us late: the schedule stands";
  p.on_sent(1500, {1'000'000'000}, Time{29us + 1ns}, 5us);
  EXPECT_EQ(p.next_release(), Time{41us + 1ns}) << "later: the time is lost";
}

// 1448 bytes at 7.3 Gbit/s take 1586.849315... ns. Rounding to 1 ns would make a train wrong
// by 0.01 %.
TEST(Pacer, CarriesFractions) {
  constexpr int kPackets = 1'000'000;
  Pacer p;
  Time now{};
  for (int i = 0; i < kPackets; ++i) {
    now = p.next_release();
    p.on_sent(1448, {7'300'000'000}, now);
  }
  const double exact_ns = 1448 * 8.0 / 7.3 * kPackets;
  EXPECT_NEAR(static_cast<double>(p.next_release().time_since_epoch().count()), exact_ns,
              2e-6 * exact_ns);
  static_assert(sizeof(Pacer) == 8, "every connection has one");
}

TEST(Pacer, IsTheSameAtAnyTime) {
  Pacer a, b;
  constexpr Duration kYear = 365 * 24h;
  Time now{};
  b.on_sent(100, {1'000'000}, Time{kYear} - 1s);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    a.on_sent(100 + i, {333'000'000}, now, 1us);
    b.on_sent(100 + i, {333'000'000}, now + kYear, 1us);
    ASSERT_EQ(a.next_release() + kYear, b.next_release());
    now = a.next_release() + Duration{i % 3 == 0 ? 700 : 0};
  }
}

TEST(Unresponsive, KeepsToItsRateWhateverHappens) {
  const ControllerConfig config{.controller = Controller::kUnresponsive,
                                .initial_window_segments = 10,
                                .rate = BitRate{800'000'000}};
  Unresponsive cc(config, 1000);
  EXPECT_EQ(cc.fixed_rate(), BitRate{800'000'000});
  EXPECT_EQ(cc.cwnd_bytes(), 10'000U) << "no round trip yet";
  const auto ack = [&](Duration srtt) {
    AckEvent e{.acked_bytes = 1000, .ece_bytes = 1000, .srtt = srtt, .snd_una = 1};
    e.in_recovery = true;
    cc.on_ack(e);
    return cc.cwnd_bytes();
  };
  EXPECT_EQ(ack(1ms), 200'000U) << "twice 100 bytes/us * 1000 us";
  cc.on_congestion(CongestionControl::Congestion::kLoss, 100'000, Time{});
  cc.on_congestion(CongestionControl::Congestion::kEce, 100'000, Time{});
  cc.on_timeout(100'000, Time{});
  cc.on_idle(2s, 1s);
  EXPECT_EQ(cc.cwnd_bytes(), 200'000U);
  EXPECT_EQ(ack(2ms), 400'000U) << "a longer queue does not slow it";
  EXPECT_EQ(ack(1us), 10'000U) << "never below the initial window";
  EXPECT_EQ(ack(1h), kMaxCongestionWindow);
}

}  // namespace
}  // namespace outrider::pacer_test
