// Goal: a ring all-reduce over the bounded-loss transport takes the time that its bytes need,
// keeps the bound of every step under loss, and begins no burst before the previous one has
// arrived.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/virtual/mlt_scene.h"
#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::ring_mlt_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time kLimit = Time{} + std::chrono::seconds(120);
constexpr std::uint64_t kSeeds = 10;

/// Returns workers on one switch, where every link of the ring is a link of its own.
Dumbbell ring_of(std::uint32_t workers, std::uint64_t bytes) {
  Dumbbell d = mlt_dumbbell(workers);
  d.job.collective = Collective::kRing;
  d.job.burst_bytes = bytes;
  return d;
}

GeneratorConfig traffic_of(const Dumbbell& d, const MltConfig& mlt) {
  GeneratorConfig g = mlt_traffic(d, mlt);
  g.jobs[0].servers.clear();
  return g;
}

MltConfig tolerating(double push, double pull) {
  return {.tolerance_push = push, .tolerance_pull = pull, .probe_timeout = milliseconds(2)};
}

/// Returns the least bytes of a worker's burst that must arrive by the bound.
double least_bytes(const CollectiveSchedule& ring, std::uint32_t worker, const MltConfig& mlt) {
  double bytes = 0;
  for (const CollectiveMessage& m : ring.messages)
    if (m.from == worker)
      bytes +=
          static_cast<double>(m.bytes) * (1 - (m.sums ? mlt.tolerance_pull : mlt.tolerance_push));
  return bytes;
}

