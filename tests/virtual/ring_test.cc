// Goal: a ring all-reduce over real connections takes the time that its bytes
// need, moves exactly those bytes, and survives losses and late workers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/virtual/job_scene.h"
#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::ring_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

/// Returns workers on one switch, where every link of the ring is a link of its own.
Dumbbell ring_of(std::uint32_t workers) {
  Dumbbell d = closed_loop();
  d.workers = workers;
  d.job.collective = Collective::kRing;
  d.job.aggregate = {};
  d.job.burst_bytes = 10'000'003;
  d.job.announce.lead_source = LeadSource::kNone;
  return d;
}

/// Returns the traffic of the scene with a job without servers.
GeneratorConfig traffic_of(const Dumbbell& d) {
  GeneratorConfig g = d.traffic();
  g.jobs[0].servers.clear();
  g.transports[0].tcp.reuse = ConnectionReuse::kKeep;
  return g;
}

/// Returns the bytes that a worker sends in an iteration.
std::uint64_t bytes_of(const CollectiveSchedule& ring, std::uint32_t worker) {
  std::uint64_t bytes = 0;
  for (const CollectiveMessage& m : ring.messages)
    if (m.from == worker) bytes += m.bytes;
  return bytes;
}

RunResult run_ring(const Dumbbell& d, rte_mempool& pool) {
  return run(d.switches(), traffic_of(d), pool, Time{} + std::chrono::seconds(60));
}

TEST(Ring, TakesTheTimeOfItsBytes) {
  const Mempool pool = make_test_pool(20'000);
  for (const std::uint32_t workers : {2U, 4U, 8U}) {
    const Dumbbell d = ring_of(workers);
    const RunResult r = run_ring(d, *pool);
    EXPECT_TRUE(r.traffic.jobs_finished);
    ASSERT_EQ(r.traffic.iterations.size(), 4U * workers);
    const CollectiveSchedule ring = ring_schedule(workers, 10'000'003, 1);
    std::uint64_t delivered = 0;
    for (const auto& f : r.traffic.flows) delivered += f.delivered_bytes;
    EXPECT_EQ(r.traffic.flows.size(), workers);
    EXPECT_EQ(delivered, 4U * 2 * (workers - 1) * 10'000'003ULL);
    for (const auto& b : bursts_of(r, BurstDirection::kPush))
      EXPECT_EQ(b.bytes, bytes_of(ring, b.identity.worker));
    // 2(N - 1) steps, each a chunk at the links' rate and RTT/4 of propagation (two links of
    // RTT/8). Windows are large by the last iteration.
    const double overhead = 1538.0 / 1436.0;
    const double step_s = 10'000'003.0 / workers * 8 / 1e9 * overhead + seconds(d.rtt) / 4;
    const double bound_s = 2 * (workers - 1) * step_s;
    for (const auto& i : r.traffic.iterations) {
      if (i.iteration < 3) continue;
      const double took_s = static_cast<double>(i.end_ns - i.ready_ns) / 1e9;
      EXPECT_GT(took_s, bound_s * 0.98) << workers;
      EXPECT_LT(took_s, bound_s * 1.15) << workers;
    }
  }
}

TEST(Ring, ALateWorkerHoldsEverybodyBack) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = ring_of(4);
  d.job.burst_bytes = 400'000;
  const RunResult even = run_ring(d, *pool);
  d.job.stragglers = {{.workers = {"w2"}, .delay = milliseconds(100)}};
  const RunResult late = run_ring(d, *pool);
  EXPECT_NEAR(static_cast<double>(late.traffic.jobs.at(0).end_ns - even.traffic.jobs.at(0).end_ns),
              4 * 100e6, 60e6);
  EXPECT_EQ(late.traffic.jobs.at(0).straggled, 4U);
}

// START goes to the right neighbour and names the first byte of the first chunk. Nothing
// leaves before its ACK.
TEST(Ring, AnnouncesToTheRightNeighbour) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = ring_of(3);
  d.job.announce = {.lead_source = LeadSource::kWait, .lead = milliseconds(5)};
  const RunResult r = run_ring(d, *pool);
  EXPECT_EQ(r.traffic.starts_sent, 12U) << "one for each worker and iteration";
  EXPECT_EQ(r.traffic.acks_received, 12U);
  for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
    EXPECT_EQ(b.released_ns, b.due_ns + Duration(milliseconds(5)).count());
    EXPECT_GE(b.first_sent_ns, b.released_ns);
  }
}

// Computing is shorter than a round trip, so a worker begins its next burst before its neighbour
// has the last steps of this one.
TEST(Ring, SurvivesLossesAndReordering) {
  const Mempool pool = make_test_pool(20'000);
  {
    Dumbbell d = ring_of(4);
    d.job.burst_bytes = 300'001;
    d.job.compute = std::chrono::microseconds(1);
    ImpairedSimulation simulation(d.switches(), traffic_of(d), *pool);
    simulation.impair_all({.loss = 0.02, .duplicate = 0.01, .reorder = 0.05}, 3);
    ASSERT_TRUE(simulation.run_to_end(Time{} + std::chrono::seconds(120)));
    const RunResult r = simulation.result();
    std::uint64_t delivered = 0, retransmitted = 0;
    for (const auto& f : r.traffic.flows) {
      delivered += f.delivered_bytes;
      retransmitted += f.retransmitted;
    }
    EXPECT_EQ(delivered, 4U * 2 * 3 * 300'001ULL);
    EXPECT_GT(retransmitted, 0U);
    const auto bursts = bursts_of(r, BurstDirection::kPush);
    ASSERT_EQ(bursts.size(), 16U);
    for (const auto& b : bursts)
      for (const auto& next : bursts)
        if (next.identity.worker == b.identity.worker &&
            next.identity.iteration == b.identity.iteration + 1) {
          EXPECT_GE(b.first_sent_ns, b.released_ns);
          EXPECT_LT(b.first_sent_ns, next.released_ns) << "a first byte of the next burst";
        }
    EXPECT_TRUE(simulation.ledger().balanced());
    EXPECT_TRUE(r.traffic.ledger_balanced);
    simulation.flush();
  }
}

}  // namespace
}  // namespace outrider::ring_test
