// Goal: a burst that START steers into the strict queue passes the background's queue, in order,
// and takes that queue no longer than regulation would; forged STARTs cost the background no more
// than the budget. Method: a whole job next to long flows, whose packets no port and no DSCP tells
// apart.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/simulation.h"
#include "tests/virtual/regulation_faults.h"

namespace outrider::steer_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;

constexpr double kFloor = 0.05;

/// Returns the switches of `d`. The trunk has two queues, and everything goes to the second.
SwitchProcessConfig two_queues(const Dumbbell& d, RegulationMode mode) {
  SwitchProcessConfig c = d.switches();
  for (auto& sw : c.switches) sw.ddl_ports = {1, 1};
  SwitchConfig& left = c.switches[0];
  left.classes.background_queue = left.classes.ddl_queue = 1;
  for (auto& port : left.ports) {
    port.regulation = {};
    port.scheduler = SchedulerKind::kStrictFloor;
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    if (port.name != "trunk") continue;
    port.queues[1].queue.floor_rate = BitRate{
        static_cast<std::uint64_t>(kFloor * static_cast<double>(port.drain_rate.bits_per_second))};
    RegulationPolicy& policy = port.queues[1].regulation;
    policy.mode = mode;
    policy.recovery = Recovery::kBurstEnd;
    policy.idle_end = 4 * d.rtt;
    policy.expiry = 30 * d.rtt;
    policy.budget_share = 1;
  }
  return c;
}

const QueueReport& own(const RunResult& r) {
  return *std::ranges::find_if(r.switches.queues, [](const QueueReport& q) {
    return q.switch_name == "left" && q.port_name == "trunk" && q.queue == 1;
  });
}

double mean_completion_ms(const RunResult& r) {
  double total = 0;
  for (const auto& b : r.traffic.bursts)
    total += static_cast<double>(b.delivered_ns - b.first_sent_ns) * 1e-6;
  return total / static_cast<double>(r.traffic.bursts.size());
}

using SteerEffect = RegulationFaults;

TEST_F(SteerEffect, ABurstPassesTheBackgroundInOrder) {
  const Dumbbell d = regulated();
  ImpairedSimulation plain(two_queues(d, RegulationMode::kOff), d.traffic(), *pool_);
  const RunResult off = settle(plain);
  ImpairedSimulation simulation(two_queues(d, RegulationMode::kSteer), d.traffic(), *pool_);
  std::map<FlowKey, std::uint32_t> last;
  std::uint64_t reordered = 0, seen = 0;
  simulation.to("s0").set_rule([&](const SeenPacket& p) {
    if (p.payload_bytes == 0) return Fate{};
    const auto [at, is_new] = last.try_emplace(p.flow, p.sequence);
    reordered += !is_new && static_cast<std::int32_t>(p.sequence - at->second) < 0;
    at->second = p.sequence;
    ++seen;
    return Fate{};
  });
  const RunResult on = settle(simulation);
  EXPECT_LT(mean_completion_ms(on), 0.4 * mean_completion_ms(off));
  EXPECT_EQ(reordered, 0U);
  EXPECT_GT(seen, 600U);
  const QueueReport& q = own(on);
  EXPECT_EQ(q.starts_armed, kFaultIterations);
  EXPECT_EQ(q.recovered_burst_end, kFaultIterations);
  EXPECT_EQ(q.steer.moves, 1U) << "it sends nothing else, so that it never goes back";
  EXPECT_EQ(q.steer.stayed, 0U) << "the lead is longer than the queue takes to drain";
  EXPECT_EQ(q.steer.packets + q.steer.after_end, seen) << "the whole burst, and nothing else";
}

TEST_F(SteerEffect, AStartThatIsLateSteersTheRest) {
  Dumbbell d = regulated();
  d.job.announce.ack_timeout = kFaultLead;  // the burst does not wait for longer
  ImpairedSimulation simulation(two_queues(d, RegulationMode::kSteer), d.traffic(), *pool_);
  simulation.from("w0").set_rule([](const SeenPacket& p) {
    return Fate{.delay = p.is_start() ? kFaultLead + microseconds(60) : Duration{}};
  });
  std::map<FlowKey, std::uint32_t> last;
  std::uint64_t reordered = 0;
  simulation.to("s0").set_rule([&](const SeenPacket& p) {
    if (p.payload_bytes == 0) return Fate{};
    const auto [at, is_new] = last.try_emplace(p.flow, p.sequence);
    reordered += !is_new && static_cast<std::int32_t>(p.sequence - at->second) < 0;
    at->second = p.sequence;
    return Fate{};
  });
  const RunResult r = settle(simulation);
  EXPECT_EQ(reordered, 0U);
  EXPECT_GT(own(r).steer.packets, 0U);
  EXPECT_GT(own(r).steer.stayed, 0U) << "behind what had come before the START";
}

// Every worker announces bursts that never come, at 200 a second, for flows that send nothing.
TEST_F(SteerEffect, ForgedStartsTakeNothingFromTheBackground) {
  Dumbbell d = regulated();
  d.job.announce.signal_form = SignalForm::kUdp;
  const auto delivered = [&](double forged) {
    d.job.announce.faults.forged_per_second = forged;
    ImpairedSimulation simulation(two_queues(d, RegulationMode::kSteer), d.traffic(), *pool_);
    EXPECT_TRUE(simulation.run_to_end(Time{} + std::chrono::seconds(5)));
    EXPECT_TRUE(simulation.ledger().balanced());
    const RunResult r = simulation.result();
    std::uint64_t bytes = 0;
    for (const auto& bin : r.traffic.bins) bytes += bin.delivered_bytes[TrafficClass::kBackground];
    if (forged > 0) {
      EXPECT_GT(own(r).starts_armed, 20U) << "they are believed";
    }
    return static_cast<double>(bytes);
  };
  EXPECT_GT(delivered(200), 0.97 * delivered(0));
}

}  // namespace
}  // namespace outrider::steer_effect_test
