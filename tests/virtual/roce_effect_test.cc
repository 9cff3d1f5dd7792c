// Goal: queue pairs with DCQCN share a bottleneck fairly and keep its queue between Kmin and Kmax,
// and what is lost is repaired.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/virtual/roce_scene.h"

namespace outrider::roce_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time kLimit = Time{} + std::chrono::seconds(10);

TEST(RoceEffect, QueuePairsShareTheLinkAndKeepTheQueue) {
  const Mempool pool = make_test_pool(20'000);
  const Dumbbell d = roce_dumbbell(4, 25'000'000);
  const RunResult r = run(roce_switches(d), roce_traffic(d), *pool, kLimit);
  ASSERT_TRUE(r.traffic.jobs_finished);
  std::vector<double> took;
  for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
    EXPECT_EQ(b.delivered_bytes, 25'000'000U);
    EXPECT_EQ(b.retransmitted, 0U);
    took.push_back(static_cast<double>(b.delivered_ns - b.released_ns) / 1e9);
  }
  ASSERT_EQ(took.size(), 4U);
  const auto [least, most] = std::ranges::minmax(took);
  // 100 MB and headers at 10 Gbit/s take 86 ms.
  EXPECT_GT(most, 0.086);
  EXPECT_LT(most, 0.110);
  EXPECT_GT(least, 0.7 * most) << "fair shares";
  // Mean occupancies, by Little's law, from when the queue pairs have settled until one ends.
  const auto& bins = bottleneck_of(r).bins;
  double sum = 0;
  for (std::size_t bin = 20; bin < 70; ++bin) {
    EXPECT_LT(bins.at(bin).max_packets, 600U) << bin;
    sum += static_cast<double>(bins.at(bin).sojourn_ns) / 1e6;
  }
  EXPECT_GT(sum / 50, 40) << "Kmin";
  EXPECT_LT(sum / 50, 400) << "Kmax";
  const RoceCounters& c = r.traffic.roce;
  EXPECT_TRUE(c.balanced());
  EXPECT_GT(c.cnps_received, 100U);
  EXPECT_EQ(c.cnps_received, c.cnps_sent);
  EXPECT_EQ(c.bad_icrc + c.malformed + c.refused + c.timeouts, 0U);
}

TEST(RoceEffect, WithoutControlTheQueueOverflowsAndGoBackNRepairsIt) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = roce_dumbbell(2, 2'000'000);
  d.bottleneck_port.queue.limit_packets = 100;
  RoceConfig fixed{.controller = RoceController::kFixed, .timeout = milliseconds(1)};
  const RunResult r = run(roce_switches(d), roce_traffic(d, fixed), *pool, kLimit);
  ASSERT_TRUE(r.traffic.jobs_finished);
  for (const auto& b : bursts_of(r, BurstDirection::kPush))
    EXPECT_EQ(b.delivered_bytes, 2'000'000U);
  const RoceCounters& c = r.traffic.roce;
  EXPECT_GT(c.naks_received, 0U);
  EXPECT_GT(c.retransmitted, 100U);
  EXPECT_TRUE(c.balanced());
  EXPECT_TRUE(r.traffic.ledger_balanced);
}

// A bit that the network turns is found by the ICRC.
TEST(RoceEffect, LossAndDuplicatesDeliverEveryByte) {
  const Mempool pool = make_test_pool(20'000);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Dumbbell d = roce_dumbbell(2, 200'000);
    d.seed = seed;
    ImpairedSimulation simulation(
        roce_switches(d), roce_traffic(d, {.timeout = milliseconds(1), .retry_limit = 100}), *pool);
    simulation.impair_all({.loss = 0.02, .duplicate = 0.02, .reorder = 0.02, .ce = 0.05}, seed);
    ASSERT_TRUE(simulation.run_to_end(kLimit)) << seed;
    const RunResult r = simulation.result();
    EXPECT_TRUE(r.traffic.jobs_finished);
    for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
      EXPECT_EQ(b.delivered_bytes, 200'000U) << seed;
      EXPECT_GT(b.retransmitted, 0U);
    }
    EXPECT_GT(r.traffic.roce.duplicate, 0U);
    EXPECT_TRUE(r.traffic.roce.balanced());
    EXPECT_TRUE(simulation.ledger().balanced());
    simulation.flush();
  }
}

}  // namespace
}  // namespace outrider::roce_effect_test
