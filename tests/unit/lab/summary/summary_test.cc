#include "tools/lab/summary/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>

#include "tests/unit/lab/measure/metrics_fixture.h"

namespace outrider::summary_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;
using Json = nlohmann::ordered_json;

/// Makes cases by label and seed, in which a burst takes the given time [ms].
class Study {
 public:
  Study& add(const std::string& label, std::uint64_t seed, double burst_ms,
             std::uint32_t start_queue = 30) {
    cases_.push_back(make_case(label, 1));
    cases_.back().seed = seed;
    RunResult r = make_result(400);
    deliver(r, TrafficClass::kBackground, 0, 400, 1'000);
    add_burst(r, 0, 0, {.due = 100, .start = 99, .first = 100, .delivered = 100 + burst_ms});
    add_queue_burst(r, 0, 0, 101, start_queue, 50);
    queue_of(r).burst_sojourn_ns.record(2'000'000);
    experiment_.runs.push_back({.definition = &cases_.back(), .result = std::move(r)});
    return *this;
  }
  Case& last() { return cases_.back(); }
  Experiment& experiment() { return experiment_; }

 private:
  std::deque<Case> cases_;
  Experiment experiment_{.name = "study", .runtime = Runtime::kVirtual, .runs = {}};
};

TEST(Summary, ArmsPoolTheirSeedsAndArePairedWithOff) {
  Study study;
  study.add("off", 1, 40).add("on", 1, 20).add("off", 2, 60).add("on", 2, 30);
  study.add("off", 3, 80).add("on", 3, 40).add("off", 4, 99);
  const Summary s = summarise(study.experiment());
  ASSERT_EQ(s.arms.size(), 2U);
  EXPECT_EQ(s.arms[0].label, "off");
  EXPECT_EQ(s.arms[0].cases, (std::vector<std::size_t>{0, 2, 4, 6}));
  EXPECT_TRUE(s.arms[0].off);
  EXPECT_FALSE(s.arms[1].off);
  const ArmMetric off = s.arms[0].metric("burst_completion_seconds_median");
  EXPECT_DOUBLE_EQ(off.value.value, 0.070);
  EXPECT_EQ(off.change.value, 0) << "against itself";
  const ArmMetric on = s.arms[1].metric("burst_completion_seconds_median");
  EXPECT_DOUBLE_EQ(on.value.value, 0.030);
  EXPECT_DOUBLE_EQ(on.change.value, -0.5) << "seed 4 has no on case: 30 ms over 60 ms";
  EXPECT_DOUBLE_EQ(on.change.low, -0.5) << "every resample of pairs halves";
  EXPECT_DOUBLE_EQ(on.change.high, -0.5);
}

TEST(Summary, ChangeFromNothingIsNotDefined) {
  Study study;
  study.add("off", 1, 40, 0).add("on", 1, 40, 5);
  const Summary s = summarise(study.experiment());
  EXPECT_TRUE(std::isnan(s.arms[1].metric("start_queue_packets_mean").change.value));
  EXPECT_THROW((void)s.arms[1].metric("no such metric"), std::out_of_range);
}

TEST(Summary, IsInterruptedIfARunOrACaseIsMissing) {
  Study study;
  study.add("off", 1, 40);
  EXPECT_FALSE(summarise(study.experiment()).interrupted);
  EXPECT_EQ(summarise(study.experiment()).planned_cases, 1U);
  study.experiment().planned_cases = 2;
  EXPECT_TRUE(summarise(study.experiment()).interrupted);
  study.experiment().planned_cases = 1;
  study.experiment().runs[0].result.interrupted = true;
  EXPECT_TRUE(summarise(study.experiment()).interrupted);
  EXPECT_NO_THROW(to_json(summarise(Experiment{})));
}

TEST(Summary, TrimmingChangesNothing) {
  Study study;
  study.add("off", 1, 40).add("on", 1, 20);
  for (auto& run : study.experiment().runs) {
    QueueReport other = queue_of(run.result);
    other.port_name = "down";
    other.marks[TrafficClass::kDdl] = {3, 4};
    run.result.switches.queues.push_back(other);
    run.alone = run.result;
  }
  const std::string before = to_json(summarise(study.experiment()));
  for (auto& run : study.experiment().runs) trim(run);
  EXPECT_EQ(to_json(summarise(study.experiment())), before);
  EXPECT_TRUE(study.experiment().runs[0].result.switches.queues[1].bins.empty());
  EXPECT_FALSE(queue_of(study.experiment().runs[0].result).bins.empty());
}

// Two jobs of two workers over parameter servers and in a ring, which takes 20 ms and 30 ms.
TEST(Summary, CollectivesAreThoseOfEachJob) {
  Study study;
  for (const std::uint32_t seed : {1U, 2U}) {
    study.add("off", seed, 40);
    JobConfig& ring = study.last().traffic.jobs.emplace_back();
    ring.name = "ring";
    ring.workers = {"a", "b"};
    ring.collective = Collective::kRing;
    RunResult& result = study.experiment().runs.back().result;
    const lab_test::BurstTimes times{
        .due = 100, .start = 99, .first = 100, .delivered = 110 + 10.0 * seed};
    add_burst(result, 0, 0, times, BurstDirection::kPush, 1);
    add_burst(result, 1, 0, times, BurstDirection::kPush, 1);
  }
  const Summary s = summarise(study.experiment());
  ASSERT_EQ(s.arms.front().collectives.size(), 1U) << "nccl-tests has no parameter servers";
  const CollectiveSummary& ring = s.arms.front().collectives.front();
  EXPECT_EQ(ring.job, "ring");
  EXPECT_EQ(ring.collective, "ring");
  EXPECT_EQ(ring.ranks, 2U);
  EXPECT_EQ(ring.size_bytes, 100e3);
  EXPECT_DOUBLE_EQ(ring.seconds, 0.025);
  EXPECT_DOUBLE_EQ(ring.busbw_bits_per_second, (40e6 + 80e6 / 3) / 2);
  EXPECT_EQ(nlohmann::json::parse(to_json(s))["arms"][0]["collectives"][0]["job"], "ring");
}

// -- summary.json

Json json_of(Study& study) { return Json::parse(to_json(summarise(study.experiment()))); }

TEST(Summary, CasesNameTheHostsOfTheirJobs) {
  Study study;
  study.add("off", 1, 40);
  const auto jobs = json_of(study).at("cases")[0].at("jobs");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0], Json::parse(R"({"name": "", "workers": 1, "servers": 1})"));
}

