// Goal: HPCC's controller follows algorithm 1 of its paper: use of the path, average, division and
// additive steps from the window that a round trip began with; and what is open there is as the
// header file says.
// Method: records and acknowledgments made by hand, with numbers that a reader can follow; windows
// computed beside the code. Source: Li et al., SIGCOMM 2019, section 3.
#include "trafficgen/roce/control/hpcc.h"

#include <gtest/gtest.h>

#include <vector>

namespace outrider::hpcc_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr Time kStart = Time{} + 1s;
constexpr Duration kBase = 10us;
/// 80 Gbit/s carry 100,000 bytes in a base round trip, 100 packets.
constexpr SendPath kPath{.line_bps = 80e9, .packet_bytes = 1000, .most_packets = 1000};
constexpr HpccConfig kConfig{.eta = 0.95, .max_stage = 5, .additive_bytes = 100, .base_rtt = kBase};
constexpr double kFirstWindow = 100'000;

/// The record of a hop.
struct Hop {
  Duration at{}, busy{}, queue{};
};

struct Flow {
  explicit Flow(const HpccConfig& c = kConfig, const SendPath& p = kPath)
      : config(c), control(config, p) {}

  void ack(const std::vector<Hop>& hops, std::uint64_t acknowledged, std::uint64_t next,
           std::uint16_t path = 7) {
    roce::Telemetry t{.hops = static_cast<std::uint8_t>(hops.size()), .path = path};
    t.records_kept = static_cast<std::uint8_t>(std::min<std::size_t>(hops.size(), 5));
    for (std::size_t i = 0; i < t.records_kept; ++i)
      t.records[i] = {Duration{hops[i].at.count() & 0xFFFFFF},
                      Duration{hops[i].busy.count() & 0xFFFFFF}, hops[i].queue};
    now = kStart + hops.at(0).at;
    control.on_ack(
        {.acknowledged_packets = 1, .acknowledged = acknowledged, .next_packet = next, .path = &t},
        now);
  }
  /// One hop tells that it was in use for that share of a base round trip since it told before. The
  /// acknowledgment is the first of a round trip.
  void round_trip(double use, Duration queue = {}) {
    at += kBase;
    busy += Duration{static_cast<std::int64_t>(use * static_cast<double>(kBase.count()))};
    ++packets;
    ack({{at, busy, queue}}, packets, packets);
  }
  /// Begins with a record that has no predecessor.
  Flow& begun() {
    round_trip(0);
    return *this;
  }

  HpccConfig config;
  Hpcc control;
  Time now = kStart;
  Duration at{}, busy{};
  std::uint64_t packets = 0;
};

TEST(Hpcc, BeginsWithWhatTheNicSendsInTheBaseRoundTrip) {
  Flow f;
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), kFirstWindow);
  EXPECT_EQ(f.control.window_packets(), 100U);
  EXPECT_DOUBLE_EQ(f.control.rate_bps(kStart), 80e9);
  EXPECT_TRUE(f.control.reads_acks());
  EXPECT_DOUBLE_EQ(*f.control.state(kStart).window_bytes, kFirstWindow);
  f.ack({{1us, 1us, 50us}}, 1, 100);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), kFirstWindow) << "nothing to compare with";
  EXPECT_DOUBLE_EQ(f.control.use(), 1);
}

TEST(Hpcc, UseIsTheTimeOfSendingAndTheLeastOfTwoQueues) {
  Flow f;
  f.ack({{0us, 0us, 0us}}, 1, 1);
  f.ack({{10us, 8us, 2us}}, 2, 2);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.8) << "the queue was empty before";
  f.ack({{20us, 16us, 3us}}, 3, 3);
  EXPECT_DOUBLE_EQ(f.control.use(), 2.0 / 10 + 0.8);
  f.ack({{30us, 26us, 1us}}, 4, 4);
  EXPECT_DOUBLE_EQ(f.control.use(), 1.0 / 10 + 1.0);
}

