// Goal: background_fairness is Jain's index over the background's flows, pooled over runs and
// without a job's flows. Method: expected values computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/summary/summary.h"

namespace outrider::background_fairness_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;

void add_flow(RunResult& r, TrafficClass c, std::uint64_t bytes) {
  auto& flow = r.traffic.flows.emplace_back();
  flow.traffic_class = c;
  flow.delivered_bytes = bytes;
}

TEST(BackgroundFairness, IsJainsIndexOfTheBackground) {
  std::deque<Case> cases;
  Experiment experiment{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};
  for (const std::uint64_t third : {3'000U, 0U}) {
    cases.push_back(make_case("off", 1));
    cases.back().seed = cases.size();
    RunResult r = make_result(10);
    for (const std::uint64_t bytes : {std::uint64_t{3'000}, std::uint64_t{3'000}, third})
      add_flow(r, TrafficClass::kBackground, bytes);
    add_flow(r, TrafficClass::kDdl, 1'000'000);
    experiment.runs.push_back({.definition = &cases.back(), .result = std::move(r)});
  }
  const Summary s = summarise(experiment);
  const auto json = nlohmann::ordered_json::parse(to_json(s));
  const auto of_case = [&](std::size_t i) {
    return json.at("cases")[i].at("metrics").at("background_fairness").get<double>();
  };
  EXPECT_DOUBLE_EQ(of_case(0), 1);
  EXPECT_DOUBLE_EQ(of_case(1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.arms.at(0).metric("background_fairness").value.value, (1 + 2.0 / 3) / 2);

  experiment.runs.resize(1);
  experiment.runs[0].result.traffic.flows.clear();
  EXPECT_TRUE(std::isnan(summarise(experiment).arms[0].metric("background_fairness").value.value));
}

}  // namespace
}  // namespace outrider::background_fairness_test
