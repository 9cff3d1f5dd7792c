// Goal: who may go on after a push, under each rule, on literal timelines; and the
// bound against a model that knows nothing of how the gate counts.
#include "trafficgen/workload/sync/staleness_gate.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/core/random.h"

namespace outrider::staleness_gate_test {
using namespace tg;
namespace {

using Workers = std::vector<std::uint32_t>;

struct Push {
  std::uint32_t worker;
  std::uint64_t staleness;
  Workers cleared;
  const char* why;
};

/// Everybody reads as soon as cleared.
void expect_timeline(StalenessGate gate, const std::vector<Push>& pushes) {
  for (const auto& p : pushes) {
    EXPECT_EQ(gate.on_push(p.worker), p.staleness) << p.why;
    Workers cleared;
    gate.clear([&](std::uint32_t w) {
      cleared.push_back(w);
      gate.on_read(w);
    });
    EXPECT_EQ(cleared, p.cleared) << p.why;
  }
}

TEST(StalenessGate, BulkSynchronous) {
  expect_timeline(StalenessGate(3, 0), {
                                           {1, 0, {}, "two are missing"},
                                           {0, 0, {}, "one is missing"},
                                           {2, 0, {0, 1, 2}, "all at once, in order"},
                                           {0, 0, {}, "the next iteration"},
                                           {1, 0, {}, "one is missing"},
                                           {2, 0, {0, 1, 2}, "again"},
                                       });
}

TEST(StalenessGate, Asynchronous) {
  expect_timeline(StalenessGate(2, std::nullopt),
                  {
                      {0, 0, {0}, "nobody is waited for"},
                      {0, 0, {0}, "own updates do not count"},
                      {0, 0, {0}, "three iterations ahead"},
                      {1, 3, {1}, "read before all three"},
                      {0, 1, {0}, "one of the other since its last read"},
                      {1, 1, {1}, "and the other way round"},
                  });
}

TEST(StalenessGate, StaleSynchronousWithBoundOne) {
  expect_timeline(StalenessGate(2, 1),
                  {
                      {0, 0, {0}, "one ahead is allowed"},
                      {0, 0, {}, "two ahead is not"},
                      {1, 2, {0, 1}, "the slow one lets the fast one go"},
                      {0, 0, {}, "again two ahead, but it has read everything"},
                      {1, 1, {0, 1}, "and again"},
                  });
}

TEST(StalenessGate, OneWorkerNeverWaits) {
  expect_timeline(StalenessGate(1, 0), {{0, 0, {0}, "alone"}, {0, 0, {0}, "alone"}});
}

// Random schedules of who computes next among those that may. The gate must never
// let anybody be more than `bound` ahead, never block somebody without need, and
// never deadlock.
TEST(StalenessGate, BoundHoldsAndNobodyWaitsWithoutNeed) {
  constexpr std::uint32_t kWorkers = 5;
  for (const std::uint32_t bound : {0U, 1U, 3U}) {
    StalenessGate gate(kWorkers, bound);
    Workers done(kWorkers, 0);
    std::vector<bool> computing(kWorkers, true);
    std::uint32_t furthest = 0;
    RandomStream random(1, bound, RandomPurpose::kTest);
    for (int step = 0; step < 5000; ++step) {
      Workers able;
      for (std::uint32_t w = 0; w < kWorkers; ++w)
        if (computing[w]) able.push_back(w);
      ASSERT_FALSE(able.empty()) << "deadlock";
      const std::uint32_t w = able[random.next_u32() % able.size()];
      computing[w] = false;
      ++done[w];
      (void)gate.on_push(w);
      gate.clear([&](std::uint32_t cleared) { computing[cleared] = true; });
      const std::uint32_t slowest = *std::ranges::min_element(done);
      EXPECT_EQ(gate.slowest(), slowest);
      for (std::uint32_t v = 0; v < kWorkers; ++v) {
        EXPECT_EQ(computing[v], done[v] - slowest <= bound);
        if (computing[v]) furthest = std::max(furthest, done[v] - slowest);
      }
    }
    EXPECT_EQ(furthest, bound) << "the bound was reached";
  }
}

}  // namespace
}  // namespace outrider::staleness_gate_test
