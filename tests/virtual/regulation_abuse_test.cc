// Goal: regulation copes with what other hosts send: marks, DSCP, floods of signals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/support/simulation.h"
#include "tests/virtual/regulation_faults.h"

namespace outrider::regulation_abuse_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

// -- Mistakes seen in re-implementations

// Checks ECN at the receivers: Not-ECT packets stay Not-ECT, the checksum is right after two
// changes of the TTL, and a signal is never changed.
TEST_F(RegulationFaults, NeverMarksWhatIsNotEctAndKeepsChecksums) {
  Dumbbell d = regulated();
  GeneratorConfig traffic = d.traffic();
  TcpConfig plain = d.background_tcp;
  plain.ecn = false;
  plain.control.controller = Controller::kReno;
  traffic.transports.push_back({"plain", plain});
  LongFlowsConfig not_ect = traffic.long_flows[0];
  not_ect.name = "plain";
  not_ect.transport = "plain";
  not_ect.from = {"b0"};
  not_ect.to = {"c0"};
  not_ect.tcp_port = 30000;
  traffic.long_flows.push_back(not_ect);
  ImpairedSimulation simulation(d.switches(), traffic, *pool_);
  std::uint64_t ce = 0, plain_seen = 0, signals = 0, wrong = 0;
  const auto watch = [&](const SeenPacket& p) {
    const Ecn ecn = ecn_of(p.tos);
    if (p.flow.destination_port >= 30000 && p.flow.destination_port < 30100) {
      ++plain_seen;
      wrong += ecn != Ecn::kNotEct;
    } else if (p.is_start() || p.is_start_ack()) {
      ++signals;
      wrong += ecn != Ecn::kNotEct;
    } else {
      ce += ecn == Ecn::kCe;
    }
    wrong += !p.checksum_valid || p.ttl != 62;
    return Fate{};
  };
  for (const char* host : {"c0", "c1", "c2", "s0", "w0"}) simulation.to(host).set_rule(watch);
  const RunResult r = settle(simulation);
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(ce, 100U);
  EXPECT_GT(plain_seen, 1000U);
  EXPECT_EQ(signals, 2 * kFaultIterations);
  EXPECT_EQ(r.traffic.drops[DropReason::kBadChecksum], 0U);
}

// CE set by another switch stays CE and is not counted as a mark of this one.
TEST_F(RegulationFaults, CeFromElsewhereStaysCe) {
  Dumbbell d = regulated();
  d.background_flows = 1;
  d.job.burst_bytes = 10'000;
  ImpairedSimulation simulation(d, *pool_);
  simulation.from("b0").set_rule(
      [](const SeenPacket& p) { return Fate{.set_ce = p.payload_bytes > 0}; });
  std::uint64_t data = 0, ce = 0;
  simulation.to("c0").set_rule([&](const SeenPacket& p) {
    data += p.payload_bytes > 0;
    ce += p.payload_bytes > 0 && ecn_of(p.tos) == Ecn::kCe;
    return Fate{};
  });
  const RunResult r = settle(simulation);
  EXPECT_GT(data, 100U);
  EXPECT_EQ(ce, data);
  EXPECT_EQ(bottleneck_of(r).marks[TrafficClass::kBackground][0], 0U);
}

// At every switch a START regulates only the queue through which the burst will leave.
TEST_F(RegulationFaults, StartArmsTheEgressQueueAndNoOther) {
  Dumbbell d = regulated();
  SwitchProcessConfig switches = d.switches();
  for (auto& sw : switches.switches)
    for (auto& port : sw.ports) port.regulation = d.bottleneck_port.regulation;
  ImpairedSimulation simulation(switches, d.traffic(), *pool_);
  const RunResult r = settle(simulation);
  for (const auto& q : r.switches.queues) {
    const std::string name = q.switch_name + "." + q.port_name;
    const bool on_path = name == "left.trunk" || name == "right.s0";
    EXPECT_EQ(q.starts_armed, on_path ? kFaultIterations : 0U) << name;
  }
}

// Background that writes DSCP 34 (START with h = 10 in the TOS form) is no signal, with payload or
// in an acknowledgment, whether its prefix is listed or not.
TEST_F(RegulationFaults, DscpOfOthersArmsNothing) {
  const std::uint8_t dscp = 0x88;
  for (const bool listed : {false, true}) {
    Dumbbell d = regulated();
    SwitchProcessConfig switches = d.switches();
    for (auto& sw : switches.switches)
      if (!listed) sw.signals.accept_from = {"10.0.1.0/24", "10.0.3.0/24"};
    ImpairedSimulation simulation(switches, d.traffic(), *pool_);
    std::uint64_t written = 0;
    const auto write = [&written](const SeenPacket& p) {
      ++written;
      return Fate{.tos = static_cast<std::uint8_t>(dscp | (p.tos & kEcnMask))};
    };
    simulation.from("b0").set_rule(write);
    simulation.from("c0").set_rule(write);  // acknowledges
    const RunResult r = settle(simulation);
    EXPECT_GT(written, 1000U);
    EXPECT_EQ(bottleneck_of(r).starts_armed, kFaultIterations) << "the workers' own";
    EXPECT_EQ(r.switches.signals_not_accepted, 0U);
    EXPECT_GT(r.traffic.flows.back().delivered_bytes, 1'000'000U) << "and reaches its connection";
  }
}

// The source's token bucket limits a flood of STARTs. The rest is forwarded like other
// packets.
TEST_F(RegulationFaults, FloodOfSignalsIsCut) {
  ImpairedSimulation simulation(regulated(), *pool_);
  simulation.from("w0").set_rule(
      [](const SeenPacket& p) { return Fate{.copies = p.is_start() ? 199U : 0U}; });
  const RunResult r = settle(simulation);
  EXPECT_EQ(bottleneck_of(r).starts_armed, kFaultIterations);
  EXPECT_GE(r.switches.signals_over_rate, kFaultIterations * (200 - 64 - 20));
  EXPECT_EQ(r.traffic.ack_timeouts, 0U);
}

// A job whose workers ask for more than the queue's share of the window gets that share.
TEST_F(RegulationFaults, BudgetBoundsTheTimeRegulated) {
  Dumbbell d = regulated();
  d.job.announce.lead = milliseconds(90);
  auto& policy = d.bottleneck_port.regulation;
  policy.budget_share = policy.budget_queue_share.emplace(0.1);
  policy.budget_window = milliseconds(500);
  ImpairedSimulation simulation(d, *pool_);
  const RunResult r = settle(simulation);
  const QueueReport& q = bottleneck_of(r);
  EXPECT_GT(q.budget_exhausted, 0U);
  EXPECT_LE(Duration{q.regulated_ns}, 3 * milliseconds(50));
  EXPECT_TRUE(r.traffic.jobs_finished);
}

}  // namespace
}  // namespace outrider::regulation_abuse_test
