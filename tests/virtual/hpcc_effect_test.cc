// Goal: HPCC keeps the queue nearly empty and the link nearly full, with equal shares, and a flow
// that joins gets its share; DCQCN in the same scene lets packets wait.
// Method: long flows over RoCEv2 in virtual time, with switches that write telemetry; one seed, or
// three with OUTRIDER_FULL=1. OUTRIDER_FIGURES=1 prints the figures of docs/rxe.md.
// Source: Li et al., SIGCOMM 2019, sections 3 and 5.
#include "tests/virtual/roce_long_flows.h"

namespace outrider::hpcc_effect_test {
using namespace roce_long_flows;
namespace {

RoceConfig hpcc() {
  RoceConfig roce{.controller = RoceController::kHpcc};
  roce.hpcc.base_rtt = 25us;
  return roce;
}

/// As HPCC's simulator has it at 40 Gbit/s: in proportion to 100 and 400 KB at 25 Gbit/s.
constexpr RedConfig kRed{.kmin_packets = 148, .kmax_packets = 591, .pmax = 0.2};

// Section 5: queues stay near zero at a use of eta, whatever the number of flows.
TEST(HpccEffect, TheQueueIsNearlyEmptyAndTheLinkNearlyFull) {
  for (const std::uint32_t flows : {2U, 8U, 32U}) {
    const Measured m = mean_of("HPCC", {.flows = flows, .roce = hpcc()}, 50ms, 100ms);
    const Measured dcqcn = mean_of("DCQCN", {.flows = flows, .red = kRed}, 50ms, 100ms);
    EXPECT_GT(m.jain, 0.95) << flows;
    EXPECT_GT(m.use, 0.9) << flows;
    EXPECT_LT(m.use, 0.99) << flows << ": there is headroom";
    EXPECT_LT(m.wait_us, 1) << flows << ": four packets take so long";
    EXPECT_GT(dcqcn.wait_us, 10 * m.wait_us) << flows;
    EXPECT_EQ(m.retransmitted, 0U);
  }
}

// All begin at the NIC's rate with a window of 125 KB; the queue of 63 windows is gone as soon as
// the link has sent it, and does not come back.
TEST(HpccEffect, AnIncastLeavesNoStandingQueue) {
  const LongFlows incast{.flows = 64, .roce = hpcc()};
  const Measured m = mean_of("HPCC, incast", incast, 20ms, 40ms);
  EXPECT_GT(m.use, 0.9);
  EXPECT_LT(m.wait_us, 2);
  EXPECT_GT(m.jain, 0.9) << "shares of so small windows converge slowly";
}

/// Returns the shares of the bottleneck between two instants, by flow.
std::vector<double> shares(Simulation& simulation, Duration from, Duration to, BitRate rate) {
  simulation.run_until(Time{} + from);
  const RunResult before = simulation.result();
  simulation.run_until(Time{} + to);
  const RunResult after = simulation.result();
  std::vector<double> shares;
  for (std::size_t i = 0; i < after.traffic.flows.size(); ++i) {
    const auto bytes = static_cast<double>(after.traffic.flows[i].delivered_bytes -
                                           before.traffic.flows[i].delivered_bytes);
    const double wire_bits = bytes * 8 * wire_bytes_of(hpcc()) / path_mtu_of(1500);
    shares.push_back(wire_bits / seconds(to - from) / static_cast<double>(rate.bits_per_second));
  }
  return shares;
}

// Figure 9 (a) and 13 of the paper: a second flow takes half of what the first one had.
TEST(HpccEffect, AFlowThatJoinsGetsItsShare) {
  const LongFlows two{.flows = 2, .roce = hpcc()};
  const Mempool pool = make_test_pool(60'000);
  Dumbbell d = dumbbell_of(two, 1);
  d.host_rate = BitRate{100'000'000'000};  // the NICs are no bottleneck
  GeneratorConfig g = long_flows_of(d, two.roce);
  LongFlowsConfig& first = g.long_flows[0];
  ASSERT_EQ(first.from.size(), 2U);
  first.start_spread = {};
  LongFlowsConfig second = first;
  second.name = "second";
  first.from.pop_back(), first.to.pop_back();
  second.from.erase(second.from.begin()), second.to.erase(second.to.begin());
  second.start = 20ms;
  g.long_flows.push_back(second);
  Simulation simulation(switches_of(d, two.roce), g, *pool);
  const std::vector<double> alone = shares(simulation, 10ms, 20ms, two.rate);
  EXPECT_GT(alone.at(0), 0.9);
  const std::vector<double> both = shares(simulation, 60ms, 70ms, two.rate);
  ASSERT_EQ(both.size(), 2U);
  if (std::getenv("OUTRIDER_FIGURES") != nullptr)
    std::cout << "HPCC, alone " << alone[0] << ", then " << both[0] << " and " << both[1] << '\n';
  EXPECT_NEAR(both[0], both[1], 0.05);
  EXPECT_GT(both[0] + both[1], 0.9);
}

// A switch that writes nothing leaves the controller at its first window.
TEST(HpccEffect, WithoutTelemetryNothingIsControlled) {
  const LongFlows two{.flows = 2, .roce = hpcc()};
  const Mempool pool = make_test_pool(60'000);
  const Dumbbell d = dumbbell_of(two, 1);
  SwitchProcessConfig c = switches_of(d, two.roce);
  for (auto& sw : c.switches) sw.hop_records.roce = false;
  Simulation simulation(c, long_flows_of(d, two.roce), *pool);
  simulation.run_until(Time{} + 10ms);
  const RunResult r = simulation.result();
  std::uint32_t most = 0;
  for (const auto& bin : bottleneck_of(r).bins) most = std::max(most, bin.max_packets);
  EXPECT_GT(most, 50U) << "two windows of 107 packets, of which the path holds one";
  EXPECT_EQ(bottleneck_of(r).hop_records, 0U);
}

}  // namespace
}  // namespace outrider::hpcc_effect_test
