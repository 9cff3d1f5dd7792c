// Goal: a suite is read with every fault of it by its key, its tests are judged by what they expect
// and by nothing else, and reports say what failed. Method: results made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/telemetry/whole_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/suite/suite_benchmark.h"
#include "tools/lab/suite/suite_picture.h"
#include "tools/lab/suite/suite_report.h"

namespace outrider::suite_test {
using namespace lab;
using testing::HasSubstr;
namespace {

namespace fs = std::filesystem;

constexpr const char* kDropped = "burst_packets_dropped_per_burst";

ArmSummary arm(std::int64_t workers, double dropped) {
  ArmSummary a{.label = "off", .parameters = {{"workers", workers}}};
  a.point = workers == 2 ? 0 : 1;
  a.cases = {0};
  a.metrics = {{kDropped, {.value = dropped}, {}}};
  return a;
}

Results of(double two, double eight) {
  Results results{.arms = {arm(2, two), arm(8, eight)}};
  name_arms(results.arms);
  return results;
}

SuiteTest test_with(std::vector<SuiteExpectation> expect) {
  return {.name = "absorption",
          .asks = "How long may bursts be?",
          .experiment = "x.toml",
          .expect = std::move(expect)};
}

TEST(SuiteJudge, EveryFigureHasToHold) {
  const SuiteTest none_lost = test_with({{.metric = kDropped, .most = 0.0}});
  EXPECT_EQ(judge(none_lost, of(0, 0)).verdict, SuiteVerdict::kPassed);
  const SuiteOutcome one = judge(none_lost, of(0, 3));
  EXPECT_EQ(one.verdict, SuiteVerdict::kFailed);
  ASSERT_EQ(one.figures.size(), 2U);
  EXPECT_TRUE(one.figures[0].holds);
  EXPECT_FALSE(one.figures[1].holds);
  EXPECT_EQ(judge(none_lost, of(0, kNotDefined)).verdict, SuiteVerdict::kFailed)
      << "what is not counted is not 0";
}

TEST(SuiteJudge, AnExpectationIsOfTheArmsThatItNames) {
  const SuiteTest of_two = test_with({{.metric = kDropped, .most = 0.0, .where = {"workers=2"}}});
  EXPECT_EQ(judge(of_two, of(0, 3)).verdict, SuiteVerdict::kPassed);
  const SuiteTest of_eight =
      test_with({{.metric = kDropped, .least = 1.0, .where = {"workers=8"}}});
  EXPECT_EQ(judge(of_eight, of(0, 3)).verdict, SuiteVerdict::kPassed);
  EXPECT_EQ(judge(of_eight, of(0, 0)).verdict, SuiteVerdict::kFailed);
  for (const SuiteExpectation& nobody :
       {SuiteExpectation{.metric = kDropped, .most = 0.0, .arms = {"on"}},
        SuiteExpectation{.metric = kDropped, .most = 0.0, .where = {"workers=4"}}})
    EXPECT_EQ(judge(test_with({nobody}), of(0, 0)).verdict, SuiteVerdict::kFailed);
}

TEST(SuiteJudge, WithoutExpectationsThereIsNoPass) {
  EXPECT_EQ(judge(test_with({}), of(0, 0)).verdict, SuiteVerdict::kMeasured);
  Results part = of(0, 0);
  part.interrupted = true;
  part.finished_cases = 1;
  part.planned_cases = 2;
  const SuiteOutcome outcome = judge(test_with({{.metric = kDropped, .most = 0.0}}), part);
  EXPECT_EQ(outcome.verdict, SuiteVerdict::kBroken);
  EXPECT_THAT(outcome.cause, HasSubstr("1 of 2 cases"));
}

/// Returns a suite of one test that fails and one that cannot be run, with their outcomes.
struct Reported {
  Suite suite{.name = "incast", .title = "Incast <1>", .source = "a plan"};
  std::vector<SuiteOutcome> outcomes;

