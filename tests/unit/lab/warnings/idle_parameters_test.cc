// Goal: `check` names a parameter that does nothing beside the others, by the place that gives it,
// and no other. Method: a small experiment with one more parameter, and the one that it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::idle_parameters_test {
using namespace lab;
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string shown(const std::string& parameters, const std::string& arms = "") {
  const auto file = read_experiment(
      with(small_experiment(arms), "job.iterations = 2", "job.iterations = 2\n" + parameters));
  EXPECT_TRUE(file) << format_issues("text", file.issues);
  return file ? format_advice("f", advice(*file.config)) : "";
}

TEST(IdleParameters, OneOfATableThatNothingReadsIsNamed) {
  EXPECT_EQ(shown("switch.ddl_queue.weight = 4.0"),
            "f: warning: parameters.switch.ddl_queue.weight: 4.0 has no effect: it needs "
            "switch.scheduler = \"dwrr\", and that is \"fifo\" by default\n");
  EXPECT_EQ(shown("switch.ddl_queue.weight = 4\nswitch.scheduler = \"dwrr\""), "");
  EXPECT_THAT(shown("job_offset = 0.5"), HasSubstr("it needs jobs other than 1"));
  EXPECT_EQ(shown("job_offset = 0.5\njobs = 2"), "");
  EXPECT_THAT(shown("gray_loss = 0.01"), HasSubstr("it needs a [[link]] with gray = true"));
  EXPECT_THAT(shown("background.sizes = \"x.cdf\""),
              HasSubstr("it needs background.load other than 0"));
  EXPECT_THAT(shown("job.announce.faults.lost = 0.1\njob.announce.faults.late_by = \"2rtt\""),
              HasSubstr("late_by: \"2rtt\" has no effect"));
}

TEST(IdleParameters, TwoOfOneTableThatContradictAreNamed) {
  EXPECT_THAT(
      shown("job.model = \"resnet50\""),
      StartsWith("f: warning: parameters.job.burst_bytes: \"100kB\" has no effect: it needs "
                 "job.model"));
  const std::string threshold = "switch.marker.threshold_packets = 40\nswitch.marker.kind = ";
  EXPECT_THAT(shown(threshold + "\"codel\""),
              HasSubstr("parameters.switch.marker.threshold_packets: 40 has no effect"));
  EXPECT_EQ(shown(threshold + "\"step\""), "");
  EXPECT_THAT(shown("switch.marker.red.pmax = 0.3"),
              HasSubstr("it needs switch.marker.kind = \"red\""));
  EXPECT_EQ(shown("switch.marker.red.pmax = 0.3\nswitch.scheduler = \"dwrr\"\n"
                  "switch.ddl_queue.marker.kind = \"red\""),
            "")
      << "the marker of one of the two queues";
}

TEST(IdleParameters, SignalsThatAreNotCopiedHaveNoCopies) {
  EXPECT_THAT(
      shown("job.announce.faults.copies = 3"),
      HasSubstr("copies: 3 has no effect: it needs job.announce.faults.duplicated above 0"));
  EXPECT_THAT(shown("job.announce.faults.copy_gap = \"2rtt\""),
              HasSubstr("copy_gap: \"2rtt\" has no"));
  EXPECT_EQ(shown("job.announce.faults.copy_gap = \"2rtt\"\njob.announce.faults.duplicated = 0.5"),
            "")
      << "the only copy leaves so much later";
}

