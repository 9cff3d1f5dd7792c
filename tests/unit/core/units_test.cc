#include "common/core/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/core/random.h"

namespace outrider::units_test {
namespace {

using namespace std::chrono_literals;

constexpr BitRate kOneGigabit{1'000'000'000};

TEST(Clock, SecondsRoundTripToTheNanosecond) {
  EXPECT_EQ(from_seconds(0), 0ns);
  EXPECT_EQ(from_seconds(1e-9), 1ns);
  EXPECT_EQ(from_seconds(1.4e-9), 1ns) << "rounded, not truncated towards the next";
  EXPECT_EQ(from_seconds(1.6e-9), 2ns);
  EXPECT_EQ(from_seconds(-1.6e-9), -2ns);
  EXPECT_EQ(from_seconds(0.1), 100ms) << "0.1 is not a binary fraction";
  EXPECT_EQ(from_seconds(86400.0 * 365), 365 * 24h);
  EXPECT_DOUBLE_EQ(seconds(Duration{1500ms}), 1.5);
  EXPECT_DOUBLE_EQ(seconds(Time{2us}), 2e-6);
}

TEST(Units, AFrameCostsTwentyFourBytesMoreOnTheWire) {
  EXPECT_EQ(wire_bytes(60), 84U) << "the minimum: 64 with FCS, 8 preamble, 12 gap";
  EXPECT_EQ(wire_bytes(1514), 1538U);
}

// At 1 Gbit/s a byte takes 8 ns: every instant is known by hand.
TEST(Serializer, LiteralTimelineOnBothLayers) {
  struct Row {
    RateLayer layer;
    std::uint32_t frame_bytes;
    Time start, finish;
    const char* why;
  };
  const Row rows[] = {
      {RateLayer::kL1, 1000, Time{0ns}, Time{8192ns}, "1024 bytes on the wire"},
      {RateLayer::kL1, 60, Time{5us}, Time{5672ns}, "84 bytes on the wire"},
      {RateLayer::kL2, 1000, Time{0ns}, Time{8000ns}, "L2 counts the frame alone"},
      {RateLayer::kL2, 60, Time{5us}, Time{5480ns}, "60 bytes"},
  };
  for (const auto& row : rows) {
    Serializer wire(kOneGigabit, row.layer);
    EXPECT_EQ(wire.free_at(), Time{}) << row.why;
    EXPECT_EQ(wire.transmit(row.frame_bytes, row.start), row.finish) << row.why;
    EXPECT_EQ(wire.free_at(), row.finish) << row.why;
    EXPECT_EQ(wire.duration_of(row.frame_bytes), row.finish - row.start) << row.why;
  }
}

// A nanosecond is a seventh of a byte at 100 Gbit/s: a train that rounded every
// frame would be off by up to 1 % of the rate.
TEST(Serializer, LongTrainTakesWhatTheRateSays) {
  constexpr std::uint64_t kRates[] = {200'000'000,     1'000'000'000,   9'999'999'937,
                                      10'000'000'000,  25'000'000'000,  99'999'999'977,
                                      100'000'000'000, 400'000'000'000, 3'141'593};
  constexpr std::uint32_t kFrames[] = {60, 61, 577, 1514};
  for (const auto rate : kRates) {
    for (const auto layer : {RateLayer::kL1, RateLayer::kL2}) {
      Serializer wire(BitRate{rate}, layer);
      std::uint64_t bytes = 0;
      constexpr std::uint32_t kTrain = 200'000;
      for (std::uint32_t i = 0; i < kTrain; ++i) {
        const std::uint32_t frame = kFrames[i % std::size(kFrames)];
        bytes += layer == RateLayer::kL1 ? wire_bytes(frame) : frame;
        wire.transmit(frame, wire.free_at());
      }
      const double expected_ns = static_cast<double>(bytes) * 8.0 * 1e9 / static_cast<double>(rate);
      const auto taken_ns = static_cast<double>(wire.free_at().time_since_epoch().count());
      const double bound = static_cast<double>(rate) / 8.3e15;
      EXPECT_GE(taken_ns + 1, expected_ns * (1 - bound)) << rate << " bit/s";
      EXPECT_LE(taken_ns, expected_ns + 1) << "never slower than the rate says";
    }
  }
}

TEST(Serializer, IdleGapCarriesNothingOver) {
  // 66 bytes at 7 Gbit/s take 102.857142 ns with their overhead.
  constexpr BitRate kSevenGigabit{7'000'000'000};
  Serializer train(kSevenGigabit, RateLayer::kL1), gaps(kSevenGigabit, RateLayer::kL1);
  for (int i = 0; i < 7; ++i) {
    train.transmit(66, train.free_at());
    const Time start = gaps.free_at() + 1ns;
    EXPECT_EQ(gaps.transmit(66, start) - start, 102ns) << "frame " << i << " stands alone";
  }
  EXPECT_EQ(train.free_at(), Time{719ns}) << "7 x 102.857142 = 720, a byte's time rounded down";
}

TEST(Serializer, DurationDoesNotDependOnHistory) {
  Serializer wire(BitRate{9'999'999'937}, RateLayer::kL1);
  const Duration before = wire.duration_of(1514);
  for (int i = 0; i < 1000; ++i) wire.transmit(61, wire.free_at());
  EXPECT_EQ(wire.duration_of(1514), before);
}

// Metamorphic: the same train begun later, even a year later, is the same train.
TEST(Serializer, ShiftInTimeChangesNothing) {
  for (const Duration shift : {Duration{1ns}, Duration{1h}, Duration{365 * 24h}}) {
    Serializer a(BitRate{9'999'999'937}, RateLayer::kL1), b(BitRate{9'999'999'937}, RateLayer::kL1);
    RandomStream random(11, 0, RandomPurpose::kTest);
    for (int i = 0; i < 2000; ++i) {
      const std::uint32_t frame = 60 + random.next_u32() % 1455;
      const Duration idle{random.next_u32() % 3 == 0 ? random.next_u32() % 500 : 0};
      const Time start = a.free_at() + idle;
      const Time b_start = i == 0 ? start + shift : b.free_at() + idle;
      ASSERT_EQ(a.transmit(frame, start) + shift, b.transmit(frame, b_start)) << "frame " << i;
    }
  }
}

}  // namespace
}  // namespace outrider::units_test
