// Goal: the sender sends until STOP, probes when it has no more data, repeats missing packets
// and obeys its window. It does not hang on a lost message or a dead peer.
// Method: literal timelines, and random losses of data and answers over many seeds.
#include "trafficgen/mlt/mlt_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "common/core/random.h"
#include "tests/unit/mlt/mlt_ends.h"

namespace outrider::mlt_sender_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using mlt::Kind;
using mlt::Message;

constexpr BurstIdentity kBurst{7, 3, 5, BurstDirection::kPush};
constexpr Time kStart = Time{} + 1s;

struct Bench {
  Bench(std::initializer_list<MltTensor> tensors, std::uint32_t window)
      : control(mlt_control(window)),
        sender(config, control, {.tensors = tensors, .packet_bytes = 1000}) {
    sender.begin(kBurst, kStart);
  }
  Message next(Time now = kStart) {
    EXPECT_TRUE(sender.has_message());
    return sender.next_message(now).message;
  }
  Message feedback(std::uint32_t seen, std::uint32_t received, std::uint32_t marked = 0) const {
    return {.kind = Kind::kFeedback,
            .identity = kBurst,
            .sent_at_ns = static_cast<std::uint32_t>(kStart.time_since_epoch().count()),
            .seen_bytes = seen,
            .received_bytes = received,
            .marked_bytes = marked};
  }
  MltConfig config;
  ControllerConfig control;
  MltSender sender;
};

TEST(MltSender, SendsAWindowThenWaits) {
  Bench b({{.bytes = 9400}}, 4);
  EXPECT_FALSE(b.sender.has_message()) << "nothing was handed over";
  b.sender.hand_over(0, kStart);
  for (std::uint32_t p = 0; p < 4; ++p) {
    const Message m = b.next();
    EXPECT_EQ(m.kind, Kind::kData);
    EXPECT_EQ(m.offset_values, p * 250);
    EXPECT_EQ(m.length_bytes, 1000);
    EXPECT_EQ(m.transmitted_bytes, (p + 1) * 1000);
    EXPECT_EQ(m.sequence, p * 1000);
    EXPECT_EQ(m.asks, p == 3) << "the last that the window allows";
  }
  EXPECT_FALSE(b.sender.has_message());
  EXPECT_EQ(b.sender.window().in_flight_bytes(), 4000U);
  // Slow start adds two packets for the two that arrived (RFC 5681, 3.1).
  EXPECT_TRUE(b.sender.on_message(b.feedback(2000, 2000), kStart + 100us));
  EXPECT_EQ(b.sender.window().control().cwnd_bytes(), 6000U);
  for (int p = 0; p < 4; ++p) (void)b.next(kStart + 100us);
  EXPECT_FALSE(b.sender.has_message());
  EXPECT_EQ(b.sender.srtt(), 100us);
}

TEST(MltSender, StopsWhenTold) {
  Bench b({{.bytes = 9400}, {.bytes = 800}}, 4);
  b.sender.hand_over(0, kStart);
  b.sender.hand_over(1, kStart);
  (void)b.next();
  EXPECT_TRUE(b.sender.on_message({.kind = Kind::kStop, .identity = kBurst, .tensor = 0}, kStart));
  EXPECT_EQ(b.sender.counters().unsent, 8400U);
  const Message m = b.next();
  EXPECT_EQ(m.tensor, 1U);
  EXPECT_EQ(m.length_bytes, 800);
  EXPECT_EQ(m.sequence, 9400U);
  EXPECT_FALSE(b.sender.complete());
  // Feedback that says that enough has arrived is a STOP as well.
  Message told = b.feedback(1800, 1800);
  told.tensor = 1;
  told.stopped = true;
  EXPECT_TRUE(b.sender.on_message(told, kStart + 1us));
  EXPECT_TRUE(b.sender.complete());
  EXPECT_EQ(b.sender.next_timer(), kNever);
  EXPECT_FALSE(b.sender.has_message());
}

