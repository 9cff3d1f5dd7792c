// Goal: each group of background has the figures of its own rows, and a dash where its kind has
// none. Method: reports made by hand.
#include "tools/lab/measure/metrics_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/telemetry/csv_text.h"
#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/results/run_table.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/tables/comparison_table.h"

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
    load.arrived_bytes = 1'250;
    load.arrivals = 6;
    load.completed = 3;
    load.refused = load.failed = load.open = 1;
    load.retransmitted = 5;
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
    capture.sent_bytes = 250;
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

TEST(GroupMetrics, SayWhatWasOfferedAndWhatBecameOfIt) {
  FourGroups run;
  run.result.traffic.flows[0].retransmitted = 2;
  run.result.traffic.flows[2].retransmitted = 1;
  const auto groups = measure_groups(run.definition, run.result.traffic);
  EXPECT_TRUE(std::isnan(groups[0].offered_bits_per_second)) << "long flows have no end";
  EXPECT_TRUE(std::isnan(groups[0].flows_completed));
  EXPECT_EQ(groups[0].retransmitted_packets, 3);
  EXPECT_DOUBLE_EQ(groups[1].offered_bits_per_second, 10'000);
  EXPECT_DOUBLE_EQ(groups[1].undelivered_fraction, 0.2);
  EXPECT_EQ(groups[1].flows_completed, 3);
  EXPECT_EQ(groups[1].flows_unfinished, 3) << "refused, failed and open";
  EXPECT_EQ(groups[1].retransmitted_packets, 5);
  EXPECT_EQ(groups[2].requests_completed, 2);
  EXPECT_TRUE(std::isnan(groups[2].offered_bits_per_second));
  EXPECT_DOUBLE_EQ(groups[3].offered_bits_per_second, 2'000);
  EXPECT_TRUE(std::isnan(groups[3].flows_completed)) << "a capture has frames, not flows";
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

/// Three seeds of off and on, whose group "dctcp" delivers so many bytes in each.
struct TwoArms {
  std::vector<Case> cases{};
  Experiment experiment{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};

  TwoArms() {
    for (const char* label : {"off", "on"})
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        cases.push_back(make_case(label, 1));
        cases.back().seed = seed;
        cases.back().parameters = {{"regulation", std::string(label)}};
        cases.back().background_groups = {"dctcp"};
      }
    for (const Case& c : cases) {
      RunResult r = make_result(1'000);
      const std::uint64_t bytes = 1'000 * c.seed;
      r.traffic.flows = {flow("dctcp 0", c.label == "off" ? bytes : bytes / 2)};
      experiment.runs.push_back({.definition = &c, .result = std::move(r)});
    }
  }
};

TEST(GroupMetrics, OfAnArmHaveConfidenceAndAChangeOverItsSeeds) {
  const TwoArms arms;
  const Summary summary = summarise(arms.experiment);
  ASSERT_EQ(summary.arms.size(), 2U);
  const auto goodput = [](const ArmSummary& arm) {
    const auto& figures = arm.groups.at(0).figures;
    return *std::ranges::find(figures, "goodput_bits_per_second", &ArmMetric::name);
  };
  const ArmMetric off = goodput(summary.arms[0]), on = goodput(summary.arms[1]);
  EXPECT_DOUBLE_EQ(off.value.value, 16'000) << "mean of 8, 16 and 24 kbit/s";
  EXPECT_LT(off.value.low, 16'000);
  EXPECT_GT(off.value.high, 16'000);
  EXPECT_DOUBLE_EQ(on.change.value, -0.5);
  EXPECT_DOUBLE_EQ(on.change.high, -0.5) << "seed by seed the same";
  EXPECT_THAT(comparison_table(summary), HasSubstr("-50 %"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"figures\": {"));
}

/// Keeps rows as lines of CSV.
class Lines : public RowSink {
 public:
  std::string text;
  void row(std::span<const Cell> cells) override { append_csv_line(text, cells); }
};

TEST(GroupMetrics, HaveATableWithARowForEachRun) {
  const TwoArms arms;
  const auto tables = run_tables();
  const auto table = std::ranges::find(tables, std::string_view("groups"), &RunTable::name);
  ASSERT_NE(table, tables.end());
  const CaseRun& run = arms.experiment.runs[1];
  ASSERT_TRUE(table->wanted(*run.definition, run.result));
  Lines out;
  for (const char* kind : {"measured", "alone"}) {
    const RunName name{1, run.definition, kind};
    RunRows rows(out, name);
    table->rows(rows, Runtime::kVirtual, name, run.result);
  }
  EXPECT_EQ(out.text.find("1,off,2,measured,dctcp,,16000,,1,1,0,"), 0U) << out.text;
  EXPECT_EQ(std::ranges::count(out.text, '\n'), 1) << "alone has no background";
  EXPECT_EQ(all_columns(*table).size(),
            static_cast<std::size_t>(std::ranges::count(out.text, ',')) + 1);
}

}  // namespace
}  // namespace outrider::metrics_groups_test
