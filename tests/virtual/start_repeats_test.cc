// Goal: a worker whose START or answer is lost announces again, at growing distances and not for
// ever; its burst goes at once then, and is granted once. Method: two workers' bursts through a
// switch that grants one at a time, with single signals lost on either side of it.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/simulation.h"
#include "tests/virtual/regulation_faults.h"

namespace outrider::start_repeats_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kRepeatAfter = milliseconds(8);
constexpr std::uint64_t kBurstBytes = 300'000;

/// Returns two workers with one burst each, due at 100 ms. The link takes 12 ms for one.
Dumbbell two_bursts(SignalForm form) {
  Dumbbell d;
  d.workers = 2;
  d.background_flows = 0;
  d.job.burst_bytes = kBurstBytes;
  d.job.iterations = 1;
  d.job.first_due = milliseconds(100);
  d.job.announce.signal_form = form;
  d.job.announce.ack_timeout = seconds(2);
  d.job.announce.repeats = 4;
  d.job.announce.repeat_after = kRepeatAfter;
  d.bottleneck_port.regulation.mode = RegulationMode::kOff;
  d.bottleneck_port.regulation.expiry = milliseconds(300);
  d.bottleneck_port.regulation.idle_end = milliseconds(50);
  d.bottleneck_port.regulation.grant = {
      .order = GrantOrder::kFirst, .budget_bytes = kBurstBytes, .overlap = milliseconds(0)};
  return d;
}

SwitchProcessConfig switches(const Dumbbell& d) {
  SwitchProcessConfig c = d.switches();
  for (SwitchConfig& one : c.switches)
    one.signals.burst_sizes = {{.destinations = {"10.0.3.0/24"}, .bytes = kBurstBytes}};
  return c;
}

/// Returns a START's, or an answer's, fate on a wire.
template <class Lost>
Impairment::Rule rule(bool answers, Lost lost) {
  return [=, seen = 0U](const SeenPacket& p) mutable {
    if (answers ? !p.is_start_ack() : !p.is_start()) return Fate{};
    return Fate{.drop = lost(seen++)};
  };
}

void expect_each_granted_once(const RunResult& r) {
  const GrantCounters& n = bottleneck_of(r).grant;
  EXPECT_EQ(n.entered, 2U);
  EXPECT_EQ(n.acks_at_once + n.granted, 2U);
  EXPECT_EQ(n.complete, 2U);
  EXPECT_EQ(n.came_unasked + n.went_ahead + n.waited_out + n.no_answer, 0U);
  EXPECT_EQ(r.traffic.ack_timeouts, 0U);
  EXPECT_EQ(r.traffic.starts_sent, r.traffic.starts.sent());
}

double slowest_ms(const RunResult& r) {
  std::int64_t longest = 0;
  for (const auto& b : r.traffic.bursts) longest = std::max(longest, b.delivered_ns - b.due_ns);
  return static_cast<double>(longest) * 1e-6;
}

using StartRepeats = RegulationFaults;

// One START is lost on its way to the server, and another's answer on its way back.
TEST_F(StartRepeats, MakeUpForWhatIsLostBehindTheSwitch) {
  const Dumbbell d = two_bursts(SignalForm::kTos);
  ImpairedSimulation simulation(switches(d), d.traffic(), *pool_);
  const auto first = [](unsigned n) { return n == 0; };
  simulation.to("s0").set_rule(rule(false, first));
  simulation.from("s0").set_rule(rule(true, first));
  const RunResult r = settle(simulation);
  EXPECT_EQ(simulation.ledger().dropped_by_impairments, 2U);
  expect_each_granted_once(r);
  EXPECT_GE(r.traffic.starts.repeated, 2U);
  EXPECT_EQ(bottleneck_of(r).grant.repeated, r.traffic.starts.repeated) << "both were known there";
  EXPECT_LT(slowest_ms(r), 80) << "and not `ack_timeout`";
}

TEST_F(StartRepeats, MakeUpForAStartThatTheSwitchNeverHeard) {
  const Dumbbell d = two_bursts(SignalForm::kTos);
  ImpairedSimulation simulation(switches(d), d.traffic(), *pool_);
  simulation.from("w0").set_rule(rule(false, [](unsigned n) { return n < 2; }));
  const RunResult r = settle(simulation);
  expect_each_granted_once(r);
  EXPECT_GE(r.traffic.starts.repeated, 2U);
  EXPECT_LT(slowest_ms(r), 80);
}

