// Goal: a run without a job ends when the flows of its lists have ended, and what is told of it is
// of flows alone. Error rates of links lose packets, and parallel links share flows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/simulation.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/simulation/run_virtual.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/tables/comparison_table.h"

namespace outrider::flow_lists_end_test {
using namespace lab;
using testing::HasSubstr;
using testing::Not;
namespace {

namespace fs = std::filesystem;

/// A folder with a topology and a list of flows, and the experiment of both.
class FlowLists : public testing::Test {
 protected:
  FlowLists() : folder_(fs::temp_directory_path() / ("outrider-ends-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~FlowLists() override { fs::remove_all(folder_); }

  /// @param error_rate  of the links between the switches
  RunResult run(const std::string& error_rate, const std::string& more = {}) {
    std::ofstream(folder_ / "topology.txt")
        << "6 2 6\n4 5\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n"
        << "4 5 1000000000.0 5us " << error_rate << "\n4 5 1Gbps 5us " << error_rate << '\n';
    std::ofstream list(folder_ / "flow.csv");
    list << "start_seconds,from,to,bytes\n";
    for (int i = 0; i < 40; ++i)
      list << i * 0.001 << ',' << i % 2 << ',' << 2 + i % 2 << ",50000\n";
    list.close();
    const std::string text = R"(
name = "ends"
[fabric]
kind = "file"
file = "topology.txt"
[[hosts]]
name = "host"
count = 4
[[background]]
name = "flows"
from = "host"
to = "host"
list = "flow.csv"
[parameters]
transport.min_rto = "2ms"
transport.initial_rto = "4ms"
transport.delayed_ack = "500us"
[[arm]]
label = "off"
)" + more;
    const auto file = experiment_from(parse_toml(text).config.value(), folder_);
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    auto plan = make_plan(*file.config, {.seeds = 1});
    EXPECT_TRUE(plan) << format_issues("text", plan.issues);
    case_ = std::move(plan.config->front());
    const auto pool = make_test_pool(buffers_needed(case_));
    return run_virtual(case_, *pool);
  }

  fs::path folder_;
  Case case_;
};

std::uint64_t sent_by(const RunResult& r, const std::string& port) {
  for (const auto& queue : r.switches.queues)
    if (queue.switch_name + '.' + queue.port_name == port)
      return queue.transmitted[TrafficClass::kBackground];
  ADD_FAILURE() << "no port " << port;
  return 0;
}

TEST_F(FlowLists, TheRunEndsWithThem) {
  const RunResult r = run("0");
  ASSERT_EQ(r.traffic.flow_groups.size(), 1U);
  EXPECT_EQ(r.traffic.flow_groups[0].completed, 40U);
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_GE(r.traffic.end_ns, 39'000'000) << "the last flow begins then";
  EXPECT_LE(r.traffic.end_ns, 100'000'000) << "and limit_seconds is 600";
  EXPECT_GT(sent_by(r, "switch_4.to_switch_5"), 0U);
  EXPECT_GT(sent_by(r, "switch_4.to_switch_5#2"), 0U) << "parallel links share flows";
}

TEST_F(FlowLists, ErrorRatesLosePackets) {
  const auto lost = [](const RunResult& r) {
    std::uint64_t sum = 0;
    for (const auto& group : r.traffic.flow_groups) sum += group.retransmitted;
    return sum;
  };
  EXPECT_EQ(lost(run("0")), 0U);
  const RunResult lossy = run("0.05");
  EXPECT_GT(lost(lossy), 0U);
  EXPECT_EQ(lossy.traffic.flow_groups[0].completed, 40U);
}

TEST_F(FlowLists, NothingOfAJobIsTold) {
  Experiment experiment{.name = "ends", .runtime = Runtime::kVirtual, .runs = {}};
  RunResult result = run("0");
  experiment.runs.push_back({.definition = &case_, .result = std::move(result)});
  const Summary summary = summarise(experiment);
  const std::string json = to_json(summary);
  EXPECT_THAT(json, HasSubstr("small_flow_slowdown_p99"));
  EXPECT_THAT(json, HasSubstr("background_goodput_bits_per_second"));
  for (const char* of_jobs :
       {"communication_seconds", "rtos_per_burst", "complete_iterations", "push_"})
    EXPECT_THAT(json, Not(HasSubstr(of_jobs)));
  const std::string table = comparison_table(summary);
  EXPECT_THAT(table, HasSubstr("No job: the figures are of background"));
  EXPECT_THAT(table, Not(HasSubstr("communic.")));
  EXPECT_FALSE(has_job(summary.arms));
  EXPECT_TRUE(summary.warnings.empty());
}

}  // namespace
}  // namespace outrider::flow_lists_end_test
