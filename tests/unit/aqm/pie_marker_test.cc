// Goal: PIE does what RFC 8033 says. Method: literal updates worked out by hand, and a
// constant overload, under which the delay must settle at the target.
#include "switch/aqm/pie_marker.h"

#include <gtest/gtest.h>

#include "tests/unit/aqm/overload.h"

namespace outrider::pie_marker_test {
namespace {

using namespace std::chrono_literals;

constexpr PieMarker::Params kRfc{.target = 15ms,
                                 .t_update = 15ms,
                                 .alpha = 0.125,
                                 .beta = 1.25,
                                 .burst_allowance = 150ms,
                                 .spared_bytes = 2000};
constexpr PieMarker::Params kNoBurst{
    .target = 15ms, .t_update = 15ms, .alpha = 0.125, .beta = 1.25, .spared_bytes = 2000};

/// Holds the sojourn at `sojourn` up to `until`, with departures every millisecond.
void hold(PieMarker& pie, Duration sojourn, Time from, Time until) {
  for (Time t = from; t <= until; t += 1ms) pie.on_dequeue(sojourn, 100'000, t);
}

TEST(PieMarker, MovesTheProbabilityAsSection42Says) {
  PieMarker pie(kNoBurst);
  hold(pie, 115ms, Time{1ms}, Time{14ms});
  EXPECT_EQ(pie.probability(), 0) << "no update is due yet";
  // (0.125 x 0.1 + 1.25 x 0.115) / 2048: from 0 the step is divided by 2048
  double p = (0.125 * 0.1 + 1.25 * 0.115) / 2048;
  pie.on_dequeue(115ms, 100'000, Time{15ms});
  EXPECT_DOUBLE_EQ(pie.probability(), p);
  // 7.6e-5 is below 1e-4: divided by 128; the delay stands still now
  p += 0.125 * 0.1 / 128;
  pie.on_dequeue(115ms, 100'000, Time{30ms});
  EXPECT_DOUBLE_EQ(pie.probability(), p);
  // 1.7e-4: by 32; the delay falls to the target
  pie.on_dequeue(15ms, 100'000, Time{31ms});
  p += (0.125 * 0.0 + 1.25 * -0.1) / 32;
  ASSERT_LT(p, 0);
  pie.on_dequeue(15ms, 100'000, Time{45ms});
  EXPECT_EQ(pie.probability(), 0) << "never negative";
}

TEST(PieMarker, CapsTheStepOnceTheProbabilityIsHigh) {
  PieMarker pie(kNoBurst);
  Time now{};
  double last = 0;
  bool capped = false;
  for (int i = 0; i < 400 && pie.probability() < 1; ++i) {
    now += 15ms;
    pie.on_dequeue(1s + i * 20ms, 100'000, now);
    const double step = pie.probability() - last;
    if (last >= 0.1 && pie.probability() < 1) {
      EXPECT_NEAR(step, 0.02, 1e-12) << "section 5.5";
      capped = true;
    }
    last = pie.probability();
  }
  EXPECT_TRUE(capped);
  EXPECT_EQ(pie.probability(), 1);
}

TEST(PieMarker, SparesBurstsShortDelaysAndSmallQueues) {
  PieMarker pie(kRfc);
  hold(pie, 100ms, Time{1ms}, Time{149ms});
  ASSERT_GT(pie.probability(), 0);
  EXPECT_EQ(pie.on_enqueue(100'000, 0, Time{149ms}), MarkVerdict::kPass) << "burst allowance";
  EXPECT_EQ(pie.on_enqueue(100'000, 0, Time{150ms}), MarkVerdict::kMark) << "used up after 150 ms";
  EXPECT_EQ(pie.on_enqueue(2'000, 0, Time{151ms}), MarkVerdict::kPass) << "two packets wait";
  EXPECT_EQ(pie.on_enqueue(2'001, 0, Time{151ms}), MarkVerdict::kMark);
  EXPECT_EQ(pie.on_enqueue(100'000, ~0U, Time{151ms}), MarkVerdict::kPass) << "an unlucky draw";
}

TEST(PieMarker, SparesAllUnderHalfTheTargetUpToAProbabilityOfOneFifth) {
  PieMarker::Params params = kNoBurst;
  params.beta = 0;
  PieMarker pie(params);
  Time now{};
  while (pie.probability() < 0.15) pie.on_dequeue(100ms, 100'000, now += 15ms);
  ASSERT_LT(pie.probability(), 0.19);
  pie.on_dequeue(7499us, 100'000, now += 1ms);
  EXPECT_EQ(pie.on_enqueue(100'000, 0, now), MarkVerdict::kMark) << "not yet at an update";
  EXPECT_EQ(pie.on_enqueue(100'000, 0, now += 15ms), MarkVerdict::kPass) << "under 7.5 ms";
  pie.on_dequeue(7500us, 100'000, now += 1ms);
  EXPECT_EQ(pie.on_enqueue(100'000, 0, now += 15ms), MarkVerdict::kMark) << "7.5 ms";
  while (pie.probability() < 0.25) pie.on_dequeue(100ms, 100'000, now += 15ms);
  pie.on_dequeue(1ms, 100'000, now += 1ms);
  EXPECT_EQ(pie.on_enqueue(100'000, 0, now += 15ms), MarkVerdict::kMark) << "short, but above 0.2";
}

TEST(PieMarker, DropsEctAboveMarkEcnth) {
  PieMarker::Params params = kNoBurst;
  params.mark_ecnth = 0.1;
  PieMarker pie(params);
  bool marked = false, dropped = false;
  for (Time now{1ms}; now < Time{3s}; now += 1ms) {
    pie.on_dequeue(500ms, 100'000, now);
    const MarkVerdict verdict = pie.on_enqueue(100'000, 0, now);
    if (pie.probability() == 0) continue;
    EXPECT_EQ(verdict, pie.probability() <= 0.1 ? MarkVerdict::kMark : MarkVerdict::kDrop);
    marked |= verdict == MarkVerdict::kMark;
    dropped |= verdict == MarkVerdict::kDrop;
  }
  EXPECT_TRUE(marked && dropped);
}

// Updates that nobody called for are caught up: the state is that of a timer.
TEST(PieMarker, CatchesUpOnUpdates) {
  for (const Duration shift : {Duration{0}, Duration{1h}}) {
    PieMarker often(kNoBurst), seldom(kNoBurst);
    hold(often, 100ms, Time{1ms}, Time{300ms});
    hold(seldom, 100ms, Time{1ms}, Time{14ms});
    seldom.on_dequeue(100ms, 100'000, Time{300ms});
    EXPECT_EQ(often.probability(), seldom.probability());
    ASSERT_GT(often.probability(), 0);
    // the queue runs empty; after a while as after a year nothing is left
    often.on_dequeue(100ms, 0, Time{301ms});
    EXPECT_EQ(often.on_enqueue(0, 0, Time{600s + shift}), MarkVerdict::kPass);
    EXPECT_EQ(often.probability(), 0);
  }
}

TEST(PieMarker, DecaysByTwoPercentAnUpdateOnceTheQueueIsEmpty) {
  PieMarker::Params params = kNoBurst;
  params.beta = 0;
  PieMarker pie(params);
  for (int i = 1; i <= 100; ++i) pie.on_dequeue(10s, 100'000, Time{i * 15ms});
  ASSERT_EQ(pie.probability(), 1);
  pie.on_dequeue(10s, 0, Time{1501ms});
  double p = 1 - 0.125 * 0.015;
  (void)pie.on_enqueue(0, 0, Time{1515ms});
  EXPECT_DOUBLE_EQ(pie.probability(), p) << "there was a delay at the update before";
  for (int i = 102; i <= 110; ++i) {
    p = (p - 0.125 * 0.015) * 0.98;
    (void)pie.on_enqueue(0, 0, Time{i * 15ms});
    EXPECT_DOUBLE_EQ(pie.probability(), p);
  }
}

// Section 4 and the evaluation that it cites: under a constant overload the delay
// settles at the target, and the drops are what the link cannot carry.
TEST(PieMarker, DelaySettlesAtTheTargetUnderConstantOverload) {
  for (const double load : {1.05, 1.25, 2.0}) {
    PieMarker pie(kRfc);
    Overload overload;
    overload.judge_arrival = [&](std::uint64_t bytes, std::uint32_t draw, Time now) {
      return pie.on_enqueue(bytes, draw, now);
    };
    overload.judge_departure = [&](Duration sojourn, std::uint64_t left, Time now) {
      pie.on_dequeue(sojourn, left, now);
      return MarkVerdict::kPass;
    };
    overload.run({.packet_time = 100us, .load = load}, 60s);
    const auto sojourns = overload.sojourns_from(Time{20s});
    EXPECT_NEAR(seconds(sojourns[sojourns.size() / 2]), 0.015, 0.1 * 0.015) << load;
    EXPECT_LT(seconds(sojourns[sojourns.size() * 9 / 10]), 2 * 0.015) << load;
    EXPECT_NEAR(overload.dropped_share(), 1 - 1 / load, 0.005) << load;
    const auto start = overload.sojourns_from(Time{});
    EXPECT_GT(start.back(), 15ms) << "the load did build a queue";
  }
}

TEST(PieMarker, LeavesAnUnderloadedLinkAlone) {
  PieMarker pie(kRfc);
  Overload overload;
  overload.judge_arrival = [&](std::uint64_t bytes, std::uint32_t draw, Time now) {
    return pie.on_enqueue(bytes, draw, now);
  };
  overload.judge_departure = [&](Duration sojourn, std::uint64_t left, Time now) {
    pie.on_dequeue(sojourn, left, now);
    return MarkVerdict::kPass;
  };
  overload.run({.packet_time = 100us, .load = 0.8}, 30s);
  EXPECT_GT(overload.offered, 200'000U);
  EXPECT_EQ(overload.dropped, 0U);
}

}  // namespace
}  // namespace outrider::pie_marker_test
