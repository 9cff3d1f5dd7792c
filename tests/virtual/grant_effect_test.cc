// Goal: workers whose answers are held send their bursts in turn: no time-outs at incast, and every
// job ends, whatever is lost, repeated, late or dead, with switches in a row. Method: whole jobs in
// virtual time, with impairments on the hosts' wires.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulation.h"
#include "tests/virtual/regulation_faults.h"

namespace outrider::grant_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kWorkers = 24;

/// Returns 24 workers that push 100 kB each at once into a queue of 60 packets.
Dumbbell incast(GrantOrder order) {
  Dumbbell d;
  d.workers = kWorkers;
  d.background_flows = 0;
  d.job.burst_bytes = 100'000;
  d.job.iterations = 3;
  d.job.first_due = milliseconds(100);
  d.job.period = seconds(2);
  d.job.announce.signal_form = SignalForm::kUdp;
  d.job.announce.ack_timeout = seconds(10);
  d.ddl_tcp.min_rto = milliseconds(200);
  d.bottleneck_port.regulation.mode = RegulationMode::kOff;
  d.bottleneck_port.regulation.expiry = milliseconds(100);
  d.bottleneck_port.regulation.idle_end = milliseconds(10);
  d.bottleneck_port.regulation.grant.order = order;
  d.bottleneck_port.regulation.grant.overlap = milliseconds(4);
  return d;
}

/// Returns the switches of `d`; with `in_a_row`, those of the second switch grant as well.
SwitchProcessConfig switches(const Dumbbell& d, bool in_a_row) {
  SwitchProcessConfig c = d.switches();
  for (auto& port : c.switches[1].ports)
    if (in_a_row) port.regulation = d.bottleneck_port.regulation;
  return c;
}

std::uint64_t timeouts(const RunResult& r) {
  std::uint64_t n = 0;
  for (const auto& b : r.traffic.bursts) n += b.rtos;
  return n;
}

double slowest_ms(const RunResult& r) {
  std::int64_t longest = 0;
  for (const auto& b : r.traffic.bursts) longest = std::max(longest, b.delivered_ns - b.due_ns);
  return static_cast<double>(longest) * 1e-6;
}

void expect_nothing_left(const RunResult& r) {
  for (const auto& q : r.switches.queues) {
    EXPECT_EQ(q.held_answers, 0U) << q.switch_name << '.' << q.port_name;
    EXPECT_EQ(q.announced_bursts, 0U) << q.switch_name << '.' << q.port_name;
    EXPECT_EQ(q.granted_bytes, 0U) << q.switch_name << '.' << q.port_name;
    const auto& n = q.grant;
    EXPECT_EQ(n.acks_held, n.granted + n.waited_out + n.went_ahead + n.acks_replaced);
    EXPECT_EQ(n.entered, n.complete + n.overstayed + n.no_answer + n.evicted + n.replaced);
  }
}

