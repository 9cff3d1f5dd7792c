// Goal: times of background's flows by size are those of the generator's histograms, of all groups
// and seeds together. Method: reports made by hand go through summarise().
#include "tools/lab/measure/flow_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/summary/metric.h"

namespace outrider::flow_times_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;

/// Returns a group with the generator's four classes, of no flows.
FlowGroupReport empty_group() {
  FlowGroupReport group;
  std::uint64_t above = 0;
  for (const std::uint64_t end : {10'000UL, 100'000UL, 1'000'000UL, UINT64_MAX}) {
    group.classes.push_back({.above_bytes = above, .up_to_bytes = end});
    above = end;
  }
  return group;
}

void complete(FlowGroupReport& group, std::size_t size_class, std::uint64_t ms,
              std::uint64_t slowdown_milli) {
  ++group.arrivals;
  ++group.completed;
  group.classes[size_class].completion_ns.record(ms * 1'000'000);
  group.classes[size_class].slowdown_milli.record(slowdown_milli);
}

struct Runs {
  std::deque<Case> cases{};
  Experiment experiment{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};

  FlowGroupReport& add(std::uint64_t seed) {
    cases.push_back(make_case("off", 1));
    cases.back().seed = seed;
    experiment.runs.push_back({.definition = &cases.back(), .result = make_result(100)});
    auto& groups = experiment.runs.back().result.traffic.flow_groups;
    groups.push_back(empty_group());
    return groups.back();
  }
  [[nodiscard]] double value(const char* metric) const {
    return summarise(experiment).arms.at(0).metric(metric).value.value;
  }
};

TEST(FlowTimes, AreThoseOfTheSizeClasses) {
  Runs runs;
  FlowGroupReport& group = runs.add(1);
  complete(group, 0, 1, 1'100);  // up to 10 kB, and up to 100 kB: small
  complete(group, 1, 3, 1'500);
  complete(group, 1, 5, 2'500);
  complete(group, 2, 40, 4'000);
  complete(group, 3, 900, 9'000);
  group.arrivals += 7;
  group.open = 2;
  group.failed = 1;
  group.refused = 4;
  group.after_end = 9;
  EXPECT_NEAR(runs.value("small_flow_completion_seconds_median"), 3e-3, 3e-5);
  EXPECT_NEAR(runs.value("small_flow_completion_seconds_p99"), 5e-3, 5e-5);
  EXPECT_NEAR(runs.value("small_flow_slowdown_median"), 1.5, 0.015);
  EXPECT_NEAR(runs.value("medium_flow_completion_seconds_median"), 40e-3, 4e-4);
  EXPECT_NEAR(runs.value("large_flow_slowdown_p99"), 9, 0.09);
  EXPECT_EQ(runs.value("small_flows_completed"), 3);
  EXPECT_EQ(runs.value("large_flows_completed"), 1);
  EXPECT_EQ(runs.value("flows_unfinished"), 3);
  EXPECT_EQ(runs.value("flows_not_offered"), 4) << "a name of its own";
  EXPECT_EQ(runs.value("flows_after_end"), 9) << "these neither";
}

TEST(FlowTimes, OfSeveralSeedsAreOfAllFlowsTogether) {
  Runs runs;
  for (std::uint64_t i = 0; i < 9; ++i) complete(runs.add(i + 1), 0, 2, 2'000);
  FlowGroupReport& many = runs.add(10);
  for (int i = 0; i < 10; ++i) complete(many, 0, 8, 4'000);
  EXPECT_NEAR(runs.value("small_flow_completion_seconds_median"), 8e-3, 8e-5)
      << "the median of the seeds would be 2 ms";
  EXPECT_TRUE(std::isnan(runs.value("large_flow_completion_seconds_p99"))) << "no such flow";
}

TEST(RequestTimes, AreOfAllPairsAndSeeds) {
  Runs runs;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    (void)runs.add(seed);
    auto& requests = runs.experiment.runs.back().result.traffic.requests;
    requests.resize(2);
    requests[0].closed = 1;
    for (std::uint64_t ms = 1; ms <= 4; ++ms)
      requests[seed - 1].latency_ns.record(ms * 1'000'000 * seed);
  }
  EXPECT_EQ(runs.value("requests_completed"), 8);
  EXPECT_EQ(runs.value("request_connections_broken"), 2);
  EXPECT_NEAR(runs.value("request_latency_seconds_p99"), 8e-3, 8e-5);
  EXPECT_NEAR(runs.value("request_latency_seconds_median"), 3e-3, 3e-5);
}

TEST(CaptureTotals, AreOfAllSeeds) {
  Runs runs;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    (void)runs.add(seed);
    runs.experiment.runs.back().result.traffic.captures = {
        {{.frames = 10, .sent = 50, .received = 50 - 10 * seed}, "c"}};
  }
  EXPECT_NEAR(runs.value("capture_frames_lost_fraction"), 0.3, 1e-9);
}

TEST(FlowTimes, AreNotThereWithoutSuchFlows) {
  Case c = make_case("off", 1);
  Experiment experiment{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};
  experiment.runs.push_back({.definition = &c, .result = make_result(100)});
  const auto arm = summarise(experiment).arms.at(0);
  for (const auto& m : arm.metrics) {
    EXPECT_EQ(m.name.find("flow_"), std::string::npos) << m.name;
    EXPECT_NE(m.name.find("request"), 0U) << m.name;
    EXPECT_NE(m.name.find("capture"), 0U) << m.name;
  }
}

TEST(FlowTimes, QuantilesAreThoseOfAHistogram) {
  Histogram a, b, both;
  for (std::uint64_t i = 0; i < 500; ++i) {
    a.record(i * i);
    b.record(7 * i + 100'000);
  }
  both.merge(a);
  both.merge(b);
  const FilledBuckets of_a(a), of_b(b), none;
  const FilledBuckets* parts[]{&of_a, &none, &of_b};
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0})
    EXPECT_EQ(quantile_of(parts, q), static_cast<double>(both.quantile(q))) << q;
  const FilledBuckets* nothing[]{&none};
  EXPECT_TRUE(std::isnan(quantile_of(nothing, 0.5)));
}

}  // namespace
}  // namespace outrider::flow_times_test
