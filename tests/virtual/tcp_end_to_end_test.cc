// Goal: hosts and switches together deliver every byte exactly once and in
// order, whatever the wires do, for every controller and kind of connection.
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "tests/support/simulation.h"

namespace outrider::tcp_end_to_end_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Returns all controllers except the unresponsive one.
std::vector<Controller> responsive_controllers() {
  std::vector<Controller> kinds;
  for (const ControllerRow& row : kControllerRows)
    if (row.kind != Controller::kUnresponsive) kinds.push_back(row.kind);
  return kinds;
}
constexpr std::array kReuses{ConnectionReuse::kNew, ConnectionReuse::kIdleRestart,
                             ConnectionReuse::kKeep};

/// Returns two workers and a server that push and pull 40 kB each way, four times.
Dumbbell push_and_pull() {
  Dumbbell d;
  d.workers = 2;
  d.background_flows = 0;
  d.rtt = milliseconds(2);
  d.job.pull = true;
  d.job.burst_bytes = 40'000;
  d.job.iterations = 4;
  d.job.schedule = Schedule::kClosedLoop;
  d.job.first_due = {};
  d.job.period = {};
  d.job.compute = milliseconds(5);
  d.ddl_tcp.min_rto = milliseconds(10);
  d.ddl_tcp.delayed_ack = milliseconds(5);
  d.ddl_tcp.initial_rto = milliseconds(50);
  return d;
}

/// Expects that exactly the sent bytes of every flow were delivered.
void expect_exact(const Dumbbell& d, const RunResult& r) {
  EXPECT_TRUE(r.traffic.jobs_finished);
  ASSERT_EQ(r.traffic.flows.size(), 2U * d.workers);
  for (const auto& f : r.traffic.flows)
    EXPECT_EQ(f.delivered_bytes, *d.job.burst_bytes * d.job.iterations) << f.name;
  for (const auto& b : r.traffic.bursts) EXPECT_GE(b.delivered_ns, b.first_sent_ns);
}

TEST(TcpEndToEnd, DeliversExactlyOnceUnderLossAndReordering) {
  const Mempool pool = make_test_pool();
  const auto controllers = responsive_controllers();
  std::uint64_t retransmitted = 0, rtos = 0, recoveries = 0, dropped = 0, delayed = 0, copied = 0;
  for (std::uint64_t seed = 1; seed <= seeds(54, 1008); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dumbbell d = push_and_pull();
    d.seed = seed;
    d.ddl_tcp.control.controller = controllers[seed % controllers.size()];
    d.ddl_tcp.reuse = kReuses[seed / controllers.size() % 3];
    d.ddl_tcp.sack = seed / controllers.size() % 4 != 0;  // NewReno otherwise
    d.ddl_tcp.ecn = row_of(d.ddl_tcp.control.controller).accurate_ecn_echo || seed / 9 % 2 == 0;
    ImpairedSimulation simulation(d, *pool);
    RandomStream rates(seed, 0, RandomPurpose::kTest);
    simulation.impair_all({.loss = 0.05 * rates.uniform(),
                           .duplicate = 0.02 * rates.uniform(),
                           .reorder = 0.05 * rates.uniform(),
                           .late = milliseconds(1),
                           .ce = 0.02 * rates.uniform()},
                          seed);
    ASSERT_TRUE(simulation.run_to_end(Time{} + seconds(300)));
    simulation.run_until(simulation.now() + seconds(2));  // late copies and FINs change nothing
    const RunResult r = simulation.result();
    expect_exact(d, r);
    ASSERT_TRUE(simulation.ledger().balanced());
    for (const auto& f : r.traffic.flows) {
      retransmitted += f.retransmitted;
      rtos += f.rtos_data;
      recoveries += f.fast_recoveries;
    }
    for (const char* host : {"w0", "w1", "s0"}) {
      dropped += simulation.from(host).dropped() + simulation.to(host).dropped();
      delayed += simulation.from(host).delayed() + simulation.to(host).delayed();
      copied += simulation.from(host).copied() + simulation.to(host).copied();
    }
    simulation.flush();
    ASSERT_EQ(rte_mempool_in_use_count(pool.get()), 0U);
  }
  EXPECT_GT(dropped, 500U);
  EXPECT_GT(delayed, 500U);
  EXPECT_GT(copied, 200U);
  EXPECT_GT(retransmitted, 500U);
  EXPECT_GT(recoveries, 100U);
  EXPECT_GT(rtos, 10U);
}

