// Goal: a list of jobs is read by its columns' names, or refused by line.
#include "tools/lab/experiment/job_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/lab/experiment/experiment_fixture.h"

namespace outrider::job_list_test {
using namespace lab;
using testing::HasSubstr;
namespace {

using namespace std::chrono_literals;

TEST(JobList, ColumnsHaveNamesInAnyOrder) {
  const auto list = parse_job_list(
      "# recorded\n workers , start_seconds,model,name,end_seconds,announce.lead\n"
      "4, 1.5,a.toml,first,3,1ms\r\n2,0.25,,,,\n");
  ASSERT_TRUE(list) << format_issues("list", list.issues);
  const auto& jobs = *list.config;
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].line, 3U);
  EXPECT_EQ(jobs[0].name, "first");
  EXPECT_EQ(jobs[0].start, 1500ms);
  EXPECT_EQ(jobs[0].stop_after, 1500ms);
  EXPECT_EQ(*jobs[0].own.get("workers")->as<std::int64_t>(), 4);
  EXPECT_EQ(*jobs[0].own.get("model")->as<std::string>(), "a.toml");
  EXPECT_EQ(*find(jobs[0].own, "announce.lead")->as<std::string>(), "1ms");
  EXPECT_EQ(jobs[1].name, "");
  EXPECT_EQ(jobs[1].start, 250ms) << "in any order";
  EXPECT_FALSE(jobs[1].stop_after);
  EXPECT_EQ(jobs[1].own.get("model"), nullptr) << "an empty field says nothing";
}

TEST(JobList, RefusalsNameLineAndRule) {
  struct Row {
    const char *text, *key, *rule;
  };
  const Row rows[] = {
      {"", "", "is empty"},
      {"start_seconds,workers\n", "", "has no jobs"},
      {"workers\n1\n", "line 1", "has no column \"start_seconds\""},
      {"start_seconds,workers,workers\n", "line 1", "the column \"workers\" twice"},
      {"start_seconds,\n", "line 1", "a column without a name"},
      {"start_seconds,count\n", "line 1", "a column \"count\""},
      {"start_seconds,workers\n1\n", "line 2", "must hold 2 fields"},
      {"start_seconds\n\nx\n", "line 3", "start_seconds \"x\" must be a number of seconds"},
      {"start_seconds\n-1\n", "line 2", "\"-1\" must be"},
      {"start_seconds,end_seconds\n2,2\n", "line 2", "end_seconds must be later"},
      {"start_seconds,name\n1,a b\n", "line 2", "\"a b\" must be of letters"},
      {"start_seconds,name\n1,a\n2,a\n", "line 3", "\"a\" is that of a line before it"},
  };
  for (const Row& row : rows) {
    const auto list = parse_job_list(row.text);
    ASSERT_FALSE(list) << row.text;
    EXPECT_EQ(list.issues[0].key, row.key) << row.text;
    EXPECT_THAT(list.issues[0].problem, HasSubstr(row.rule)) << row.text;
  }
  std::string many = "start_seconds\n";
  for (int i = 0; i < 1001; ++i) many += "1\n";
  EXPECT_THAT(parse_job_list(many).issues.at(0).problem, HasSubstr("1001 jobs: a case may have"));
}

constexpr const char* kCluster = R"(
name = "cluster"
question = "?"
[fabric]
kind = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 8
host_rate = "10gbit"
host_delay = "1us"
uplink_rate = "20gbit"
uplink_delay = "2us"
[network]
measured = "worst"
[[job]]
name = "night"
list = "LIST"
schedule = "closed_loop"
compute = "1ms"
[[job]]
name = "always"
workers = 2
[parameters]
job.burst_bytes = "1MB"
[[arm]]
label = "off"
)";

/// Plans the cluster with a list of these lines.
ConfigResult<std::vector<Case>> planned(const std::string& lines) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("jobs-" + std::to_string(getpid()) + ".csv");
  std::ofstream(path) << lines;
  const auto file = read_experiment(with(kCluster, "LIST", path.string()));
  auto plan = file ? make_plan(*file.config, {.seeds = 1})
                   : ConfigResult<std::vector<Case>>{{}, file.issues};
  std::filesystem::remove(path);
  return plan;
}

TEST(JobList, AnEarlierParameterOfAJobIsRefusedWithWhatReplacesIt) {
  const auto read = read_experiment(with(kCluster, "workers = 2", "protocol = \"roce\""));
  EXPECT_THAT(format_issues("f", read.issues),
              HasSubstr("job[1].protocol: is transport.protocol now: `outrider-lab convert FILE`"));
}

TEST(JobList, ItsJobsAreThoseOfAnExperiment) {
  const auto plan = planned(
      "start_seconds,end_seconds,workers,burst_bytes,iterations,name\n"
      "0.01,,2,2000000,3,a\n0.02,0.05,3,,100,\n");
  ASSERT_TRUE(plan) << format_issues("f", plan.issues);
  const auto& jobs = plan.config->front().traffic.jobs;
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].name, "night_a");
  EXPECT_EQ(jobs[0].start, 10ms);
  EXPECT_EQ(jobs[0].burst_bytes, 2'000'000U);
  EXPECT_EQ(jobs[0].iterations, 3U);
  EXPECT_EQ(jobs[0].workers.size(), 2U);
  EXPECT_EQ(jobs[0].compute, 1ms) << "of the [[job]]";
  EXPECT_FALSE(jobs[0].stop_after);
  EXPECT_EQ(jobs[1].name, "night_3") << "by its line";
  EXPECT_EQ(jobs[1].burst_bytes, 1'000'000U) << "of [parameters]";
  EXPECT_EQ(jobs[1].stop_after, 30ms);
  EXPECT_EQ(jobs[1].workers.size(), 3U);
  EXPECT_NE(jobs[0].tcp_port, jobs[1].tcp_port);
  EXPECT_EQ(jobs[2].name, "always");
}

TEST(JobList, FaultsOfALinesValuesNameIt) {
  const auto faults = [](const std::string& lines) {
    return format_issues("f", planned(lines).issues);
  };
  EXPECT_THAT(faults("start_seconds,workres\n1,2\n"), HasSubstr("line 2: workres: "));
  EXPECT_THAT(faults("start_seconds,workers\n1,x\n"), HasSubstr("line 2: workers: "));
  EXPECT_THAT(faults("start_seconds,period_seconds\n1,2\n"),
              HasSubstr("line 2: period_seconds: is period now"));
  EXPECT_THAT(faults("start_seconds,workers\n1,2\n1,300\n"),
              testing::AllOf(HasSubstr("job[0].list: "), HasSubstr("line 3: workers: 300")));
  EXPECT_THAT(faults("start_seconds,workers,compute_spread\n1,2,1\n1,2,200\n"),
              HasSubstr("job[0].list: line 3: compute_spread: 200"));
  EXPECT_THAT(faults("start_seconds,workers\n1,20\n"),
              HasSubstr("job[0].list: line 2: workers: 20 hosts: must be at most"));
  EXPECT_THAT(faults("start_seconds,model\n1,nowhere.toml\n"),
              HasSubstr("job[0].list: line 2: model: \"nowhere.toml\": cannot be opened"));
  EXPECT_THAT(faults("workers\n1\n"), HasSubstr("line 1: has no column"));
}

}  // namespace
}  // namespace outrider::job_list_test