// The first answer is lost behind the switch: its burst is granted, and takes room all the while.
TEST_F(StartRepeats, FetchAGrantThatWasLost) {
  const Dumbbell d = two_bursts(SignalForm::kTos);
  ImpairedSimulation simulation(switches(d), d.traffic(), *pool_);
  simulation.to("w0").set_rule(rule(true, [](unsigned n) { return n == 0; }));
  const RunResult r = settle(simulation);
  expect_each_granted_once(r);
  EXPECT_EQ(bottleneck_of(r).grant.lapsed, 0U) << "the worker asked again in time";
  EXPECT_LT(slowest_ms(r), 80);
}

TEST_F(StartRepeats, WithoutThemABurstWaitsForTheTimeout) {
  Dumbbell d = two_bursts(SignalForm::kTos);
  d.job.announce.repeats = 0;
  d.job.announce.ack_timeout = milliseconds(500);
  ImpairedSimulation simulation(switches(d), d.traffic(), *pool_);
  simulation.from("w0").set_rule(rule(false, [](unsigned n) { return n < 2; }));
  const RunResult r = settle(simulation);
  EXPECT_EQ(r.traffic.ack_timeouts, 1U);
  EXPECT_EQ(r.traffic.starts.repeated, 0U);
  EXPECT_GT(slowest_ms(r), 500);
}

// An answer that the switch holds looks like a lost one to the worker.
TEST_F(StartRepeats, ChangeNothingWhileTheSwitchHoldsTheAnswer) {
  Dumbbell d = two_bursts(SignalForm::kTos);
  const auto play = [&] {
    ImpairedSimulation simulation(switches(d), d.traffic(), *pool_);
    return settle(simulation);
  };
  d.job.announce.repeats = 0;
  const RunResult without = play();
  d.job.announce.repeats = 4;
  d.job.announce.repeat_after = milliseconds(5);
  const RunResult with = play();
  expect_each_granted_once(with);
  EXPECT_GE(with.traffic.starts.repeated, 1U);
  EXPECT_EQ(bottleneck_of(with).grant.acks_repeated, with.traffic.starts.repeated)
      << "their answers end where the first is held";
  for (std::size_t i = 0; i < with.traffic.bursts.size(); ++i)
    EXPECT_NEAR(static_cast<double>(with.traffic.bursts[i].released_ns),
                static_cast<double>(without.traffic.bursts[i].released_ns), 1e4);
}

TEST_F(StartRepeats, GrowApartAndEnd) {
  Dumbbell d = two_bursts(SignalForm::kTos);
  d.job.announce.ack_timeout = milliseconds(400);
  ImpairedSimulation simulation(switches(d), d.traffic(), *pool_);
  std::vector<Time> at;
  simulation.from("w0").set_rule([&at](const SeenPacket& p) {
    if (p.is_start()) at.push_back(p.at);
    return Fate{.drop = p.is_start()};
  });
  const RunResult r = settle(simulation);
  ASSERT_EQ(at.size(), 5U) << "the START and four repeats";
  for (std::size_t i = 1; i < at.size(); ++i)
    EXPECT_NEAR(static_cast<double>((at[i] - at[i - 1]).count()),
                static_cast<double>((kRepeatAfter * (1 << (i - 1))).count()), 1e4);
  EXPECT_EQ(r.traffic.ack_timeouts, 1U) << "then the burst leaves anyway";
}

TEST_F(StartRepeats, EndWithTheTimeout) {
  Dumbbell d = two_bursts(SignalForm::kTos);
  d.job.announce.ack_timeout = milliseconds(30);  // after 8 and 24 ms
  ImpairedSimulation simulation(switches(d), d.traffic(), *pool_);
  for (const char* worker : {"w0", "w1"})
    simulation.from(worker).set_rule(rule(false, [](unsigned) { return true; }));
  const RunResult r = settle(simulation);
  EXPECT_EQ(r.traffic.starts.repeated, 4U) << "two of each worker";
  EXPECT_EQ(r.traffic.ack_timeouts, 2U);
}

TEST_F(StartRepeats, AreLostAtTheConfiguredRateToo) {
  Dumbbell d = two_bursts(SignalForm::kTos);
  d.job.announce.faults.lost = 1;
  ImpairedSimulation all(switches(d), d.traffic(), *pool_);
  const RunResult none_left = settle(all);
  EXPECT_EQ(none_left.traffic.starts.repeated, 8U);
  EXPECT_EQ(none_left.traffic.starts.lost, 10U);
  EXPECT_EQ(none_left.traffic.starts_sent, 0U);
  EXPECT_EQ(none_left.traffic.ack_timeouts, 2U);
}

}  // namespace
}  // namespace outrider::start_repeats_test