// Loses each data segment in the middle of a burst in turn. One segment is sent again, in one
// recovery and without a time-out.
void expect_recovery_without_timeout(bool sack, std::span<const Controller> controllers) {
  const Mempool pool = make_test_pool();
  for (const auto controller : controllers) {
    for (std::uint32_t lost = 1; lost <= 40; lost += 3) {
      SCOPED_TRACE(lost);
      Dumbbell d = push_and_pull();
      d.workers = 1;
      d.job.pull = false;
      d.job.iterations = 1;
      d.job.burst_bytes = 70'000;  // 49 segments
      d.ddl_tcp.control.controller = controller;
      // Longer than any round trip here, or TIMELY's window is too small for three duplicates.
      d.ddl_tcp.control.timely_t_low = d.ddl_tcp.control.timely_t_high = seconds(1);
      d.ddl_tcp.sack = sack;
      ImpairedSimulation simulation(d, *pool);
      std::uint32_t data = 0;
      simulation.from("w0").set_rule([&data, lost](const SeenPacket& p) {
        data += p.payload_bytes > 0;
        return Fate{.drop = p.payload_bytes > 0 && data == lost};
      });
      ASSERT_TRUE(simulation.run_to_end(Time{} + seconds(5)));
      const FlowReport f = simulation.result().traffic.flows.at(0);
      EXPECT_EQ(simulation.from("w0").dropped(), 1U);
      EXPECT_EQ(f.delivered_bytes, 70'000U);
      EXPECT_EQ(f.retransmitted, 1U);
      EXPECT_EQ(f.fast_recoveries, 1U);
      EXPECT_EQ(f.rtos_data, 0U);
    }
  }
}

TEST(TcpEndToEnd, SingleLossRecoversBySackWithoutTimeout) {
  expect_recovery_without_timeout(true, responsive_controllers());
}

TEST(TcpEndToEnd, SingleLossRecoversWithoutSackAsWell) {
  expect_recovery_without_timeout(false, std::array{Controller::kReno});
}

// The control of the tests above: no segment follows the last one, so only a time-out helps.
TEST(TcpEndToEnd, LostTailNeedsTheTimeout) {
  const Mempool pool = make_test_pool();
  Dumbbell d = push_and_pull();
  d.workers = 1;
  d.job.pull = false;
  d.job.iterations = 1;
  d.job.burst_bytes = 70'000;
  ImpairedSimulation simulation(d, *pool);
  std::uint32_t data = 0;
  simulation.from("w0").set_rule([&data](const SeenPacket& p) {
    data += p.payload_bytes > 0;
    return Fate{.drop = p.payload_bytes > 0 && data == 49};
  });
  ASSERT_TRUE(simulation.run_to_end(Time{} + seconds(5)));
  const RunResult r = simulation.result();
  EXPECT_EQ(r.traffic.flows.at(0).rtos_data, 1U);
  EXPECT_EQ(r.traffic.bursts.at(0).rtos, 1U);
  EXPECT_EQ(r.traffic.flows.at(0).delivered_bytes, 70'000U);
}

// A segment that is late by less than three segments does not count as lost.
TEST(TcpEndToEnd, SlightReorderingIsNotTakenForLoss) {
  const Mempool pool = make_test_pool();
  Dumbbell d = push_and_pull();
  d.job.burst_bytes = 200'000;
  d.bottleneck_port.queue.limit_packets = 2000;
  ImpairedSimulation simulation(d, *pool);
  for (const char* host : {"w0", "w1"}) {
    simulation.from(host).set_rule([](const SeenPacket& p) {
      Fate fate;
      if (p.payload_bytes > 0 && p.number % 10 == 0) fate.delay = std::chrono::microseconds(20);
      return fate;  // a segment takes 12 us at the NIC, so at most two overtake it
    });
  }
  ASSERT_TRUE(simulation.run_to_end(Time{} + seconds(10)));
  const RunResult r = simulation.result();
  EXPECT_GT(simulation.from("w0").delayed(), 40U);
  EXPECT_EQ(sum(r.switches.drops), 0U);
  for (const auto& f : r.traffic.flows) EXPECT_EQ(f.retransmitted, 0U) << f.name;
}

}  // namespace
}  // namespace outrider::tcp_end_to_end_test