TEST(Hpcc, UseIsAveragedOverTheTimeBetweenRecords) {
  Flow f;
  f.ack({{0us, 0us, 0us}}, 1, 1);
  f.ack({{2500ns, 500ns, 0us}}, 2, 2);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.75 * 1 + 0.25 * 0.2);
  f.ack({{7500ns, 1500ns, 0us}}, 3, 3);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.5 * 0.8 + 0.5 * 0.2);
  f.ack({{47500ns, 11500ns, 0us}}, 4, 4);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.25) << "40 us weigh as much as a round trip";
}

TEST(Hpcc, TheMostUsedHopCounts) {
  Flow f;
  f.ack({{0us, 0us, 0us}, {1us, 5us, 1us}, {0us, 0us, 0us}}, 1, 1);
  f.ack({{5us, 2500ns, 0us}, {5us, 8us, 1500ns}, {2us, 1us, 0us}}, 2, 2);
  // 0.5 in 5 us; 3 us of 4 us and 1 us of a base round trip; 0.5 in 2 us.
  EXPECT_DOUBLE_EQ(f.control.use(), 0.6 * 1 + 0.4 * (0.75 + 0.1));
}

TEST(Hpcc, AboveEtaTheWindowIsDivided) {
  Flow f = Flow();
  f.begun();
  f.round_trip(1);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), kFirstWindow * 0.95 + 100);
  EXPECT_DOUBLE_EQ(f.control.rate_bps(f.now), (kFirstWindow * 0.95 + 100) * 8 / 10e-6);
  EXPECT_EQ(f.control.window_packets(), 96U) << "95.1 packets";
  f.round_trip(1);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), (kFirstWindow * 0.95 + 100) * 0.95 + 100);
}

// All acknowledgments of a round trip react to the same use: only the first may move the reference.
TEST(Hpcc, WithinARoundTripAllStepsBeginAtTheSameWindow) {
  Flow f;
  f.ack({{0us, 0us, 0us}}, 1, 100);
  const double once = kFirstWindow * 0.95 + 100;
  for (int i = 1; i <= 10; ++i) {
    const Duration at = i * 1us;
    f.ack({{at, at, 0us}}, static_cast<std::uint64_t>(1 + i), 200);
    EXPECT_DOUBLE_EQ(f.control.window_bytes(), once) << i << ": its packets left before";
  }
  f.ack({{11us, 11us, 0us}}, 101, 300);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), once) << "moves the reference";
  f.ack({{12us, 12us, 0us}}, 102, 301);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), once * 0.95 + 100);
  f.ack({{13us, 13us, 0us}}, 300, 302);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), once * 0.95 + 100);
  f.ack({{14us, 14us, 0us}}, 301, 400);
  f.ack({{15us, 15us, 0us}}, 302, 401);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), (once * 0.95 + 100) * 0.95 + 100);
}

TEST(Hpcc, BelowEtaItGrowsByAStepFiveTimesAndThenToWhatIsLeft) {
  Flow f;
  f.begun();
  f.round_trip(1, 100us);
  f.round_trip(1, 100us);  // use 11
  const double low = (kFirstWindow * 0.95 + 100) * 0.95 / 11 + 100;
  ASSERT_NEAR(f.control.window_bytes(), low, 1e-6);
  for (int step = 1; step <= 5; ++step) {
    f.round_trip(0.5);
    EXPECT_NEAR(f.control.window_bytes(), low + 100 * step, 1e-6) << step;
  }
  f.round_trip(0.5);
  const double left = (low + 500) * 0.95 / 0.5 + 100;
  EXPECT_NEAR(f.control.window_bytes(), left, 1e-6);
  f.round_trip(0.5);
  EXPECT_NEAR(f.control.window_bytes(), left + 100, 1e-6) << "and by steps again";
}

TEST(Hpcc, MaxStageOfZeroAlwaysDivides) {
  HpccConfig config = kConfig;
  config.max_stage = 0;
  Flow f(config);
  f.begun();
  f.round_trip(1.9);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), kFirstWindow / 2 + 100);
  f.round_trip(0.76);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), (kFirstWindow / 2 + 100) * 0.95 / 0.76 + 100);
}

