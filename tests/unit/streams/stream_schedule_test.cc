// Goal: the schedule is exact for ever and does not depend on who asks when.
// Method: literal timelines, closed forms in wide integers, statistics of the
// random pattern by its theory, and the same schedule asked in different ways.
#include "trafficgen/streams/engine/stream_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/unit/streams/stream_fixture.h"

namespace outrider::stream_schedule_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Unit = StreamRate::Unit;
__extension__ using Wide = unsigned __int128;

StreamSchedule schedule(const StreamConfig& s, BitRate line = {}, std::uint64_t seed = 1) {
  return StreamSchedule({.stream = s, .line_rate = line, .seed = seed});
}

TEST(StreamSchedule, ConstantRateHasNoDrift) {
  for (const std::uint64_t pps : {1ULL, 3ULL, 7ULL, 999'999'937ULL, 14'880'952ULL, 41'000'001ULL}) {
    StreamConfig s = stream();
    s.rate = StreamRate{Unit::kPackets, pps};
    s.start = 5us;
    StreamSchedule made = schedule(s);
    for (std::uint64_t k = 0; k < 100'000; ++k) {
      const auto due = static_cast<std::int64_t>(static_cast<Wide>(k) * 1'000'000'000 / pps);
      ASSERT_EQ(made.take().due, Time{5us} + Duration{due}) << pps << " pps, packet " << k;
    }
  }
}

TEST(StreamSchedule, BitRateCountsEachFramesOwnLengthAtItsLayer) {
  StreamConfig s = stream();
  s.rate = StreamRate{Unit::kBits, 1'000'000'000};
  s.imix = SizeMix{{{64, 1}, {1518, 1}}};
  StreamSchedule l1 = schedule(s);
  EXPECT_EQ(l1.take().due, Time{0ns});
  EXPECT_EQ(l1.take().due, Time{672ns}) << "84 B at 1 Gbit/s";
  EXPECT_EQ(l1.take().due, Time{672ns + 12304ns}) << "and 1538 B";
  s.layer = RateLayer::kL2;
  StreamSchedule l2 = schedule(s);
  l2.take();
  EXPECT_EQ(l2.take().due, Time{512ns});
  EXPECT_NEAR(l2.packets_per_second(), 1e9 / (8 * 791), 1e-6);
}

TEST(StreamSchedule, AShareIsOneOfTheLineRate) {
  StreamConfig s = stream();
  s.rate = StreamRate{Unit::kShare, 500'000};
  StreamSchedule made = schedule(s, {10'000'000'000});
  for (int k = 0; k < 1000; ++k) made.take();
  EXPECT_EQ(made.take().due, Time{Duration{1000 * 84 * 8 / 5}}) << "84 B at 5 Gbit/s";
}

TEST(StreamSchedule, BurstsHaveExactlyTheirPacketsAndTheirGap) {
  StreamConfig s = stream();
  s.pattern = StreamPattern::kOnOff;
  s.burst_packets = 3;
  s.gap = 10us;
  StreamSchedule made = schedule(s);
  for (const Duration due : {0us, 1us, 2us, 13us, 14us, 15us, 26us})
    EXPECT_EQ(made.take().due, Time{due});
  EXPECT_NEAR(made.packets_per_second(), 3 / 13e-6, 1e-3);
}

TEST(StreamSchedule, PoissonGapsAreExponentialAndTheSeedsOwn) {
  StreamConfig s = stream();
  s.pattern = StreamPattern::kPoisson;
  constexpr int kPackets = 200'000;
  StreamSchedule made = schedule(s);
  Time last = made.take().due;
  double sum = 0;
  double squares = 0;
  int above_mean = 0;
  for (int i = 0; i < kPackets; ++i) {
    const Time due = made.take().due;
    const double gap = static_cast<double>((due - last).count());
    last = due;
    sum += gap;
    squares += gap * gap;
    above_mean += gap > 1000 ? 1 : 0;
  }
  const double mean = sum / kPackets;
  // Standard error of the mean is mean / sqrt(n): five of them.
  EXPECT_NEAR(mean, 1000, 5 * 1000 / std::sqrt(kPackets));
  EXPECT_NEAR(std::sqrt(squares / kPackets - mean * mean), 1000, 20) << "deviation == mean";
  EXPECT_NEAR(static_cast<double>(above_mean) / kPackets, std::exp(-1), 0.006);
  StreamSchedule one = schedule(s, {}, 1);
  StreamSchedule same = schedule(s, {}, 1);
  StreamSchedule other = schedule(s, {}, 2);
  EXPECT_EQ(one.take(), same.take());
  other.take();
  const Departure second = one.take();
  EXPECT_EQ(second, same.take());
  EXPECT_NE(second.due, other.take().due);
}

TEST(StreamSchedule, AMixKeepsItsWeightsInEveryCycleAndSpreadsThem) {
  StreamConfig s = stream();
  s.imix = simple_imix();
  StreamSchedule made = schedule(s);
  EXPECT_NEAR(made.mean_frame_bytes(), (7 * 64 + 4 * 594 + 1518) / 12.0, 1e-9);
  std::uint32_t run = 0;
  for (int cycle = 0; cycle < 50; ++cycle) {
    std::map<std::uint32_t, int> seen;
    for (int i = 0; i < 12; ++i) {
      const std::uint32_t size = made.sizes()[made.take().size];
      ++seen[size];
      run = size == 64 ? run + 1 : 0;
      EXPECT_LE(run, 3U) << "seven small ones in a row would not be a mix";
    }
    EXPECT_EQ(seen, (std::map<std::uint32_t, int>{{64, 7}, {594, 4}, {1518, 1}}));
  }
}

TEST(StreamSchedule, FlowsTakeTurnsAndCount) {
  StreamConfig s = stream();
  s.flows = 3;
  StreamSchedule made = schedule(s);
  for (std::uint32_t k = 0; k < 10; ++k) {
    const Departure d = made.take();
    EXPECT_EQ(d.flow, k % 3);
    EXPECT_EQ(d.sequence, k / 3);
  }
}

TEST(StreamSchedule, EndsByPacketsAndByTime) {
  StreamConfig s = stream();
  s.packets = 2;
  StreamSchedule by_packets = schedule(s);
  by_packets.take();
  by_packets.take();
  EXPECT_EQ(by_packets.next(), kNever);
  s.packets.reset();
  s.start = 1us;
  s.duration = 3us;
  StreamSchedule by_time = schedule(s);
  int packets = 0;
  for (; by_time.next() != kNever; ++packets) EXPECT_LT(by_time.take().due, Time{4us});
  EXPECT_EQ(packets, 3);
  EXPECT_EQ(by_time.slot_end(), Time{4us});
}

TEST(StreamSchedule, DoesNotDependOnHowItIsAsked) {
  for (const auto pattern :
       {StreamPattern::kConstant, StreamPattern::kPoisson, StreamPattern::kOnOff}) {
    StreamConfig s = stream();
    s.rate = StreamRate{Unit::kBits, 3'333'333'333};
    s.pattern = pattern;
    s.burst_packets = pattern == StreamPattern::kOnOff ? 17 : 1;
    s.gap = pattern == StreamPattern::kOnOff ? Duration{777} : Duration{};
    s.imix = simple_imix();
    s.flows = 5;
    StreamSchedule one_by_one = schedule(s);
    StreamSchedule in_batches = schedule(s);
    RandomStream chance(3, 0, RandomPurpose::kTest);
    std::vector<Departure> batch(32);
    Time now{};
    for (int poll = 0; poll < 5000; ++poll) {
      now += Duration{static_cast<std::int64_t>(chance.next_u32() % 40'000)};
      const std::size_t room = 1 + chance.next_u32() % 32;
      const std::size_t n = in_batches.take_due(now, {batch.data(), room});
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(batch[i], one_by_one.take());
      EXPECT_TRUE(n == room || in_batches.next() > now);
    }
    EXPECT_GT(in_batches.taken(), 10'000U);
  }
}

TEST(StreamSchedule, ShiftingTheStartShiftsEverythingElse) {
  StreamConfig s = stream();
  s.pattern = StreamPattern::kPoisson;
  StreamSchedule early = schedule(s);
  s.start = std::chrono::hours{24 * 365};
  StreamSchedule late = schedule(s);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(early.take().due - Time{}, late.take().due - Time{*s.start});
}

TEST(StreamSchedule, PostponingMovesTheRestButNotTheEnd) {
  StreamConfig s = stream();
  s.duration = 502us;
  StreamSchedule made = schedule(s);
  made.take();
  made.postpone(500us);
  EXPECT_EQ(made.take().due, Time{501us});
  EXPECT_EQ(made.next(), kNever);
}

// Streams that ask for one rate are an even load together.
TEST(StreamSchedule, StreamsOfOneRateDoNotSendTogether) {
  constexpr std::uint32_t kStreams = 500;
  constexpr int kPackets = 20;
  for (const auto pattern :
       {StreamPattern::kConstant, StreamPattern::kPoisson, StreamPattern::kOnOff}) {
    StreamConfig s = stream();
    s.rate = StreamRate{Unit::kPackets, 1000};
    s.pattern = pattern;
    s.burst_packets = pattern == StreamPattern::kOnOff ? 2 : 1;
    s.gap = pattern == StreamPattern::kOnOff ? Duration{8ms} : Duration{};
    s.start.reset();
    const Duration period = pattern == StreamPattern::kOnOff ? 10ms : 1ms;
    s.duration = kPackets * 1ms;
    std::map<Time, int> at;
    double phases_ns = 0;
    int packets = 0;
    for (std::uint32_t i = 0; i < kStreams; ++i) {
      StreamSchedule made({.stream = s, .seed = 1, .index = i});
      ASSERT_GE(made.next(), Time{});
      ASSERT_LT(made.next(), Time{period});
      phases_ns += static_cast<double>((made.next() - Time{}).count());
      for (; made.next() != kNever; ++packets) ++at[made.take().due];
    }
    const double mean_ns = phases_ns / kStreams;
    const double period_ns = static_cast<double>(period.count());
    // Standard error of a uniform draw's mean: five of them.
    EXPECT_NEAR(mean_ns, period_ns / 2, 5 * period_ns / std::sqrt(12 * kStreams));
    int most = 0;
    for (const auto& [time, n] : at) most = std::max(most, n);
    EXPECT_LE(most, 4) << "of 500 at one instant";
    if (pattern == StreamPattern::kConstant) {
      EXPECT_EQ(packets, int{kStreams} * kPackets);
    }
  }
}

TEST(StreamSchedule, APhaseIsTheSeedsAndTheStreamsOwn) {
  StreamConfig s = stream();
  s.start.reset();
  const auto begin = [&s](std::uint64_t seed, std::uint32_t index) {
    return StreamSchedule({.stream = s, .seed = seed, .index = index}).next();
  };
  EXPECT_EQ(begin(1, 0), begin(1, 0));
  EXPECT_NE(begin(1, 0), begin(2, 0));
  EXPECT_NE(begin(1, 0), begin(1, 1));
  s.start = 3us;
  EXPECT_EQ(begin(1, 0), Time{3us}) << "a phase that is given is kept";
  EXPECT_EQ(begin(1, 0), begin(2, 1));
}

TEST(StreamSchedule, AStreamShorterThanItsGapSendsAPacket) {
  StreamConfig s = stream();
  s.rate = StreamRate{Unit::kPackets, 1};
  s.start.reset();
  s.duration = 1ms;
  for (std::uint32_t i = 0; i < 100; ++i) {
    StreamSchedule made({.stream = s, .seed = 1, .index = i});
    ASSERT_LT(made.take().due, Time{1ms});
    ASSERT_EQ(made.next(), kNever);
  }
}

}  // namespace
}  // namespace outrider::stream_schedule_test
