// Goal: a job's figures from its records, on hand-made ones.
#include "trafficgen/workload/job/job_summary.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace outrider::job_summary_test {
using namespace tg;
namespace {

IterationRecord iteration(std::int64_t begin_ns, std::int64_t end_ns) {
  IterationRecord r;
  r.begin_ns = begin_ns;
  r.ready_ns = begin_ns + 2'000'000;
  r.pushed_ns = end_ns - 3'000'000;
  r.cleared_ns = end_ns - 2'000'000;
  r.end_ns = end_ns;
  return r;
}

// Two iterations: gradients from 10 and 20 ms on, all parameters 40 and 60 ms later; the NIC
// sends for 30 and receives for 50 of these 100 ms.
TEST(JobSummary, ParametersAndTheNicsIdleShare) {
  IterationRecord a = iteration(0, 30'000'000), b = iteration(10'000'000, 80'000'000);
  for (auto* r : {&a, &b}) r->first_layer_ns = r->end_ns;  // 28 and 68 ms after the gradients
  a.first_gradient_ns = 10'000'000;
  b.first_gradient_ns = 20'000'000;
  a.parameters_ns = 50'000'000;
  b.parameters_ns = 80'000'000;
  a.forward_wait_ns = 2'000'000;
  a.nic_sending_ns = b.nic_sending_ns = 15'000'000;
  a.nic_receiving_ns = b.nic_receiving_ns = 25'000'000;
  const IterationRecord records[] = {a, b, {}};
  const JobReport r = summarise_job(records);
  EXPECT_EQ(r.first_layer_mean_ns, 48'000'000);
  EXPECT_EQ(r.forward_wait_mean_ns, 1'000'000);
  EXPECT_DOUBLE_EQ(r.nic_send_idle_share, 0.7);
  EXPECT_DOUBLE_EQ(r.nic_receive_idle_share, 0.5);
}

TEST(JobSummary, FiguresOfEndedIterations) {
  std::vector<IterationRecord> records;
  for (int i = 1; i <= 100; ++i)  // iterations of 10 to 1000 ms
    records.push_back(iteration(5'000'000, 5'000'000 + i * 10'000'000LL));
  records[7].straggled = true;
  records[8].staleness = 2;
  records[9].ahead = 3;
  records[10].cleared_ns = records[10].pushed_ns + 101'000'000;
  records.emplace_back();  // never begun
  IterationRecord open;
  open.begin_ns = 1'000'000;
  open.staleness = 9;
  records.push_back(open);
  const JobReport r = summarise_job(records);
  EXPECT_EQ(r.iterations, 100U);
  EXPECT_EQ(r.straggled, 1U);
  EXPECT_EQ(r.begin_ns, 1'000'000);
  EXPECT_EQ(r.end_ns, 1'005'000'000);
  EXPECT_EQ(r.iteration_p50_ns, 500'000'000) << "nearest rank";
  EXPECT_EQ(r.iteration_p99_ns, 990'000'000);
  EXPECT_EQ(r.iteration_max_ns, 1'000'000'000);
  EXPECT_EQ(r.compute_mean_ns, 2'000'000);
  EXPECT_EQ(r.wait_mean_ns, 2'000'000) << "99 waits of 1 ms and one of 101 ms";
  EXPECT_EQ(r.wait_max_ns, 101'000'000);
  EXPECT_EQ(r.ahead_max, 3U);
  EXPECT_EQ(r.staleness, (std::vector<std::uint64_t>{99, 0, 1}));
}

TEST(JobSummary, AJobThatNeverEndedAnIteration) {
  const std::vector<IterationRecord> records(3);
  const JobReport r = summarise_job(records);
  EXPECT_EQ(r.iterations, 0U);
  EXPECT_EQ(r.iteration_p50_ns, kNotYet_ns);
  EXPECT_TRUE(r.staleness.empty());
}

TEST(JobSummary, ReadsLikeASentence) {
  std::vector<JobReport> jobs;
  jobs.push_back(summarise_job(std::vector{iteration(0, 40'000'000)}));
  jobs[0].name = "training";
  jobs[0].workers = 1;
  jobs[0].finished = true;
  std::ostringstream out;
  print_jobs(out, jobs);
  EXPECT_EQ(out.str(),
            "  job training: 1 workers, 1 iterations of a worker, completed in 40 ms\n"
            "    iteration: median 40 ms, p99 40 ms, longest 40 ms; computing 2 ms on average\n"
            "    waiting for other workers: mean 1 ms, longest 1 ms\n");
}

}  // namespace
}  // namespace outrider::job_summary_test
