// Goal: the communication time of every burst is split without a remainder, and
// each part is what its name says.
#include <gtest/gtest.h>

#include "tests/support/world.h"
#include "tests/virtual/job_scene.h"

namespace outrider {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void expect_exact(const RunResult& r) {
  ASSERT_FALSE(r.traffic.bursts.empty());
  for (const auto& b : r.traffic.bursts) {
    ASSERT_NE(b.delivered_ns, kNotYet_ns);
    ASSERT_TRUE(b.times) << b.identity.worker << " " << b.identity.iteration;
    EXPECT_EQ(b.times->sum(), b.delivered_ns - b.due_ns);
    for (std::size_t i = 0; i < kBurstTimes; ++i)
      EXPECT_GE(b.times->ns[i], 0) << kBurstTimeNames[i];
  }
}

RunResult run_attributed(const Dumbbell& d, rte_mempool& pool) {
  GeneratorConfig traffic = d.traffic();
  traffic.attribution = true;
  return run(d.switches(), traffic, pool, Time{seconds(60)});
}

TEST(Attribution, SumsToTheCommunicationTime) {
  const Mempool pool = make_test_pool();
  const RunResult r = run_attributed(Dumbbell{}, *pool);
  expect_exact(r);
  for (const auto& b : r.traffic.bursts) {
    EXPECT_EQ((*b.times)[BurstTime::kSignal], b.released_ns - b.due_ns);
    EXPECT_GT((*b.times)[BurstTime::kBehindBackground], 0);
    EXPECT_EQ((*b.times)[BurstTime::kBehindDdl], 0) << "there is no other worker";
  }
}

}  // namespace
}  // namespace outrider
