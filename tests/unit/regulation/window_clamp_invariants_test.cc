// Goal: the invariants of the window clamp hold for any traffic. Method: random segments, bursts
// and queues on the scene of window_clamp_test.cc; and one timeline at other times.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_clamp_invariants_test {
namespace {

// For any segments in any order: the written window is never above the receiver's, the edge never
// moves left of an edge already sent, no known sender has less than two segments unless its
// receiver offers less, and every answer has one reason.
TEST(WindowClamp, InvariantsHoldForAnySegments) {
  std::mt19937_64 random(11);
  std::uint64_t rewritten = 0, held = 0, releasing = 0, recovery = 0, receiver = 0;
  for (int run = 0; run < 40; ++run) {
    WindowPolicy policy = run % 2 != 0 ? kStrict : kComplement;
    policy.max_flows = 6;
    Scene s(policy);
    std::map<std::uint32_t, std::uint32_t> edge;
    std::uint64_t answers = 0;
    for (std::uint32_t f = 0; f < 4; ++f) s.open(f), ++answers;
    for (int i = 0; i < 4000; ++i) {
      const auto f = static_cast<std::uint32_t>(random() % 4);
      s.now += Duration{static_cast<std::int64_t>(random() % 300'000)};
      s.queue.waiting_bytes = random() % 90'000;
      switch (random() % 16) {
        case 0:
          s.start(random() % 3 != 0 ? 30'000 : 0, static_cast<std::uint32_t>(random()));
          break;
        case 1:
          if (random() % 4 == 0) s.queue.threshold.reset();
          break;
        case 2:
          s.clamp.on_burst_payload(kWorker, static_cast<std::uint32_t>(random()), 1460, s.queue,
                                   s.now);
          break;
        case 3:
          s.clamp.on_burst_ack(kWorker, static_cast<std::uint32_t>(random()));
          break;
        case 4: {  // an old segment again
          if (s.sent[f] < 9 * kSegment) break;
          const std::uint32_t sent = s.sent[f];
          s.sent[f] -= kSegment * static_cast<std::uint32_t>(1 + random() % 8);
          s.send(f);
          s.sent[f] = sent;
          break;
        }
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
          s.send(f, 1 + static_cast<std::uint32_t>(random() % 3));
          break;
        default: {
          const std::uint32_t in_flight = (s.sent[f] - s.acked[f]) / kSegment;
          const auto window = static_cast<std::uint16_t>(
              random() % 8 == 0 ? random() % 100 : kTrueWindow - random() % 3);
          const auto n = std::min(in_flight, static_cast<std::uint32_t>(random() % 4));
          const std::uint32_t told = s.answer(f, n, window, random() % 32 == 0);
          ++answers;
          ASSERT_LE(told, std::uint32_t{window} << kScale);
          const std::uint32_t now_at = s.acked[f] + told;
          const std::uint32_t true_edge = s.acked[f] + (std::uint32_t{window} << kScale);
          if (edge.contains(f)) {
            ASSERT_GE(now_at, std::min(edge[f], true_edge)) << run << ' ' << i;
          }
          edge[f] = std::max(edge.contains(f) ? edge[f] : 0, now_at);
          if (told < std::uint32_t{window} << kScale) {
            ++rewritten;
            ASSERT_GE(told, 2 * kSegment);
          }
        }
      }
      const auto& reasons = s.clamp.counters().answers;
      ASSERT_EQ(std::accumulate(reasons.begin(), reasons.end(), std::uint64_t{0}), answers);
    }
    held += s.reason(WindowReason::kHeld);
    releasing += s.reason(WindowReason::kReleasing);
    recovery += s.reason(WindowReason::kRecovery);
    receiver += s.reason(WindowReason::kReceiver);
  }
  EXPECT_GT(held, 1000U);
  EXPECT_GT(releasing, 1000U);
  EXPECT_GT(recovery, 1000U);
  EXPECT_GT(receiver, 1000U);
  EXPECT_GT(rewritten, 10'000U);
}

// Shifting all instants changes nothing.
TEST(WindowClamp, ShiftedTimeChangesNothing) {
  const auto play = [](Duration shift) {
    Scene s(kComplement);
    s.now += shift;
    s.open(0);
    s.cruise(0, 50);
    s.start(50'000);
    std::vector<std::uint32_t> told;
    for (int i = 0; i < 80; ++i) {
      told.push_back(s.answer(0, 1));
      s.send(0);
      s.now += 100us;
      s.clamp.on_burst_payload(kWorker, 1000 + static_cast<std::uint32_t>(i) * 1000, 1000, s.queue,
                               s.now);
    }
    return told;
  };
  const auto base = play({});
  EXPECT_EQ(play(1ns), base);
  EXPECT_EQ(play(1h), base);
  EXPECT_EQ(play(365 * 24h), base);
}

}  // namespace
}  // namespace outrider::window_clamp_invariants_test