// Shares are of the sums over all pushes of an arm, so a long burst weighs more.
TEST(Summary, AttributedTimesBecomeSharesOfAnArm) {
  Study study;
  const auto attribute = [&](std::int64_t background_ms, std::int64_t wire_ms) {
    auto& times = study.experiment().runs.back().result.traffic.bursts.back().times.emplace();
    times[BurstTime::kBehindBackground] = background_ms * 1'000'000;
    times[BurstTime::kSerialisation] = wire_ms * 1'000'000;
  };
  study.add("off", 1, 40);
  attribute(30, 10);
  study.add("off", 2, 160);
  attribute(30, 130);
  study.add("on", 1, 10);
  const Summary s = summarise(study.experiment());
  ASSERT_EQ(s.arms.size(), 2U);
  EXPECT_DOUBLE_EQ(s.arms[0].metric("time_behind_background_share").value.value, 60.0 / 200);
  EXPECT_DOUBLE_EQ(s.arms[0].metric("time_serialisation_share").value.value, 140.0 / 200);
  EXPECT_DOUBLE_EQ(s.arms[0].metric("time_rto_share").value.value, 0);
  EXPECT_TRUE(std::isnan(s.arms[1].metric("time_rto_share").value.value)) << "not attributed";
  const Json json = Json::parse(to_json(s));
  const auto share = [&json](std::size_t i) {
    return json.at("cases")[i].at("metrics").value("time_behind_background_share", Json());
  };
  EXPECT_DOUBLE_EQ(share(0).get<double>(), 0.75);
  EXPECT_TRUE(share(2).is_null());
}

