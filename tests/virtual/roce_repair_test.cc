// Goal: over lossy paths every byte arrives with both repairs and both operations, selective repeat
// brings more goodput, and switches take SENDs for a burst as they take WRITEs.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/virtual/regulation_faults.h"
#include "tests/virtual/roce_scene.h"

namespace outrider::roce_repair_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

constexpr Time kLimit = Time{} + std::chrono::seconds(60);
constexpr std::uint64_t kBurstBytes = 20'000'000;

struct Goodput {
  double gbps = 0;
  RoceCounters counts;
};

/// One queue pair at 10 Gbit/s with a round trip of 20 us; data and answers are lost at random.
Goodput goodput_of(RoceRepair repair, double loss, rte_mempool& pool) {
  const Dumbbell d = roce_dumbbell(1, kBurstBytes);
  SwitchProcessConfig switches = roce_switches(d);
  for (auto& sw : switches.switches)
    for (auto& port : sw.ports)
      if (port.name == "trunk") port.loss = loss;
  const RoceConfig roce{.repair = repair,
                        .controller = RoceController::kFixed,
                        .timeout = std::chrono::milliseconds(1),
                        .retry_limit = 100};
  const RunResult r = run(switches, roce_traffic(d, roce), pool, kLimit);
  EXPECT_TRUE(r.traffic.jobs_finished);
  const auto bursts = bursts_of(r, BurstDirection::kPush);
  EXPECT_EQ(bursts.at(0).delivered_bytes, kBurstBytes);
  EXPECT_TRUE(r.traffic.roce.balanced());
  EXPECT_EQ(r.traffic.roce.refused + r.traffic.roce.contradicted, 0U);
  const auto took = static_cast<double>(bursts.at(0).delivered_ns - bursts.at(0).released_ns);
  return {8.0 * kBurstBytes / took, r.traffic.roce};
}

// OUTRIDER_FIGURES=1 prints the figures.
TEST(RoceRepairEffect, SelectiveRepeatHasMoreGoodput) {
  const Mempool pool = make_test_pool(20'000);
  for (const double loss : {0.001, 0.01}) {
    const Goodput back = goodput_of(RoceRepair::kGoBackN, loss, *pool);
    const Goodput selective = goodput_of(RoceRepair::kSelective, loss, *pool);
    EXPECT_GT(selective.gbps, 1.02 * back.gbps) << loss;
    EXPECT_GT(back.counts.retransmitted, 5 * selective.counts.retransmitted) << loss;
    EXPECT_GT(selective.counts.kept, 100U);
    if (std::getenv("OUTRIDER_FIGURES") == nullptr) continue;
    for (const Goodput* g : {&back, &selective})
      std::printf("loss %.3f goodput %.2f Gbit/s sent %lu again %lu naks %lu timeouts %lu\n", loss,
                  g->gbps, g->counts.sent, g->counts.retransmitted, g->counts.naks_sent,
                  g->counts.timeouts);
  }
}

TEST(RoceRepairEffect, LossReorderingAndDuplicatesDeliverEveryByte) {
  const Mempool pool = make_test_pool(20'000);
  for (const auto repair : {RoceRepair::kGoBackN, RoceRepair::kSelective})
    for (const auto operation : {roce::Operation::kWrite, roce::Operation::kSend}) {
      const RoceConfig roce{.operation = operation,
                            .repair = repair,
                            .timeout = std::chrono::milliseconds(1),
                            .retry_limit = 100};
      const Dumbbell d = roce_dumbbell(2, 200'000);
      ImpairedSimulation simulation(roce_switches(d), roce_traffic(d, roce), *pool);
      simulation.impair_all({.loss = 0.02, .duplicate = 0.02, .reorder = 0.02, .ce = 0.05}, 7);
      ASSERT_TRUE(simulation.run_to_end(kLimit));
      const RunResult r = simulation.result();
      EXPECT_TRUE(r.traffic.jobs_finished);
      for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
        EXPECT_EQ(b.delivered_bytes, 200'000U);
        EXPECT_GT(b.retransmitted, 0U);
      }
      EXPECT_GT(r.traffic.roce.duplicate, 0U);
      EXPECT_GT(r.traffic.roce.cnps_received, 0U);
      EXPECT_EQ(r.traffic.roce.refused + r.traffic.roce.contradicted, 0U);
      EXPECT_TRUE(r.traffic.roce.balanced());
      EXPECT_TRUE(simulation.ledger().balanced());
      simulation.flush();
    }
}

class RoceRegulation : public RegulationFaults {
 protected:
  QueueReport regulated_with(roce::Operation operation) {
    Dumbbell d = regulated();
    d.job.announce.signal_form = SignalForm::kUdp;
    d.bottleneck_port.regulation.recovery = Recovery::kBurstEnd;
    ImpairedSimulation simulation(roce_switches(d), roce_traffic(d, {.operation = operation}),
                                  *pool_);
    return bottleneck_of(settle(simulation));
  }
};

TEST_F(RoceRegulation, SendsAreABurstsPayloadAsWritesAre) {
  const QueueReport writes = regulated_with(roce::Operation::kWrite);
  const QueueReport sends = regulated_with(roce::Operation::kSend);
  for (const QueueReport* q : {&writes, &sends}) {
    EXPECT_EQ(q->starts_armed, kFaultIterations);
    EXPECT_EQ(q->recovered_burst_end, kFaultIterations);
  }
  EXPECT_NEAR(static_cast<double>(sends.regulated_ns), static_cast<double>(writes.regulated_ns),
              1e5);
}

}  // namespace
}  // namespace outrider::roce_repair_test