  Reported() {
    suite.tests = {test_with({{.metric = kDropped, .most = 0.0}}),
                   {.name = "uet", .asks = "And this?", .cannot = "no \"transport\""}};
    suite.tests[0].columns = {kDropped};
    outcomes.push_back(judge(suite.tests[0], of(0, 3)));
    outcomes.push_back({.test = &suite.tests[1], .cause = suite.tests[1].cannot});
  }
};

SuiteSetup setup() {
  return {.program = "outrider-lab", .fabric = "mine.toml", .begun = "2026-11-30T12:00:00"};
}

TEST(SuiteReport, JunitHasFailuresAndWhatCannotBeRun) {
  const Reported r;
  const std::string xml = suite_junit(r.suite, setup(), r.outcomes);
  EXPECT_THAT(xml, HasSubstr("timestamp=\"2026-11-30T12:00:00\" hostname=\"localhost\" "
                             "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\" time="));
  EXPECT_THAT(
      xml,
      HasSubstr("<failure message=\"burst_packets_dropped_per_burst of off, workers=8 is 3.000"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"no &quot;transport&quot;\"/>"));
  EXPECT_TRUE(has_failed(r.outcomes));
}

TEST(SuiteReport, JsonHasEveryFigure) {
  const Reported r;
  const auto json = nlohmann::json::parse(suite_json(r.suite, setup(), r.outcomes));
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["tests"][0]["verdict"], "failed");
  EXPECT_EQ(json["tests"][0]["expected"][1]["value"], 3.0);
  EXPECT_EQ(json["tests"][0]["arms"][0]["metrics"][kDropped]["value"], 0.0);
  EXPECT_EQ(json["tests"][1]["cause"], "no \"transport\"");
}

TEST(SuiteReport, HtmlIsOnePageWithTheTables) {
  const Reported r;
  const std::string html = suite_html(r.suite, setup(), r.outcomes);
  EXPECT_THAT(html, HasSubstr("<h1>Incast &lt;1&gt;</h1>"));
  EXPECT_THAT(html, HasSubstr("<td>3.000</td>"));
  EXPECT_THAT(html, HasSubstr("no &quot;transport&quot;"));
  for (const char* section : {"Device under test", "Configuration", "Results",
                              "Anomalies and deviations", "Repeatability"})
    EXPECT_THAT(html, HasSubstr(std::string("<h2>") + section));
}

TEST(SuiteReport, SaysFirstHowAccurateTheGeneratorIs) {
  const Reported r;
  SuiteSetup real = setup();
  EXPECT_EQ(accuracy_text(real), "accuracy  of the generator was not measured\n");
  EXPECT_THAT(suite_html(r.suite, real, r.outcomes), HasSubstr("It was not measured."));
  real.accuracy = {{.name = "gap between frames, p99", .value = 12.5, .unit = "ns"}};
  const std::string html = suite_html(r.suite, real, r.outcomes);
  EXPECT_THAT(html, HasSubstr("<td>gap between frames, p99</td><td>12.50</td><td>ns</td>"));
  EXPECT_LT(html.find("<h2>Accuracy"), html.find("<h2>Device under test"));
  EXPECT_TRUE(accuracy_text(real).starts_with("accuracy  gap between frames, p99: 12.50 ns\n"));
  EXPECT_EQ(nlohmann::json::parse(suite_json(r.suite, real, r.outcomes))["accuracy"][0]["value"],
            12.5);
}

TEST(SuiteReport, HasTopologyHostsAndConfigurationOfEachTest) {
  Reported r;
  for (SuiteOutcome& o : r.outcomes) o.topology = {{"switches", "4 x leaf"}};
  r.outcomes[0].hosts = {{"worker", "8"}};
  for (ArmSummary& one : r.outcomes[0].results->arms)
    one.parameters.emplace_back("switch.queue.lossless.xoff_bytes", std::int64_t{200000});
  const std::string html = suite_html(r.suite, setup(), r.outcomes);
  EXPECT_THAT(html, HasSubstr("absorption, uet</td><td>switches</td><td>4 x leaf</td>"))
      << "what is the same stands once";
  EXPECT_THAT(html, HasSubstr("<td>PFC</td><td>switch.queue.lossless.xoff_bytes</td><td>200000"));
  EXPECT_THAT(html, HasSubstr("<td>workers</td><td>2, 8</td>"));
  EXPECT_THAT(html, HasSubstr("on the network of mine.toml")) << "a deviation";
  const auto json = nlohmann::json::parse(suite_json(r.suite, setup(), r.outcomes));
  EXPECT_EQ(json["tests"][0]["hosts"]["worker"], "8");
  EXPECT_EQ(json["tests"][0]["configuration"]["PFC"]["switch.queue.lossless.xoff_bytes"][0],
            "200000");
  EXPECT_EQ(json["fabric"], "mine.toml");
}

TEST(SuitePicture, IsTheMetricOverWhatIsSwept) {
  const std::string svg = sweep_picture(of(0, 3), kDropped);
  EXPECT_THAT(svg, HasSubstr("aria-label=\"dropped [packets /burst] over workers\""));
  EXPECT_THAT(svg, HasSubstr("</svg>off</li>")) << "the swept setting is on the axis";
  EXPECT_THAT(svg, HasSubstr("No interval over seeds."));
  Results wide = of(1, 3);
  wide.arms[1].metrics[0].value = {.value = 3, .low = 2, .high = 4};
  EXPECT_THAT(sweep_picture(wide, std::string(kDropped) + ":range"),
              HasSubstr("Bars: 95 % confidence over seeds."));
  wide.arms.pop_back();
  EXPECT_EQ(sweep_picture(wide, kDropped), "") << "nothing is swept";
  EXPECT_EQ(sweep_picture(of(0, 3), std::string(kDropped) + ":change"), "");
}

TEST(SuiteReport, RepeatabilityIsTheVariationOverSeeds) {
  Reported r;
  EXPECT_THAT(suite_html(r.suite, setup(), r.outcomes), HasSubstr("absorption: one seed"));
  r.outcomes[0].variation = 0.062;
  EXPECT_THAT(suite_html(r.suite, setup(), r.outcomes),
              HasSubstr("burst_packets_dropped_per_burst has a coefficient of variation of at most "
                        "6.2 % over 1 seeds: above 5 %"));
  const auto json = nlohmann::json::parse(suite_json(r.suite, setup(), r.outcomes));
  EXPECT_EQ(json["tests"][0]["variation"], 0.062);
  EXPECT_TRUE(json["tests"][1]["variation"].is_null());
}

TEST(SuiteBenchmark, PointsAreArmsWithAnIntervalOverRepetitions) {
  tg::BenchmarkPoint small{.at = {{"frame_bytes", 64}}}, large{.at = {{"frame_bytes", 1518}}};
  for (const double share : {0.5, 0.6, 0.7}) small.add("throughput_share", share);
  large.add("throughput_share", 1);
  const tg::BenchmarkResult measured{
      .kind = "throughput", .points = {small, large}, .finished = true};
  const Results results = results_of(measured, "throughput", Runtime::kLoopback);
  ASSERT_EQ(results.arms.size(), 2U);
  const Estimate share = results.arms[0].metric("throughput_share").value;
  EXPECT_DOUBLE_EQ(share.value, 0.6);
  EXPECT_GE(share.low, 0.5);
  EXPECT_LE(share.high, 0.7);
  EXPECT_TRUE(has_value(results.arms[0], "frame_bytes", "64"));
  EXPECT_TRUE(std::isnan(results.arms[1].metric("loss_share").value.value));
  EXPECT_NEAR(variation_of(measured, "throughput_share").value_or(0), 0.1 / 0.6, 1e-9);

  const SuiteTest full{.name = "full",
                       .asks = "?",
                       .streams = "x.toml",
                       .under_test = "y.toml",
                       .expect = {{.metric = "throughput_share", .least = 0.9}}};
  EXPECT_EQ(judge(full, results).verdict, SuiteVerdict::kFailed);
}

TEST(SuiteFile, ATestHasOneOfExperimentStreamsAndCannot) {
  const SuiteTest sound{.name = "a", .asks = "?", .streams = "x.toml", .under_test = "y.toml"};
  const auto faults_of = [](SuiteTest test) {
    return format_issues("s",
                         validate({.name = "s", .title = "S", .source = "t", .tests = {test}}));
  };
  EXPECT_EQ(faults_of(sound), "");
  SuiteTest both = sound;
  both.experiment = "z.toml";
  EXPECT_THAT(faults_of(both), HasSubstr("one of `experiment`, `streams` and `cannot`"));
  SuiteTest alone = sound;
  alone.under_test.clear();
  EXPECT_THAT(faults_of(alone), HasSubstr("belongs to `streams`"));
  SuiteTest metric = sound;
  metric.columns = {"communication_seconds_median"};
  EXPECT_THAT(faults_of(metric), HasSubstr("is no figure of a benchmark"));
}

TEST(SuiteFile, ATestMayBeLikeOneOfAnotherSuite) {
  const fs::path path = fs::path(testing::TempDir()) / "like-suite" / "mine.toml";
  fs::create_directories(path.parent_path());
  const auto loaded = [&](const std::string& test) {
    write_whole_file(
        path, "name = \"mine\"\ntitle = \"T\"\nsource = \"s\"\n[[test]]\nname = \"own\"\n" + test);
    return load_suite(path);
  };
  const auto other = load_suite(source_path("conf/suites/incast.toml"));
  const auto suite = loaded("like = \"incast/pfc\"\nsection = \"4.2\"\n");
  ASSERT_TRUE(suite) << format_issues("mine", suite.issues);
  const SuiteTest& own = suite.config->tests.at(0);
  const SuiteTest& pfc = *std::ranges::find(other.config->tests, "pfc", &SuiteTest::name);
  EXPECT_EQ(own.name, "own");
  EXPECT_EQ(own.section, "4.2");
  EXPECT_EQ(own.asks, pfc.asks);
  EXPECT_EQ(own.columns, pfc.columns);
  EXPECT_EQ(own.expect.size(), pfc.expect.size());
  EXPECT_TRUE(fs::exists(own.experiment)) << own.experiment;

  EXPECT_THAT(format_issues("", loaded("like = \"incast\"\n").issues), HasSubstr("SUITE/TEST"));
  EXPECT_THAT(format_issues("", loaded("like = \"nowhere/pfc\"\n").issues),
              HasSubstr("test[0].like: \"nowhere/pfc\": there is no such suite"));
  EXPECT_THAT(format_issues("", loaded("like = \"incast/nothing\"\n").issues),
              HasSubstr("there is no such test"));
  EXPECT_THAT(format_issues("", loaded("like = \"incast/watchdog\"\n").issues),
              HasSubstr("is like another itself"));
}

TEST(SuiteFile, FaultsAreNamedByTheirKeys) {
  Suite suite{.name = "x", .title = "t", .source = "s", .tests = {}};
  EXPECT_THAT(format_issues("f", validate(suite)), HasSubstr("at least one [[test]]"));
  suite.tests = {test_with({{.metric = "drops", .most = 0.0}}), test_with({{.metric = kDropped}})};
  suite.tests[1].cannot = "why";
  suite.tests[0].columns = {"nothing:range", std::string(kDropped) + ":most"};
  const std::string faults = format_issues("f", validate(suite));
  EXPECT_THAT(faults, HasSubstr("test[0].expect[0].metric: \"drops\": is no metric"));
  EXPECT_THAT(faults, HasSubstr("test[0].columns: \"nothing\": is no metric"));
  EXPECT_THAT(faults, HasSubstr("must have range or change behind the colon"));
  EXPECT_THAT(faults, HasSubstr("test[1].name: \"absorption\""));
  EXPECT_THAT(faults, HasSubstr("test[1].experiment"));
  EXPECT_THAT(faults, HasSubstr("test[1].expect[0].least: is missing, and so is `most`"));
}

TEST(ShippedSuites, LoadAndPlan) {
  std::size_t suites = 0;
  for (const auto& entry : fs::directory_iterator(source_path("conf/suites"))) {
    if (entry.path().extension() != ".toml") continue;
    ++suites;
    const auto suite = load_suite(entry.path());
    ASSERT_TRUE(suite) << format_issues(entry.path().string(), suite.issues);
    EXPECT_EQ(suite.config->name, entry.path().stem());
    for (const SuiteTest& test : suite.config->tests) {
      if (!test.streams.empty()) {
        const auto order = load_benchmark(test, entry.path().parent_path());
        EXPECT_TRUE(order) << format_issues(test.streams, order.issues);
      }
      if (test.experiment.empty()) continue;
      const fs::path path = entry.path().parent_path() / test.experiment;
      const auto experiment = load_experiment(path.string());
      ASSERT_TRUE(experiment) << format_issues(path.string(), experiment.issues);
      EXPECT_TRUE(make_plan(*experiment.config, {.seeds = 1})) << path;
    }
  }
  EXPECT_GE(suites, 2U);
}

}  // namespace
}  // namespace outrider::suite_test
