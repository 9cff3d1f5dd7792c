// Goal: with demotion a burst is as quick as in a queue of its own, and short flows of background
// do not wait for it. Method: a regime of the verdict at 25 Gbit/s with web search, one seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "tests/support/source_path.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::demotion_effect_test {
using namespace lab;
namespace {

struct Outcome {
  double communication_seconds;
  double short_flows_p99_ns;
  sw::DemotionCounters demotion{};
};

class DemotionEffect : public testing::Test {
 protected:
  DemotionEffect() {
    const auto file = load_experiment(source_path("conf/experiments/verdict/rate-25g.toml"));
    cases_ = make_plan(file.config.value(),
                       {.seeds = 1, .arms = {"off", "off-strict-shared", "off-demotion"}})
                 .config.value();
  }
  Outcome outcome_of(const std::string& label) {
    const Case& c = *std::ranges::find(cases_, label, &Case::label);
    const Mempool pool = make_packet_pool(
        {.name = "demotion", .mbufs = buffers_needed(c), .frame_room_bytes = kHeaderRoomBytes});
    const RunResult r = run_virtual(c, *pool);
    EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced) << label;
    const CaseMetrics m = measure(c, Runtime::kVirtual, r);
    const FilledBuckets* const small = &m.flow_times.completion_ns.front();
    Outcome outcome{.communication_seconds = median(m.samples.communication_seconds.values()),
                    .short_flows_p99_ns = quantile_of({&small, 1}, 0.99)};
    for (const auto& queue : r.switches.queues) {
      outcome.demotion.demoted += queue.demotion.demoted;
      outcome.demotion.no_room += queue.demotion.no_room;
    }
    return outcome;
  }
  std::vector<Case> cases_;
};

TEST_F(DemotionEffect, ShortFlowsDoNotWaitForBursts) {
  const Outcome one_queue = outcome_of("off");
  const Outcome two_queues = outcome_of("off-strict-shared");
  const Outcome demotion = outcome_of("off-demotion");
  EXPECT_LT(demotion.communication_seconds, 0.6 * one_queue.communication_seconds);
  EXPECT_LT(demotion.communication_seconds, 1.08 * two_queues.communication_seconds);
  EXPECT_LT(demotion.short_flows_p99_ns, 0.7 * one_queue.short_flows_p99_ns);
  EXPECT_LT(demotion.short_flows_p99_ns, 0.4 * two_queues.short_flows_p99_ns);
  EXPECT_GT(demotion.demotion.demoted, 3U) << "the long flows, and long ones of web search";
  EXPECT_EQ(demotion.demotion.no_room, 0U);
  EXPECT_EQ(two_queues.demotion.demoted, 0U);
}

}  // namespace
}  // namespace outrider::demotion_effect_test