class GrantEffect : public RegulationFaults {
 protected:
  RunResult play(const Dumbbell& d, bool in_a_row = false) {
    ImpairedSimulation simulation(switches(d, in_a_row), d.traffic(), *pool_);
    const RunResult r = settle(simulation);
    expect_nothing_left(r);
    return r;
  }
  Mempool pool_ = make_test_pool(65'536);
};

TEST_F(GrantEffect, IncastHasNoTimeouts) {
  const RunResult off = play(incast(GrantOrder::kOff));
  EXPECT_GT(timeouts(off), kWorkers / 2) << "24 initial windows meet a queue of 60 packets";
  for (const auto order : {GrantOrder::kFirst, GrantOrder::kShortest, GrantOrder::kShare}) {
    const RunResult on = play(incast(order));
    EXPECT_EQ(timeouts(on), 0U);
    EXPECT_EQ(on.traffic.ack_timeouts, 0U);
    const double link_ms = kWorkers * 100'000 * 8.0 / 200'000;
    EXPECT_LT(slowest_ms(on), 1.5 * link_ms) << "the link is hardly idle";
    EXPECT_GT(bottleneck_of(on).grant.granted, kWorkers) << "most had to wait";
    EXPECT_EQ(bottleneck_of(on).grant.complete, 3 * kWorkers);
    EXPECT_EQ(bottleneck_of(on).grant.waited_out, 0U);
  }
}

TEST_F(GrantEffect, SwitchesInARowGrantInTurn) {
  const RunResult r = play(incast(GrantOrder::kFirst), true);
  EXPECT_EQ(timeouts(r), 0U);
  std::uint64_t granting = 0;
  for (const auto& q : r.switches.queues) granting += q.grant.complete > 0;
  EXPECT_GE(granting, 2U) << "the trunk, and the port to the server";
}

// Loss, copies and delays on all wires; START and ACK are lost as other packets are.
TEST_F(GrantEffect, EveryJobEndsUnderImpairments) {
  std::uint64_t repeated = 0, unasked = 0, lost = 0;
  for (std::uint64_t seed = 1; seed <= seeds(6, 60); ++seed) {
    SCOPED_TRACE(seed);
    Dumbbell d = incast(seed % 2 == 0 ? GrantOrder::kShortest : GrantOrder::kShare);
    d.seed = seed;
    d.job.announce.ack_timeout = milliseconds(150);
    d.bottleneck_port.regulation.grant.parts =
        seed % 3 == 0 ? GrantParts::kTogether : GrantParts::kAlone;
    ImpairedSimulation simulation(switches(d, seed % 4 < 2), d.traffic(), *pool_);
    simulation.impair_all(
        {.loss = 0.01, .duplicate = 0.01, .reorder = 0.02, .late = milliseconds(5)}, seed);
    EXPECT_TRUE(simulation.run_to_end(Time{} + seconds(120)));
    simulation.run_until(simulation.now() + seconds(61));  // no patience is longer
    const RunResult r = simulation.result();
    EXPECT_TRUE(simulation.ledger().balanced());
    EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced);
    expect_nothing_left(r);
    repeated += bottleneck_of(r).grant.repeated;
    unasked += bottleneck_of(r).grant.came_unasked + bottleneck_of(r).grant.went_ahead;
    lost += r.traffic.ack_timeouts;
  }
  EXPECT_GT(repeated, 0U);
  EXPECT_GT(unasked, 0U);
  EXPECT_GT(lost, 0U);
}

// A third of the workers announce bursts and are cut off as soon as they are answered.
TEST_F(GrantEffect, DeadWorkersHoldNobodyUp) {
  Dumbbell d = incast(GrantOrder::kFirst);
  d.job.iterations = 1;
  d.job.synchronisation = Synchronisation::kAsp;
  d.job.announce.signal_form = SignalForm::kTos;  // whose START is no payload
  d.job.pull = false;
  SwitchProcessConfig both = switches(d, true);
  for (SwitchConfig& one : both.switches)
    one.signals.burst_sizes = {{.destinations = {"10.0.3.0/24"}, .bytes = 100'000}};
  ImpairedSimulation simulation(both, d.traffic(), *pool_);
  std::vector<bool> dead(kWorkers);
  for (std::uint32_t w = 0; w < kWorkers; w += 3)
    simulation.from("w" + std::to_string(w)).set_rule([](const SeenPacket& p) {
      return Fate{.drop = p.payload_bytes > 0};
    });
  EXPECT_FALSE(simulation.run_to_end(Time{} + seconds(5)));
  const RunResult r = simulation.result();
  const GrantCounters& n = bottleneck_of(r).grant;
  EXPECT_EQ(n.complete, kWorkers - (kWorkers + 2) / 3);
  EXPECT_GE(n.lapsed, (kWorkers + 2) / 3);
  EXPECT_EQ(n.waited_out, 0U);
  double last = 0;
  for (const auto& b : r.traffic.bursts)
    if (b.delivered_ns != kNotYet_ns)
      last = std::max(last, static_cast<double>(b.delivered_ns - b.due_ns) * 1e-6);
  const double link_ms = kWorkers * 100'000 * 8.0 / 200'000;
  const double idle_ms = 10 + 60 * 1514 * 8.0 / 200'000;
  EXPECT_LT(last, 1.4 * link_ms + (kWorkers / 3.0) * idle_ms) << "each dead one costs `idle`";
}

// Announcements of nothing, at 200 a second and worker, for flows that send nothing.
TEST_F(GrantEffect, ForgedStartsStopNobody) {
  Dumbbell d = incast(GrantOrder::kShortest);
  d.job.announce.faults.forged_per_second = 200;
  const RunResult r = [&] {
    ImpairedSimulation simulation(switches(d, false), d.traffic(), *pool_);
    EXPECT_TRUE(simulation.run_to_end(Time{} + seconds(60)));
    EXPECT_TRUE(simulation.ledger().balanced());
    return simulation.result();
  }();
  EXPECT_GT(bottleneck_of(r).grant.entered, 1000U) << "they are believed";
  for (const auto& b : r.traffic.bursts) EXPECT_NE(b.delivered_ns, kNotYet_ns);
}

}  // namespace
}  // namespace outrider::grant_effect_test
