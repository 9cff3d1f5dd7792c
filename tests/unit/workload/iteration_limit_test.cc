// Goal: a job ends where its settings say, and workers that wait for each other
// all do the same iterations.
#include "trafficgen/workload/sync/iteration_limit.h"

#include <gtest/gtest.h>

namespace outrider::iteration_limit_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

TEST(IterationLimit, CountsIterations) {
  IterationLimit limit(2, kNever, true);
  EXPECT_TRUE(limit.begin(0, Time{0s}));
  EXPECT_TRUE(limit.begin(1, Time{1000s}));
  EXPECT_FALSE(limit.begin(2, Time{1001s}));
}

// Two workers, stop at 10 s: the second comes too late for iteration 3, which
// the first has begun and waits for it in.
TEST(IterationLimit, NobodyIsLeftWaiting) {
  struct Row {
    std::uint32_t iteration;
    Time at;
    bool together, alone;
    const char* why;
  };
  const Row rows[] = {
      {2, Time{9s}, true, true, "first worker, in time"},
      {2, Time{9s}, true, true, "second worker, in time"},
      {3, Time{10s} - 1ns, true, true, "first worker, just in time"},
      {3, Time{10s}, true, false, "second worker, too late, but the first one waits for it"},
      {4, Time{11s}, false, false, "closed"},
      {4, Time{11s}, false, false, "closed for the second as well"},
  };
  IterationLimit together(100, Time{10s}, true), alone(100, Time{10s}, false);
  for (const auto& r : rows) {
    EXPECT_EQ(together.begin(r.iteration, r.at), r.together) << r.why;
    EXPECT_EQ(alone.begin(r.iteration, r.at), r.alone) << r.why;
  }
}

TEST(IterationLimit, AJobThatStopsBeforeItsFirstDueTimeDoesNothing) {
  IterationLimit limit(5, Time{1s}, true);
  EXPECT_FALSE(limit.begin(0, Time{2s}));
  EXPECT_FALSE(limit.begin(0, Time{0s})) << "closed for all";
}

}  // namespace
}  // namespace outrider::iteration_limit_test
