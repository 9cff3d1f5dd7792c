// Goal: a clamp for a queue further on knows what waits there from when answers come back, and from
// nothing else. Method: literal timelines on a path of 200 Mbit/s and 3 ms (1 ms from the switch to
// the sender and back, 2 ms to the receiver and back).
#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_beyond_test {
namespace {

constexpr double kBytesPerMs = 25'000;

struct BeyondScene : Scene {
  BeyondScene() : Scene(kComplement, WindowClamp::Bottleneck::kRemote) {}
  /// A round trip of flow `f` whose answer comes `wait` later than without queueing.
  void round(std::uint32_t f, Duration wait) {
    send(f);
    now += 2ms + wait;
    answer(f, 1);
    now += 1ms;
  }
  double waiting() { return static_cast<double>(clamp.remote_backlog_bytes(now)); }
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
