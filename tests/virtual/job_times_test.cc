// Goal: settings that make workers and jobs differ in time (stragglers, machines, jitter,
// starts and ends) have the configured effect on their iterations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/virtual/job_scene.h"
#include "trafficgen/report/report_json.h"

namespace outrider::job_times_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const IterationRecord& iteration_of(const RunResult& r, std::uint16_t job, std::uint32_t iteration,
                                    std::uint16_t worker) {
  const auto it = std::ranges::find_if(r.traffic.iterations, [&](const IterationRecord& i) {
    return i.job == job && i.iteration == iteration && i.worker == worker;
  });
  if (it == r.traffic.iterations.end()) throw std::runtime_error("no such iteration");
  return *it;
}

/// Returns a dumbbell whose queue has room, so that no packet is marked or lost.
Dumbbell roomy() {
  Dumbbell d = closed_loop();
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  return d;
}

/// Adds a copy of the scene's job on hosts of its own.
void add_second_job(Scene& s) {
  JobConfig second = s.job();
  second.name = "second";
  second.tcp_port = 5001;
  s.traffic.jobs.push_back(second);
}

// All bulk-synchronous workers lose the time that their straggler loses.
TEST(JobTimes, AStragglerDelaysEveryWorkerOfABulkSynchronousJobByItsDelay) {
  const Mempool pool = make_test_pool();
  const auto job_length = [&pool](Duration delay) {
    Scene s(roomy());
    s.traffic.send_jitter = 0;
    if (delay > Duration::zero())
      s.job().stragglers = {{.workers = {"w1"}, .share = 1, .delay = delay}};
    const RunResult r = run(s, *pool);
    for (const auto& i : r.traffic.iterations) {
      EXPECT_EQ(i.straggled, delay > Duration::zero() && i.worker == 1);
      EXPECT_EQ(i.ready_ns - i.begin_ns,
                Duration(milliseconds(20)).count() + (i.straggled ? delay.count() : 0));
    }
    return Duration{iteration_of(r, 0, 3, 0).end_ns};
  };
  const Duration none = job_length({}), some = job_length(milliseconds(40)),
                 more = job_length(milliseconds(90));
  // Once one worker is alone, the slower one's burst no longer shares the link.
  EXPECT_EQ(more - some, 4 * Duration(milliseconds(50)));
  EXPECT_GT(some - none, 4 * Duration(milliseconds(30)));
  EXPECT_LE(some - none, 4 * Duration(milliseconds(40)));
}

TEST(JobTimes, MachinesOfDifferentSpeed) {
  const Mempool pool = make_test_pool();
  Scene s(roomy());
  s.job().compute_factors = {1, 2.5};
  const RunResult r = run(s, *pool);
  for (const auto& i : r.traffic.iterations)
    EXPECT_EQ(i.ready_ns - i.begin_ns, Duration(milliseconds(i.worker == 0 ? 20 : 50)).count());
}

TEST(JobTimes, OnAFixedScheduleAStragglerIsLate) {
  const Mempool pool = make_test_pool();
  Dumbbell d = roomy();
  d.job.schedule = Schedule::kFixed;
  d.job.compute.reset();
  d.job.start = milliseconds(100);
  d.job.first_due = milliseconds(50);
  d.job.period = milliseconds(500);
  d.job.stragglers = {{.workers = {"w0"}, .delay = milliseconds(7)}};
  const RunResult r = run(Scene(d), *pool);
  for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
    const Duration due = milliseconds(150 + 500 * b.identity.iteration);
    EXPECT_EQ(b.due_ns, (due + milliseconds(b.identity.worker == 0 ? 7 : 0)).count());
  }
  EXPECT_EQ(r.traffic.late_iterations, 0U);
}

// If jobs do not overlap, each runs as if it were alone.
TEST(JobTimes, OffsetJobsDoNotOverlap) {
  const Mempool pool = make_test_pool();
  Scene alone(roomy());
  alone.traffic.send_jitter = 0;
  const RunResult one = run(alone, *pool);
  const std::int64_t length = iteration_of(one, 0, 3, 1).end_ns;

  Scene both = alone;
  add_second_job(both);
  both.traffic.jobs[1].start = milliseconds(1000);
  ASSERT_LT(length, Duration(milliseconds(1000)).count());
  const RunResult two = run(both, *pool);
  ASSERT_EQ(two.traffic.iterations.size(), 16U);
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint16_t w = 0; w < 2; ++w) {
      const auto &reference = iteration_of(one, 0, i, w), &first = iteration_of(two, 0, i, w),
                 &second = iteration_of(two, 1, i, w);
      EXPECT_EQ(first.end_ns, reference.end_ns);
      EXPECT_NEAR(static_cast<double>(second.end_ns),
                  static_cast<double>(reference.end_ns + 1'000'000'000), 10'000)
          << "but for the position of its packets among the ACKs";
    }
  }
  Scene overlapping = both;
  overlapping.traffic.jobs[1].start = {};
  const RunResult at_once = run(overlapping, *pool);
  EXPECT_GT(iteration_of(at_once, 0, 3, 1).end_ns, length) << "they share a link";
}

TEST(JobTimes, AJobGoesAfterItsTime) {
  const Mempool pool = make_test_pool();
  Scene s(roomy());
  s.job().iterations = 1000;
  s.job().start = milliseconds(30);
  s.job().stop_after = milliseconds(200);
  const RunResult r = run(s, *pool);
  EXPECT_TRUE(r.traffic.jobs_finished);
  std::array<std::uint32_t, 2> done{};
  for (const auto& i : r.traffic.iterations) {
    EXPECT_GE(i.begin_ns, Duration(milliseconds(30)).count());
    EXPECT_LT(i.begin_ns, Duration(milliseconds(230)).count());
    ++done.at(i.worker);
  }
  EXPECT_EQ(done[0], done[1]) << "nobody is left waiting";
  EXPECT_GT(done[0], 2U);
}

// Additional workers and jobs do not change the draws of the others.
TEST(JobTimes, AWorkerOrAJobMoreChangesNobodysComputeTimes) {
  const Mempool pool = make_test_pool();
  Dumbbell d = roomy();
  d.job.compute_jitter = 0.4;
  d.job.compute_shape = JitterShape::kLognormal;
  d.job.batch_jitter = 0.1;
  d.job.stragglers = {{.share = 0.5, .factor = 2, .shape = StragglerShape::kExponential}};
  Scene s(d);
  const RunResult few = run(s, *pool);
  d.workers = 3;
  Scene more(d);
  add_second_job(more);
  const RunResult many = run(more, *pool);
  bool straggled = false;
  for (const auto& i : few.traffic.iterations) {
    const auto& same = iteration_of(many, 0, i.iteration, i.worker);
    EXPECT_EQ(same.ready_ns - same.begin_ns, i.ready_ns - i.begin_ns);
    straggled |= i.straggled;
  }
  EXPECT_TRUE(straggled);
  EXPECT_NE(iteration_of(many, 1, 0, 0).ready_ns, iteration_of(many, 0, 0, 0).ready_ns);
}

}  // namespace
}  // namespace outrider::job_times_test
