// Goal: an experiment may have background alone. What it says of a job then is refused, and its
// runs end with its lists of flows, or with limit_seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/lab/experiment/experiment_fixture.h"

namespace outrider::no_job_test {
using namespace lab;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
namespace {

const std::string kFabric = R"(
name = "flows"
[fabric]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_rate = "1gbit"
host_delay = "1us"
uplink_rate = "1gbit"
uplink_delay = "1us"
[[hosts]]
name = "host"
count = 4
[[background]]
name = "all"
from = "host"
to = "host"
load = 0.2
sizes = "web-search"
[parameters]
limit_seconds = 0.25
[[arm]]
label = "off"
)";

std::string told(const std::string& text) {
  const auto file = read_experiment(text);
  EXPECT_FALSE(file);
  return format_issues("", file.issues);
}

TEST(NoJob, IsPlannedWithBackgroundAlone) {
  const auto cases = plan_of(kFabric);
  ASSERT_EQ(cases.size(), 1U);
  const Case& c = cases.front();
  EXPECT_FALSE(c.has_job);
  EXPECT_TRUE(c.traffic.jobs.empty());
  EXPECT_EQ(c.workers, 0U);
  EXPECT_EQ(c.traffic.duration, 250ms) << "nothing else ends the run";
  EXPECT_EQ(c.traffic.flows.size(), 1U);
  EXPECT_TRUE(c.switches.switches.front().signals.accept_from.empty());
  EXPECT_TRUE(plan_of(small_experiment()).front().has_job);
}

TEST(NoJob, RunsEndWithTheirLists) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("outrider-flows-" + std::to_string(getpid()) + ".csv");
  std::ofstream(path) << "start_seconds,from,to,bytes\n0,0,3,1000\n";
  std::string text =
      with(kFabric, "load = 0.2\nsizes = \"web-search\"", "list = \"" + path.string() + '"');
  text = with(text, "limit_seconds = 0.25\n", "");
  const auto cases = plan_of(text);
  std::filesystem::remove(path);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_FALSE(cases.front().traffic.duration);
  EXPECT_TRUE(tg::ends_with_lists(cases.front().traffic));
}

TEST(NoJob, WithoutAFabricToo) {
  std::string text = with(small_experiment(), "count = \"workers\"", "count = 1");
  text = with(with(text, "count = \"servers\"", "count = 1"), "measured = \"a.to_b\"\n", "");
  const std::string keys = "warm_up_seconds = 0.5\n";
  text = with(text, keys, "limit_seconds = 1\n");
  for (const char* key :
       {"job.period = \"200ms\"\n", "job.iterations = 2\n", "job.burst_bytes = \"100kB\"\n",
        "[[arm]]\nlabel = \"off-no-start\"\njob.announce.lead_source = \"none\"\n",
        "[[arm]]\nlabel = \"on\"\nswitch.regulation.mode = \"mark\"\n"})
    text = with(text, key, "");
  const auto cases = plan_of(text);
  ASSERT_EQ(cases.size(), 2U);  // seeds
  EXPECT_FALSE(cases.front().has_job);
  EXPECT_EQ(cases.front().traffic.long_flows.size(), 1U);
  EXPECT_EQ(cases.front().base_rtt, 2ms);
}

TEST(NoJob, WhatNeedsAJobIsRefusedByItsKey) {
  const auto with_parameter = [](const std::string& line) {
    return with(kFabric, "limit_seconds = 0.25", "limit_seconds = 0.25\n" + line);
  };
  EXPECT_THAT(told(with_parameter("job.burst_bytes = \"1MB\"")),
              HasSubstr("parameters.job.burst_bytes: \"1MB\": needs a job, and the file has none"));
  EXPECT_THAT(told(with_parameter("workers = 3")), HasSubstr("parameters.workers: 3: needs a job"));
  EXPECT_THAT(told(kFabric + "ddl.transport.ecn = false\n"),
              HasSubstr("arm[0].ddl.transport.ecn: false: needs a job"));
  EXPECT_THAT(told(kFabric + "[[arm]]\nlabel = \"on\"\nswitch.regulation.mode = \"pace\"\n"),
              HasSubstr("arm[1].switch.regulation: needs a job"));
  EXPECT_THAT(told(kFabric + "[[sweep]]\nworkers = [1, 2]\n"), HasSubstr("sweep[0].workers"));
}

TEST(NoJob, SomethingEndsTheRuns) {
  EXPECT_THAT(told(with(kFabric, "limit_seconds = 0.25\n", "")),
              HasSubstr("parameters.limit_seconds: is required without a job"));
}

TEST(NoJob, HostsThatAJobCountsMakeOne) {
  EXPECT_THAT(told(kFabric + "[[hosts]]\nname = \"worker\"\ncount = \"workers\"\n"),
              HasSubstr("job.servers"));
}

}  // namespace
}  // namespace outrider::no_job_test
