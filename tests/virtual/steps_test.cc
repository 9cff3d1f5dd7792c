// Goal: a job that follows a list of steps computes and sends as the list says, rank by rank, in
// the time of the formulas of its collectives, and no rank begins an iteration before all have
// ended the one before. Method: workers on one switch, links of their own at 1 Gbit/s.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/virtual/job_scene.h"
#include "trafficgen/import/step_list.h"

namespace outrider::steps_test {
using namespace tg;
using namespace lab;
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr Time kLimit = Time{} + std::chrono::seconds(120);

/// A list in a file, which goes with it.
class ListFile {
 public:
  explicit ListFile(const char* text)
      : path_(fs::temp_directory_path() / ("steps-" + std::to_string(getpid()) + ".csv")) {
    std::ofstream(path_) << text;
  }
  ~ListFile() { fs::remove(path_); }
  ListFile(const ListFile&) = delete;
  ListFile& operator=(const ListFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

Dumbbell of_steps(std::uint32_t workers) {
  Dumbbell d = closed_loop();
  d.workers = workers;
  d.job.collective = Collective::kSteps;
  d.job.aggregate = {};
  d.job.compute = {};
  d.job.iterations = 3;
  d.job.announce.lead_source = LeadSource::kNone;
  return d;
}

RunResult run_list(const Dumbbell& d, const ListFile& list, rte_mempool& pool) {
  GeneratorConfig g = d.traffic();
  g.jobs[0].servers.clear();
  g.jobs[0].burst_bytes.reset();
  g.jobs[0].steps = list.path();
  g.transports[0].tcp.reuse = ConnectionReuse::kKeep;
  return run(d.switches(), g, pool, kLimit);
}

const StepRecord& step_of(const RunResult& r, std::uint32_t worker, std::uint32_t iteration,
                          std::uint32_t step) {
  for (const StepRecord& s : r.traffic.steps)
    if (s.worker == worker && s.iteration == iteration && s.step == step) return s;
  static const StepRecord kNone{};
  ADD_FAILURE() << "no record of step " << step << " of worker " << worker;
  return kNone;
}

TEST(Steps, TakeTheTimesOfTheirFormulas) {
  const Mempool pool = make_test_pool(20'000);
  const ListFile list(
      "kind,ranks,bytes,seconds,after,name\n"
      "compute,0-3,,0.030,,forward\n"
      "all_reduce,0-3,4000000,,,\n"
      "compute,0-3,,0.010,1,\n"  // beside the collective
      "reduce_scatter,0-3,4000000,,2;3,\n"
      "all_gather,0-3,4000000,,,\n");
  const Dumbbell d = of_steps(4);
  const RunResult r = run_list(d, list, *pool);
  ASSERT_TRUE(r.traffic.jobs_finished);
  EXPECT_TRUE(r.traffic.ledger_balanced);
  ASSERT_EQ(r.traffic.steps.size(), 3 * 4 * 5U);
  std::uint64_t delivered = 0;
  for (const auto& f : r.traffic.flows) delivered += f.delivered_bytes;
  EXPECT_EQ(delivered, 3U * 4 * 3 * 4'000'000);
  const double half_ring_s = 0.75 * 4e6 * 8 / 1e9 * 1538.0 / 1448.0 + 3 * seconds(d.rtt) / 4;
  const auto took_s = [&](std::uint32_t step) {
    const StepRecord& s = step_of(r, 2, 2, step);
    return static_cast<double>(s.end_ns - s.begin_ns) / 1e9;
  };
  EXPECT_DOUBLE_EQ(took_s(0), 0.030);
  EXPECT_NEAR(took_s(1), 2 * half_ring_s, 0.06 * half_ring_s);
  EXPECT_DOUBLE_EQ(took_s(2), 0.010);
  EXPECT_NEAR(took_s(3), half_ring_s, 0.06 * half_ring_s);
  EXPECT_NEAR(took_s(4), half_ring_s, 0.06 * half_ring_s);
  EXPECT_EQ(step_of(r, 2, 2, 2).begin_ns, step_of(r, 2, 2, 1).begin_ns) << "side by side";
  EXPECT_GE(step_of(r, 2, 2, 3).begin_ns, step_of(r, 2, 2, 1).end_ns);
}

// Rank 0 only sends on, and would be iterations ahead of rank 1.
TEST(Steps, BeginAnIterationTogether) {
  const Mempool pool = make_test_pool(20'000);
  const ListFile list(
      "kind,ranks,bytes,seconds,after\n"
      "send,0;1,1000,,\n"
      "compute,1,,0.5,\n"
      "compute,1,,0.2,start\n"
      "send,1;2,1000,,2\n"
      "send,2;0,1000,,start\n");
  const RunResult r = run_list(of_steps(3), list, *pool);
  ASSERT_TRUE(r.traffic.jobs_finished);
  for (std::uint32_t iteration = 1; iteration < 3; ++iteration)
    EXPECT_GE(step_of(r, 0, iteration, 0).begin_ns, step_of(r, 1, iteration - 1, 3).end_ns);
  const StepRecord &first = step_of(r, 1, 1, 2), &second = step_of(r, 1, 1, 1);
  EXPECT_EQ(first.end_ns, second.begin_ns) << "a rank computes one thing at a time";
  EXPECT_EQ(second.end_ns - first.begin_ns, Duration(milliseconds(700)).count());
}

// A broadcast on a tree of 4, and an all-reduce of fewer bytes than ranks.
TEST(Steps, OfTreesEndWhenEverythingHasArrived) {
  const Mempool pool = make_test_pool(20'000);
  const ListFile list(
      "kind,ranks,bytes\n"
      "broadcast,0-3,1000000\n"
      "all_reduce,0-3,3\n"
      "all_to_all,3;2;1;0,1000000\n");
  const RunResult r = run_list(of_steps(4), list, *pool);
  ASSERT_TRUE(r.traffic.jobs_finished);
  std::uint64_t delivered = 0;
  for (const auto& f : r.traffic.flows) delivered += f.delivered_bytes;
  EXPECT_EQ(delivered, 3U * (3'000'000 + 2 * 3 * 3 + 3'000'000));
  for (std::uint32_t worker = 0; worker < 4; ++worker)
    EXPECT_GE(step_of(r, worker, 1, 1).begin_ns, step_of(r, worker, 1, 0).end_ns);
}

}  // namespace
}  // namespace outrider::steps_test
