// Goal: each group of background has the figures of its own rows, and a dash where its kind has
// none. Method: reports made by hand.
#include "tools/lab/measure/metrics_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/summary/summary.h"

namespace outrider::metrics_groups_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;
using testing::HasSubstr;

FlowReport flow(const char* name, std::uint64_t bytes,
                TrafficClass traffic_class = TrafficClass::kBackground) {
  FlowReport report;
  report.name = name;
  report.delivered_bytes = bytes;
  report.traffic_class = traffic_class;
  return report;
}

/// A case with four groups, and a run of a second.
struct FourGroups {
  Case definition = make_case("off", 1);
  RunResult result = make_result(1'000);

  FourGroups() {
    definition.background_groups = {"dctcp", "storage", "calls", "frames"};
    definition.traffic.requests.emplace_back().name = "calls";
    definition.traffic.requests.back().request_bytes = 100;
    definition.traffic.requests.back().response_bytes = 900;
    GeneratorReport& r = result.traffic;
    r.flows = {flow("dctcp 0", 300), flow("dctcp 1", 100), flow("dctcp_back 2", 400),
               flow("dctcp 7", 99'999, TrafficClass::kDdl), flow("other 3", 5)};
    FlowGroupReport load;
    load.name = "storage";
    load.delivered_bytes = 1'000;
    load.classes.push_back({.above_bytes = 0, .up_to_bytes = 10'000});
    load.classes.push_back({.above_bytes = 10'000, .up_to_bytes = 100'000});
    load.classes[0].completion_ns.record(2'000'000);
    load.classes[1].completion_ns.record(6'000'000);
    load.classes[1].completion_ns.record(6'000'000);
    load.classes[1].slowdown_milli.record(3'000);
    r.flow_groups.push_back(std::move(load));
    RequestReport pair;
    pair.name = "calls b0 s0";
    pair.completed = 2;
    pair.latency_ns.record(1'000'000);
    r.requests.push_back(std::move(pair));
    CaptureReport capture;
    capture.name = "frames";
    capture.sent = 4;
    capture.received = 3;
    capture.received_bytes = 200;
    r.captures.push_back(std::move(capture));
  }
};

TEST(GroupMetrics, AreThoseOfTheRowsOfEach) {
  const FourGroups run;
  const auto groups = measure_groups(run.definition, run.result.traffic);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].name, "dctcp");
  EXPECT_DOUBLE_EQ(groups[0].goodput_bits_per_second, 800 * 8) << "with what flows back";
  EXPECT_DOUBLE_EQ(groups[0].share, 800.0 / 4'000);
  EXPECT_DOUBLE_EQ(groups[0].fairness,
                   800.0 * 800 / (3 * (300.0 * 300 + 100.0 * 100 + 400.0 * 400)));
  EXPECT_TRUE(std::isnan(groups[0].flow_completion_seconds_median));
  EXPECT_DOUBLE_EQ(groups[1].goodput_bits_per_second, 8'000);
  EXPECT_NEAR(groups[1].flow_completion_seconds_median, 0.006, 0.006 / 100) << "of all sizes";
  EXPECT_NEAR(groups[1].flow_slowdown_p99, 3, 0.03);
  EXPECT_TRUE(std::isnan(groups[1].fairness));
  EXPECT_DOUBLE_EQ(groups[2].goodput_bits_per_second, 2'000 * 8) << "requests and answers";
  EXPECT_NEAR(groups[2].request_latency_seconds_p99, 0.001, 1e-5);
  EXPECT_DOUBLE_EQ(groups[3].capture_frames_lost_fraction, 0.25);
}

TEST(GroupMetrics, OfACaseWithoutGroupsAreNone) {
  FourGroups run;
  run.definition.background_groups.clear();
  EXPECT_TRUE(measure_groups(run.definition, run.result.traffic).empty());
}

TEST(GroupMetrics, AreInTheTableAndInTheSummary) {
  const FourGroups run;
  Experiment experiment{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};
  experiment.runs.push_back({.definition = &run.definition, .result = run.result});
  const Summary summary = summarise(experiment);
  const std::string table = comparison_table(summary);
  EXPECT_THAT(table, HasSubstr("Groups of background, over the whole run:\n"));
  EXPECT_THAT(table, HasSubstr("\n  storage "));
  const std::string json = to_json(summary);
  EXPECT_THAT(json, HasSubstr("\"background_groups\": ["));
  EXPECT_THAT(json, HasSubstr("\"name\": \"calls\""));
}

}  // namespace
}  // namespace outrider::metrics_groups_test