TEST(SummaryJson, HoldsWhatTheSchemaPromises) {
  Study study;
  study.add("off", 1, 40).add("on", 1, 20);
  const Json json = json_of(study);
  EXPECT_EQ(json.at("schema_version"), 3);
  EXPECT_EQ(json.at("experiment"), "study");
  EXPECT_EQ(json.at("runtime"), "virtual");
  ASSERT_EQ(json.at("cases").size(), 2U);
  for (const auto& c : json.at("cases")) {
    EXPECT_TRUE(c.at("label").is_string());
    EXPECT_TRUE(c.at("parameters").is_object());
    EXPECT_TRUE(c.at("seed").is_number_unsigned());
    const auto& m = c.at("metrics");
    for (const char* name : {"start_queue_packets_mean", "burst_completion_seconds_median",
                             "communication_seconds_p99", "background_goodput_bits_per_second",
                             "background_lost_fraction"})
      EXPECT_TRUE(m.at(name).is_number()) << name;
    EXPECT_TRUE(c.at("ledger_balanced").get<bool>());
    EXPECT_EQ(c.at("off_case"), 0);
  }
  EXPECT_EQ(json.at("cases")[1].at("metrics").at("burst_completion_seconds_mean"), 0.02);
  EXPECT_EQ(json.at("arms")[1].at("seeds"), Json::array({1}));
}

TEST(SummaryJson, KeepsTypesAndOrderOfParameters) {
  Study study;
  study.add("off", 1, 40);
  study.last().parameters = {{"z", true},        {"a", std::int64_t{7}},
                             {"m", 0.1},         {"b", std::string("x")},
                             {"job.pull", true}, {"switch.regulation.lead", std::monostate{}}};
  const Json json = json_of(study);
  EXPECT_EQ(json.at("cases")[0].at("parameters").dump(), R"({"z":true,"a":7,"m":0.1,"b":"x"})");
  EXPECT_EQ(json.at("cases")[0].at("settings").dump(),
            R"({"job.pull":true,"switch.regulation.lead":null})");
  EXPECT_EQ(json.at("arms")[0].at("settings"), json.at("cases")[0].at("settings"));
}

TEST(SummaryJson, WhatIsNotDefinedIsNull) {
  Study study;
  study.add("on", 1, 40);  // no off case and no run without background
  study.experiment().runs[0].result.traffic.bursts.clear();
  const Json json = json_of(study);
  const auto& m = json.at("cases")[0].at("metrics");
  EXPECT_TRUE(m.at("burst_completion_seconds_median").is_null());
  EXPECT_TRUE(m.at("background_lost_fraction").is_null());
  EXPECT_TRUE(json.at("cases")[0].at("off_case").is_null());
}

TEST(SummaryJson, IsTheSameEveryTime) {
  Study a, b;
  for (Study* s : {&a, &b})
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      s->add("off", seed, 40.0 + static_cast<double>(seed) / 3).add("on", seed, 20 + 1.0 / 7);
  EXPECT_EQ(to_json(summarise(a.experiment())), to_json(summarise(b.experiment())));
}

TEST(SummaryJson, NumbersReadBackExactly) {
  Study study;
  study.add("off", 1, 40.0 / 3);
  const Summary s = summarise(study.experiment());
  const double exact = s.cases[0].metrics.samples.burst_completion_seconds.values()[0];
  const Json json = Json::parse(to_json(s));
  EXPECT_EQ(json.at("cases")[0].at("metrics").at("burst_completion_seconds_median").get<double>(),
            exact);
}

}  // namespace
}  // namespace outrider::summary_test
