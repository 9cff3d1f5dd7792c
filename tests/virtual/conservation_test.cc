// Goal: every packet is accounted for at any instant and with any pool.
#include <gtest/gtest.h>
#include <rte_mempool.h>

#include "tests/support/simulation.h"

namespace outrider::conservation_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Dumbbell busy(std::uint64_t seed) {
  Dumbbell d;
  d.seed = seed;
  d.workers = 2;
  d.job.pull = true;
  d.job.burst_bytes = 200'000;
  d.job.first_due = milliseconds(100);
  d.job.period = milliseconds(100);
  d.bottleneck_port.regulation.mode = RegulationMode::kMark;
  return d;
}

// Stops at random instants, while packets are everywhere.
TEST(Conservation, HoldsAtAnyInstant) {
  const Mempool pool = make_test_pool();
  std::uint64_t resident = 0, tail_drops = 0;
  for (std::uint64_t seed = 1; seed <= seeds(4, 40); ++seed) {
    ImpairedSimulation simulation(busy(seed), *pool);
    simulation.impair_all({.loss = 0.002, .duplicate = 0.002, .reorder = 0.01}, seed);
    RandomStream stops(seed, 0, RandomPurpose::kTest);
    for (int stop = 0; stop < 40; ++stop) {
      simulation.run_until(simulation.now() + from_seconds(stops.exponential(0.01)));
      const PacketLedger l = simulation.ledger();
      ASSERT_TRUE(l.balanced()) << "seed " << seed << " at " << outrider::seconds(simulation.now());
      resident += l.resident;
      tail_drops += l.dropped_by_switches;
    }
    const RunResult r = simulation.result();
    EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced);
    EXPECT_EQ(rte_mempool_in_use_count(pool.get()), simulation.ledger().resident)
        << "a packet in the network is a buffer in use, and nothing else is";
    simulation.flush();
    EXPECT_EQ(rte_mempool_in_use_count(pool.get()), 0U);
  }
  EXPECT_GT(resident, 1000U);
  EXPECT_GT(tail_drops, 0U);
}

// With far fewer buffers than the wire holds, NICs wait and nothing else changes.
TEST(Conservation, ExhaustedPoolMakesNicsWaitAndLosesNothing) {
  const Mempool pool = make_test_pool(31);
  Dumbbell d = busy(1);
  d.job.iterations = 2;
  const RunResult r = run(d, *pool, Time{} + seconds(20));
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_GT(r.traffic.mbuf_exhausted, 100U);
  EXPECT_EQ(sum(r.switches.drops), 0U);
  EXPECT_EQ(sum(r.traffic.drops), 0U);
  for (const auto& f : r.traffic.flows)
    if (f.traffic_class == TrafficClass::kDdl) {
      EXPECT_EQ(f.delivered_bytes, 400'000U);
    }
}

}  // namespace
}  // namespace outrider::conservation_test
