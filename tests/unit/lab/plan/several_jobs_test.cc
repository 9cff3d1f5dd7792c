// Goal: several jobs of an experiment get the hosts, ports and starts of their parameters, and
// their metrics are right. Method: plans of small files, and metrics of reports made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/experiment/placement.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/measure/metrics_jobs.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/tables/comparison_table.h"

namespace outrider::several_jobs_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Placement, SaysHowManyServersEachHostHas) {
  const auto read = [](const char* text) { return parse_placement(text).value.value(); };
  EXPECT_THAT(read("21"), ElementsAre(21));
  EXPECT_THAT(read("3x2"), ElementsAre(3, 3)) << "jobs x hosts";
  EXPECT_THAT(read("1x3"), ElementsAre(1, 1, 1));
  EXPECT_THAT(read("2,1x2,4"), ElementsAre(2, 1, 1, 4));
  EXPECT_THAT(server_hosts({2, 1, 3}), ElementsAre(0, 0, 1, 2, 2, 2));
  for (const char* text : {"", "0", "3x", "x3", "3x0", "2,", ",2", "2, 1", "-1", "10001", "a"})
    EXPECT_FALSE(parse_placement(text).value) << text;
}

/// Returns an experiment with hosts that servers and workers share.
std::string shared_experiment(const std::string& parameters) {
  return R"(
name = "shared"
question = "?"
[network]
measured = "tor.to_host_0"
rtt = "40us"
[[switch]]
name = "tor"
[[hosts]]
name = "host"
count = "workers + 1"
switch = "tor"
rate = "10gbit"
delay = "10us"
[job]
hosts = "host"
[parameters]
job.schedule = "closed_loop"
job.burst_bytes = "1MB"
background.flows_per_pair = 0
)" + parameters +
         "\n[[arm]]\nlabel = \"off\"\n[[arm]]\nlabel = \"off-tls\"\ntensorlights.mode = "
         "\"rotate\"\n"
         "tensorlights.interval = \"500ms\"\n";
}

TEST(SeveralJobs, ShareHostsByPlacement) {
  const auto cases = plan_of(shared_experiment("jobs = 3\nworkers = 3\nplacement = \"2,1\""));
  const GeneratorConfig& traffic = cases.at(0).traffic;
  EXPECT_EQ(traffic.hosts.size(), 4U) << "one more than each job has workers";
  ASSERT_EQ(traffic.jobs.size(), 3U);
  EXPECT_THAT(traffic.jobs[0].servers, ElementsAre("host_0"));
  EXPECT_THAT(traffic.jobs[1].servers, ElementsAre("host_0"));
  EXPECT_THAT(traffic.jobs[2].servers, ElementsAre("host_1"));
  EXPECT_THAT(traffic.jobs[0].workers, ElementsAre("host_1", "host_2", "host_3"));
  EXPECT_THAT(traffic.jobs[2].workers, ElementsAre("host_2", "host_3", "host_0"));
  std::set<std::uint16_t> ports;
  for (const auto& job : traffic.jobs) ports.insert(job.tcp_port);
  EXPECT_EQ(ports.size(), 3U);
  EXPECT_EQ(cases[0].base_rtt, 40us);
  EXPECT_EQ(traffic.tensorlights.mode, TensorLightsMode::kOff);
  EXPECT_EQ(cases[1].traffic.tensorlights.mode, TensorLightsMode::kRotate);
  EXPECT_EQ(cases[1].traffic.tensorlights.interval, 500ms);
  const Case* const both[]{&cases[0], &cases[1]};
  EXPECT_THAT(points_of(both).baseline, ElementsAre(0, 0)) << "bands are an arm, not a point";
}

/// Returns the same with two hosts that send background to the jobs' hosts.
std::string with_senders(const std::string& parameters) {
  return with(shared_experiment("background.flows_per_pair = 2\n" + parameters),
              "background.flows_per_pair = 0\n", "") +
         R"(
[[hosts]]
name = "sender"
count = 2
switch = "tor"
rate = "10gbit"
delay = "10us"
[background]
from = "sender"
to = "host"
)";
}