// The last tensor was stopped, but the feedback on it was lost. New data then find no room in
// the window, and the receiver would send nothing by itself.
TEST(MltSender, AsksWhenTheWindowIsClosedAndNothingElseIsOutstanding) {
  Bench b({{.bytes = 1000}, {.bytes = 2000}}, 1);
  b.sender.hand_over(0, kStart);
  (void)b.next();
  EXPECT_TRUE(b.sender.on_message({.kind = Kind::kStop, .identity = kBurst, .tensor = 0}, kStart));
  EXPECT_EQ(b.sender.next_timer(), kNever);
  b.sender.hand_over(1, kStart + 1ms);
  EXPECT_FALSE(b.sender.has_message());
  const Time silent = b.sender.next_timer();
  ASSERT_EQ(silent, kStart + 1ms + MltConfig{}.probe_timeout);
  b.sender.on_timer(silent);
  EXPECT_EQ(b.next(silent).kind, Kind::kProbe);
  EXPECT_TRUE(b.sender.on_message(b.feedback(1000, 1000), silent));
  const Message first = b.next(silent);
  EXPECT_EQ(first.kind, Kind::kData);
  EXPECT_EQ(first.tensor, 1U);
}

TEST(MltSender, ProbesWhenItIsOutOfDataAndSendsAgain) {
  Bench b({{.bytes = 3000}}, 10);
  b.sender.hand_over(0, kStart);
  for (int p = 0; p < 3; ++p) (void)b.next();
  const Message probe = b.next();
  EXPECT_EQ(probe.kind, Kind::kProbe);
  EXPECT_EQ(probe.transmitted_bytes, 3000U);
  EXPECT_FALSE(b.sender.has_message()) << "one probe at a time";
  Message bitmap{.kind = Kind::kBitmap, .identity = kBurst, .probe = probe.probe};
  bitmap.bits[0] = 0b101;
  Message old = bitmap;
  old.probe = probe.probe + 1;
  EXPECT_TRUE(b.sender.on_message(old, kStart + 1us));
  EXPECT_FALSE(b.sender.has_message()) << "of another probe";
  EXPECT_TRUE(b.sender.on_message(bitmap, kStart + 1us));
  const Message again = b.next(kStart + 1us);
  EXPECT_EQ(again.kind, Kind::kData);
  EXPECT_EQ(again.offset_values, 250U);
  EXPECT_EQ(again.transmitted_bytes, 4000U) << "each transmission counts";
  EXPECT_EQ(again.sequence, 1000U) << "its place does not change";
  EXPECT_EQ(b.next(kStart + 1us).kind, Kind::kProbe);
  EXPECT_EQ(b.sender.counters().retransmitted, 1U);
}

/// Returns which packets of a burst's data may be dropped early, in the order of sending.
std::vector<bool> droppable_of(MltSender& sender, std::uint32_t packets) {
  std::vector<bool> droppable;
  for (std::uint32_t p = 0; p < packets; ++p)
    droppable.push_back(ecn_of(sender.next_message(kStart).tos) == Ecn::kNotEct);
  return droppable;
}

// Six packets with the magnitudes 5 1 4 1 9 2 have the ranks 9, 1, 7, 3, 11 and 5 twelfths: of the
// two that are equal the first is lower. A third of them are the second and the fourth.
TEST(MltSender, DropsTheSmallestGradientsFirst) {
  const MltConfig config{.small_share = 1.0 / 3};
  const ControllerConfig control = mlt_control(20);
  MltSender sender(config, control,
                   {.tensors = {{.bytes = 5600}, {.bytes = 3000}},
                    .packet_bytes = 1000,
                    .ranks_computed = true});
  const double magnitudes[] = {5, 1, 4, 1, 9, 2, 0.3, 0.1, 0.2};
  std::vector<ByteRange> asked;
  const auto rank = [&](const ByteRange& bytes) -> std::optional<double> {
    asked.push_back(bytes);
    return magnitudes[asked.size() - 1];
  };
  sender.begin(kBurst, kStart);
  sender.rank_by(rank);
  for (const std::uint32_t tensor : {0U, 1U}) sender.hand_over(tensor, kStart);
  const std::vector<bool> expected{false, true, false, true, false, false, false, true, false};
  EXPECT_EQ(droppable_of(sender, 9), expected);
  ASSERT_EQ(asked.size(), 9U);
  EXPECT_EQ(asked[0], (ByteRange{0, 1000}));
  EXPECT_EQ(asked[5], (ByteRange{5000, 5600})) << "shorter";
  EXPECT_EQ(asked[6], (ByteRange{5600, 6600})) << "of the second tensor";
}

