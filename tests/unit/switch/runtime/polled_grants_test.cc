// Goal: in a poll loop, answers pass by time alone, as they do in an event loop. Method: the worker
// of a DirectSwitch polls empty rings at literal instants.
#include <gtest/gtest.h>

#include "tests/unit/switch/runtime/lcores_bench.h"

namespace outrider::polled_grants_test {
using namespace sw;
namespace {

constexpr std::uint32_t kWorkers = 0, kServer = 2;  // ports
constexpr std::uint32_t kFirst = 1000;              // sequence number of a burst's first byte
constexpr std::uint32_t kBytes = 4000;
constexpr Duration kIdle = 3ms;

/// Returns a switch whose port to the server grants one burst at a time.
SwitchProcessConfig granting() {
  SwitchProcessConfig c = four_ports();
  SwitchConfig& sw = c.switches[0];
  sw.signals.accept_tos = true;
  sw.signals.accept_from = {"10.0.0.0/16"};
  sw.signals.burst_sizes = {{.destinations = {"10.0.2.0/24"}, .bytes = kBytes}};
  for (auto& port : sw.ports) port.drain_rate = BitRate{1'000'000'000};
  RegulationPolicy& policy = sw.ports[kServer].regulation;
  policy.mode = RegulationMode::kOff;
  policy.expiry = 50ms;
  policy.grant = {
      .order = GrantOrder::kFirst, .budget_bytes = kBytes, .overlap = 0ns, .idle = kIdle};
  return c;
}

FlowKey flow(std::uint32_t worker) {
  return {0x0A000001 + worker, 0x0A000201, static_cast<std::uint16_t>(40'000 + worker), 5000};
}

struct Bench : LcoresBench {
  Bench() : LcoresBench(granting(), 1) {}

  /// Announces a burst, and answers it.
  void ask(std::uint32_t worker) {
    arrive(kWorkers, {.flow = flow(worker), .tos = 0x84, .sequence = kFirst, .tcp_flags = 0});
    pass(10us);
    arrive(
        kServer,
        {.flow = flow(worker).reversed(), .tos = ack_tos(5), .sequence = kFirst, .tcp_flags = 0});
    pass(10us);
  }
  /// Polls every microsecond, and takes what leaves.
  void pass(Duration time) {
    for (Duration left = time; left > 0ns; left -= 1us) {
      poll();
      collect([this](const Arrival& a) {
        if (a.port == kWorkers)
          answered.push_back(a.flow.destination_address - flow(0).source_address);
      });
    }
  }
  [[nodiscard]] QueueReport server() const { return report().queues[kServer]; }

  std::vector<std::uint32_t> answered;
};

using Workers = std::vector<std::uint32_t>;

TEST(PolledGrants, TimeAloneLetsAnswersPass) {
  Bench bench;
  bench.ask(0);
  bench.ask(1);
  EXPECT_EQ(bench.answered, Workers{0});
  EXPECT_EQ(bench.server().held_answers, 1U);
  EXPECT_EQ(bench.report().resident, 1U);
  EXPECT_TRUE(bench.report().ledger_balanced);
  bench.pass(kIdle - 40us);
  EXPECT_EQ(bench.answered, Workers{0}) << "the first may still send";
  bench.pass(40us);
  EXPECT_EQ(bench.answered, (Workers{0, 1})) << "no packet came for `idle`";
  EXPECT_EQ(bench.server().grant.lapsed, 1U);
  EXPECT_EQ(bench.report().resident, 0U);
  EXPECT_EQ(bench.report().transmitted, bench.arrived());
  EXPECT_TRUE(bench.report().ledger_balanced);
}

// A burst that has come, but waits in the queue, takes room until it has left.
TEST(PolledGrants, ADrainingQueueLetsAnswersPass) {
  Bench bench;
  bench.ask(0);
  bench.ask(1);
  for (std::uint32_t at = 0; at < kBytes; at += 1000)
    bench.arrive(kWorkers, {.flow = flow(0), .sequence = kFirst + at, .payload_bytes = 1000});
  bench.pass(9us);  // of 34 us that the link takes
  EXPECT_EQ(bench.server().granted_bytes, 0U) << "all has come";
  EXPECT_EQ(bench.answered, Workers{0});
  bench.pass(40us);
  EXPECT_EQ(bench.answered, (Workers{0, 1}));
  EXPECT_EQ(bench.server().grant.lapsed, 0U);
}

}  // namespace
}  // namespace outrider::polled_grants_test
