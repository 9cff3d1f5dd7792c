// Goal: STARTs are lost, late, early, copied and forged as configured. The burst waits or does
// not wait as documented, every fault is counted, and a switch returns to idle after any signals.
// Method: the jobs' scene in a closed loop (two workers, two servers, four iterations), with
// one fault at a time at rate 1; then a regulated bottleneck.
#include <gtest/gtest.h>

#include "switch/report/report_json.h"
#include "tests/support/simulation.h"
#include "tests/virtual/job_scene.h"
#include "trafficgen/report/report_json.h"

namespace outrider::signal_faults_job_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMeant = 16;  ///< 2 workers, 2 servers, 4 iterations
constexpr Duration kLead = milliseconds(10);

RunResult run_with(const SignalFaultsConfig& faults, LeadSource source, rte_mempool& pool,
                   SignalForm form = SignalForm::kTos) {
  Scene s(closed_loop());
  s.job().announce = {.lead_source = source, .lead = kLead, .signal_form = form, .faults = faults};
  const RunResult r = run(s, pool);
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_TRUE(r.traffic.ledger_balanced && r.switches.ledger_balanced);
  EXPECT_EQ(r.traffic.starts.meant, kMeant);
  EXPECT_EQ(r.traffic.starts_sent, r.traffic.starts.sent());
  return r;
}

/// Expects the times of START and release of every push, counted from due.
void expect_times(const RunResult& r, Duration start, Duration release) {
  const auto pushes = bursts_of(r, BurstDirection::kPush);
  ASSERT_EQ(pushes.size(), 8U);
  for (const auto& b : pushes) {
    EXPECT_EQ(b.start_sent_ns - b.due_ns, start.count());
    EXPECT_EQ(b.released_ns - b.due_ns, release.count());
  }
}

TEST(SignalFaultsJob, ARateOfZeroChangesNothing) {
  const Mempool pool = make_test_pool();
  const SignalFaultsConfig none{.late_by = milliseconds(5),
                                .early_by = milliseconds(5),
                                .copies = 7,
                                .copy_gap = milliseconds(1)};
  for (const auto source : {LeadSource::kWait, LeadSource::kOverlap}) {
    const RunResult with = run_with(none, source, *pool), without = run_with({}, source, *pool);
    EXPECT_EQ(to_json(with.traffic), to_json(without.traffic));
    EXPECT_EQ(to_json(with.switches), to_json(without.switches));
  }
}

TEST(SignalFaultsJob, ABurstWhoseStartIsLostWaitsForTheTimeout) {
  const Mempool pool = make_test_pool();
  const RunResult r = run_with({.lost = 1}, LeadSource::kOverlap, *pool);
  EXPECT_EQ(r.traffic.starts.lost, kMeant);
  EXPECT_EQ(r.traffic.starts_sent, 0U);
  EXPECT_EQ(r.traffic.ack_timeouts, 8U);
  for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
    EXPECT_EQ(b.start_sent_ns, kNotYet_ns);
    EXPECT_EQ(b.released_ns - b.due_ns, Duration(milliseconds(50) - kLead).count());
  }
}

TEST(SignalFaultsJob, ALateStartDelaysABurstThatWaitsForIt) {
  const Mempool pool = make_test_pool();
  const RunResult r = run_with({.late = 1, .late_by = milliseconds(5)}, LeadSource::kWait, *pool);
  EXPECT_EQ(r.traffic.starts.late, kMeant);
  expect_times(r, milliseconds(5), milliseconds(5) + kLead);
}

// Both leave before the burst is over, because 100 kB take longer.
TEST(SignalFaultsJob, ALateStartHoldsNoBurstThatIsReadyOnItsOwn) {
  const Mempool pool = make_test_pool();
  for (const auto form : {SignalForm::kTos, SignalForm::kUdp}) {
    for (const auto late : {milliseconds(4), milliseconds(12)}) {
      const RunResult r = run_with({.late = 1, .late_by = late}, LeadSource::kOverlap, *pool, form);
      EXPECT_EQ(r.traffic.starts.late, kMeant);
      EXPECT_EQ(r.traffic.acks_received, kMeant);
      EXPECT_EQ(r.traffic.ack_timeouts, 0U);
      expect_times(r, late - kLead, Duration::zero());
    }
  }
}

