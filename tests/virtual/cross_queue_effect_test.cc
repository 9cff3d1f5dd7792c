// Goal: long flows in a low queue, under on-off traffic in a queue of strict priority, lose less if
// their marker counts the high queue too. With many flows that costs little goodput; with few flows
// of classic TCP and frequent bursts it costs much. Method: a job whose bursts take more than half
// of the trunk's time, in two queues, after the flows' slow starts.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulation.h"

namespace outrider::cross_queue_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

/// The low queue and its flows during the bursts, over all seeds.
struct Seen {
  double mbit = 0;   ///< goodput, mean of the seeds
  double stood = 0;  ///< occupancy [packets], mean of the seeds
  double drops = 0;
};

struct OnOff {
  Controller controller;
  std::uint32_t flows;
  std::uint64_t burst_bytes;
};

Dumbbell dumbbell_of(const OnOff& row, std::uint64_t seed) {
  Dumbbell d;
  d.seed = seed;
  d.background_flows = row.flows;
  d.background_tcp.control.controller = row.controller;
  d.job.announce.lead_source = LeadSource::kNone;
  d.job.burst_bytes = row.burst_bytes;
  // Twice as long as the trunk takes for a burst's payload.
  d.job.period = milliseconds(row.burst_bytes * 16 * 1000 / d.bottleneck.bits_per_second);
  d.job.iterations = static_cast<std::uint32_t>(milliseconds(3000) / d.job.period);
  return d;
}

SwitchProcessConfig two_queues(const Dumbbell& d, StepOccupancy occupancy) {
  SwitchProcessConfig c = d.switches();
  SwitchConfig& left = c.switches[0];
  left.classes.background_queue = 1;
  for (auto& port : left.ports) {
    port.scheduler = SchedulerKind::kStrict;
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    if (port.name == "trunk") port.queues[1].marker.occupancy = occupancy;
  }
  return c;
}

const QueueReport& low(const RunResult& r) {
  return *std::ranges::find_if(r.switches.queues, [](const QueueReport& q) {
    return q.switch_name == "left" && q.port_name == "trunk" && q.queue == 1;
  });
}

Seen run_with(const OnOff& row, StepOccupancy occupancy, rte_mempool& pool) {
  const std::uint32_t runs = seeds(3, 10);
  Seen seen;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const Dumbbell d = dumbbell_of(row, seed);
    const SwitchProcessConfig switches = two_queues(d, occupancy);
    const auto bin = [&](Duration at) { return static_cast<std::size_t>(at / switches.bin); };
    const Duration end = d.job.first_due + d.job.iterations * d.job.period;
    Simulation simulation(switches, d.traffic(), pool);
    simulation.run_until(Time{} + d.job.first_due);
    const double before = static_cast<double>(sum(low(simulation.result()).drops));
    simulation.run_until(Time{} + end + switches.bin);
    const RunResult r = simulation.result();
    const QueueReport& q = low(r);
    seen.drops += static_cast<double>(sum(q.drops)) - before;
    const double weight =
        1 / (static_cast<double>(runs) * outrider::seconds(end - d.job.first_due));
    for (std::size_t i = bin(d.job.first_due); i < bin(end); ++i) {
      seen.stood += static_cast<double>(q.bins[i].sojourn_ns) * 1e-9 * weight;
      seen.mbit +=
          static_cast<double>(r.traffic.bins[i].delivered_bytes[TrafficClass::kBackground]) * 8e-6 *
          weight;
    }
  }
  return seen;
}

TEST(CrossQueueEffect, ManyFlowsLoseLessAtAboutTheSameGoodput) {
  struct Row {
    OnOff what;
    double most_drops, least_goodput;  ///< as shares of those without it
  };
  const Mempool pool = make_test_pool();
  for (const Row& row : {Row{{Controller::kDctcp, 10, 300'000}, 0.5, 0.9},
                         Row{{Controller::kCubic, 10, 1'000'000}, 0.95, 0.9},
                         Row{{Controller::kReno, 10, 1'000'000}, 0.95, 0.88}}) {
    SCOPED_TRACE(static_cast<int>(row.what.controller));
    const Seen own = run_with(row.what, StepOccupancy::kOwn, *pool);
    const Seen both = run_with(row.what, StepOccupancy::kOwnAndHigher, *pool);
    EXPECT_GT(own.drops, 100);
    EXPECT_LT(both.drops, row.most_drops * own.drops);
    EXPECT_GT(both.mbit, row.least_goodput * own.mbit);
  }
}

// Every burst marks every flow, and classic TCP does not grow back until the next one.
TEST(CrossQueueEffect, FewClassicFlowsUnderFrequentBurstsPayWithGoodput) {
  const Mempool pool = make_test_pool();
  for (const Controller controller : {Controller::kCubic, Controller::kReno}) {
    SCOPED_TRACE(static_cast<int>(controller));
    const OnOff row{controller, 3, 100'000};
    const Seen own = run_with(row, StepOccupancy::kOwn, *pool);
    const Seen both = run_with(row, StepOccupancy::kOwnAndHigher, *pool);
    EXPECT_LT(both.stood, 0.5 * own.stood);
    EXPECT_LT(both.mbit, 0.7 * own.mbit);
  }
}

}  // namespace
}  // namespace outrider::cross_queue_effect_test
