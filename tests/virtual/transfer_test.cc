// Goal: with [[transfer]] between emulated hosts every byte arrives in order, whichever end
// opens the connection, and each failure is named. Method: a dumbbell in virtual time, with
// losses and with ends that do not answer.
#include <gtest/gtest.h>

#include "tests/support/simulation.h"

namespace outrider::transfer_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

GeneratorConfig traffic_of(const Dumbbell& d) {
  GeneratorConfig c = d.traffic();
  c.jobs.clear();
  c.long_flows.clear();
  return c;
}

TransferConfig transfer(const GeneratorConfig& c, const std::string& name, Opener opener) {
  return {.name = name,
          .from = c.hosts.front().name,
          .to = c.hosts.back().name,
          .bytes = 300'000,
          .count = 3,
          .transport = c.transports.front().name,
          .opener = opener,
          .timeout = 5s};
}

TEST(Transfers, ArriveOneAfterAnotherWhoeverOpensAndWhateverIsLost) {
  for (const Opener opener : {Opener::kSender, Opener::kReceiver}) {
    for (const double loss : {0.0, 0.02}) {
      const Dumbbell d;
      GeneratorConfig c = traffic_of(d);
      c.transfers = {transfer(c, "t", opener)};
      const Mempool pool = make_test_pool();
      ImpairedSimulation simulation(d.switches(), c, *pool);
      if (loss != 0) simulation.impair_all({.loss = loss}, 7);
      ASSERT_TRUE(simulation.run_to_end(Time{60s}));
      const auto r = simulation.result().traffic;
      ASSERT_EQ(r.transfers.size(), 3U);
      std::uint64_t retransmitted = 0;
      std::int64_t last_end = -1;
      for (const auto& t : r.transfers) {
        EXPECT_EQ(t.outcome, "completed");
        EXPECT_EQ(t.delivered, 300'000U);
        EXPECT_GE(t.opened_ns, last_end);
        EXPECT_LT(t.opened_ns, t.established_ns);
        EXPECT_LT(t.established_ns, t.ended_ns);
        last_end = t.ended_ns;
        retransmitted += t.retransmitted;
      }
      EXPECT_EQ(retransmitted != 0, loss != 0);
      EXPECT_TRUE(r.jobs_finished);
    }
  }
}

// A host outside is known by its address. Here it is one of the process, by another table; a third
// host connects to the same port before it.
TEST(Transfers, AStrangerTakesNoPlace) {
  for (const Opener opener : {Opener::kSender, Opener::kReceiver}) {
    const Dumbbell d;
    GeneratorConfig c = traffic_of(d);
    const HostConfig &near = c.hosts.front(), &other = c.hosts[1], &far = c.hosts.back();
    TransferConfig opened = transfer(c, "opened", opener), awaited = transfer(c, "awaited", opener);
    opened.start = 100ms;
    TransferConfig strange = opened;
    strange.name = "strange";
    strange.start = 0ms;
    strange.count = 1;
    if (opener == Opener::kSender) {
      strange.from = other.name;
      opened.to = strange.to = far.address;
      awaited.from = near.address;
    } else {
      strange.to = other.name;
      opened.to = near.name;
      opened.from = strange.from = far.address;
      awaited.from = far.name;
      awaited.to = near.address;
    }
    c.transfers = {opened, awaited, strange};
    const Mempool pool = make_test_pool();
    ImpairedSimulation simulation(d.switches(), c, *pool);
    ASSERT_TRUE(simulation.run_to_end(Time{60s}));
    const auto r = simulation.result().traffic;
    ASSERT_EQ(r.transfers.size(), 7U);
    for (const auto& t : r.transfers) {
      EXPECT_EQ(t.outcome, t.name == "strange" ? "refused" : "completed") << t.name;
      EXPECT_EQ(t.delivered, t.name == "strange" ? 0U : 300'000U) << t.name;
    }
    EXPECT_EQ(r.drops[DropReason::kNoConnection], 1U) << "the stranger's SYN";
  }
}

TEST(Transfers, NameTheirBadEnds) {
  const Dumbbell d;
  GeneratorConfig c = traffic_of(d);
  // Two transfers that do not match: the second does not wait for what the first sends.
  TransferConfig refused = transfer(c, "refused", Opener::kSender);
  refused.to = "198.18.99.99";  // no route
  refused.count = 1;
  TransferConfig unheard = transfer(c, "unheard", Opener::kSender);
  unheard.from = "198.18.99.99";
  unheard.tcp_port = 1234;
  unheard.count = 2;
  c.transfers = {refused, unheard};
  const Mempool pool = make_test_pool();
  ImpairedSimulation simulation(d.switches(), c, *pool);
  ASSERT_TRUE(simulation.run_to_end(Time{60s}));
  const auto r = simulation.result().traffic;
  ASSERT_EQ(r.transfers.size(), 3U);
  for (const auto& t : r.transfers) {
    EXPECT_EQ(t.outcome, "timed_out");
    EXPECT_EQ(t.delivered, 0U);
    EXPECT_EQ(t.established_ns, -1);
    EXPECT_GE(t.ended_ns, 5'000'000'000);
    EXPECT_LE(t.ended_ns, 6'300'000'000) << "within a quarter of the timeout";
  }
}

}  // namespace
}  // namespace outrider::transfer_test