TEST(IdleParameters, WhatEndsARegulationOrGrantsNeedsIt) {
  // @param arm  what stands in the place of the only arm that regulates
  const auto shown_with = [](const std::string& parameters, const std::string& arm) {
    const auto file = read_experiment(
        with(with(small_experiment(),
                  "[[arm]]\nlabel = \"on\"\nswitch.regulation.mode = \"mark\"\n", arm),
             "job.iterations = 2", "job.iterations = 2\n" + parameters));
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  const std::string grants = "[[arm]]\nlabel = \"on\"\nswitch.regulation.grant.order = \"first\"\n";
  const std::string idle_end = "switch.regulation.idle_end = \"3rtt\"\n";
  EXPECT_THAT(shown_with("switch.regulation.recovery = \"arrival\"\n", grants),
              HasSubstr("recovery: \"arrival\" has no effect: it needs a regulation"));
  EXPECT_THAT(shown_with(idle_end, ""), HasSubstr("idle_end: \"3rtt\" has no effect"));
  EXPECT_EQ(shown_with(idle_end, grants), "");
  EXPECT_THAT(shown_with(idle_end, grants + "switch.regulation.grant.idle = \"3rtt\"\n"),
              HasSubstr("idle_end"));
  EXPECT_THAT(shown("switch.regulation.recovery = \"arrival\"\n" + idle_end),
              HasSubstr("idle_end"));
  EXPECT_EQ(shown(idle_end), "");
  EXPECT_THAT(shown("switch.regulation.grant.overlap = \"1ms\""),
              HasSubstr("it needs switch.regulation.grant.order"));
}

TEST(IdleParameters, SettingsOfWhatIsNotThereAreNamed) {
  EXPECT_THAT(shown("ddl.transport.mlt.probe_limit = 5"),
              HasSubstr("it needs ddl.transport.protocol = \"mlt\""));
  EXPECT_THAT(shown("tensorlights.bands = 3"), HasSubstr("it needs tensorlights.mode"));
  EXPECT_EQ(shown("tensorlights.bands = 3\ntensorlights.mode = \"one\""), "");
  EXPECT_THAT(shown("tensorlights.interval = \"1s\"\ntensorlights.mode = \"one\""),
              HasSubstr("it needs tensorlights.mode = \"rotate\""));
  EXPECT_THAT(shown("switch.marker.background_threshold_packets = 7\nswitch.marker.kind = \"pie\""),
              HasSubstr("background_threshold_packets: 7 has no effect"));
}

// The file cannot mend an arm that its rivals give.
TEST(IdleParameters, OneOfALentArmIsNone) {
  const auto directory = std::filesystem::temp_directory_path();
  const std::string name = "idle-rivals-" + std::to_string(getpid()) + ".toml";
  std::ofstream(directory / name) << "[[arm]]\nlabel = \"off-two\"\nswitch.ddl_queue.weight = 3\n";
  const auto shown_with = [&](const std::string& arms) {
    const auto file = experiment_from(
        parse_toml("rivals = \"" + name + "\"\n" + small_experiment(arms)).config.value(),
        directory);
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  EXPECT_EQ(shown_with(""), "");
  EXPECT_THAT(shown_with("[[arm]]\nlabel = \"off-own\"\nswitch.ddl_queue.weight = 3\n"),
              HasSubstr("weight: 3 has no effect"));
  std::filesystem::remove(directory / name);
}

TEST(IdleParameters, OneThatActsInAnArmOrAtAPointIsNone) {
  const std::string two =
      "[[arm]]\nlabel = \"off-two\"\nswitch.scheduler = \"dwrr\"\nagainst = \"off\"\n";
  EXPECT_EQ(shown("switch.ddl_queue.weight = 4.0", two), "");
  EXPECT_EQ(shown("switch.ddl_queue.weight = 4.0",
                  "[[sweep]]\nswitch.scheduler = [\"fifo\", \"dwrr\"]\narms = [\"off\"]\n"),
            "");
  EXPECT_EQ(shown("switch.ddl_queue.weight = 4.0", two + "switch.ddl_queue.weight = 2\n"),
            "f: warning: parameters.switch.ddl_queue.weight: 4.0 has no effect: it needs "
            "switch.scheduler = \"dwrr\", and that is \"fifo\" by default\n")
      << "the value of the arm does";
}

TEST(IdleParameters, OneThatIsTurnedOffOrOfABaseIsNone) {
  EXPECT_EQ(shown("requests.connections = 0\nbackground.flows_per_pair = 1"), "");
  EXPECT_EQ(shown("background.flows_per_pair = 0\n"
                  "background.load = 0.1\nbackground.sizes = \"x.cdf\""),
            "");
  const auto derived = [](const std::string& parameters) {
    const auto file = experiment_from(
        parse_toml("name = \"d\"\nquestion = \"?\"\nbase = \"quick.toml\"\n[parameters]\n" +
                   parameters + "[[arm]]\nlabel = \"off\"\n")
            .config.value(),
        source_path("conf/experiments"));
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  EXPECT_EQ(derived("job.burst_bytes = \"1kB\"\n"), "") << "h_packets is the base's";
  EXPECT_THAT(derived("h_packets = 6\n"), HasSubstr("parameters.h_packets: 6 has no effect"));
}

/// Returns the advice on a file with a base. @param of_base  parameters of the base
std::string shown_beside(const std::string& of_base, const std::string& given,
                         const std::string& arm = "") {
  const auto directory = std::filesystem::temp_directory_path();
  const std::string base = "idle-base-" + std::to_string(getpid()) + ".toml";
  std::ofstream(directory / base) << with(small_experiment(), "[parameters]\n",
                                          "[parameters]\n" + of_base);
  const std::string text = "base = \"" + base + "\"\nname = \"own\"\n[parameters]\n" + given +
                           "[[arm]]\nlabel = \"off\"\n" + arm;
  const auto file = experiment_from(parse_toml(text).config.value(), directory);
  std::filesystem::remove(directory / base);
  EXPECT_TRUE(file) << format_issues("text", file.issues);
  return file ? format_advice("f", advice(*file.config)) : "";
}

// `model` beside an inherited `compute` computed for the base's time, without a word.
TEST(IdleParameters, OneBesideAnInheritedValueIsNamedWithIt) {
  const std::string model = "job.model = \"x.toml\"\n", computes = "job.compute = \"10ms\"\n",
                    closed = "job.schedule = \"closed_loop\"\n",
                    bursts = "ddl.transport.controller = \"dctcp\"\n",
                    cubic = "transport.controller = \"cubic\"\n",
                    weights = "switch.scheduler = \"dwrr\"\n",
                    floor = "switch.background_queue.floor = 0.1\n";
  struct Row {
    std::string of_base, given, told, arm = {};
  };
  const Row rows[]{
      {closed + computes, model,
       "parameters.job.model: \"x.toml\" does not hold alone: job.compute = \"10ms\" is inherited "
       "and stays; give that here, too"},
      {model, "job.burst_bytes = \"2MB\"\n",
       "parameters.job.burst_bytes: \"2MB\" has no effect: it needs job.model = \"\", and that is "
       "\"x.toml\", inherited"},
      {closed, "job.period = \"1s\"\n",
       "job.period: \"1s\" has no effect: it needs job.schedule = \"fixed\", and that is "
       "\"closed_loop\", inherited"},
      {"", computes, "it needs job.schedule = \"closed_loop\", and that is \"fixed\" by default"},
      {"", "requests.think = \"2rtt\"\n",
       "\"2rtt\" has no effect: it needs requests.connections other than 0, and that is 0 by "
       "default"},
      {"background.flows_per_pair = 3\n", "background.load = 0.2\nbackground.sizes = \"x.cdf\"\n",
       "background.load: 0.2 does not hold alone: background.flows_per_pair = 3 is inherited"},
      {"transport.tail_probe = \"rfc8985\"\n", "transport.stack = \"linux\"\n",
       "transport.stack: \"linux\" does not hold alone: transport.tail_probe = \"rfc8985\""},
      {"ddl.transport.hystart = \"off\"\n", "transport.stack = \"linux\"\n",
       "does not hold alone: ddl.transport.hystart = \"off\" is inherited"},
      {bursts, cubic, "transport.controller: \"cubic\" does not hold alone: ddl.transport."},
      {bursts, "", "arm \"off\".transport.controller: \"cubic\" does not hold alone", cubic},
      {"background." + cubic, "transport.controller = \"reno\"\n", "background.transport."},
      {"switch.queue.limit_bytes = \"45kB\"\n", "switch.queue.limit_packets = 300\n",
       "limit_packets: 300 does not hold alone: switch.queue.limit_bytes = \"45kB\""},
      {weights, floor, "floor: 0.1 has no effect: it needs switch.scheduler = \"strict_floor\""},
      {"switch.marker.kind = \"codel\"\n", "switch.marker.threshold_packets = 9\n",
       "it needs switch.marker.kind = \"step\", and that is \"codel\", inherited"}};
  for (const Row& row : rows)
    EXPECT_THAT(shown_beside(row.of_base, row.given, row.arm), HasSubstr(row.told)) << row.given;
  const Row silent[]{
      {closed + computes, model + computes, "both are given"},
      {closed + computes, model + "job.compute = \"0s\"\n", ""},
      {bursts, cubic + "ddl." + cubic, ""},
      {cubic, bursts, "the particular one holds"},
      {weights, floor, "an arm uses it",
       "[[arm]]\nlabel = \"off-two\"\nswitch.scheduler = \"strict_floor\"\n"},
      {"", computes, "at a point",
       "[[sweep]]\njob.schedule = [\"fixed\", \"closed_loop\"]\narms = [\"off\"]\n"}};
  for (const Row& row : silent)
    EXPECT_EQ(shown_beside(row.of_base, row.given, row.arm), "") << row.given << row.told;
}

TEST(IdleParameters, OneOfAnArmOrOfASweepIsNamedThere) {
  EXPECT_THAT(shown("", "[[arm]]\nlabel = \"off-two\"\nswitch.background_queue.floor = 0.2\n"),
              HasSubstr("arm \"off-two\".switch.background_queue.floor: 0.2 has no effect"));
  const std::string sweep = "[[sweep]]\nswitch.ddl_queue.weight = [2, 3]\narms = [\"off\"]\n";
  EXPECT_THAT(shown("", sweep), HasSubstr("sweep[0].switch.ddl_queue.weight: 2"));
  EXPECT_THAT(shown("", sweep), HasSubstr("sweep[0].switch.ddl_queue.weight: 3"));
}

TEST(Times, ThatLeaveIterationsOutAreNamed) {
  EXPECT_THAT(shown("limit_seconds = 0.6"),
              HasSubstr("limit_seconds: 0.6 ends the run before its last iteration"));
  EXPECT_THAT(shown("", "[[arm]]\nlabel = \"off-late\"\nbackground.start_spread = \"800ms\"\n"),
              HasSubstr("background.start_spread: 800ms is longer than warm_up_seconds"));
}

const std::string kFabric = R"(name = "jobs"
[network]
measured = "worst"
[fabric]
kind = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
host_rate = "1gbit"
host_delay = "10us"
uplink_rate = "1gbit"
uplink_delay = "10us"
)";

// Each of these was named although another value gave other results.
TEST(IdleParameters, OneThatActsInAJobOfAListOrAtSomebodyElsesSwitchIsNone) {
  const std::string name = "idle-jobs-" + std::to_string(getpid()) + ".csv";
  const auto directory = std::filesystem::temp_directory_path();
  std::ofstream(directory / name) << "start_seconds,workers\n0,2\n0.1,2\n";
  const auto file = experiment_from(parse_toml(kFabric + R"(
[parameters]
job.schedule = "closed_loop"
job.compute = "1ms"
job.period = "3ms"
compute_spread = 0.5
[[job]]
name = "j"
schedule = "fixed"
list = ")" + name + "\"\n[[arm]]\nlabel = \"off\"\n")
                                        .config.value(),
                                    directory);
  std::filesystem::remove(directory / name);
  ASSERT_TRUE(file) << format_issues("jobs", file.issues);
  const std::string advised = format_advice("f", advice(*file.config));
  EXPECT_THAT(advised, testing::Not(HasSubstr("job.period")));
  EXPECT_THAT(advised, testing::Not(HasSubstr("compute_spread")));

  const std::string codel = "[[arm]]\nlabel = \"off\"\nswitch.marker.kind = \"codel\"\n";
  std::string outside = with(small_experiment(), "[[switch]]\nname = \"a\"\n",
                             "[[switch]]\nname = \"a\"\noutside = true\n");
  outside = outside.substr(0, outside.find("[[arm]]"));
  outside = with(outside, "job.iterations = 2",
                 "job.iterations = 2\nswitch.marker.threshold_packets = 30");
  const auto theirs = read_experiment(outside + codel);
  ASSERT_TRUE(theirs) << format_issues("outside", theirs.issues);
  EXPECT_THAT(format_advice("f", advice(*theirs.config)),
              testing::Not(HasSubstr("threshold_packets")))
      << "its switch has the marker of [parameters]";
}

// The arm was the same run as `off`, and told of no change.
TEST(IdleParameters, OneOfAnArmThatEveryJobHasItselfIsNamed) {
  const auto of_jobs = [](const std::string& second) {
    const auto file = read_experiment(kFabric + R"(
[parameters]
job.burst_bytes = "1MB"
[[job]]
name = "a"
burst_bytes = "100kB"
[[job]]
name = "b"
)" + second + "[[arm]]\nlabel = \"off\"\n[[arm]]\nlabel = \"small\"\njob.burst_bytes = \"50kB\"\n");
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  EXPECT_THAT(
      of_jobs("burst_bytes = \"50kB\"\n"),
      HasSubstr("arm \"small\".job.burst_bytes: has no effect: every [[job]] gives its own"));
  EXPECT_THAT(of_jobs(""), testing::Not(HasSubstr("small"))) << "of the second job";
}

// Two points that were the same run told of a change between them.
TEST(IdleParameters, ASweepOfWhatEveryJobHasItselfIsNamed) {
  const auto of_jobs = [](const std::string& second) {
    const auto file = read_experiment(kFabric + R"(
[[job]]
name = "a"
burst_bytes = "100kB"
[[job]]
name = "b"
)" + second + R"([[arm]]
label = "off"
[[sweep]]
job.burst_bytes = ["1MB", "2MB"]
arms = ["off"]
)");
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  EXPECT_THAT(of_jobs("burst_bytes = \"50kB\"\n"),
              HasSubstr("sweep[0].job.burst_bytes: has no effect, so that all points are alike"));
  EXPECT_THAT(of_jobs(""), testing::Not(HasSubstr("job.burst_bytes"))) << "of the second job";
  EXPECT_THAT(of_jobs("compute = \"1ms\"\n"),
              HasSubstr("job[1].compute: \"1ms\" has no effect: it needs job.schedule"));
}

}  // namespace
}  // namespace outrider::idle_parameters_test