TEST(RingOverMlt, TakesTheTimeOfItsBytes) {
  const Mempool pool = make_test_pool(20'000);
  constexpr std::uint64_t kBytes = 10'000'004;  // chunks of unequal size, in whole values
  for (const std::uint32_t workers : {2U, 3U, 8U}) {
    const Dumbbell d = ring_of(workers, kBytes);
    const RunResult r = run(mlt_switches(d), traffic_of(d, tolerating(0, 0)), *pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    ASSERT_EQ(r.traffic.iterations.size(), 3U * workers);
    ASSERT_EQ(r.traffic.flows.size(), workers);
    ASSERT_EQ(r.traffic.bursts.size(), 3U * workers);
    const CollectiveSchedule ring = ring_schedule(workers, kBytes, 4);
    for (const auto& b : r.traffic.bursts) {
      EXPECT_EQ(static_cast<double>(b.bytes),
                least_bytes(ring, b.identity.worker, tolerating(0, 0)));
      EXPECT_EQ(b.delivered_bytes, b.bytes);
      EXPECT_EQ(b.rtos, 0U);
    }
    // Steps follow each other. Each takes a chunk in packets with 1420 bytes of values, which
    // occupy 1538 bytes of the link, and RTT/4 of propagation.
    const double step_s =
        static_cast<double>(kBytes) / workers * 8 / 1e9 * 1538.0 / 1420.0 + seconds(d.rtt) / 4;
    for (const auto& i : r.traffic.iterations) {
      if (i.iteration < 2) continue;  // windows are large by then
      const double took_s = static_cast<double>(i.end_ns - i.ready_ns) / 1e9;
      EXPECT_GT(took_s, 2 * (workers - 1) * step_s * 0.97) << workers;
      EXPECT_LT(took_s, 2 * (workers - 1) * step_s * 1.15) << workers;
    }
  }
}

// Computing is shorter than a round trip. A worker is done before its neighbour has its last
// steps, and must not begin its next burst before them.
TEST(RingOverMlt, KeepsTheBoundOfEveryStepUnderLoss) {
  const Mempool pool = make_test_pool(20'000);
  std::uint64_t missing = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const MltConfig& mlt : {tolerating(0, 0), tolerating(0.2, 0), tolerating(0.2, 0.05)}) {
      Dumbbell d = ring_of(4, 240'000);
      d.seed = seed;
      d.job.compute = microseconds(1);
      ImpairedSimulation simulation(mlt_switches(d), traffic_of(d, mlt), *pool);
      simulation.impair_all({.loss = 0.1, .duplicate = 0.02, .reorder = 0.05, .ce = 0.05}, seed);
      ASSERT_TRUE(simulation.run_to_end(kLimit)) << seed;
      const RunResult r = simulation.result();
      EXPECT_TRUE(r.traffic.jobs_finished);
      ASSERT_EQ(r.traffic.bursts.size(), 12U);
      const CollectiveSchedule ring = ring_schedule(4, 240'000, 4);
      for (const auto& b : r.traffic.bursts) {
        EXPECT_GE(static_cast<double>(b.delivered_bytes),
                  least_bytes(ring, b.identity.worker, mlt));
        EXPECT_LE(b.delivered_bytes, b.bytes);
        missing += b.bytes - b.delivered_bytes;
      }
      EXPECT_TRUE(simulation.ledger().balanced());
      EXPECT_TRUE(r.traffic.ledger_balanced);
      simulation.flush();
    }
  }
  EXPECT_GT(missing, 100'000U) << "something was done without";
}

// START names the flow to the right neighbour and the position of step 0 in it.
TEST(RingOverMlt, IsAnnouncedToTheRightNeighbour) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = ring_of(3, 400'000);
  d.job.announce = {
      .lead_source = LeadSource::kWait, .lead = milliseconds(5), .signal_form = SignalForm::kUdp};
  const RunResult r = run(mlt_switches(d), traffic_of(d, tolerating(0, 0)), *pool, kLimit);
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_EQ(r.traffic.starts_sent, 9U) << "one for each worker and iteration";
  EXPECT_EQ(r.traffic.acks_received, 9U);
  for (const auto& b : bursts_of(r, BurstDirection::kPush))
    EXPECT_EQ(b.released_ns, b.due_ns + Duration(milliseconds(5)).count());
}

/// Returns the mean iteration [s] over the seeds when one link of the ring loses 1 %.
template <class Traffic>
double mean_iteration_s(const Dumbbell& plain, Traffic&& traffic, rte_mempool& pool) {
  double sum_s = 0;
  std::uint64_t iterations = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Dumbbell d = plain;
    d.seed = seed;
    ImpairedSimulation simulation(mlt_switches(d), traffic(d), pool);
    simulation.from("w1").set_rule(random_rule({.loss = 0.01}, seed, 0));
    EXPECT_TRUE(simulation.run_to_end(kLimit)) << seed;
    for (const auto& i : simulation.result().traffic.iterations) {
      sum_s += static_cast<double>(i.end_ns - i.ready_ns) / 1e9;
      ++iterations;
    }
    simulation.flush();
  }
  return sum_s / static_cast<double>(iterations);
}

// Over TCP, every packet that a link loses stops the whole ring for a time-out or a round trip.
// With bounded loss the ring does not wait for losses within the bound.
TEST(RingOverMlt, AGrayLinkCostsLess) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = ring_of(4, 1'000'000);
  d.job.iterations = 10;
  const auto bounded = [](double p) {
    return [p](const Dumbbell& s) { return traffic_of(s, tolerating(p, p)); };
  };
  const double tcp = mean_iteration_s(
      d,
      [](const Dumbbell& s) {
        GeneratorConfig g = s.traffic();
        g.jobs[0].servers.clear();
        g.transports[0].tcp.reuse = ConnectionReuse::kKeep;
        g.transports[0].tcp.min_rto = milliseconds(2);
        g.transports[0].tcp.delayed_ack = microseconds(100);
        return g;
      },
      *pool);
  const double reliable = mean_iteration_s(d, bounded(0), *pool);
  const double loose = mean_iteration_s(d, bounded(0.05), *pool);
  RecordProperty("tcp_reliable_loose_ms", std::to_string(tcp * 1e3) + ' ' +
                                              std::to_string(reliable * 1e3) + ' ' +
                                              std::to_string(loose * 1e3));
  EXPECT_LT(loose, 0.9 * reliable);
  EXPECT_LT(loose, 0.9 * tcp);
}

}  // namespace
}  // namespace outrider::ring_mlt_test