// A packet without gradients has a drawn rank; the others are ranked among themselves.
TEST(MltSender, PacketsWithoutGradientsHaveDrawnRanks) {
  const MltConfig config{.small_share = 0.5};
  const ControllerConfig control = mlt_control(3000);
  MltSender sender(
      config, control,
      {.tensors = {{.bytes = 2'000'000}}, .packet_bytes = 1000, .ranks_computed = true});
  sender.begin(kBurst, kStart);
  sender.rank_by([](const ByteRange& bytes) -> std::optional<double> {
    if (bytes.begin % 2000 != 0) return std::nullopt;
    return static_cast<double>(bytes.begin);
  });
  sender.hand_over(0, kStart);
  const std::vector<bool> droppable = droppable_of(sender, 2000);
  std::uint32_t drawn = 0;
  for (std::uint32_t p = 0; p < 2000; p += 2) {
    EXPECT_EQ(droppable[p], p < 1000) << p;
    drawn += droppable[p + 1] ? 1 : 0;
  }
  EXPECT_NEAR(drawn, 500, 64) << "4 standard deviations";
}

/// Returns the places of a burst's next packets, in the order of sending.
std::vector<std::uint32_t> places_of(MltSender& sender, std::uint32_t packets) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t p = 0; p < packets; ++p)
    places.push_back(sender.next_message(kStart).message.offset_values / 250);
  return places;
}

