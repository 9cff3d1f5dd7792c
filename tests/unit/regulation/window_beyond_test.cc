// Goal: a clamp for a queue further on knows what waits there from when answers come back, and from
// nothing else. Method: literal timelines on a path of 200 Mbit/s and 3 ms (1 ms from the switch to
// the sender and back, 2 ms to the receiver and back).
#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_beyond_test {
namespace {

constexpr double kBytesPerMs = 25'000;

struct BeyondScene : Scene {
  BeyondScene() : Scene(kComplement, WindowClamp::Place::kBeyond) {}
  /// A round trip of flow `f` whose answer comes `wait` later than without queueing.
  void round(std::uint32_t f, Duration wait) {
    send(f);
    now += 2ms + wait;
    answer(f, 1);
    now += 1ms;
  }
  double waiting() { return static_cast<double>(clamp.waiting_beyond_bytes(now)); }
};

TEST(WindowBeyond, WaitingIsTheTimeByWhichAllAnswersAreLate) {
  BeyondScene s;
  s.open(0);
  s.open(1);
  s.round(0, 0ms);
  EXPECT_EQ(s.waiting(), 0);
  for (int i = 0; i < 3; ++i) s.round(0, 1ms);
  EXPECT_NEAR(s.waiting(), kBytesPerMs, 1);
  EXPECT_EQ(s.clamp.flow(flow(0))->base_rtt(), 3ms) << "a queue is no path";
  s.round(1, 0ms);
  for (int i = 0; i < 2; ++i) {
    s.send(0);
    s.send(1);
    s.now += 3ms;
    s.answer(1, 1);
    s.now += 37ms;  // a delayed ACK of flow 0
    s.answer(0, 1);
    s.now += 1ms;
  }
  s.send(0);
  s.send(1);
  s.now += 3ms;
  s.answer(1, 1);
  EXPECT_NEAR(s.waiting(), kBytesPerMs, 1) << "the shorter of the two flows' waits";
}

TEST(WindowBeyond, WhatIsNotMeasuredAnyMoreIsForgotten) {
  BeyondScene s;
  s.open(0);
  s.round(0, 0ms);
  for (int i = 0; i < 3; ++i) s.round(0, 2ms);
  EXPECT_NEAR(s.waiting(), 2 * kBytesPerMs, 1);
  s.now += 100ms;
  EXPECT_EQ(s.waiting(), 0);
}

TEST(WindowBeyond, TheOwnQueueDoesNotCount) {
  BeyondScene s;
  s.open(0);
  s.queue.waiting_bytes = 1'000'000;
  s.round(0, 0ms);
  EXPECT_EQ(s.clamp.flow(flow(0))->base_rtt(), 3ms) << "timed from when the segment passes";
}

// Of two flows, one has a round trip of 3 ms and the other of 21 ms. The release begins for the
// latter, whose data take long to come. The former would be back before the burst's end.
TEST(WindowBeyond, ShortRoundTripsAreReleasedLater) {
  BeyondScene s;
  s.open(0);
  s.open(1, 2, kScale, 20ms);
  for (int i = 0; i < 40; ++i) {
    s.send(1, 20);
    s.send(0, 20);
    s.now += 2ms;
    s.answer(0, 20);
    s.now += 18ms;
    s.answer(1, 20);
    s.now += 1ms;
  }
  constexpr std::uint32_t kBurst_bytes = 1'000'000;
  s.start(kBurst_bytes);
  s.answer(0, 0);
  s.answer(1, 0);
  ASSERT_EQ(s.reason(WindowReason::kHeld), 2U);
  const auto left = [&s](std::uint32_t bytes) {
    s.clamp.on_burst_payload(kWorker, 1000, kBurst_bytes - bytes, s.queue, s.now);
    s.answer(0, 0);
    s.answer(1, 0);
  };
  left(400'000);  // 16 ms of the link
  EXPECT_EQ(s.reason(WindowReason::kHeld), 4U);
  left(100'000);  // 4 ms: the far flow's answer may go out, the near one's is awaited 2.5 ms before
  EXPECT_EQ(s.reason(WindowReason::kHeld), 5U);
  EXPECT_EQ(s.reason(WindowReason::kReleasing), 1U);
  left(50'000);  // 2 ms
  EXPECT_EQ(s.reason(WindowReason::kHeld), 5U);
  EXPECT_EQ(s.reason(WindowReason::kReleasing), 3U);
}

TEST(WindowBeyond, InFlightIsWhatPassedLessWhatWasAcknowledged) {
  BeyondScene s;
  s.open(0);
  s.open(1);
  s.send(0, 5);
  s.send(1, 3);
  EXPECT_EQ(s.clamp.in_flight_bytes(), 8U * kSegment);
  s.answer(0, 4);
  EXPECT_EQ(s.clamp.in_flight_bytes(), 4U * kSegment);
}

}  // namespace
}  // namespace outrider::window_beyond_test
