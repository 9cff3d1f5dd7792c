// Goal: who may go when follows from the order, the gap and the warm-up alone. Method:
// literal timelines.
#include "trafficgen/workload/sync/round_robin_gate.h"

#include <gtest/gtest.h>

#include <array>

namespace outrider::round_robin_gate_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Turn = RoundRobinGate::Turn;

constexpr Time at(Duration d) { return Time{d}; }

// Three workers, a warm-up of 2 pushes of worker 0, slack 1.25: gap = T / 3.75.
TEST(RoundRobinGate, FollowsATimeline) {
  RoundRobinGate gate(3, {.slack = 1.25, .warm_up_pushes = 2});
  // Warm-up: everybody is free, also twice in a row.
  EXPECT_TRUE(gate.report(1, at(9ms)));
  EXPECT_TRUE(gate.report(0, at(10ms)));
  EXPECT_TRUE(gate.report(1, at(18ms)));
  EXPECT_TRUE(gate.report(0, at(20ms)));
  EXPECT_TRUE(gate.report(2, at(21ms))) << "worker 0 has pushed twice, not more often";
  EXPECT_EQ(gate.turn(), std::nullopt);

  // The third push of worker 0 closes the gate. 1 comes second and waits for 0.
  EXPECT_FALSE(gate.report(0, at(35ms)));
  EXPECT_FALSE(gate.report(2, at(36ms)));
  ASSERT_EQ(gate.turn(), (Turn{0, at(35ms)})) << "the first turn is never paced";
  EXPECT_EQ(gate.pass(0, at(35ms)), 0ms);
  EXPECT_EQ(gate.period(), 15ms) << "push 2 to push 3: half of the warm-up is left out";
  EXPECT_EQ(gate.gap(), 4ms) << "15 / (1.25 * 3)";

  EXPECT_EQ(gate.turn(), std::nullopt) << "it is worker 1's, which has not pushed";
  EXPECT_FALSE(gate.report(1, at(41ms)));
  ASSERT_EQ(gate.turn(), (Turn{1, at(41ms)})) << "the gap behind the first turn is zero";
  EXPECT_EQ(gate.pass(1, at(41ms)), 0ms);
  ASSERT_EQ(gate.turn(), (Turn{2, at(45ms)})) << "one gap behind worker 1";
  EXPECT_EQ(gate.pass(2, at(45ms)), 9ms) << "since its push at 36 ms";

  // Worker 0 again, early: it is held for 5 ms, which do not count in T.
  EXPECT_FALSE(gate.report(0, at(44ms)));
  ASSERT_EQ(gate.turn(), (Turn{0, at(49ms)}));
  EXPECT_EQ(gate.pass(0, at(49ms)), 5ms);
  EXPECT_EQ(gate.period(), 12ms) << "(44 - 20) / 2; this hold is behind the last push";
  EXPECT_EQ(gate.gap(), 3200us);
  EXPECT_FALSE(gate.report(1, at(50ms)));
  EXPECT_EQ(gate.turn(), (Turn{1, at(53ms)})) << "this gap was still 4 ms";
  gate.pass(1, at(60ms));
  EXPECT_FALSE(gate.report(2, at(61ms)));
  EXPECT_EQ(gate.turn(), (Turn{2, at(63200us)})) << "from when worker 1 did go, with the new gap";
  gate.pass(2, at(63200us));

  EXPECT_FALSE(gate.report(0, at(73ms)));
  gate.pass(0, at(73ms));
  EXPECT_EQ(gate.period(), 16ms) << "(73 - 20 - 5) / 3: without what it was held before";
}

TEST(RoundRobinGate, WhoLeavesHasNoTurn) {
  RoundRobinGate gate(3, {.slack = 1, .warm_up_pushes = 0});
  EXPECT_FALSE(gate.report(0, at(1ms)));
  gate.pass(0, at(1ms));
  EXPECT_FALSE(gate.report(2, at(2ms)));
  EXPECT_EQ(gate.turn(), std::nullopt);
  gate.leave(1);
  EXPECT_EQ(gate.turn(), (Turn{2, at(2ms)}));
  gate.pass(2, at(2ms));
  gate.leave(0);
  EXPECT_FALSE(gate.report(2, at(3ms)));
  EXPECT_EQ(gate.turn(), (Turn{2, at(3ms)})) << "alone";
  gate.pass(2, at(3ms));
  gate.leave(2);
  EXPECT_EQ(gate.turn(), std::nullopt);
}

TEST(RoundRobinGate, WithoutAWarmUpTheSecondPushGivesThePace) {
  RoundRobinGate gate(1, {.slack = 2, .warm_up_pushes = 0});
  EXPECT_FALSE(gate.report(0, at(5ms)));
  gate.pass(0, at(5ms));
  EXPECT_EQ(gate.gap(), 0ms);
  EXPECT_FALSE(gate.report(0, at(9ms)));
  gate.pass(0, at(9ms));
  EXPECT_EQ(gate.gap(), 2ms);
}

// Equal workers that begin together and need the same time from turn to push: after some
// rounds they go a gap apart.
TEST(RoundRobinGate, SpreadsEqualWorkers) {
  constexpr std::uint32_t kWorkers = 4;
  constexpr Duration kCycle = 12ms;
  RoundRobinGate gate(kWorkers, {.slack = 1.2, .warm_up_pushes = 10});
  std::array<Time, kWorkers> push{at(kCycle), at(kCycle), at(kCycle), at(kCycle)};
  Time last{};
  for (int round = 0; round < 40; ++round) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      Time gone = push[w];
      if (!gate.report(w, push[w])) {
        ASSERT_TRUE(gate.turn());
        gone = gate.turn()->at;
        gate.pass(w, gone);
      }
      if (round > 20) {
        EXPECT_GE(gone - last, gate.gap()) << round << ' ' << w;
      }
      last = gone;
      push[w] = gone + kCycle;
    }
  }
  EXPECT_EQ(gate.period(), kCycle);
  EXPECT_EQ(gate.gap(), 2500us) << "12 ms / (1.2 * 4)";
  EXPECT_EQ(push[1] - push[0], 2500us);
  EXPECT_EQ(push[3] - push[2], 2500us);
}

}  // namespace
}  // namespace outrider::round_robin_gate_test