TEST(SeveralJobs, BackgroundMayGoToTheirHosts) {
  const auto cases = plan_of(with_senders("jobs = 3\nworkers = 3\nplacement = \"2,1\""));
  const auto& flows = cases.at(0).traffic.long_flows.at(0);
  EXPECT_THAT(flows.from, ElementsAre("sender_0", "sender_1"));
  EXPECT_THAT(flows.to, ElementsAre("host_0", "host_1")) << "the first ones, as many as senders";
  EXPECT_EQ(flows.flows_per_pair, 2U);
}

TEST(SeveralJobs, HaveAServerHostEachWithoutAPlacement) {
  const auto cases = plan_of(shared_experiment("jobs = 3\nworkers = 2"));
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_THAT(cases.at(0).traffic.jobs[j].servers, ElementsAre("host_" + std::to_string(j)));
}

TEST(SeveralJobs, HaveHostsOfTheirOwnIfTheFileHasTwoGroups) {
  const auto cases = plan_of(with(small_experiment(), "job.iterations = 2",
                                  "job.iterations = 2\njobs = 2\nworkers = 2\njob_offset = 0.25"));
  const auto& jobs = cases.at(0).traffic.jobs;
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_THAT(jobs[0].workers, ElementsAre("worker_0", "worker_1"));
  EXPECT_THAT(jobs[1].workers, ElementsAre("worker_2", "worker_3"));
  EXPECT_THAT(jobs[0].servers, ElementsAre("server_0"));
  EXPECT_THAT(jobs[1].servers, ElementsAre("server_1"));
  EXPECT_EQ(jobs[0].start, 0ms);
  EXPECT_EQ(jobs[1].start, 50ms) << "a quarter of the period, 0.2 s";
}

TEST(SeveralJobs, MayAnnounceOtherThresholdsAndHaveOtherBursts) {
  const auto cases =
      plan_of(with(small_experiment(), "job.iterations = 2",
                   "job.iterations = 2\njobs = 3\njob_h_step_packets = 5\njob_burst_factor = 2.0"));
  const auto& jobs = cases.at(0).traffic.jobs;
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(jobs[j].announce.threshold_packets, 10 + 5 * j);
    EXPECT_EQ(jobs[j].burst_bytes, 100'000U << j);
  }
}

// 2 workers x 100 kB at 100 Mbit/s take 16 ms per direction, after 8 ms of computing.
TEST(SeveralJobs, StartApartByAShareOfTheIterationOnAnEmptyLink) {
  const auto cases = plan_of(with(small_experiment(), "job.iterations = 2",
                                  "job.iterations = 2\njobs = 3\nworkers = 2\njob_offset = 0.5\n"
                                  "job.schedule = \"closed_loop\"\njob.compute = \"8ms\""),
                             {.seeds = 1, .filter = "off"});
  const auto& jobs = cases.at(0).traffic.jobs;
  EXPECT_EQ(jobs[1].start, 20ms);
  EXPECT_EQ(jobs[2].start, 40ms);
}

