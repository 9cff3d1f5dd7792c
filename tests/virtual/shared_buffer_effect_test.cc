// Goal: a burst that is served first finds room in a shared buffer if background gives its memory
// back before it comes; whoever announces falsely takes no more of it than the budget allows.
// Method: whole jobs beside long flows without ECN that fill their share of the buffer, in two
// queues of one port.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/net/udp_signal.h"
#include "tests/support/world.h"
#include "tests/virtual/regulation_faults.h"

namespace outrider::shared_buffer_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

constexpr std::uint64_t kBuffer_bytes = 300'000;
constexpr double kFloor = 0.05;

/// Eight workers send ten segments each at once, 121 kB, where half of the buffer is 150 kB.
Dumbbell incast() {
  Dumbbell d = regulated();
  d.workers = 8;
  d.job.burst_bytes = 14'480;
  d.job.announce.signal_form = SignalForm::kUdp;
  d.job.first_due = milliseconds(2'000);  // flows have recovered from their slow starts
  d.background_tcp.ecn = false;
  d.background_tcp.control.controller = Controller::kCubic;
  return d;
}

/// Returns the switches of `d`. The trunk serves bursts before background, and all queues of its
/// switch share a buffer.
SwitchProcessConfig sharing(const Dumbbell& d, RegulationMode mode, Subscription hears,
                            WindowRule rule = WindowRule::kComplement) {
  SwitchProcessConfig c = d.switches();
  SwitchConfig& left = c.switches[0];
  left.classes.background_queue = 1;
  left.buffer.total_bytes = kBuffer_bytes;
  for (auto& port : left.ports) {
    port.regulation = {};
    port.queue.limit_packets = 2000;
    port.scheduler = SchedulerKind::kStrictFloor;
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    if (port.name != "trunk") continue;
    port.queues[1].queue.floor_rate = BitRate{
        static_cast<std::uint64_t>(kFloor * static_cast<double>(port.drain_rate.bits_per_second))};
    RegulationPolicy& policy = port.queues[1].regulation;
    policy.mode = mode;
    policy.hears = hears;
    policy.recovery = Recovery::kBurstEnd;
    policy.window.rule = rule;
    policy.idle_end = 4 * d.rtt;
    policy.expiry = 30 * d.rtt;
  }
  return c;
}

const QueueReport& trunk(const RunResult& r, std::uint32_t queue) {
  return *std::ranges::find_if(r.switches.queues, [queue](const QueueReport& q) {
    return q.switch_name == "left" && q.port_name == "trunk" && q.queue == queue;
  });
}

std::uint64_t drops(const QueueReport& q, TrafficClass c) {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : q.drops[c]) sum += n;
  return sum;
}

double slowest_ms(const RunResult& r) {
  std::int64_t slowest = 0;
  for (const auto& b : r.traffic.bursts)
    slowest = std::max(slowest, static_cast<std::int64_t>(b.delivered_ns - b.first_sent_ns));
  return static_cast<double>(slowest) * 1e-6;
}

double background_bytes(const RunResult& r) {
  std::uint64_t bytes = 0;
  for (const auto& bin : r.traffic.bins) bytes += bin.delivered_bytes[TrafficClass::kBackground];
  return static_cast<double>(bytes);
}

using SharedBufferEffect = RegulationFaults;

TEST_F(SharedBufferEffect, DrainedBackgroundLeavesRoomForAnIncast) {
  const Dumbbell d = incast();
  const auto play = [&](Subscription hears) {
    ImpairedWorld world(sharing(d, RegulationMode::kWindow, hears), d.traffic(), *pool_);
    return settle(world);
  };
  const RunResult alone = play(Subscription::kQueue), heard = play(Subscription::kPort);
  EXPECT_EQ(trunk(alone, 1).starts_armed, 0U);
  EXPECT_GT(drops(trunk(alone, 0), TrafficClass::kDdl), 10U) << "priority is no memory";
  EXPECT_EQ(trunk(heard, 1).starts_armed, d.workers * kFaultIterations);
  EXPECT_EQ(trunk(heard, 1).recovered_burst_end, d.workers * kFaultIterations);
  EXPECT_EQ(drops(trunk(heard, 0), TrafficClass::kDdl), 0U);
  // 121 kB take 5 ms at 200 Mbit/s; a window that restarts small takes another round trip.
  EXPECT_LT(slowest_ms(heard), 12);
  EXPECT_GT(slowest_ms(alone), 200) << "a time-out";
  EXPECT_GT(background_bytes(heard), 0.95 * background_bytes(alone));
}

// ACKs of STARTs may be lost, and STARTs: the switch then knows nothing, and nothing is worse.
TEST_F(SharedBufferEffect, WithoutItsStartsABurstFaresAsWithPriorityAlone) {
  const Dumbbell d = incast();
  const auto play = [&](Subscription hears, bool lost) {
    ImpairedWorld world(sharing(d, RegulationMode::kWindow, hears), d.traffic(), *pool_);
    for (std::uint32_t w = 0; w < d.workers && lost; ++w)
      world.from("w" + std::to_string(w)).set_rule([](const SeenPacket& p) {
        return Fate{.drop = p.flow.destination_port == udp_signal::kDefaultPort};
      });
    return settle(world);
  };
  const RunResult alone = play(Subscription::kQueue, true), heard = play(Subscription::kPort, true);
  EXPECT_EQ(trunk(heard, 1).starts_armed, 0U);
  EXPECT_NEAR(slowest_ms(heard), slowest_ms(alone), 0.25 * slowest_ms(alone));
}

// Every worker announces 200 bursts a second that never come, under the harsher rule.
TEST_F(SharedBufferEffect, FalseStartsTakeNoMoreThanTheBudget) {
  Dumbbell d = incast();
  const auto delivered = [&](double forged) {
    d.job.announce.faults.forged_per_second = forged;
    SwitchProcessConfig c =
        sharing(d, RegulationMode::kWindow, Subscription::kPort, WindowRule::kStrict);
    for (auto& port : c.switches[0].ports)
      for (auto& queue : port.queues) {
        queue.regulation.budget_share = queue.regulation.budget_queue_share.emplace(0.3);
        queue.regulation.budget_window = milliseconds(100);
      }
    ImpairedWorld world(c, d.traffic(), *pool_);
    EXPECT_TRUE(world.run_to_end(Time{} + std::chrono::seconds(5)));
    EXPECT_TRUE(world.ledger().balanced());
    const RunResult r = world.result();
    if (forged > 0) {
      EXPECT_GT(trunk(r, 1).starts_armed, 20U) << "they are believed";
      EXPECT_GT(trunk(r, 1).starts_refused_budget + trunk(r, 1).budget_exhausted, 20U);
      EXPECT_LE(static_cast<double>(trunk(r, 1).regulated_ns),
                0.3 * static_cast<double>(r.switches.end_ns) + 30e6);
    }
    return background_bytes(r);
  };
  // Held at the floor for 0.3 of the time, and a round trip or two until it is back.
  EXPECT_GT(delivered(200), 0.55 * delivered(0));
}

}  // namespace
}  // namespace outrider::shared_buffer_effect_test
