// Goal: windows follow the formulas of their RFCs. Method: literal timelines;
// segments of 1000 bytes, so that windows read as segments.
#include "trafficgen/transport/control/congestion_control.h"

#include <gtest/gtest.h>

#include <cmath>

#include "trafficgen/transport/control/controller_slot.h"
#include "trafficgen/transport/control/cubic.h"
#include "trafficgen/transport/control/dctcp.h"
#include "trafficgen/transport/control/reno.h"
#include "trafficgen/transport/control/unresponsive.h"

namespace outrider::congestion_control_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Kind = CongestionControl::Congestion;

constexpr std::uint32_t kMss = 1000;

ControllerConfig config_of(Controller c, std::uint32_t initial_segments) {
  return {.controller = c, .initial_window_segments = initial_segments};
}

AckEvent ack_of(std::uint32_t bytes, std::uint64_t una = 1, Time now = Time{}) {
  return {.now = now, .acked_bytes = bytes, .snd_una = una, .cwnd_limited = true};
}

TEST(Reno, GrowsByRfc5681AndRfc3465) {
  const ControllerConfig config = config_of(Controller::kReno, 10);
  Reno cc(config, kMss);
  struct Row {
    std::uint32_t acked;
    bool in_recovery, limited;
    std::uint32_t cwnd;
    const char* why;
  };
  constexpr Row kSlowStart[] = {
      {1000, false, true, 11'000, "one segment"},
      {2000, false, true, 13'000, "a delayed ACK: L = 2"},
      {9000, false, true, 15'000, "more than L counts as L"},
      {300, false, true, 15'300, "bytes, not ACKs"},
      {2000, true, true, 15'300, "no growth in recovery"},
      {2000, false, false, 15'300, "no growth if the application was the limit"},
  };
  for (const Row& r : kSlowStart) {
    AckEvent e = ack_of(r.acked);
    e.in_recovery = r.in_recovery;
    e.cwnd_limited = r.limited;
    cc.on_ack(e);
    EXPECT_EQ(cc.cwnd_bytes(), r.cwnd) << r.why;
  }
  cc.on_congestion(Kind::kLoss, 20'000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 10'000U) << "half of what was in flight";
  EXPECT_EQ(cc.ssthresh_bytes(), 10'000U);
  for (int i = 0; i < 4; ++i) cc.on_ack(ack_of(2000));
  EXPECT_EQ(cc.cwnd_bytes(), 10'000U) << "8 of 10 segments acknowledged";
  cc.on_ack(ack_of(2500));
  EXPECT_EQ(cc.cwnd_bytes(), 11'000U) << "a window acknowledged, 500 bytes left over";
  for (int i = 0; i < 5; ++i) cc.on_ack(ack_of(2000));
  EXPECT_EQ(cc.cwnd_bytes(), 11'000U);
  cc.on_ack(ack_of(500));
  EXPECT_EQ(cc.cwnd_bytes(), 12'000U);
  cc.on_congestion(Kind::kEce, 3000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 2000U) << "not below 2 segments";
}

TEST(Reno, TimesOut) {
  const ControllerConfig config = config_of(Controller::kReno, 20);
  Reno cc(config, kMss);
  cc.on_ack(ack_of(0, 5));
  cc.on_timeout(20'000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 1000U);
  EXPECT_EQ(cc.ssthresh_bytes(), 10'000U);
  cc.on_timeout(1000, Time{});
  EXPECT_EQ(cc.ssthresh_bytes(), 10'000U) << "held while the same segment times out";
  cc.on_ack(ack_of(5000, 6));
  EXPECT_EQ(cc.cwnd_bytes(), 2000U) << "L = 1 after a time-out (RFC 3465, 2.3)";
  cc.on_timeout(8000, Time{});
  EXPECT_EQ(cc.ssthresh_bytes(), 4000U) << "another segment";
  for (std::uint64_t una = 7; una < 12; ++una) cc.on_ack(ack_of(1000, una));
  EXPECT_EQ(cc.cwnd_bytes(), 4000U) << "slow start has ended at ssthresh";
}

TEST(Reno, RestartsAfterIdle) {
  const ControllerConfig config = config_of(Controller::kReno, 10);
  Reno cc(config, kMss);
  for (int i = 0; i < 50; ++i) cc.on_ack(ack_of(2000));
  EXPECT_EQ(cc.cwnd_bytes(), 110'000U);
  cc.on_idle(2s, 1s);
  EXPECT_EQ(cc.cwnd_bytes(), 10'000U);
  cc.on_congestion(Kind::kLoss, 8000, Time{});
  cc.on_idle(2s, 1s);
  EXPECT_EQ(cc.cwnd_bytes(), 4000U) << "never raised";
}

// Linux: half the window for each RTO beyond the first, and three quarters of it as ssthresh.
TEST(IdleRestart, LinuxComesDownByHalves) {
  struct Row {
    Duration idle;
    std::uint32_t bytes;
    const char* why;
  };
  const Row rows[] = {
      {201ms, 50'000, "another RTO has begun"},
      {400ms, 50'000, "the second one is just over"},
      {401ms, 25'000, "the third has begun"},
      {601ms, 12'500, "the fourth"},
      {801ms, 10'000, "not below the initial window"},
      {1h, 10'000, "however long"},
  };
  for (const Controller controller : {Controller::kReno, Controller::kCubic}) {
    for (const Row& row : rows) {
      ControllerConfig config = config_of(controller, 10);
      config.idle_restart = IdleRestart::kLinux;
      ControllerSlot cc(config, kMss);
      for (std::uint64_t una = 1; una <= 45; ++una) cc->on_ack(ack_of(2000, una));
      EXPECT_EQ(cc->cwnd_bytes(), 100'000U);
      cc->on_idle(row.idle, 200ms);
      EXPECT_EQ(cc->cwnd_bytes(), row.bytes) << row.why;
      EXPECT_EQ(cc->ssthresh_bytes(), kMaxCongestionWindow) << "never lowered";
    }
  }
}

/// Brings a controller, by a time-out and congestion avoidance, to a window of 40 segments with a
/// threshold far below. @return the window
std::uint32_t grow_beyond_ssthresh(CongestionControl& cc) {
  cc.on_timeout(20'000, Time{});
  std::uint64_t una = 1;
  Time now{};
  while (cc.cwnd_bytes() < 40'000) {
    AckEvent ack = ack_of(1000, una++);
    ack.now = now += 10ms;
    ack.srtt = 100ms;
    cc.on_ack(ack);
  }
  EXPECT_LT(cc.ssthresh_bytes(), 20'000U);
  return cc.cwnd_bytes();
}

TEST(IdleRestart, LinuxRemembersThreeQuarters) {
  for (const Controller controller : {Controller::kReno, Controller::kCubic}) {
    ControllerConfig config = config_of(controller, 10);
    config.idle_restart = IdleRestart::kLinux;
    ControllerSlot cc(config, kMss);
    const std::uint32_t window = grow_beyond_ssthresh(*cc);
    cc->on_idle(10s, 200ms);
    EXPECT_EQ(cc->cwnd_bytes(), 10'000U);
    EXPECT_EQ(cc->ssthresh_bytes(), window / 2 + window / 4);
  }
}

// Linux: halfway to what was used, not below the initial window, with the same memory.
TEST(IdleRestart, AnUnusedWindowIsRememberedToo) {
  for (const Controller controller : {Controller::kReno, Controller::kCubic}) {
    const ControllerConfig config = config_of(controller, 10);
    for (const std::uint32_t used : {2'000U, 20'000U}) {
      ControllerSlot cc(config, kMss);
      const std::uint32_t window = grow_beyond_ssthresh(*cc);
      cc->on_unused(used);
      const std::uint32_t halfway = window / 2 + std::max(used, 10'000U) / 2;
      EXPECT_NEAR(cc->cwnd_bytes(), halfway, 1);
      EXPECT_EQ(cc->ssthresh_bytes(), window / 2 + window / 4);
      const std::uint32_t lowered = cc->cwnd_bytes();
      cc->on_unused(window);
      EXPECT_EQ(cc->cwnd_bytes(), lowered) << "all of it was used";
    }
  }
}

// Each ACK acknowledges a whole window, so cwnd is the target W_cubic(t + RTT) after it.
TEST(Cubic, GrowsConcaveThenConvex) {
  const ControllerConfig config = config_of(Controller::kCubic, 100);
  Cubic cc(config, kMss);
  cc.on_congestion(Kind::kLoss, 100'000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 70'000U) << "beta = 0.7";
  EXPECT_EQ(cc.ssthresh_bytes(), 70'000U);

  // W(t) = 0.4 * (t - K)^3 + 100, K = cbrt(30 / 0.4) = 4.21716 s
  struct Row {
    int at_tenths;  // t + RTT [0.1 s]
    double window;
  };
  constexpr Row kRows[] = {{8, 84.0391},   {20, 95.6403},  {32, 99.5790},  {40, 99.9959},
                           {44, 100.0024}, {52, 100.3798}, {60, 102.2667}, {80, 121.6527}};
  const Row* row = kRows;
  double last = 0, slope_before = 1e9;
  for (int tenth = 0; tenth < 80; tenth += 4) {
    AckEvent e = ack_of(cc.cwnd_bytes(), 1, Time{10s + tenth * 100ms});
    e.srtt = 400ms;  // long enough for Reno to stay behind from here on
    cc.on_ack(e);
    const double cwnd = cc.cwnd_bytes() / 1000.0;
    if (tenth == 0) {
      EXPECT_NEAR(cc.k_seconds(), 4.217163, 1e-6);
      EXPECT_NEAR(cwnd, 70 + 0.9 / 1.7, 1e-3) << "t = 0: Reno is ahead (4.3)";
    }
    if (row != std::end(kRows) && tenth + 4 == row->at_tenths) {
      EXPECT_NEAR(cwnd, row->window, 0.01) << tenth;
      ++row;
    }
    if (tenth > 4 && tenth < 36) {
      EXPECT_LT(cwnd - last, slope_before + 0.002) << "concave";
    }
    if (tenth > 44) {
      EXPECT_GT(cwnd - last, slope_before - 0.002) << "convex";
    }
    slope_before = cwnd - last;
    last = cwnd;
  }
  EXPECT_EQ(row, std::end(kRows));
}

TEST(Cubic, FollowsRenoWhereThatIsFaster) {
  for (const bool like_linux : {false, true}) {
    ControllerConfig config = config_of(Controller::kCubic, 10);
    if (like_linux) config.hystart = HyStartKind::kLinux;
    Cubic cc(config, kMss);
    cc.on_congestion(Kind::kLoss, 10'000, Time{});
    const auto rounds = [&cc](int first, int end) {
      for (int i = first; i < end; ++i) {
        AckEvent e = ack_of(cc.cwnd_bytes(), 1, Time{1s + i * 1ms});
        e.srtt = 1ms;
        cc.on_ack(e);
      }
    };
    rounds(0, 5);
    EXPECT_NEAR(cc.cwnd_bytes() / 1000.0, 7 + 5 * 0.9 / 1.7, 2e-3) << "alpha = 0.529 per RTT";
    rounds(5, 16);
    // 6 rounds reach 10.176 >= cwnd_prior. 10 more are at alpha = 1, in Linux at the same alpha.
    const double after = like_linux ? 16 * 0.9 / 1.7 : 6 * 0.9 / 1.7 + 10;
    EXPECT_NEAR(cc.cwnd_bytes() / 1000.0, 7 + after, 5e-3) << like_linux;
  }
}

TEST(Cubic, ConvergesFast) {
  const ControllerConfig config = config_of(Controller::kCubic, 100);
  Cubic cc(config, kMss);
  cc.on_congestion(Kind::kLoss, 100'000, Time{});
  EXPECT_DOUBLE_EQ(cc.w_max_segments(), 100);
  cc.on_congestion(Kind::kEce, 70'000, Time{});
  EXPECT_DOUBLE_EQ(cc.w_max_segments(), 70 * 0.85) << "4.7: below the old plateau";
  EXPECT_EQ(cc.cwnd_bytes(), 49'000U);
}

TEST(Cubic, IdleTimeIsNotCounted) {
  std::uint32_t cwnd[2];
  for (int idle = 0; idle < 2; ++idle) {
    const ControllerConfig config = config_of(Controller::kCubic, 100);
    Cubic cc(config, kMss);
    cc.on_congestion(Kind::kLoss, 100'000, Time{});
    Time now{1s};
    for (int i = 0; i < 20; ++i) {
      AckEvent e = ack_of(10'000, 1, now);
      e.srtt = 10ms;
      cc.on_ack(e);
      now += i == 10 && idle == 1 ? 1h : 10ms;
    }
    cwnd[idle] = cc.cwnd_bytes();
  }
  EXPECT_EQ(cwnd[0], cwnd[1]);
}

/// Returns the window after two seconds of ACKs, of which the last bring it up to the curve. In
/// between it may not be the limit, or come back by slow start.
std::uint32_t window_of(bool like_linux, bool unused, bool restarted) {
  ControllerConfig config = config_of(Controller::kCubic, 10);
  config.idle_restart = IdleRestart::kLinux;
  if (like_linux) config.hystart = HyStartKind::kLinux;
  Cubic cc(config, kMss);
  const auto ack = [&cc](std::uint32_t bytes, Duration at, bool limited) {
    AckEvent e = ack_of(bytes, 1, Time{1s + at});
    e.srtt = 100ms;
    e.cwnd_limited = limited;
    cc.on_ack(e);
  };
  for (int i = 0; i < 90; ++i) ack(1000, Duration{}, true);
  cc.on_congestion(Kind::kLoss, 100'000, Time{});
  for (int i = 1; i < 20; ++i) {
    if (restarted && i == 5) cc.on_idle(10s, 200ms);
    ack(1000, i * 100ms, i < 5 || i == 19 || !unused);
  }
  for (int i = 0; i < 2; ++i) ack(70'000, 2s, true);  // ends slow start
  ack(cc.cwnd_bytes(), 2s, true);
  return cc.cwnd_bytes();
}

TEST(Cubic, LinuxCountsSlowStartAndUnusedWindows) {
  const std::uint32_t always = window_of(true, false, false), rfc = window_of(false, false, false);
  EXPECT_NEAR(window_of(true, true, false), always, 1);
  EXPECT_NEAR(window_of(true, false, true), always, 1) << "back by slow start";
  EXPECT_LT(window_of(false, true, false) + 5000, rfc) << "5.8: t stood still";
  EXPECT_LT(window_of(false, false, true) + 5000, rfc);
}

TEST(Cubic, TimesOutAndStartsANewEpoch) {
  const ControllerConfig config = config_of(Controller::kCubic, 100);
  Cubic cc(config, kMss);
  cc.on_timeout(100'000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 1000U);
  EXPECT_EQ(cc.ssthresh_bytes(), 70'000U);
  cc.on_timeout(10'000, Time{});
  EXPECT_EQ(cc.ssthresh_bytes(), 70'000U);
  for (std::uint64_t i = 0; i < 80; ++i) cc.on_ack(ack_of(1000, i + 1, Time{1s}));
  EXPECT_DOUBLE_EQ(cc.k_seconds(), 0) << "4.8";
  EXPECT_NEAR(cc.w_max_segments(), 70, 1e-9) << "4.8: the window where avoidance begins";
}

TEST(Dctcp, AlphaFollowsTheShareOfMarks) {
  const ControllerConfig config = config_of(Controller::kDctcp, 100);
  Dctcp cc(config, kMss);
  std::uint64_t offset = 0;
  const auto window = [&](std::uint32_t marked) {
    AckEvent e = ack_of(10'000, offset += 10'000);
    e.ece_bytes = marked;
    e.snd_nxt = offset;
    e.in_recovery = true;  // this test is not about growth
    cc.on_ack(e);
  };
  double expected = 1;
  for (int i = 0; i < 100; ++i) {
    window(0);
    expected *= 15.0 / 16.0;
    ASSERT_NEAR(*cc.alpha(), expected, 1e-12);
  }
  for (int i = 0; i < 400; ++i) window(2500);
  EXPECT_NEAR(*cc.alpha(), 0.25, 1e-9);
  window(10'000);
  EXPECT_NEAR(*cc.alpha(), 0.25 * 15 / 16 + 1.0 / 16, 1e-9);
}

TEST(Dctcp, OneEstimatePerWindow) {
  const ControllerConfig config = config_of(Controller::kDctcp, 100);
  Dctcp cc(config, kMss);
  AckEvent e = ack_of(1000, 1000);
  e.snd_nxt = 50'000;
  cc.on_ack(e);
  EXPECT_DOUBLE_EQ(*cc.alpha(), 15.0 / 16) << "first ACK ends the empty window";
  for (std::uint64_t una = 2000; una <= 50'000; una += 1000) {
    e.snd_una = una;
    e.ece_bytes = una > 25'000 ? 1000 : 0;
    e.snd_nxt = una + 50'000;
    cc.on_ack(e);
    EXPECT_DOUBLE_EQ(*cc.alpha(), 15.0 / 16) << una;
  }
  e.snd_una = 51'000;
  cc.on_ack(e);
  EXPECT_NEAR(*cc.alpha(), 15.0 / 16 * 15 / 16 + 26.0 / 50 / 16, 1e-12);
}

TEST(Dctcp, ReducesByAlphaAndHalvesOnLoss) {
  const ControllerConfig config = config_of(Controller::kDctcp, 100);
  Dctcp first(config, kMss);
  first.on_congestion(Kind::kEce, 100'000, Time{});
  EXPECT_EQ(first.cwnd_bytes(), 50'000U) << "1 - 1 / 2: the first marks halve it";
  Dctcp cc(config, kMss);
  AckEvent unmarked = ack_of(1000, 1000);
  unmarked.in_recovery = true;  // this test is not about growth
  cc.on_ack(unmarked);
  cc.on_congestion(Kind::kEce, 100'000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 53'125U) << "1 - 15/16 / 2";
  EXPECT_EQ(cc.ssthresh_bytes(), 53'125U);
  cc.on_congestion(Kind::kLoss, 70'000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 35'000U);
  for (int i = 0; i < 20; ++i) cc.on_congestion(Kind::kEce, 2000, Time{});
  EXPECT_EQ(cc.cwnd_bytes(), 2000U) << "2 segments at least";
  EXPECT_TRUE(row_of(Controller::kDctcp).accurate_ecn_echo);
}

TEST(Dctcp, MarksReduceToTheSmallestWindowThatIsSet) {
  for (const std::uint32_t segments : {1U, 2U, 5U}) {
    ControllerConfig config = config_of(Controller::kDctcp, 100);
    config.dctcp_min_window_segments = segments;
    Dctcp cc(config, kMss);
    for (int i = 0; i < 20; ++i) cc.on_congestion(Kind::kEce, 2000, Time{});
    EXPECT_EQ(cc.cwnd_bytes(), segments * kMss);
    EXPECT_EQ(cc.ssthresh_bytes(), segments * kMss);
    cc.on_congestion(Kind::kLoss, 1000, Time{});
    EXPECT_EQ(cc.cwnd_bytes(), 2000U) << "a loss: RFC 5681";
  }
}

TEST(ControllerSlot, MakesWhatIsAskedFor) {
  const ControllerConfig cubic, reno{.controller = Controller::kReno},
      dctcp{.controller = Controller::kDctcp},
      unresponsive{.controller = Controller::kUnresponsive, .rate = BitRate{1'000'000}};
  const ControllerSlot slots[] = {ControllerSlot(cubic, kMss), ControllerSlot(reno, kMss),
                                  ControllerSlot(dctcp, kMss), ControllerSlot(unresponsive, kMss)};
  EXPECT_TRUE(dynamic_cast<const Cubic*>(&*slots[0]));
  EXPECT_TRUE(dynamic_cast<const Reno*>(&*slots[1]));
  EXPECT_FALSE(dynamic_cast<const Dctcp*>(&*slots[1]));
  EXPECT_TRUE(dynamic_cast<const Dctcp*>(&*slots[2]));
  EXPECT_EQ(slots[2]->fixed_rate(), BitRate{}) << "the window's";
  EXPECT_TRUE(dynamic_cast<const Unresponsive*>(&*slots[3]));
}

// Every controller of the list keeps the contract on which the sender relies. New controllers are
// tested automatically.
TEST(ControllerList, EveryRowKeepsTheContract) {
  for (const ControllerRow& row : kControllerRows) {
    SCOPED_TRACE(row.name);
    ControllerConfig config = config_of(row.kind, 10);
    if (row.kind == Controller::kUnresponsive) config.rate = BitRate{1'000'000};
    const bool responsive = !config.rate;
    ControllerSlot slot(config, kMss);
    EXPECT_EQ(slot->cwnd_bytes(), 10'000U) << "RFC 6928";
    slot->on_ack(ack_of(1000));
    EXPECT_EQ(slot->cwnd_bytes(), responsive ? 11'000U : 10'000U) << "slow start";
    slot->on_congestion(Kind::kLoss, 10'000, Time{1s});
    EXPECT_EQ(slot->cwnd_bytes() < 10'000, responsive);
    slot->on_timeout(10'000, Time{2s});
    EXPECT_EQ(slot->cwnd_bytes(), responsive ? 1000U : 10'000U) << "RFC 5681, 3.1";

    ControllerSlot fresh(config, kMss);
    fresh->on_handshake_loss();
    EXPECT_EQ(fresh->cwnd_bytes(), responsive ? 1000U : 10'000U) << "RFC 5681, 3.1";
  }
}

TEST(InitialWindow, IsThatOfRfc6928UnlessItIsSet) {
  ControllerConfig config;
  EXPECT_EQ(initial_window_bytes(config, 536), 5'360U);
  EXPECT_EQ(initial_window_bytes(config, 1448), 14'480U);
  EXPECT_EQ(initial_window_bytes(config, 1460), 14'600U);
  EXPECT_EQ(initial_window_bytes(config, 4000), 14'600U);
  EXPECT_EQ(initial_window_bytes(config, 8948), 17'896U) << "two segments";
  config.initial_window_segments = 10;
  EXPECT_EQ(initial_window_bytes(config, 8948), 89'480U) << "Linux";
}

// Initial window, floors and growth are in segments of the connection.
TEST(ControllerList, EveryRowCountsTheConnectionsSegments) {
  for (const ControllerRow& row : kControllerRows) {
    SCOPED_TRACE(row.name);
    for (const std::uint16_t mss : {std::uint16_t{536}, std::uint16_t{1448}}) {
      ControllerConfig config = config_of(row.kind, 10);
      if (row.kind == Controller::kUnresponsive) config.rate = BitRate{1'000};
      ControllerSlot cc(config, mss);
      EXPECT_EQ(cc->cwnd_bytes(), 10U * mss);
      if (config.rate) continue;
      cc->on_congestion(Kind::kLoss, 1, Time{1s});
      EXPECT_EQ(cc->cwnd_bytes(), 2U * mss) << "RFC 5681, equation (4)";
      cc->on_timeout(1, Time{2s});
      EXPECT_EQ(cc->cwnd_bytes(), mss);
      if (row.kind == Controller::kTimely) continue;  // grows by a rate
      // The first window begins to grow, then each grows by a segment at most.
      std::uint32_t before = 0;
      for (std::uint64_t una = 1; una < 40; ++una) {
        before = cc->cwnd_bytes();
        AckEvent ack = ack_of(mss, una, Time{2s + una * 1ms});
        ack.srtt = 30ms;
        cc->on_ack(ack);
        EXPECT_LE(cc->cwnd_bytes(), before + mss);
      }
      EXPECT_LT(before, 12U * mss);
    }
  }
}

// Two connections of one transport share only its settings.
TEST(ControllerSlot, KeepsItsOwnState) {
  const ControllerConfig config = config_of(Controller::kReno, 10);
  ControllerSlot a(config, kMss);
  const ControllerSlot b(config, kMss);
  a->on_timeout(10'000, Time{});
  EXPECT_EQ(a->cwnd_bytes(), 1000U);
  EXPECT_EQ(b->cwnd_bytes(), 10'000U);
  EXPECT_EQ(sizeof(ControllerSlot), ControllerSlot::kBytes) << "no pointer beside the controller";
}

}  // namespace
}  // namespace outrider::congestion_control_test
