// Goal: flows whose round trips differ are released each at its own time, at the own queue and for
// a queue further on; and not before a burst that is shorter than a path has come. Method: literal
// timelines of one or two flows on a path of 200 Mbit/s.
#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_release_test {
namespace {

// One flow has a round trip of 3 ms, the other of 21 ms. The far flow's data take long to come, so
// its window opens first. The near flow would be back before the burst's end, and is held on.
void expect_the_near_flow_later(WindowClamp::Bottleneck bottleneck) {
  Scene s(kComplement, bottleneck);
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
  expect_the_near_flow_later(WindowClamp::Bottleneck::kLocal);
}

TEST(WindowRelease, ShortRoundTripsAreReleasedLaterBeyond) {
  expect_the_near_flow_later(WindowClamp::Bottleneck::kRemote);
}

// The whole burst is 1.2 ms of the link, and a release takes 2.5 ms to act. So it would not be held
// at all if its bytes were taken to come at the link's rate from START on.
TEST(WindowRelease, ABurstShorterThanAPathIsHeldUntilTheNextRoundTripBringsTheRest) {
  Scene s(kComplement);
  s.open(0);
  s.cruise(0, 60);
  s.start(30'000);
  auto holds = [&s, held = std::uint64_t{0}]() mutable {
    s.answer(0, 0);
    const bool more = s.reason(WindowReason::kHeld) > held;
    held = s.reason(WindowReason::kHeld);
    return more;
  };
  EXPECT_TRUE(holds());
  s.now += 20ms;
  EXPECT_TRUE(holds()) << "nothing has come";
  s.clamp.on_burst_payload(kWorker, 1000, 5000, s.queue, s.now);
  EXPECT_TRUE(holds()) << "5 kB of 30 let 10 come within a round trip";
  s.clamp.on_burst_ack(kWorker, 6000);
  s.now += 3ms;
  EXPECT_TRUE(holds()) << "all that came is acknowledged";
  s.clamp.on_burst_payload(kWorker, 6000, 10'000, s.queue, s.now);
  EXPECT_FALSE(holds()) << "10 kB let the last 15 come";
  EXPECT_EQ(s.clamp.counters().releases, 1U);
}

}  // namespace
}  // namespace outrider::window_release_test