TEST(SignalFaultsJob, AStartMayComeWhenItsIterationIsOver) {
  const Mempool pool = make_test_pool();
  Dumbbell d = closed_loop();
  d.job.iterations = 2;
  d.job.compute = milliseconds(400);
  Scene s(d);
  s.job().announce = {.lead_source = LeadSource::kOverlap,
                      .lead = kLead,
                      .faults = {.late = 1, .late_by = milliseconds(300)}};
  const RunResult r = run(s, *pool);
  ASSERT_TRUE(r.traffic.jobs_finished);
  EXPECT_EQ(r.traffic.starts.late, 4U) << "those of the last iteration would come after the end";
  const auto first = bursts_of(r, BurstDirection::kPush).at(0);
  EXPECT_LT(first.delivered_ns, first.start_sent_ns);
  EXPECT_EQ(first.start_sent_ns - first.due_ns, Duration(milliseconds(290)).count());
}

TEST(SignalFaultsJob, AnEarlyStartMovesNoBurst) {
  const Mempool pool = make_test_pool();
  const RunResult r =
      run_with({.early = 1, .early_by = milliseconds(6)}, LeadSource::kOverlap, *pool);
  EXPECT_EQ(r.traffic.starts.early, kMeant);
  expect_times(r, -kLead - milliseconds(6), Duration::zero());
}

TEST(SignalFaultsJob, CopiesLeaveAtOnceOrApart) {
  const Mempool pool = make_test_pool();
  for (const auto gap : {milliseconds(0), milliseconds(3)}) {
    const RunResult r =
        run_with({.duplicated = 1, .copies = 3, .copy_gap = gap}, LeadSource::kOverlap, *pool);
    EXPECT_EQ(r.traffic.starts.duplicated, 3 * kMeant);
    EXPECT_EQ(r.traffic.acks_received, 4 * kMeant) << "each is answered";
    expect_times(r, -kLead, Duration::zero());
  }
}

TEST(SignalFaultsJob, ForgedOnesComeBesideTheOthersWithOrWithoutThem) {
  const Mempool pool = make_test_pool();
  const RunResult r = run_with({.forged_per_second = 200}, LeadSource::kOverlap, *pool);
  EXPECT_GT(r.traffic.starts.forged, 20U);
  EXPECT_EQ(r.traffic.ack_timeouts, 0U);
  expect_times(r, -kLead, Duration::zero());

  Scene silent(closed_loop());
  silent.job().announce = {.lead_source = LeadSource::kNone, .faults = {.forged_per_second = 200}};
  const RunResult forged = run(silent, *pool);
  EXPECT_EQ(forged.traffic.starts.meant, 0U);
  EXPECT_GT(forged.traffic.starts.forged, 20U);
  EXPECT_EQ(forged.traffic.starts_sent, forged.traffic.starts.forged);
}

// -- the effect on a regulated queue

constexpr std::uint64_t kIterations = 3;

QueueReport regulated_with(const SignalFaultsConfig& faults, rte_mempool& pool) {
  Dumbbell d;
  d.bottleneck_port.regulation.mode = RegulationMode::kMark;
  d.bottleneck_port.regulation.recovery = Recovery::kBurstEnd;
  d.job.burst_bytes = 300'000;
  d.job.iterations = kIterations;
  d.job.first_due = milliseconds(500);
  d.job.period = milliseconds(300);
  d.job.announce = {.lead_source = LeadSource::kOverlap, .lead = milliseconds(14)};
  d.job.announce.faults = faults;
  const RunResult r = run(d.switches(), d.traffic(), pool, Time{} + std::chrono::seconds(5));
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_TRUE(r.traffic.ledger_balanced && r.switches.ledger_balanced);
  for (const auto& q : r.switches.queues)
    if (q.starts_armed + q.starts_refused_budget + q.starts_repeated > 0) return q;
  return {};
}

TEST(SignalFaultsJob, TheRegulatorCountsCopiesAndEndsWhatNeverComes) {
  const Mempool pool = make_test_pool();
  EXPECT_EQ(regulated_with({}, *pool).starts_armed, kIterations);
  EXPECT_EQ(regulated_with({.lost = 1}, *pool).starts_armed, 0U);

  const QueueReport copied = regulated_with({.duplicated = 1, .copies = 2}, *pool);
  EXPECT_EQ(copied.starts_armed, kIterations) << "a copy arms nothing";
  EXPECT_EQ(copied.starts_repeated, 2 * kIterations);

  const QueueReport forged = regulated_with({.forged_per_second = 20}, *pool);
  EXPECT_GT(forged.starts_armed + forged.starts_refused_budget, kIterations);
  EXPECT_GT(forged.expired + forged.budget_exhausted, 0U) << "no burst ends them";
}

}  // namespace
}  // namespace outrider::signal_faults_job_test
