// Goal: with [[transfer]] over RoCEv2 every byte arrives in order, between two hosts of the process
// and with a host outside, whose numbers are given; each failure is named. Method: a dumbbell in
// virtual time. A host that is "outside" is one that another transfer of the file has as its own
// end, by the mirrored numbers.
#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "common/config/addresses.h"
#include "tests/support/simulation.h"
#include "tests/virtual/roce_scene.h"
#include "trafficgen/report/report_text.h"

namespace outrider::roce_transfer_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBytes = 300'000;
constexpr std::uint32_t kCount = 3;

GeneratorConfig traffic_of(const Dumbbell& d,
                           const RoceConfig& roce = {.timeout = 2ms, .retry_limit = 100}) {
  GeneratorConfig c = roce_traffic(d, roce);
  c.jobs.clear();
  c.long_flows.clear();
  return c;
}

TransferConfig transfer(const GeneratorConfig& c, const std::string& name) {
  return {.name = name,
          .from = c.hosts.front().name,
          .to = c.hosts.back().name,
          .bytes = kBytes,
          .count = kCount,
          .transport = c.transports.front().name,
          .timeout = 5s};
}

/// Two tables for one connection: each has the other's end as a host outside. PSNs wrap.
std::pair<TransferConfig, TransferConfig> halves(const GeneratorConfig& c) {
  TransferConfig out = transfer(c, "out"), in = transfer(c, "in");
  out.to = c.hosts.back().address;
  in.from = c.hosts.front().address;
  out.queue_pair = {.own = 17,
                    .own_first_psn = 0xFFFFF0,
                    .peer = 4660,
                    .peer_first_psn = 5,
                    .peer_key = 4660,
                    .peer_address = 0};
  in.queue_pair = {.own = 4660, .own_first_psn = 5, .peer = 17, .peer_first_psn = 0xFFFFF0};
  return {out, in};
}

void expect_completed(const std::vector<TransferReport>& transfers) {
  std::int64_t last_end = -1;
  for (const auto& t : transfers) {
    EXPECT_EQ(t.outcome, "completed") << t.name << ' ' << t.index;
    EXPECT_EQ(t.delivered, kBytes);
    if (t.index == 0) last_end = -1;
    EXPECT_GE(t.opened_ns, last_end);
    EXPECT_LT(t.opened_ns, t.ended_ns);
    last_end = t.ended_ns;
  }
}

TEST(RoceTransfers, ArriveOneAfterAnotherWhateverIsLost) {
  for (const double loss : {0.0, 0.02}) {
    const Dumbbell d = roce_dumbbell(2, kBytes);
    GeneratorConfig c = traffic_of(d);
    c.transfers = {transfer(c, "t")};
    const Mempool pool = make_test_pool();
    ImpairedSimulation simulation(roce_switches(d), c, *pool);
    if (loss != 0) simulation.impair_all({.loss = loss}, 7);
    ASSERT_TRUE(simulation.run_to_end(Time{60s}));
    const auto r = simulation.result().traffic;
    ASSERT_EQ(r.transfers.size(), kCount);
    expect_completed(r.transfers);
    std::uint64_t retransmitted = 0;
    for (const auto& t : r.transfers) retransmitted += t.retransmitted;
    EXPECT_EQ(retransmitted, r.background_roce.retransmitted);
    EXPECT_EQ(retransmitted != 0, loss != 0);
    EXPECT_TRUE(r.jobs_finished && r.ledger_balanced);
    EXPECT_EQ(r.background_roce.queue_pairs, 1U);
  }
}

TEST(RoceTransfers, AHostOutsideIsKnownByItsNumbers) {
  for (const double loss : {0.0, 0.02}) {
    const Dumbbell d = roce_dumbbell(2, kBytes);
    GeneratorConfig c = traffic_of(d);
    const auto [out, in] = halves(c);
    c.transfers = {out, in};
    ASSERT_TRUE(validate(c).empty()) << format_issues("file", validate(c));
    const Mempool pool = make_test_pool();
    ImpairedSimulation simulation(roce_switches(d), c, *pool);
    if (loss != 0) simulation.impair_all({.loss = loss}, 7);
    ASSERT_TRUE(simulation.run_to_end(Time{60s}));
    const auto r = simulation.result().traffic;
    ASSERT_EQ(r.transfers.size(), 2 * kCount);
    expect_completed(r.transfers);
    EXPECT_EQ(r.background_roce.refused, 0U) << "keys and places in memory";
    EXPECT_TRUE(r.background_roce.balanced() && r.ledger_balanced);
    EXPECT_EQ(sum(r.drops), r.background_roce.bad_icrc) << "nothing for an unknown queue pair";
  }
}