/// A sender with one tensor of twenty packets in random order; the last has 600 bytes.
struct RandomOrder {
  explicit RandomOrder(std::uint32_t iteration = 0) { begin(iteration); }
  void begin(std::uint32_t iteration) {
    burst.iteration = iteration;
    sender.begin(burst, kStart);
    sender.hand_over(0, kStart);
  }
  void stop() {
    (void)sender.on_message({.kind = Kind::kStop, .identity = burst, .tensor = 0}, kStart);
  }
  BurstIdentity burst = kBurst;
  MltConfig config{.order = PacketOrder::kRandom};
  ControllerConfig control = mlt_control(100);
  MltSender sender{config, control, {.tensors = {{.bytes = 19'600}}, .packet_bytes = 1000}};
};

TEST(MltSender, ARandomOrderIsAPermutationOfEachBurst) {
  RandomOrder one, same;
  const std::vector<std::uint32_t> first = places_of(one.sender, 20);
  EXPECT_EQ(places_of(same.sender, 20), first) << "a function of seed and burst";
  one.begin(1);
  const std::vector<std::uint32_t> second = places_of(one.sender, 20);
  EXPECT_NE(first, second);
  std::vector<std::uint32_t> sorted = second, all(20);
  std::ranges::sort(sorted);
  for (std::uint32_t p = 0; p < 20; ++p) all[p] = p;
  EXPECT_EQ(sorted, all);
  EXPECT_NE(second, all);
}

// STOP after 18 of 20 packets: over many bursts each place is missing as often as any other, and
// the bytes that did not leave are those of the missing places.
TEST(MltSender, WhatStopLeavesOfARandomOrderIsARandomSample) {
  constexpr std::uint32_t kBursts = 4000;
  std::vector<std::uint32_t> missing(20, kBursts);
  RandomOrder b;
  std::uint64_t unsent = 0;
  for (std::uint32_t i = 1; i <= kBursts; ++i) {
    b.begin(i);
    unsent += 2000;
    bool last_left = false;
    for (const std::uint32_t p : places_of(b.sender, 18)) {
      --missing[p];
      last_left |= p == 19;
    }
    if (!last_left) unsent -= 400;
    b.stop();
    ASSERT_EQ(b.sender.counters().unsent, unsent) << i;
    Message seen{.kind = Kind::kFeedback, .identity = b.burst};
    seen.seen_bytes = seen.received_bytes = static_cast<std::uint32_t>(i * 19'600 - unsent);
    EXPECT_TRUE(b.sender.on_message(seen, kStart));
  }
  for (std::uint32_t p = 0; p < 20; ++p) EXPECT_NEAR(missing[p], 400, 80) << "4 deviations: " << p;
}

TEST(MltSender, ABitmapOfARandomOrderBringsBackWhatHasLeft) {
  RandomOrder b;
  const std::vector<std::uint32_t> left = places_of(b.sender, 20);
  const Message probe = b.sender.next_message(kStart).message;
  ASSERT_EQ(probe.kind, Kind::kProbe);
  Message bitmap{.kind = Kind::kBitmap, .identity = b.burst, .probe = probe.probe};
  bitmap.bits.fill(0xff);
  bitmap.bits[left[3] / 8] &= static_cast<std::uint8_t>(~(1U << left[3] % 8));
  EXPECT_TRUE(b.sender.on_message(bitmap, kStart));
  EXPECT_EQ(places_of(b.sender, 1), std::vector{left[3]});
  EXPECT_EQ(b.sender.next_message(kStart).message.kind, Kind::kProbe);
}

TEST(MltSender, RestartsAnIdleWindowOnlyWhereItIsTold) {
  for (const bool restarts : {true, false}) {
    const MltConfig config;
    const ControllerConfig control = mlt_control(4);
    MltSender sender(config, control,
                     {.tensors = {{.bytes = 9000}}, .packet_bytes = 1000, .restarts = restarts});
    BurstIdentity burst = kBurst;
    sender.begin(burst, kStart);
    sender.hand_over(0, kStart);
    (void)places_of(sender, 4);
    Message told{.kind = Kind::kFeedback, .identity = burst};
    told.sent_at_ns = static_cast<std::uint32_t>(kStart.time_since_epoch().count());
    told.seen_bytes = told.received_bytes = 4000;
    told.stopped = true;
    EXPECT_TRUE(sender.on_message(told, kStart + 100us));
    ASSERT_EQ(sender.window().control().cwnd_bytes(), 6000U) << "slow start";
    ++burst.iteration;
    sender.begin(burst, kStart + 1s);
    sender.hand_over(0, kStart + 1s);
    EXPECT_EQ(sender.window().control().cwnd_bytes(), restarts ? 4000U : 6000U);
  }
}

// Alpha starts at 1 (RFC 8257, 3.3), so the first marked window is halved, like a lost one.
TEST(MltSender, MarksAndLossesShrinkTheWindowByTheirShare) {
  for (const bool lost : {false, true}) {
    Bench b({{.bytes = 900'000}}, 10);
    b.sender.hand_over(0, kStart);
    for (int p = 0; p < 10; ++p) (void)b.next();
    EXPECT_TRUE(
        b.sender.on_message(b.feedback(2000, lost ? 1000 : 2000, lost ? 0 : 1000), kStart + 100us));
    // Alpha after one window with half of it marked: 15/16 + 1/16 x 1/2.
    const double alpha = 15.0 / 16 + 0.5 / 16;
    EXPECT_EQ(b.sender.window().control().cwnd_bytes(),
              static_cast<std::uint32_t>(10'000 * (1 - alpha / 2)));
    EXPECT_EQ(b.sender.counters().lost, lost ? 1000U : 0U);
    const std::uint32_t reduced = b.sender.window().control().cwnd_bytes();
    EXPECT_TRUE(b.sender.on_message(b.feedback(4000, lost ? 2000 : 4000, 2000), kStart + 101us));
    EXPECT_EQ(b.sender.window().control().cwnd_bytes(), reduced) << "once per window";
    EXPECT_EQ(b.sender.counters().reductions, 1U);
  }
}

// The first that is overtaken still counts: nothing has said that packets change places.
TEST(MltSender, WhereOnePacketWasOvertakenAMissingOneIsGivenTime) {
  Bench b({{.bytes = 90'000}}, 10);
  b.sender.hand_over(0, kStart);
  for (int p = 0; p < 10; ++p) (void)b.next();
  (void)b.sender.on_message(b.feedback(3000, 2000), kStart + 100us);
  EXPECT_EQ(b.sender.counters().lost, 1000U);
  EXPECT_EQ(b.sender.counters().reductions, 1U);
  (void)b.sender.on_message(b.feedback(4000, 4000), kStart + 101us);
  (void)b.sender.on_message(b.feedback(6000, 5000), kStart + 102us);
  (void)b.sender.on_message(b.feedback(7000, 7000), kStart + 103us);
  EXPECT_EQ(b.sender.counters().lost, 1000U) << "it has arrived within a quarter of a round trip";
}

TEST(MltSender, SilenceIsProbedAndEndsAfterTheLimit) {
  Bench b({{.bytes = 90'000}}, 2);
  b.config.probe_limit = 3;
  b.sender.hand_over(0, kStart);
  (void)b.next();
  (void)b.next();
  EXPECT_FALSE(b.sender.has_message()) << "the window is full";
  Time at = kStart + 10ms;
  Duration silence = 10ms;
  for (int n = 1; n <= 3; ++n) {
    ASSERT_EQ(b.sender.next_timer(), at) << n;
    b.sender.on_timer(at);
    EXPECT_EQ(b.next(at).kind, Kind::kProbe);
    EXPECT_FALSE(b.sender.has_message());
    EXPECT_EQ(b.sender.window().control().cwnd_bytes(), 1000U) << "the loss window";
    silence *= 2;
    at += silence;
  }
  EXPECT_FALSE(b.sender.gave_up());
  b.sender.on_timer(at);
  EXPECT_TRUE(b.sender.gave_up());
  EXPECT_FALSE(b.sender.has_message());
  EXPECT_EQ(b.sender.next_timer(), kNever);
  EXPECT_EQ(b.sender.counters().timeouts, 4U);
}

// The probe leaves with a full window. Its answer says that both packets are lost.
TEST(MltSender, AnAnswerToTheProbeOpensTheWindow) {
  Bench b({{.bytes = 90'000}}, 2);
  b.sender.hand_over(0, kStart);
  (void)b.next();
  (void)b.next();
  b.sender.on_timer(kStart + 10ms);
  const Message probe = b.next(kStart + 10ms);
  Message bitmap{.kind = Kind::kBitmap, .identity = kBurst, .probe = probe.probe};
  EXPECT_TRUE(b.sender.on_message(b.feedback(2000, 0), kStart + 11ms));
  EXPECT_TRUE(b.sender.on_message(bitmap, kStart + 11ms));
  EXPECT_EQ(b.next(kStart + 11ms).offset_values, 0U) << "those that left before the probe";
  EXPECT_EQ(b.sender.counters().retransmitted, 1U);
}

TEST(MltSender, RefusesWhatContradictsIt) {
  Bench b({{.bytes = 9000}}, 4);
  b.sender.hand_over(0, kStart);
  (void)b.next();
  EXPECT_FALSE(b.sender.on_message(b.feedback(1001, 1000), kStart)) << "was never sent";
  Message other = b.feedback(1000, 1000);
  other.identity.job = 8;
  EXPECT_FALSE(b.sender.on_message(other, kStart));
  other = b.feedback(1000, 1000);
  other.tensor = 1;
  EXPECT_FALSE(b.sender.on_message(other, kStart));
  other = {.kind = Kind::kStop, .identity = kBurst};
  ++other.identity.iteration;
  EXPECT_FALSE(b.sender.on_message(other, kStart)) << "a burst to come";
  EXPECT_FALSE(b.sender.complete());
}

TEST(MltSender, UrgentLayersLeaveFirst) {
  Bench b({{.bytes = 2000, .urgency = 1, .dscp = 10}, {.bytes = 2000, .urgency = 0, .dscp = 46}},
          10);
  b.sender.hand_over(0, kStart);
  EXPECT_EQ(b.next().tensor, 0U);
  b.sender.hand_over(1, kStart);
  EXPECT_EQ(b.next().tensor, 1U);
  const auto out = b.sender.next_message(kStart);
  EXPECT_EQ(out.message.tensor, 1U);
  EXPECT_EQ(out.tos, 46 << 2 | 2);
  EXPECT_EQ(b.next().tensor, 0U);
}

// Bursts follow each other on one flow. The stream continues, and the previous burst does not
// delay the next one.
TEST(MltSender, TheNextBurstForgetsTheLast) {
  Bench b({{.bytes = 9000}}, 4);
  b.sender.hand_over(0, kStart);
  for (int p = 0; p < 4; ++p) (void)b.next();
  BurstIdentity next = kBurst;
  ++next.iteration;
  b.sender.begin(next, kStart + 1ms);
  EXPECT_EQ(b.sender.burst_sequence(), 9000U);
  b.sender.hand_over(0, kStart + 1ms);
  const Message m = b.next(kStart + 1ms);
  EXPECT_EQ(m.sequence, 9000U);
  EXPECT_EQ(m.identity, next);
  // A late answer to the previous burst changes nothing.
  EXPECT_TRUE(b.sender.on_message({.kind = Kind::kStop, .identity = kBurst}, kStart + 1ms));
  EXPECT_FALSE(b.sender.complete());
}

/// Returns a rule that loses data and answers (probes included) with a share each and delays some.
MltEnds::Rule lossy(RandomStream& random, double data, double control, double late) {
  return [&random, data, control, late](const Message& m, bool) {
    MltEnds::Fate fate;
    fate.drop = random.uniform() < (m.kind == Kind::kData ? data : control);
    fate.ce = random.uniform() < 0.1;
    if (random.uniform() < late) fate.later = from_seconds(300e-6 * random.uniform());
    return fate;
  };
}

TEST(MltEnds, TheBoundHoldsUnderAnyLoss) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    for (const double tolerance : {0.0, 0.01, 0.1, 0.5}) {
      MltEnds ends({.tensors = {{.bytes = 500'000}, {.bytes = 256}, {.bytes = 70'004}},
                    .tolerance = tolerance});
      RandomStream random(seed, 0, RandomPurpose::kTest);
      ends.rule = lossy(random, 0.3, 0.3, 0.2);
      Time now = kStart;
      for (std::uint32_t i = 0; i < 3; ++i) {
        ends.begin(i, now);
        now = ends.run(now, now + 100s);
        ASSERT_TRUE(ends.receiver.complete()) << seed << ' ' << tolerance;
        ASSERT_TRUE(ends.sender.complete()) << seed << ' ' << tolerance;
        for (std::uint32_t t = 0; t < 3; ++t) {
          const auto bytes = static_cast<double>(ends.setup.tensors[t].bytes);
          ASSERT_GE(static_cast<double>(ends.receiver.delivered_bytes(t)),
                    std::ceil((1 - tolerance) * bytes));
        }
        if (tolerance == 0) {
          ASSERT_EQ(ends.receiver.delivered_bytes(), 570'260U);
        }
      }
      EXPECT_GT(ends.dropped, 300U);
      if (tolerance == 0) {
        EXPECT_GT(ends.sender.counters().retransmitted, 300U);
      }
    }
  }
}

// Tolerated losses need not be sent again, which saves rounds on average over ten seeds.
TEST(MltEnds, TolerationSavesRounds) {
  std::vector<double> took;
  for (const double tolerance : {0.0, 0.1, 0.2}) {
    double sum = 0;
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
      MltEnds ends({.tensors = {{.bytes = 1'000'000}}, .tolerance = tolerance});
      RandomStream random(seed, 0, RandomPurpose::kTest);
      ends.rule = lossy(random, 0.05, 0, 0);
      ends.begin(0, kStart);
      (void)ends.run(kStart, kStart + 100s);
      sum += seconds(ends.delivered_at - kStart);
    }
    took.push_back(sum / 10);
  }
  EXPECT_LT(took[1], 0.95 * took[0]);
  EXPECT_LT(took[2], 0.95 * took[1]);
}

// A wire that only reorders causes copies but no hang and no wrong count.
TEST(MltEnds, OrderDoesNotMatter) {
  MltEnds ends({.tensors = {{.bytes = 800'000}}, .tolerance = 0});
  RandomStream random(5, 0, RandomPurpose::kTest);
  ends.rule = [&random](const Message&, bool) {
    return MltEnds::Fate{.later = from_seconds(100e-6 * random.uniform())};
  };
  ends.begin(0, kStart);
  (void)ends.run(kStart, kStart + 10s);
  EXPECT_TRUE(ends.sender.complete());
  EXPECT_EQ(ends.receiver.delivered_bytes(), 800'000U);
  EXPECT_EQ(ends.sender.counters().timeouts, 0U);
}

}  // namespace
}  // namespace outrider::mlt_sender_test