TEST(Hpcc, TheWindowIsAtMostTheFirstAndAtLeastAStep) {
  Flow f;
  f.begun();
  for (int i = 0; i < 20; ++i) f.round_trip(0);  // a use of 0 divides by it
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), kFirstWindow);
  Flow worst;
  worst.begun();
  for (int i = 0; i < 100; ++i) worst.round_trip(200);
  EXPECT_GE(worst.control.window_bytes(), 100);
  EXPECT_LT(worst.control.window_bytes(), 101);
  EXPECT_EQ(worst.control.window_packets(), 1U);
  EXPECT_NEAR(worst.control.rate_bps(kStart), 100 * 8 / 10e-6, 1e6) << "a packet in ten";
}

TEST(Hpcc, AnotherPathOrALongSilenceBeginsAnew) {
  const auto window_after = [](const std::vector<Hop>& hops, std::uint16_t path) {
    Flow f;
    f.ack({{0us, 0us, 0us}}, 1, 1);
    f.ack(hops, 2, 2, path);
    return f.control.window_bytes();
  };
  EXPECT_LT(window_after({{10us, 10us, 0us}}, 7), kFirstWindow);
  EXPECT_EQ(window_after({{10us, 10us, 0us}}, 8), kFirstWindow);
  EXPECT_EQ(window_after({{10us, 10us, 0us}, {10us, 10us, 0us}}, 7), kFirstWindow);
  EXPECT_LT(window_after({{4ms, 4ms, 0us}}, 7), kFirstWindow);
  EXPECT_EQ(window_after({{5ms, 5ms, 0us}}, 7), kFirstWindow);
  Flow f;
  f.ack({{0us, 0us, 0us}}, 1, 1);
  f.ack({{50us, 10us, 0us}}, 2, 2, 8);
  f.ack({{60us, 15us, 0us}}, 3, 3, 8);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.5) << "from the new path's own record on";
}

TEST(Hpcc, RecordsThatAreNotNewerChangeNothing) {
  Flow f;
  f.ack({{20us, 5us, 0us}}, 1, 1);
  f.ack({{20us, 5us, 0us}}, 2, 2);
  f.ack({{15us, 3us, 0us}}, 3, 3);
  EXPECT_DOUBLE_EQ(f.control.use(), 1);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), kFirstWindow);
  f.ack({{30us, 10us, 0us}}, 4, 4);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.5) << "since 20 us";
}

TEST(Hpcc, TimesWrap) {
  Flow f;
  const Duration wrap{1 << 24};
  f.ack({{wrap - 4us, wrap - 1us, 0us}}, 1, 1);
  f.ack({{wrap + 6us, wrap + 4us, 0us}}, 2, 2);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.5);
}

TEST(Hpcc, OfALongPathTheFirstHopsCount) {
  Flow f;
  const std::vector<Hop> before(7, {0us, 0us, 0us});
  std::vector<Hop> after(7, {10us, 5us, 0us});
  after[6].busy = 10us;
  f.ack(before, 1, 1);
  f.ack(after, 2, 2);
  EXPECT_DOUBLE_EQ(f.control.use(), 0.5);
}

TEST(Hpcc, NothingElseMovesIt) {
  Flow f;
  f.begun();
  f.round_trip(1);
  const double window = f.control.window_bytes();
  f.control.on_cnp(f.now);
  f.control.on_loss(f.now);
  f.control.on_timeout(f.now);
  f.control.on_sent(1000, f.now);
  f.control.on_ack({.acknowledged_packets = 1, .rtt = 1ms}, f.now);
  const roce::Telemetry none;
  f.control.on_ack({.acknowledged_packets = 1, .path = &none}, f.now);
  EXPECT_DOUBLE_EQ(f.control.window_bytes(), window) << "no switch has told anything";
}

TEST(Hpcc, ThePacketsInFlightAreCapped) {
  Flow f(kConfig, {.line_bps = 80e9, .packet_bytes = 1000, .most_packets = 64});
  EXPECT_EQ(f.control.window_packets(), 64U);
}

}  // namespace
}  // namespace outrider::hpcc_test
