// Goal: closed-loop requests load a path according to their think time, and survive broken
// connections. Method: the dumbbell without other traffic.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulation.h"

namespace outrider::request_flows_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

struct Requests {
  Requests() {
    d.background_flows = 0;
    d.job.first_due = 1h;  // no burst within the tests
    flows = {.name = "ask", .from = {"w0"}, .to = {"s0"}, .transport = "background"};
    flows.think_time = ThinkTime::kFixed;
  }
  [[nodiscard]] GeneratorConfig traffic() const {
    GeneratorConfig g = d.traffic();
    g.transports.back().tcp = d.background_tcp;
    g.requests = {flows};
    return g;
  }
  Dumbbell d;
  RequestFlowsConfig flows;
};

RequestReport only(const ImpairedSimulation& simulation) {
  const RunResult result = simulation.result();
  EXPECT_EQ(result.traffic.requests.size(), 1U);
  EXPECT_TRUE(result.traffic.ledger_balanced);
  const RequestReport& r = result.traffic.requests.front();
  EXPECT_EQ(r.opened, r.open + r.closed);
  return r;
}

TEST(RequestFlows, ThinkTimeAndRoundTripMakeTheLoad) {
  Requests setup;
  setup.flows.connections = 10;
  setup.flows.think = 10ms;
  const auto pool = make_test_pool();
  ImpairedSimulation simulation(setup.d.switches(), setup.traffic(), *pool);
  simulation.run_until(Time{5s});
  const RequestReport r = only(simulation);
  EXPECT_EQ(r.open, 10U);
  EXPECT_EQ(r.closed, 0U);
  ASSERT_GT(r.completed, 0U);
  EXPECT_GE(r.latency_ns.min(), 3'500'000U) << "a round trip";
  EXPECT_LE(r.latency_ns.max(), 4'500'000U) << "and little more: the path is empty";
  const double period = 10e6 + r.latency_ns.mean();
  EXPECT_NEAR(static_cast<double>(r.completed), 10 * 5e9 / period, 10.0 * 2);
}

TEST(RequestFlows, KeepsRawLatenciesOnRequest) {
  Requests setup;
  setup.flows.connections = 3;
  setup.flows.think = 10ms;
  const auto pool = make_test_pool();
  for (const std::uint32_t wanted : {0U, 50U, 1'000'000U}) {
    setup.flows.latency_samples = wanted;
    ImpairedSimulation simulation(setup.d.switches(), setup.traffic(), *pool);
    simulation.run_until(Time{1s});
    const RequestReport r = only(simulation);
    ASSERT_GT(r.completed, 100U);
    EXPECT_EQ(r.samples.size(), std::min<std::uint64_t>(wanted, r.completed));
    EXPECT_EQ(r.samples_not_kept, wanted == 0 ? 0 : r.completed - r.samples.size());
    Histogram again;
    for (const auto& sample : r.samples) again.record(sample.latency_ns);
    if (wanted > r.completed) {
      EXPECT_EQ(again, r.latency_ns);
    }
    EXPECT_TRUE(std::ranges::is_sorted(r.samples, {}, &RequestSample::answered_ns));
  }
}

TEST(RequestFlows, ExponentialThinkTimeHasTheSameMeanAndAnotherSpread) {
  Requests setup;
  setup.flows.connections = 50;
  setup.flows.think = 10ms;
  setup.flows.think_time = ThinkTime::kExponential;
  const auto pool = make_test_pool();
  ImpairedSimulation simulation(setup.d.switches(), setup.traffic(), *pool);
  simulation.run_until(Time{5s});
  const RequestReport r = only(simulation);
  const double period = 10e6 + r.latency_ns.mean();
  // The mean of 18,000 exponential draws is within 3 % at four standard errors.
  EXPECT_NEAR(static_cast<double>(r.completed), 50 * 5e9 / period, 0.03 * 50 * 5e9 / period);
  EXPECT_GT(r.completed, 10'000U);
}

TEST(RequestFlows, OpensEvenlyAndStaysOpenWhenIdle) {
  Requests setup;
  setup.flows.connections = 1000;
  setup.flows.think = 1h;
  setup.flows.open_over = 1s;
  const auto pool = make_test_pool();
  ImpairedSimulation simulation(setup.d.switches(), setup.traffic(), *pool);
  simulation.run_until(Time{500ms});
  EXPECT_NEAR(static_cast<double>(only(simulation).open), 500, 5);
  simulation.run_until(Time{1100ms});
  EXPECT_EQ(only(simulation).completed, 1000U);
  const std::uint64_t sent = simulation.result().traffic.sent;
  simulation.run_until(Time{60s});
  EXPECT_EQ(only(simulation).open, 1000U);
  EXPECT_EQ(simulation.result().traffic.sent, sent) << "idle connections send nothing";
}

TEST(RequestFlows, ABrokenConnectionIsOpenedAgain) {
  Requests setup;
  setup.flows.connections = 4;
  setup.flows.think = 10ms;
  setup.d.background_tcp.min_rto = 20ms;
  setup.d.background_tcp.delayed_ack = 10ms;
  setup.d.background_tcp.initial_rto = 20ms;
  setup.d.background_tcp.max_rto = 20ms;
  const auto pool = make_test_pool();
  ImpairedSimulation simulation(setup.d.switches(), setup.traffic(), *pool);
  simulation.run_until(Time{1s});
  const RequestReport before = only(simulation);
  EXPECT_EQ(before.open, 4U);
  simulation.to("s0").set_rule([](const SeenPacket&) { return Fate{.drop = true}; });
  simulation.run_until(Time{2s});
  EXPECT_EQ(only(simulation).closed, 4U) << "gave up after 15 time-outs of 20 ms";
  simulation.to("s0").set_rule({});
  simulation.run_until(Time{4s});
  const RequestReport after = only(simulation);
  EXPECT_EQ(after.open, 4U);
  EXPECT_GT(after.completed, before.completed + 100);
}

}  // namespace
}  // namespace outrider::request_flows_test
