// Goal: flows whose round trips differ are released each at its own time, at the own queue and for
// a queue further on. Method: literal timelines of two flows on a path of 200 Mbit/s.
#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_release_test {
namespace {

// One flow has a round trip of 3 ms, the other of 21 ms. The far flow's data take long to come, so
// its window opens first. The near flow would be back before the burst's end, and is held on.
void expect_the_near_flow_later(WindowClamp::Place place) {
  Scene s(kComplement, place);
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

TEST(WindowRelease, ShortRoundTripsAreReleasedLaterHere) {
  expect_the_near_flow_later(WindowClamp::Place::kHere);
}

TEST(WindowRelease, ShortRoundTripsAreReleasedLaterBeyond) {
  expect_the_near_flow_later(WindowClamp::Place::kBeyond);
}

}  // namespace
}  // namespace outrider::window_release_test
