// Goal: a metric's row alone defines it. Documentation, schema and the report's scripts name
// exactly the metrics of the rows, and a case has each figure at the place in its row.
#include "tools/lab/summary/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>

#include "tests/support/source_path.h"
#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/summary/metric_docs.h"

namespace outrider::metric_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;
using Json = nlohmann::ordered_json;

std::string text_of(const std::string& path) {
  std::ifstream in(source_path(path), std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns off and on with bursts of about 40 and 20 ms and less background during them.
Summary example() {
  std::vector<Case> cases;
  for (const char* label : {"off", "on"}) cases.push_back(make_case(label, 1));
  Experiment experiment{.name = "example", .runtime = Runtime::kVirtual, .runs = {}};
  for (auto& c : cases) {
    RunResult r = make_result(400);
    const double took = c.label == "off" ? 40 : 20;
    deliver(r, TrafficClass::kBackground, 0, 400, 1'000);
    carry(r, TrafficClass::kBackground, 0, 400, 200);
    std::uint32_t i = 0;  // makes mean, median and p99 differ
    for (const double more : {-10.0, 0.0, 20.0}) {
      const double due = 50 + 100 * i;
      const double delivered = due + took + more;
      deliver(r, TrafficClass::kBackground, static_cast<int>(due), static_cast<int>(delivered), 10);
      add_burst(r, 0, i, {.due = due, .start = due - 1, .first = due + 1, .delivered = delivered});
      add_queue_burst(r, 0, i++, due + 1, 30, 50).last_at_ns = at_ms(delivered);
    }
    queue_of(r).burst_sojourn_ns.record(2'000'000);
    experiment.runs.push_back({.definition = &c, .result = r, .alone = r});
  }
  return summarise(experiment);
}

// A mean of ratios would leave out seeds that lost nothing, and let one that lost a few bytes
// decide.
TEST(Metric, BytesGainedPerByteLostAreOfAllSeedsTogether) {
  const auto seed = [](double transfer, double lost) {
    CaseSummary c;
    c.background_cost.basis = CostBasis::kWholeRun;
    c.background_cost.transfer_bytes = transfer;
    c.background_cost.lost_bytes = lost;
    c.background_cost.reference_bytes = 10'000;
    if (lost > 0) c.background_cost.ddl_bytes_gained_per_background_byte_lost = transfer / lost;
    return c;
  };
  const Metric& metric = metric_named("ddl_bytes_gained_per_background_byte_lost");
  const CaseSummary usual = seed(900, 1000), little = seed(300, 1), gains = seed(600, -201);
  const CaseSummary* all[] = {&usual, &little, &gains};
  EXPECT_DOUBLE_EQ(value_of(metric, all), 1800.0 / 800.0);
  const CaseSummary* only_gains[] = {&gains};
  EXPECT_TRUE(std::isnan(value_of(metric, only_gains)));
  const CaseSummary next_to_nothing = seed(-1000, 9);
  const CaseSummary* only_little[] = {&next_to_nothing};
  EXPECT_TRUE(std::isnan(value_of(metric, only_little))) << "any number over less than 0.1 %";
  CaseSummary fixed = seed(900, 1000);
  fixed.background_cost.basis = CostBasis::kWindows;
  const CaseSummary* windows[] = {&fixed};
  EXPECT_TRUE(std::isnan(value_of(metric, windows))) << "a closed loop's";
}

// The p99 without background is as noisy as the tail that is judged by it; its median is not.
TEST(Metric, TheTailIsOverTheMedianOfTheRunWithoutBackground) {
  CaseSummary c;
  for (int i = 0; i <= 100; ++i) {
    c.metrics.samples.communication_seconds.add(0, 0.01 * i);
    c.network_alone.communication_seconds.add(0, i < 60 ? 0.1 : 5);
  }
  const CaseSummary* one[] = {&c};
  EXPECT_NEAR(value_of(metric_named("communication_p99_over_alone_median"), one), 0.99 / 0.1, 1e-9);
  EXPECT_NEAR(value_of(metric_named("communication_over_alone_p99"), one), 0.99 / 5, 1e-9);
}

TEST(Metric, AnIterationIsOverThatOfTheRunWithoutBackground) {
  CaseSummary c;
  for (const double s : {0.3, 0.4, 0.5}) c.metrics.samples.iteration_seconds.add(0, s);
  c.network_alone.iteration_seconds.add(0, 0.2);
  const CaseSummary* one[] = {&c};
  EXPECT_NEAR(value_of(metric_named("iteration_over_alone_median"), one), 2, 1e-9);
}

// The median of all iterations of jobs that differ by 100 times is that of no job.
TEST(Metric, TimesAreOfEachJobAndTheRowIsTheMeanOfTheJobs) {
  CaseSummary c;
  c.metrics.jobs.each.resize(2);
  for (int i = 0; i < 9; ++i) c.metrics.samples.communication_seconds.add(0, 0.01);
  for (int i = 0; i < 3; ++i) c.metrics.samples.communication_seconds.add(1, 1.0);
  for (int i = 0; i < 9; ++i) c.network_alone.communication_seconds.add(0, 0.005);
  for (int i = 0; i < 3; ++i) c.network_alone.communication_seconds.add(1, 0.25);
  const CaseSummary* one[] = {&c};
  for (const char* name :
       {"communication_seconds_median", "communication_seconds_mean", "communication_seconds_p99"})
    EXPECT_NEAR(value_of(metric_named(name), one), 0.505, 1e-9) << name;
  EXPECT_NEAR(value_of(metric_named("communication_over_alone_median"), one), 3, 1e-9);
  EXPECT_EQ(value_of(metric_named("complete_iterations"), one), 12);
  EXPECT_NEAR(statistics_of(c.metrics.samples.communication_seconds).median, 0.505, 1e-9)
      << "compare reads it of each run";
  c.metrics.jobs.each.resize(3);
  EXPECT_TRUE(std::isnan(value_of(metric_named("communication_seconds_median"), one)))
      << "a job that ended no iteration is not left out";
}

// An arm whose own queues make it slow without background must not look good for that.
TEST(Metric, AllArmsAreOverWhatTheOffArmTakesAlone) {
  const Summary s = example();
  const CaseSummary *off[] = {&s.cases.at(0)}, *on[] = {&s.cases.at(1)};
  const Metric& metric = metric_named("communication_over_alone_median");
  EXPECT_DOUBLE_EQ(value_of(metric, off), 1);
  EXPECT_NEAR(value_of(metric, on), 20.0 / 40, 1e-9);
}

// A switch does not know which burst a packet is of that it drops.
TEST(Metric, DroppedPacketsOfBurstsAreOverPushesOfTheRun) {
  const Case c = make_case("off", 2);
  RunResult r = make_result(10);
  add_burst(r, 0, 0, {.due = 1});
  add_burst(r, 1, 0, {.due = 1});
  add_burst(r, 0, 0, {.due = 5}, BurstDirection::kPull);
  r.switches.drops[TrafficClass::kDdl][DropReason::kOverShare] = 5;
  r.switches.drops[TrafficClass::kBackground][DropReason::kTailPackets] = 700;
  const auto dropped = [&] {
    return values_of_run({.definition = &c, .result = r}).at("burst_packets_dropped_per_burst");
  };
  EXPECT_EQ(dropped(), std::vector<double>{2.5});
  r.traffic.bursts.clear();
  EXPECT_TRUE(dropped().empty());
}

TEST(Metric, MarkedPacketsAreOverThoseThatPortsSent) {
  const Case c = make_case("off");
  RunResult r = make_result(200);
  const auto share = [&] {
    return values_of_run({.definition = &c, .result = r}).at("ecn_marked_share");
  };
  EXPECT_TRUE(share().empty()) << "nothing was sent";
  auto& queue = r.switches.queues.front();
  queue.transmitted[TrafficClass::kDdl] = 30;
  queue.transmitted[TrafficClass::kBackground] = 50;
  queue.marks[TrafficClass::kBackground][MarkReason::kMarker] = 4;
  queue.marks[TrafficClass::kBackground][MarkReason::kRegulatedThreshold] = 4;
  EXPECT_EQ(share(), std::vector<double>{0.1});
}

TEST(Metric, EarlyAndRepeatedPacketsAreOverAllDataThatArrived) {
  const Case c = make_case("off");
  RunResult r = make_result(200);
  const auto share = [&](const char* name) {
    return values_of_run({.definition = &c, .result = r}).at(name);
  };
  EXPECT_TRUE(share("out_of_order_share").empty()) << "nothing arrived";
  r.traffic.roce = {.retransmitted = 6, .in_order = 50, .out_of_order = 10, .duplicate = 9};
  r.traffic.tcp_events.data_received = 40;
  r.traffic.tcp_events.out_of_order = 5;
  r.traffic.tcp_events.retransmitted = 4;
  EXPECT_EQ(share("out_of_order_share"), std::vector<double>{0.15});
  EXPECT_EQ(share("sent_again_share"), std::vector<double>{0.1});
}

TEST(Metric, InterferenceIsOfEachJobOverItselfAlone) {
  const Case c = make_case("off");
  CaseRun run{.definition = &c, .result = make_result(10)};
  for (std::uint16_t job = 0; job < 2; ++job)
    for (std::uint32_t i = 0; i < 3; ++i)
      run.result.traffic.iterations.push_back(
          {.job = job, .iteration = i, .begin_ns = 0, .end_ns = at_ms((job + 1) * 30 + i)});
  const auto factors = [&] { return values_of_run(run).at("interference_factor_mean"); };
  EXPECT_TRUE(factors().empty()) << "no job was run alone";
  run.jobs_alone = {{0.030, 0.031, 0.032}, {0.020, 0.0305, 0.040}};
  ASSERT_EQ(factors().size(), 2U);
  EXPECT_DOUBLE_EQ(factors()[0], 1);
  EXPECT_DOUBLE_EQ(factors()[1], 2);
}

TEST(Metric, AFailureIsComparedWithTheIterationsBeforeIt) {
  Case c = make_case("off");
  RunResult r = make_result(10);
  std::int64_t now = 0;
  for (std::uint32_t i = 0; const int ms : {10, 10, 12, 30, 15, 10}) {
    r.traffic.iterations.push_back({.iteration = i++, .begin_ns = now, .end_ns = now + at_ms(ms)});
    now += at_ms(ms);
  }
  r.switches.queues.front().drops[TrafficClass::kDdl][DropReason::kInjectedLoss] = 7;
  const auto figure = [&](const char* name) {
    return values_of_run({.definition = &c, .result = r}).at(name);
  };
  EXPECT_TRUE(figure("failed_links_lost_packets").empty()) << "no link fails";
  EXPECT_TRUE(figure("failure_iteration_over_steady_median").empty());
  c.changes.emplace_back().at = Time{std::chrono::milliseconds(35)};
  EXPECT_EQ(figure("failed_links_lost_packets"), std::vector<double>{7});
  EXPECT_EQ(figure("failure_iteration_over_steady_median"), std::vector<double>{3});
  EXPECT_NEAR(figure("failure_iteration_over_steady_p99").at(0), 2.5, 0.01);
  EXPECT_EQ(figure("failure_recovery_seconds"), std::vector<double>{0.042}) << "77 ms - 35 ms";
  r.traffic.iterations.pop_back();
  EXPECT_TRUE(figure("failure_recovery_seconds").empty()) << "the last one is still long";
}

TEST(Metric, FlowletsAreOverPushes) {
  const Case c = make_case("off");
  RunResult r = make_result(10);
  add_burst(r, 0, 0, {.due = 1});
  const auto flowlets = [&] {
    return values_of_run({.definition = &c, .result = r}).at("flowlets_per_burst");
  };
  EXPECT_TRUE(flowlets().empty()) << "no switch has any";
  r.switches.flowlets_begun = 7;
  EXPECT_EQ(flowlets(), std::vector<double>{7});
}

TEST(Metric, AStallIsTheLongestRowOfBinsWithoutPayload) {
  Case c = make_case("off");
  RunResult r = make_result(200);
  c.traffic.max_bins = 100;
  r.traffic.bin_ns = 1'000'000;
  r.traffic.end_ns = 9'000'000;
  r.traffic.bins.assign(8, {});
  const auto stall = [&] {
    return values_of_run({.definition = &c, .result = r}).at("longest_stall_seconds");
  };
  EXPECT_TRUE(stall().empty()) << "nothing began";
  r.traffic.bins[2].delivered_bytes[TrafficClass::kBackground] = 1;
  EXPECT_DOUBLE_EQ(stall().at(0), 0.006) << "to the end, of which the last bin has no traffic";
  r.traffic.bins[7].delivered_bytes[TrafficClass::kDdl] = 1;
  EXPECT_DOUBLE_EQ(stall().at(0), 0.004);
  r.traffic.bins[4].delivered_bytes[TrafficClass::kDdl] = 1;
  EXPECT_DOUBLE_EQ(stall().at(0), 0.002);
  r.traffic.end_ns = 50'000'000;
  c.traffic.max_bins = 8;
  EXPECT_DOUBLE_EQ(stall().at(0), 0.002) << "no bin was left for the rest";
}

TEST(Metric, QueuePairsAreOverPushesAndThereOverRoceAlone) {
  const Case c = make_case("off", 2);
  RunResult r = make_result(10);
  add_burst(r, 0, 0, {.due = 1});
  add_burst(r, 1, 0, {.due = 1});
  add_burst(r, 0, 0, {.due = 5}, BurstDirection::kPull);
  const auto figures = [&] { return values_of_run({.definition = &c, .result = r}); };
  EXPECT_TRUE(figures().at("roce_cnps_per_burst").empty()) << "TCP";
  EXPECT_TRUE(figures().at("roce_queue_pairs").empty());
  r.traffic.roce = {
      .queue_pairs = 6, .sent = 100, .retransmitted = 12, .naks_sent = 3, .cnps_sent = 7};
  EXPECT_EQ(figures().at("roce_queue_pairs"), std::vector<double>{6}) << "not over pushes";
  EXPECT_EQ(figures().at("roce_cnps_per_burst"), std::vector<double>{3.5});
  EXPECT_EQ(figures().at("roce_naks_per_burst"), std::vector<double>{1.5});
  EXPECT_EQ(figures().at("roce_retransmitted_per_burst"), std::vector<double>{6});
  const Metric& metric = metric_named("roce_cnps_per_burst");
  CaseMetrics m;
  EXPECT_FALSE(metric.there(m));
  m.roce.sent = 1;
  EXPECT_TRUE(metric.there(m));
}

TEST(Metric, PausesAreOverPushesAndThereWhereAQueueIsLossless) {
  const Case c = make_case("off", 2);
  RunResult r = make_result(10);
  add_burst(r, 0, 0, {.due = 1});
  add_burst(r, 1, 0, {.due = 1});
  r.switches.queues.resize(2);
  r.switches.queues[0].pause.pauses_sent = 4;
  r.switches.queues[1].pause.pauses_sent = 1;
  r.traffic.paused_ns = 3'000'000;
  const auto figures = values_of_run({.definition = &c, .result = r});
  EXPECT_EQ(figures.at("pauses_per_burst"), std::vector<double>{2.5});
  EXPECT_NEAR(figures.at("host_paused_seconds_per_burst").at(0), 0.0015, 1e-12);
  CaseMetrics m;
  EXPECT_FALSE(metric_named("pauses_per_burst").there(m));
  m.lossless = true;
  EXPECT_TRUE(metric_named("pauses_per_burst").there(m));
}

// First bursts count among all, and have a figure of their own.
TEST(Metric, FirstBurstsAreToldApart) {
  const Summary s = example();
  const CaseSummary* on[] = {&s.cases.at(1)};
  EXPECT_NEAR(value_of(metric_named("first_communication_seconds_median"), on), 0.010, 1e-9);
  EXPECT_EQ(value_of(metric_named("complete_iterations"), on), 3);
  CaseSummary skipped = s.cases.at(1);
  skipped.metrics.samples.first_communication_seconds = {};
  const CaseSummary* without[] = {&skipped};
  EXPECT_TRUE(std::isnan(value_of(metric_named("first_communication_seconds_median"), without)));
}

TEST(Metric, RowsAreWhole) {
  std::set<std::string_view> names;
  for (const auto& m : metrics()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name << " is there twice";
    EXPECT_FALSE(m.help.empty()) << m.name;
    EXPECT_FALSE(m.help.ends_with('.')) << m.name;
    EXPECT_FALSE(m.column.heading.empty()) << m.name;
    EXPECT_EQ(&metric_named(m.name), &m);
  }
  EXPECT_THROW((void)metric_named("communication_seconds_meridian"), std::out_of_range);
}

TEST(Metric, ACaseHasItWhereItsRowSays) {
  const Summary s = example();
  const Json json = Json::parse(to_json(s));
  std::size_t defined = 0;
  for (std::size_t i = 0; i < s.cases.size(); ++i) {
    const CaseSummary* one[]{&s.cases[i]};
    for (const auto& m : metrics()) {
      if (!is_there(m, one)) continue;
      const std::string place(m.name);
      const Json& own = json.at("cases")[i].at("metrics");
      ASSERT_TRUE(own.contains(place)) << m.name;
      const double value = value_of(m, one);
      if (std::isnan(value)) {
        EXPECT_TRUE(own.at(place).is_null()) << m.name;
        continue;
      }
      EXPECT_NEAR(own.at(place).get<double>(), value, 1e-9 * std::abs(value)) << m.name;
      ++defined;
    }
  }
  EXPECT_GT(defined, 20U) << "the example is too poor";
}

TEST(Metric, DocumentationIsRenewed) {
  const char* how = "renew it: build/release/bin/outrider-lab metrics --renew docs";
  const std::string page = text_of("docs/measurement.md");
  EXPECT_TRUE(renewed_page(page) == page) << "docs/measurement.md is stale; " << how;
  const std::string schema = text_of("docs/summary.schema.json");
  EXPECT_TRUE(renewed_schema(schema) == schema) << "docs/summary.schema.json is stale; " << how;
}

TEST(Metric, ScriptsOfTheReportNameWhatThereIs) {
  const std::regex use(R"re((?:metric\(\w+, |\bat\()"(\w+)"\))re");
  std::size_t found = 0;
  for (const char* file : {"tools/lab/report/figures.js", "tools/lab/report/page.js"}) {
    const std::string text = text_of(file);
    for (std::sregex_iterator it(text.begin(), text.end(), use), end; it != end; ++it, ++found)
      EXPECT_NO_THROW((void)metric_named((*it)[1].str())) << file;
  }
  EXPECT_GE(found, 9U);
}

}  // namespace
}  // namespace outrider::metric_test