TEST(SeveralJobs, HostsOfAGroupMaySendBySegmentationOffload) {
  const auto cases = plan_of(
      with(small_experiment(), "count = \"workers\"", "count = \"workers\"\ntso_bytes = \"64kB\""));
  for (const auto& host : cases.at(0).traffic.hosts)
    EXPECT_EQ(host.tso_bytes, host.name.starts_with("worker") ? 64'000U : 0U) << host.name;
}

TEST(SeveralJobs, HostsOfAGroupMaySendLongFrames) {
  const auto cases = plan_of(
      with(small_experiment(), "count = \"workers\"", "count = \"workers\"\nmtu_bytes = 9000"));
  for (const auto& host : cases.at(0).traffic.hosts)
    EXPECT_EQ(host.mtu_bytes, host.name.starts_with("worker") ? 9'000U : 1'500U) << host.name;
}

TEST(SeveralJobs, CompositionReachesEveryPort) {
  const auto cases =
      plan_of(small_experiment("[[arm]]\nlabel = \"on-demand\"\nswitch.regulation.mode = \"mark\"\n"
                               "switch.regulation.composition = \"demand\"\n"),
              {.seeds = 1, .filter = "on-demand"});
  for (const auto& sw : cases.at(0).switches.switches)
    for (const auto& port : sw.ports)
      EXPECT_EQ(port.regulation.composition, Composition::kDemand) << port.name;
  EXPECT_TRUE(is_regulator_parameter("switch.regulation.composition"));
  EXPECT_FALSE(is_regulator_parameter("jobs"));
}

// Otherwise summaries of experiments with one job would have additional parameters.
TEST(SeveralJobs, ParametersAreListedOnlyIfOneDiffersFromItsDefault) {
  const auto names = [](const CaseParameters& p) {
    std::set<std::string> all;
    for (const auto& [name, value] : to_parameters(p)) all.insert(name);
    return all;
  };
  const std::set<std::string> of_jobs{"jobs", "placement", "job_offset", "job_h_step_packets",
                                      "job_burst_factor"};
  CaseParameters p;
  for (const auto& name : of_jobs) EXPECT_FALSE(names(p).contains(name)) << name;
  p.job_offset = 0.5;
  for (const auto& name : of_jobs) EXPECT_TRUE(names(p).contains(name)) << name;
}

TEST(SeveralJobs, FaultsNameTheirKeyAndTheirCause) {
  const auto faults_of = [](const std::string& text) {
    const auto file = read_experiment(text);
    if (!file) return format_issues("f", file.issues);
    return format_issues("f", make_plan(*file.config, {.seeds = 1}).issues);
  };
  const auto shared = [&](const char* p) { return faults_of(shared_experiment(p)); };
  EXPECT_THAT(shared("jobs = 3\nworkers = 3\nplacement = \"2\""),
              HasSubstr("placement: \"2\": places 2 jobs; jobs is 3"));
  EXPECT_THAT(shared("jobs = 3\nworkers = 1\nplacement = \"1x3\""),
              HasSubstr("needs 3 hosts; there are workers + 1, 2"));
  EXPECT_THAT(shared("jobs = 3\nworkers = 3\nplacement = \"2x\""), HasSubstr("jobs per host"));
  EXPECT_THAT(shared("jobs = 3\nworkers = 1"), HasSubstr("jobs: 3: needs a placement"));
  EXPECT_THAT(shared("jobs = 2\nworkers = 1\nservers = 2"), HasSubstr("servers: 2: must be 1"));
  EXPECT_THAT(shared("jobs = 0"), HasSubstr("parameters.jobs: 0: must be at least 1"));
  EXPECT_THAT(shared("job_offset = 1.5"), HasSubstr("job_offset: 1.5: must be from 0 to 1"));
  EXPECT_THAT(faults_of(with(with_senders("jobs = 1\nworkers = 1"), "count = 2", "count = 3")),
              HasSubstr("makes fewer hosts than background has senders, 3"));
  const auto own = [&](const char* p) {
    return faults_of(with(small_experiment(), "job.iterations = 2", std::string(p)));
  };
  EXPECT_THAT(own("jobs = 2\nplacement = \"2\""), HasSubstr("needs hosts in [job]"));
  EXPECT_THAT(faults_of(with(shared_experiment(""), "workers + 1", "workers")),
              HasSubstr("needs count = \"workers + 1\""));
}

// -- metrics

/// Returns two jobs on hosts w0 and w1 with servers on s and NICs of 8 Mbit/s.
Case two_jobs() {
  Case c = make_case("off", 2, Schedule::kClosedLoop);
  JobConfig& first = c.traffic.jobs[0];
  first.name = "job0";
  first.transport = "ddl";
  c.traffic.hosts.push_back({.name = "s", .address = {}, .device = {}});
  for (auto& host : c.traffic.hosts) host.rate = BitRate{8'000'000};
  JobConfig second = first;
  second.name = "job1";
  c.traffic.jobs.push_back(second);
  TransportConfig transport{.name = "ddl", .tcp = {}};
  transport.tcp.mss_bytes = 1410;  // with headers and gap 1500 on the wire
  c.traffic.transports.push_back(transport);
  return c;
}

void add_iteration(RunResult& r, std::uint16_t job, std::uint16_t worker, double begin,
                   double end) {
  r.traffic.iterations.push_back(
      {.job = job, .worker = worker, .begin_ns = at_ms(begin), .end_ns = at_ms(end)});
}

/// Returns a run in which job 0 lasts from 10 to 110 ms with workers 20 ms apart, and job 1 from 50
/// to 250 ms with workers 40 ms apart.
RunResult two_jobs_result() {
  RunResult r = make_result(1000);
  r.traffic.jobs.resize(2);
  for (std::uint16_t j = 0; j < 2; ++j) {
    r.traffic.jobs[j].job = j;
    r.traffic.jobs[j].finished = true;
  }
  const auto add = [&](std::uint16_t job, std::uint16_t worker, double begin, double end) {
    add_iteration(r, job, worker, begin, end);
    add_burst(r, worker, 0, {.due = begin, .first = begin, .delivered = begin + 1},
              BurstDirection::kPush, job);
    add_burst(r, worker, 0, {.due = begin, .first = begin, .delivered = end}, BurstDirection::kPull,
              job);
  };
  add(0, 0, 10, 90);
  add(0, 1, 12, 110);
  add(1, 0, 50, 250);
  add(1, 1, 50, 210);
  // A push without an answer, so that the two directions differ.
  add_burst(r, 0, 1, {.due = 110, .first = 110, .delivered = 120}, BurstDirection::kPush, 0);
  return r;
}

TEST(SeveralJobs, AreMeasuredOneByOne) {
  const JobsMetrics m = measure_jobs(two_jobs(), two_jobs_result().traffic);
  ASSERT_EQ(m.each.size(), 2U);
  EXPECT_EQ(m.each[0].name, "job0");
  EXPECT_DOUBLE_EQ(m.each[0].start_seconds, 0.010);
  EXPECT_DOUBLE_EQ(m.each[0].completion_seconds, 0.100);
  EXPECT_DOUBLE_EQ(m.each[0].iteration_seconds_median, 0.098);
  EXPECT_DOUBLE_EQ(m.each[1].completion_seconds, 0.200);
  EXPECT_THAT(m.worker_spread_seconds, ElementsAre(0.020, 0.040));
  EXPECT_DOUBLE_EQ(m.each[1].worker_spread_seconds_mean, 0.040);
  // Bursts of 100 kB in a second: four pulls and five pushes, of which three are from w0.
  EXPECT_NEAR(m.server_hosts.sending, 0.4 * 1500 / 1410, 1e-9);
  EXPECT_NEAR(m.server_hosts.receiving, 0.5 * 1500 / 1410, 1e-9);
  EXPECT_NEAR(m.other_hosts.sending, 0.25 * 1500 / 1410, 1e-9);
  EXPECT_NEAR(m.other_hosts.receiving, 0.2 * 1500 / 1410, 1e-9);
}

TEST(SeveralJobs, ThatDidNotEndHaveNoCompletion) {
  RunResult r = two_jobs_result();
  r.traffic.jobs[1].finished = false;
  EXPECT_TRUE(std::isnan(measure_jobs(two_jobs(), r.traffic).each[1].completion_seconds));
  EXPECT_TRUE(measure_jobs(make_case("off"), r.traffic).each.empty()) << "of a sole job nothing";
}

TEST(SeveralJobs, StandInSummaryAndTable) {
  const Case c = two_jobs();
  Experiment experiment{.name = "e", .runtime = Runtime::kVirtual};
  experiment.runs.push_back({.definition = &c, .result = two_jobs_result()});
  const Summary s = summarise(experiment);
  const auto value = [&](const char* name) { return s.arms.at(0).metric(name).value.value; };
  EXPECT_DOUBLE_EQ(value("jobs_completion_seconds_mean"), 0.150);
  EXPECT_DOUBLE_EQ(value("jobs_completion_seconds_range"), 0.100);
  EXPECT_DOUBLE_EQ(value("worker_spread_seconds_mean"), 0.030);
  const auto json = nlohmann::ordered_json::parse(to_json(s));
  const auto& metrics = json.at("cases")[0].at("metrics");
  EXPECT_DOUBLE_EQ(metrics.at("jobs_completion_seconds_mean").get<double>(), 0.150);
  EXPECT_THAT(comparison_table(s), HasSubstr("Jobs: completion"));
  EXPECT_FALSE(json.contains("quick"));
}

}  // namespace
}  // namespace outrider::several_jobs_test