TEST(RoceTransfers, NameTheirBadEnds) {
  const Dumbbell d = roce_dumbbell(2, kBytes);
  GeneratorConfig c = traffic_of(d, {.timeout = 1ms, .retry_limit = 3});
  const auto [out, in] = halves(c);
  // Nobody has the number: its retries run out. Nothing comes: it waits for its time-out.
  TransferConfig unheard = out, silent = in;
  unheard.queue_pair.peer = 99;
  silent.timeout = 40ms;
  c.transfers = {unheard, silent};
  const Mempool pool = make_test_pool();
  const RunResult run_of = run(roce_switches(d), c, *pool, Time{5s});
  const auto& r = run_of.traffic;
  ASSERT_EQ(r.transfers.size(), 2 * kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(r.transfers[i].outcome, "reset") << i << ", and those after it with the first";
    EXPECT_EQ(r.transfers[kCount + i].outcome, "timed_out") << i;
    EXPECT_EQ(r.transfers[i].delivered + r.transfers[kCount + i].delivered, 0U);
  }
  EXPECT_EQ(r.transfers[0].rtos_data, 4U);
  EXPECT_GE(r.transfers[kCount].ended_ns, 40'000'000);
  EXPECT_LE(r.transfers[kCount].ended_ns, 50'000'000) << "a quarter late at most";
  EXPECT_TRUE(r.ledger_balanced);
}

// A key that is not the memory's is refused, and the sender gives up.
TEST(RoceTransfers, AWrongKeyIsRefused) {
  const Dumbbell d = roce_dumbbell(2, kBytes);
  GeneratorConfig c = traffic_of(d, {.timeout = 1ms, .retry_limit = 3});
  auto [out, in] = halves(c);
  out.queue_pair.peer_key = 4661;
  in.timeout = 100ms;
  c.transfers = {out, in};
  const Mempool pool = make_test_pool();
  const RunResult run_of = run(roce_switches(d), c, *pool, Time{5s});
  EXPECT_EQ(run_of.traffic.transfers.front().outcome, "reset");
  EXPECT_EQ(run_of.traffic.transfers.back().outcome, "timed_out");
  EXPECT_GT(run_of.traffic.background_roce.refused, 0U);
}

// A peer that has no such memory says so; it will say no other. No responder here sends these NAKs,
// so the wire writes them in place of an acknowledgment.
TEST(RoceTransfers, ANakOfAnErrorEndsThemAtOnceAndIsNamed) {
  struct Row {
    std::uint8_t syndrome;
    const char *outcome, *text;
    std::uint64_t RoceCounters::*ended;
  };
  constexpr Row kRows[] = {{roce::kNakInvalidRequestSyndrome, "invalid_request", "invalid request",
                            &RoceCounters::ended_invalid_request},
                           {roce::kNakRemoteAccessSyndrome, "remote_access_error",
                            "remote access error", &RoceCounters::ended_remote_access},
                           {roce::kNakRemoteOperationSyndrome, "remote_operational_error",
                            "remote operational error", &RoceCounters::ended_remote_operation}};
  const Dumbbell d = roce_dumbbell(2, kBytes);
  GeneratorConfig c = traffic_of(d);
  c.transfers = {transfer(c, "t")};
  const Mempool pool = make_test_pool();
  for (const Row& row : kRows) {
    ImpairedSimulation simulation(roce_switches(d), c, *pool);
    simulation.to(c.hosts.front().name).set_rule([&row](const SeenPacket&) {
      return Fate{.syndrome = row.syndrome};
    });
    ASSERT_TRUE(simulation.run_to_end(Time{10s})) << row.text;
    const auto r = simulation.result().traffic;
    ASSERT_EQ(r.transfers.size(), kCount);
    for (const auto& t : r.transfers) {
      EXPECT_EQ(t.outcome, row.outcome) << t.index;
      EXPECT_EQ(t.rtos_data, 0U);
      EXPECT_LT(t.ended_ns, 2'000'000) << "before a time-out of the queue pair";
    }
    EXPECT_EQ(r.background_roce.*row.ended, 1U);
    EXPECT_TRUE(r.background_roce.balanced() && r.ledger_balanced);
    std::ostringstream text;
    print_summary(text, r);
    EXPECT_NE(text.str().find(std::string("that gave up: 1, ") + row.text), std::string::npos)
        << text.str();
  }
}

}  // namespace
}  // namespace outrider::roce_transfer_test
