// Goal: the plan has each case that the file asks for once, and cases that are compared
// differ only in what is compared.
#include "tools/lab/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "switch/config/config_toml.h"
#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/plan/plan_switches.h"
#include "tools/lab/plan/testbed.h"
#include "tools/lab/warnings/advice.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::plan_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::vector<fs::path> experiment_files() {
  std::vector<fs::path> files;
  for (const char* place : {"conf/experiments", "tests/agreement"})
    for (const auto& entry : fs::recursive_directory_iterator(source_path(place)))
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TEST(Testbeds, EveryShippedOneIsValid) {
  for (const auto& entry : fs::directory_iterator(source_path("conf/testbeds"))) {
    const auto testbed = load_testbed(entry.path().string());
    ASSERT_TRUE(testbed) << format_issues(entry.path().string(), testbed.issues);
    const auto quick = load_experiment(source_path("conf/experiments/quick.toml"));
    const auto plan = make_plan(*quick.config, {.seeds = 1});
    EXPECT_TRUE(missing_devices(*testbed.config, plan.config->front()).empty());
    const Case c = on_testbed(*testbed.config, plan.config->front());
    EXPECT_EQ(c.switches.devices[0].device, "0000:3b:00.0");
    EXPECT_EQ(c.traffic.devices[1].device, "0000:5e:00.1");
    EXPECT_EQ(c.switches.lcore, 2U);
  }
}

TEST(Plan, CrossesArmsWithSeeds) {
  const auto cases = plan_of(small_experiment());
  ASSERT_EQ(cases.size(), 6U);
  EXPECT_EQ(cases[0].label, "off");
  EXPECT_EQ(cases[0].seed, 1U);
  EXPECT_EQ(cases[1].seed, 2U);
  EXPECT_EQ(plan_of(small_experiment(), {.first_seed = 7, .seeds = 1})[2].seed, 7U);
  EXPECT_EQ(plan_of(small_experiment(), {.filter = "no-start"}).size(), 2U);
}

// `plan` builds one seed of each arm and point, and keeps none.
TEST(Plan, AWalkNamesTheSameCases) {
  for (const char* name : {"quick", "fabric", "roce"}) {
    const auto file =
        load_experiment(source_path("conf/experiments/" + std::string(name) + ".toml"));
    ASSERT_TRUE(file) << name;
    for (const char* filter : {"", "on", "seed 2"}) {
      const PlanOptions options{.first_seed = 2, .seeds = 3, .filter = filter};
      const auto plan = make_plan(*file.config, options);
      std::vector<std::string> planned, walked;
      for (const Case& c : *plan.config) planned.push_back(case_name(*file.config, c));
      std::size_t built = 0;
      const auto issues =
          walk_plan(*file.config, options, [&](const Case& first, std::vector<std::string> names) {
            EXPECT_EQ(first.seed, 2U);
            ++built;
            walked.insert(walked.end(), names.begin(), names.end());
          });
      EXPECT_TRUE(issues.empty());
      EXPECT_EQ(walked, planned) << name << ' ' << filter;
      if (*filter == '\0') {
        EXPECT_EQ(3 * built, planned.size());
      }
    }
  }
}

TEST(Plan, TakesTheArmsThatAreNamedAndAlwaysOff) {
  const auto cases = plan_of(small_experiment(), {.seeds = 1, .arms = {"on"}});
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].label, "off");
  EXPECT_EQ(cases[1].label, "on");
  const auto file = read_experiment(small_experiment());
  const auto refused = make_plan(*file.config, {.arms = {"on", "onn"}});
  ASSERT_EQ(refused.issues.size(), 1U);
  EXPECT_EQ(refused.issues[0].key, "--arms");
  EXPECT_EQ(refused.issues[0].problem.find("\"onn\": is no arm of the file, which has off, "), 0U)
      << refused.issues[0].problem;
}

// Flows back load the way of the job's acknowledgments, not its queue.
TEST(Plan, BackgroundBothWaysIsAsMuchAgainInTheOtherDirection) {
  const auto one = plan_of(small_experiment(), {.seeds = 1}).front();
  const auto both = plan_of(with(small_experiment(), "to = \"receiver\"\n",
                                 "to = \"receiver\"\nboth_ways = true\n"),
                            {.seeds = 1})
                        .front();
  ASSERT_EQ(one.traffic.long_flows.size(), 1U);
  ASSERT_EQ(both.traffic.long_flows.size(), 2U);
  EXPECT_EQ(both.traffic.long_flows[1].from, one.traffic.long_flows[0].to);
  EXPECT_EQ(both.traffic.long_flows[1].to, one.traffic.long_flows[0].from);
  EXPECT_EQ(both.background_flows, one.background_flows);
  EXPECT_TRUE(without_background(both).traffic.long_flows.empty());
}

TEST(Plan, EachPointIsRunOnceWithEachOfItsArms) {
  const std::string vary =
      "[[sweep]]\ntransport.controller = [\"cubic\", \"reno\", \"dctcp\"]\n"
      "arms = [\"off\", \"on\"]\n";
  const PlanOptions one{.seeds = 1};
  EXPECT_EQ(plan_of(small_experiment(vary), one).size(), 3U + 2U * 2U) << "cubic is the base point";
  const std::string cross =
      "[[sweep]]\njob.announce.lead = [\"1rtt\", \"2rtt\", \"4rtt\"]\ntransport.controller = "
      "[\"cubic\", \"reno\"]\n"
      "arms = [\"off\", \"on\"]\n";
  // on: 6 points, one of them the base; off: 2, as no lead changes it.
  EXPECT_EQ(plan_of(small_experiment(cross), one).size(), 3U + 5U + 1U);
  // The two sweeps share (on, reno) and (off, reno).
  EXPECT_EQ(plan_of(small_experiment(vary + cross), one).size(), 3U + 4U + 4U);
}

// Each value and the parameters of the file are valid, but not their combination at the point.
TEST(Plan, RefusesPointsWhoseParametersDoNotFit) {
  const auto file =
      read_experiment(small_experiment("[[sweep]]\nbackground.load = [0.5]\narms = [\"off\"]\n"));
  ASSERT_TRUE(file);
  const auto plan = make_plan(*file.config, {});
  ASSERT_EQ(plan.issues.size(), 1U);
  EXPECT_THAT(plan.issues[0].problem,
              testing::HasSubstr("at background.load = 0.5: background.sizes: \"\": is required"));
}

TEST(Plan, ComplementNeedsTcp) {
  const auto arm = [](const std::string& rule) {
    return with(
        small_experiment(
            "[[arm]]\nlabel = \"on-window\"\nswitch.regulation.mode = \"window\"\n"
            "switch.regulation.recovery = \"burst_end\"\nswitch.regulation.window.rule = \"" +
            rule + "\"\n"),
        "[parameters]\n",
        "[parameters]\nddl.transport.protocol = \"mlt\"\njob.announce.signal_form = \"udp\"\n");
  };
  EXPECT_TRUE(read_experiment(arm("strict")));
  const auto refused = read_experiment(arm("complement"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(format_issues("", refused.issues),
              testing::HasSubstr("arm[3].switch.regulation.window.rule"));
}

TEST(Plan, SaysOnceWhatIsWrongAtEveryPort) {
  const auto file = read_experiment(
      small_experiment("[[arm]]\nlabel = \"on-window\"\nswitch.regulation.mode = \"window\"\n"
                       "switch.regulation.recovery = \"arrival\"\n"));
  ASSERT_TRUE(file) << format_issues("text", file.issues);
  const auto plan = make_plan(*file.config);
  ASSERT_EQ(plan.issues.size(), 1U) << format_issues("text", plan.issues);
  EXPECT_THAT(plan.issues[0].problem,
              testing::StartsWith("arm \"on-window\": switch.regulation.recovery: "));
}

// A new user reads the key that the file has, once, not those of all ports in all arms.
TEST(Plan, AFaultOfTheParametersIsToldOnceUnderItsKey) {
  const auto plan_with = [](const std::string& parameters) {
    const auto file = read_experiment(
        with(small_experiment(), "[parameters]\n", "[parameters]\n" + parameters + "\n"));
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return make_plan(*file.config).issues;
  };
  const auto small = plan_with("switch.queue.limit_bytes = \"1kB\"");
  ASSERT_EQ(small.size(), 1U) << format_issues("text", small);
  EXPECT_EQ(small[0].key, "parameters.switch.queue.limit_bytes");
  EXPECT_EQ(small[0].problem, "1000 bytes: must be at least 9018");

  const auto of_bursts = plan_with("ddl.transport.min_rto = \"0s\"");
  ASSERT_EQ(of_bursts.size(), 1U) << format_issues("text", of_bursts);
  EXPECT_EQ(of_bursts[0].key, "parameters.ddl.transport.min_rto");

  const auto none = plan_with("switch.queue.limit_packets = 0");
  ASSERT_EQ(none.size(), 2U) << format_issues("text", none);
  EXPECT_EQ(none[0].key, "parameters.switch.queue.limit_packets");
  EXPECT_EQ(none[1].key, "parameters.switch.marker.threshold_packets") << "a default";
}

TEST(Plan, AFaultOfAnArmNamesTheArm) {
  const auto file = read_experiment(
      small_experiment("[[arm]]\nlabel = \"off-none\"\nswitch.queue.limit_bytes = \"1kB\"\n"));
  ASSERT_TRUE(file) << format_issues("text", file.issues);
  const auto issues = make_plan(*file.config).issues;
  ASSERT_EQ(issues.size(), 1U) << format_issues("text", issues);
  EXPECT_THAT(issues[0].key, testing::StartsWith("arm["));
  EXPECT_EQ(issues[0].problem,
            "arm \"off-none\": switch.queue.limit_bytes: 1000 bytes: must be at least 9018");
}

// A mode alone is enough: what ends it, and for whom the low threshold is, is what works best.
TEST(Plan, EveryModeWorksWithoutFurtherSettings) {
  for (const char* mode : {"mark", "pace", "mark_pace", "window", "mark_window"}) {
    const auto cases = plan_of(with(small_experiment(), "switch.regulation.mode = \"mark\"",
                                    "switch.regulation.mode = \"" + std::string(mode) + "\""));
    const auto& policy = cases.at(4).switches.switches[0].ports[0].regulation;
    EXPECT_EQ(policy.recovery, Recovery::kBurstEnd) << mode;
    EXPECT_TRUE(policy.spare_ddl) << mode;
    EXPECT_TRUE(advice(cases).empty()) << mode;
  }
}

TEST(Plan, AdvisesAgainstWhatGainsNothing) {
  const auto of_arm = [](const std::string& settings) {
    return format_advice(
        "f",
        advice(plan_of(with(small_experiment(), "switch.regulation.mode = \"mark\"\n", settings))));
  };
  EXPECT_THAT(
      of_arm("switch.regulation.mode = \"pace\"\nswitch.regulation.recovery = \"arrival\"\n"),
      testing::StartsWith("f: warning: arm \"on\": recovery: \"arrival\" gains nothing"));
  EXPECT_THAT(of_arm("switch.regulation.mode = \"mark\"\nswitch.regulation.spare_ddl = false\n"),
              testing::StartsWith("f: warning: arm \"on\": spare_ddl: false brakes the burst"));
  EXPECT_EQ(of_arm("switch.regulation.mode = \"mark\"\nswitch.regulation.recovery = "
                   "\"arrival\"\nswitch.regulation.spare_ddl = false\n"),
            "")
      << "the paper's";
  EXPECT_EQ(of_arm("switch.regulation.mode = \"pace\"\nswitch.regulation.spare_ddl = false\n"), "")
      << "it marks nothing";
  const auto cases = plan_of(
      with(small_experiment(), "switch.regulation.mode = \"mark\"\n",
           "switch.regulation.mode = \"pace\"\nswitch.regulation.recovery = \"arrival\"\n"));
  EXPECT_EQ(advice(cases).size(), 1U) << "two seeds of one arm";
}

// The plan knows all arms; results may lack some. So it says what each case is compared with.
TEST(Plan, SaysWhatEachArmIsComparedWith) {
  const std::string arms =
      "[[arm]]\nlabel = \"off-mlt\"\nddl.transport.protocol = \"mlt\"\njob.announce.signal_form = "
      "\"udp\"\n"
      "[[arm]]\nlabel = \"on-mlt\"\nddl.transport.protocol = \"mlt\"\njob.announce.signal_form = "
      "\"udp\"\n"
      "switch.regulation.mode = \"mark\"\n"
      "[[arm]]\nlabel = \"on-own\"\nswitch.regulation.mode = \"pace\"\nagainst = \"on-mlt\"\n";
  const auto of_arm = [](const std::vector<Case>& cases, const std::string& label) {
    const auto c = std::ranges::find(cases, label, &Case::label);
    return c == cases.end() ? "not planned" : c->against + ", " + c->off;
  };
  const auto cases = plan_of(small_experiment(arms), {.seeds = 1});
  EXPECT_EQ(of_arm(cases, "off"), "off, off");
  EXPECT_EQ(of_arm(cases, "on"), "off, off");
  EXPECT_EQ(of_arm(cases, "off-mlt"), "off, off");
  EXPECT_EQ(of_arm(cases, "on-mlt"), "off-mlt, off");
  EXPECT_EQ(of_arm(cases, "on-own"), "on-mlt, off");
  const auto some = plan_of(small_experiment(arms), {.seeds = 1, .arms = {"on-mlt"}});
  EXPECT_EQ(of_arm(some, "off-mlt"), "off, off") << "--arms keeps what it is compared with";
  EXPECT_EQ(of_arm(some, "on-own"), "not planned");
  const auto refused = [](const std::string& arm) {
    return format_issues("f", read_experiment(small_experiment(arm)).issues);
  };
  EXPECT_THAT(refused("[[arm]]\nlabel = \"off-x\"\nagainst = \"of\"\n"),
              testing::HasSubstr("against: \"of\": no other [[arm]] has this label"));
  EXPECT_THAT(refused("[[arm]]\nlabel = \"off-x\"\nagainst = \"off-x\"\n"),
              testing::HasSubstr("against: \"off-x\": no other [[arm]] has this label"));
  const auto arm = [](const std::string& label, const std::string& against) {
    return "[[arm]]\nlabel = \"" + label + "\"\nagainst = \"" + against + "\"\n" +
           (label.starts_with("on") ? "switch.regulation.mode = \"pace\"\n" : "");
  };
  EXPECT_THAT(refused(arm("on-x", "on-y") + arm("on-y", "on-x")),
              testing::HasSubstr("against: \"on-y\": leads back to the arm itself: \"on-x\" -> "
                                 "\"on-y\" -> \"on-x\"; leave one of them out"));
  EXPECT_THAT(refused(arm("on-a", "on-x") + arm("on-x", "on-y") + arm("on-y", "on-z") +
                      arm("on-z", "on-x")),
              testing::AllOf(testing::HasSubstr("\"on-x\" -> \"on-y\" -> \"on-z\" -> \"on-x\""),
                             testing::HasSubstr("1 invalid setting")));
  EXPECT_THAT(refused(arm("off-x", "on")),
              testing::HasSubstr("against: \"on\": must be a baseline"));
  EXPECT_EQ(refused(arm("on-x", "on") + arm("on-y", "on-x")), "");
}

TEST(Plan, RefusesArmsThatAreComparedWithNothing) {
  const auto problem = [](const std::string& text) {
    const auto file = read_experiment(text);
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return format_issues("f", make_plan(*file.config, {.seeds = 1}).issues);
  };
  EXPECT_EQ(problem(with(small_experiment(), "switch.regulation.mode = \"mark\"\n",
                         "switch.regulation.mode = \"mark\"\njob.burst_bytes = \"2MB\"\n")),
            "")
      << "an arm is no point";
  const std::string vary = "[[sweep]]\nworkers = [2]\narms = [\"on\"]\n";
  EXPECT_THAT(problem(small_experiment(vary)),
              testing::HasSubstr("sweep[0]: arm \"on\": is compared with nothing: the nearest "
                                 "baseline, \"off\", differs in workers\n"));
  EXPECT_EQ(
      problem(small_experiment("[[sweep]]\njob.announce.lead = [\"2rtt\"]\narms = [\"on\"]\n")), "")
      << "what an off arm does not have";
}

// The sweep gives the arm "basic" what its stack had replaced: that of [parameters] again.
TEST(Plan, NoArmIsTwiceAtOnePoint) {
  const auto file = read_experiment(
      small_experiment("[[arm]]\nlabel = \"basic\"\ntransport.stack = \"rfc\"\n"
                       "[[sweep]]\ntransport.loss_detection = [\"rack_tlp\", \"rfc6675\"]\n"));
  ASSERT_TRUE(file) << format_issues("text", file.issues);
  EXPECT_THAT(format_issues("f", make_plan(*file.config, {.seeds = 1}).issues),
              testing::HasSubstr("sweep[0]: arm \"basic\" would be twice at one point"));
}

// A port that is shaped serves an arm without a regulation too; what our switches are told does
// not.
TEST(Plan, ASweepOverOutsideReachesArmsWithoutARegulation) {
  const auto cases = plan_of(with(small_experiment("[[sweep]]\noutside = [\"told\", \"shaped\"]\n"),
                                  "name = \"a\"\n", "name = \"a\"\noutside = true\n"),
                             {.seeds = 1});
  std::vector<std::string> names;
  for (const Case& c : cases)
    names.push_back(c.label + ' ' + std::get<std::string>(parameter(c, "outside")));
  EXPECT_THAT(names,
              testing::ElementsAre("off others", "off-no-start others", "on others", "on told",
                                   "off shaped", "off-no-start shaped", "on shaped"));
}

// Switches of somebody else have [parameters] of the point, with the changes of a sweep. Settings
// of one arm, also by a sweep over them, do not reach these switches.
TEST(Plan, ASweepReachesSwitchesOfSomebodyElse) {
  const auto cases =
      plan_of(with(small_experiment("switch.marker.background_threshold_packets = 5\n"
                                    "switch.buffer.total_bytes = \"60kB\"\n"
                                    "[[sweep]]\nswitch.queue.limit_packets = [50]\n"
                                    "switch.marker.threshold_packets = [7]\n"
                                    "[[sweep]]\narms = [\"on\"]\n"
                                    "switch.marker.background_threshold_packets = [6]\n"),
                   "name = \"a\"\n", "name = \"a\"\noutside = true\n"),
              {.seeds = 1});
  ASSERT_EQ(cases.size(), 3U + 3U + 1U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& theirs = cases[i].switches.switches.at(0);
    const auto& ours = cases[i].switches.switches.at(1);
    const bool swept = i >= 3 && i < 6;
    for (const auto* sw : {&theirs, &ours}) {
      const auto& port = sw->ports.front();
      EXPECT_EQ(port.queue.limit_packets, swept ? 50U : QueueConfig{}.limit_packets) << i;
      EXPECT_EQ(port.marker.threshold_packets, swept ? 7U : MarkerConfig{}.threshold_packets) << i;
    }
    EXPECT_FALSE(theirs.ports.front().marker.background_threshold_packets) << i;
    EXPECT_FALSE(theirs.buffer.total_bytes) << i;
    EXPECT_EQ(ours.ports.front().marker.background_threshold_packets.value_or(0),
              cases[i].label != "on" ? 0U
              : i == 6               ? 6U
                                     : 5U);
  }
}

TEST(Plan, ACaseThatAProgramRefusesIsNone) {
  const auto file = read_experiment(with(small_experiment(), "[parameters]\n",
                                         "[parameters]\ntransport.delayed_ack = \"0ms\"\n"));
  ASSERT_TRUE(file) << format_issues("text", file.issues);
  const Arm& arm = file.config->arms.at(0);
  ConfigIssues issues;
  EXPECT_FALSE(build_case(*file.config, arm.label, arm.parameters, 1, issues));
  EXPECT_FALSE(issues.empty());
}

TEST(Plan, ResolvesEveryParameterOfEveryCase) {
  const auto cases = plan_of(
      small_experiment("[[sweep]]\njob.burst_bytes = [\"1MB\"]\narms = [\"off\", \"on\"]\n"));
  EXPECT_EQ(parameter(cases.back(), "job.burst_bytes"), ParameterValue{std::int64_t{1'000'000}});
  EXPECT_EQ(parameter(cases.back(), "switch.regulation.mode"), ParameterValue{std::string("mark")});
  EXPECT_EQ(parameter(cases.front(), "job.announce.lead_source"),
            ParameterValue{std::string("wait")})
      << "off announces and waits, too";
  EXPECT_EQ(parameter(cases[2], "job.announce.lead_source"), ParameterValue{std::string("none")});
}

TEST(Plan, AJobOverBoundedLossHasItsClassesServed) {
  const auto cases = plan_of(
      with(
          small_experiment(), "[parameters]\n",
          "[parameters]\nddl.transport.protocol = \"mlt\"\nddl.transport.mlt.tolerance_push = 0.2\n"
          "ddl.transport.mlt.tolerance_pull = 0.1\nddl.transport.mlt.class_dscps = [24, 16, 8]\n"
          "ddl.transport.mlt.small_share = 0.5\n"
          "job.announce.signal_form = \"udp\"\n"),
      {.seeds = 1, .filter = "no-start"});
  ASSERT_EQ(cases.size(), 1U);
  const TransportConfig& ddl = cases[0].traffic.transports[0];
  EXPECT_EQ(ddl.protocol, TransportProtocol::kMlt);
  EXPECT_EQ(ddl.mlt.tolerance_push, 0.2);
  EXPECT_EQ(ddl.mlt.tolerance_pull, 0.1);
  EXPECT_EQ(ddl.mlt.small_share, 0.5);
  EXPECT_EQ(ddl.mlt.class_dscps, (std::vector<std::uint32_t>{24, 16, 8}));
  for (const auto& sw : cases[0].switches.switches) {
    EXPECT_EQ(sw.rules.size(), 2U);
    EXPECT_EQ(sw.classes.background_queue, 2U) << "with the back layers";
    for (const auto& port : sw.ports) EXPECT_EQ(port.queues.size(), 3U);
  }
}

/// A job over RoCEv2 and background as the parameters say.
std::string over_roce(const std::string& parameters) {
  return with(
      small_experiment(), "[parameters]\n",
      "[parameters]\nddl.transport.protocol = \"roce\"\njob.announce.signal_form = \"udp\"\n" +
          parameters);
}

TEST(Plan, BackgroundOverRoceIsDistinguishedByItsDscp) {
  const auto cases = plan_of(over_roce("background.protocol = \"roce\"\n"
                                       "background.transport.roce.window_packets = 77\n"
                                       "background.transport.priority = 4\n"
                                       "background.load = 0.25\n"
                                       "background.queue_pairs = 3\n"
                                       "background.flows_per_pair = 1\n"
                                       "background.sizes = \"" +
                                       source_path("conf/distributions/hadoop.cdf") + "\"\n"),
                             {.seeds = 1, .filter = "no-start"});
  ASSERT_EQ(cases.size(), 1U);
  const GeneratorConfig& traffic = cases[0].traffic;
  ASSERT_EQ(traffic.transports.size(), 3U);
  const TransportConfig& roce = traffic.transports[2];
  EXPECT_EQ(roce.protocol, TransportProtocol::kRoce);
  EXPECT_EQ(roce.roce.window_packets, 77U);
  EXPECT_EQ(roce.tcp.priority, 4U);
  ASSERT_EQ(traffic.long_flows.size(), 1U);
  ASSERT_EQ(traffic.flows.size(), 1U);
  EXPECT_EQ(traffic.long_flows[0].transport, roce.name);
  EXPECT_EQ(traffic.flows[0].transport, roce.name);
  EXPECT_EQ(traffic.flows[0].queue_pairs, 3U);
  for (const auto& sw : cases[0].switches.switches) {
    EXPECT_TRUE(sw.rules.empty()) << "a port would make background a burst";
    EXPECT_EQ(sw.classes.dscp_ddl,
              (std::vector<std::uint32_t>{traffic.transports[0].roce.dscp,
                                          traffic.transports[0].roce.cnp_dscp}));
    EXPECT_NE(roce.roce.dscp, traffic.transports[0].roce.dscp);
  }
}

TEST(Plan, BothProtocolsShareTheLoadInClassesOfTheirOwn) {
  const auto cases = plan_of(over_roce("background.protocol = \"both\"\n"
                                       "background.queue = \"ddl\"\n"
                                       "switch.scheduler = \"strict_floor\"\n"
                                       "background.transport.priority = 3\n"
                                       "background.load = 0.25\n"
                                       "background.flows_per_pair = 2\n"
                                       "background.sizes = \"" +
                                       source_path("conf/distributions/hadoop.cdf") + "\"\n"),
                             {.seeds = 1, .filter = "no-start"});
  ASSERT_EQ(cases.size(), 1U);
  const GeneratorConfig& traffic = cases[0].traffic;
  EXPECT_EQ(traffic.transports[1].tcp.priority, std::nullopt) << "TCP is not paused";
  EXPECT_EQ(traffic.transports[2].tcp.priority, 3U);
  ASSERT_EQ(traffic.long_flows.size(), 2U);
  ASSERT_EQ(traffic.flows.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(traffic.long_flows[i].transport, traffic.transports[i + 1].name);
    EXPECT_EQ(traffic.long_flows[i].flows_per_pair, 2U);
    EXPECT_EQ(traffic.flows[i].transport, traffic.transports[i + 1].name);
  }
  EXPECT_NEAR(static_cast<double>(traffic.flows[1].rate->bits_per_second) /
                  static_cast<double>(traffic.flows[0].rate->bits_per_second),
              (1024.0 / 1106) / (1448.0 / 1538), 0.001)
      << "equal shares of the wire";
  for (const auto& sw : cases[0].switches.switches) {
    EXPECT_EQ(sw.classes.background_queue, 1U);
    const std::string dscp = std::to_string(traffic.transports[2].roce.dscp);
    ASSERT_NE(sw.classes.dscp.get(dscp), nullptr);
    EXPECT_EQ(*sw.classes.dscp.get(dscp), ConfigValue(std::int64_t{0}));
  }
}

TEST(Plan, TheQueueOfBackgroundOverRoceIsLosslessIfItHasAPriority) {
  const auto queues_with = [](const std::string& priority) {
    const auto cases = plan_of(over_roce("background.protocol = \"roce\"\n"
                                         "switch.scheduler = \"strict_floor\"\n"
                                         "switch.queue.limit_packets = 4000\n"
                                         "switch.queue.lossless.xoff_bytes = \"50KB\"\n"
                                         "background.transport.priority = " +
                                         priority + "\n"),
                               {.seeds = 1, .filter = "no-start"});
    return cases.at(0).switches.switches[0].ports[0].queues;
  };
  const auto own = queues_with("4");
  EXPECT_EQ(own[0].queue.lossless.priority, 3U);
  EXPECT_EQ(own[1].queue.lossless.priority, 4U);
  EXPECT_TRUE(own[1].queue.lossless.on());
  EXPECT_FALSE(queues_with("3")[1].queue.lossless.on()) << "a priority belongs to one queue";
}

TEST(Plan, RefusesWhatCannotActOnBackgroundOverRoce) {
  const auto fault = [](const std::string& parameters) {
    return format_issues("", read_experiment(over_roce(parameters)).issues);
  };
  EXPECT_EQ(fault("background.protocol = \"roce\"\n"), "");
  EXPECT_THAT(fault("background.protocol = \"roce\"\nswitch.regulation.mode = \"window\"\n"
                    "switch.regulation.window.rule = \"strict\"\n"),
              testing::HasSubstr("parameters.switch.regulation.mode: \"window\": cannot hold"));
  EXPECT_THAT(fault("background.protocol = \"roce\"\nbackground.transport.roce.dscp = 26\n"),
              testing::HasSubstr("background.transport.roce.dscp: 26: must be another one"));
  EXPECT_THAT(fault("background.protocol = \"roce\"\nbackground.queue = \"ddl\"\n"),
              testing::HasSubstr("background.queue: \"ddl\": needs"));
  const auto held = plan_of(
      with(over_roce("background.protocol = \"both\"\nswitch.regulation.recovery = \"burst_end\"\n"
                     "switch.regulation.window.rule = \"strict\"\n"),
           "switch.regulation.mode = \"mark\"\n", "switch.regulation.mode = \"window\"\n"));
  EXPECT_THAT(format_advice("f", advice(held)), testing::HasSubstr("which has no receive window"));
}

// The fault was told at each worker, and RoCEv2 was asked to hold a segment of TCP.
TEST(Plan, FaultsOfAnMtuHaveTheKeyOfTheirHosts) {
  const auto fault = [](const std::string& mtu) {
    const std::string text = with(over_roce("workers = 3\n"), "name = \"worker\"\n",
                                  "name = \"worker\"\nmtu_bytes = " + mtu + "\n");
    const auto file = read_experiment(text);
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_issues("f", make_plan(*file.config).issues) : "";
  };
  EXPECT_THAT(fault("1000"),
              testing::StartsWith("f: 1 invalid setting\n  hosts[0].mtu_bytes: 1000 bytes: would "
                                  "carry only 512 bytes over protocol \"roce\""));
  EXPECT_EQ(fault("1088"), "") << "its payload is whole, though TCP's segments are larger";
}

TEST(Plan, WarnsOfSendersThatObeyNoCnp) {
  const auto told = [](const std::string& parameters) {
    return format_advice("f", advice(plan_of(over_roce(parameters))));
  };
  EXPECT_THAT(told("background.protocol = \"roce\"\n"), testing::Not(testing::HasSubstr("CNP")));
  EXPECT_THAT(told("ddl.transport.roce.controller = \"fixed\"\n"),
              testing::HasSubstr("roce.controller: \"fixed\": the senders of bursts obey no CNP"));
  EXPECT_THAT(told("background.protocol = \"roce\"\n"
                   "background.transport.roce.controller = \"fixed\"\n"),
              testing::HasSubstr("the senders of background obey no CNP"));
}

TEST(Plan, WarnsOfPausesThatNoHostObeys) {
  const std::string lossless =
      "switch.queue.limit_packets = 400\nswitch.queue.lossless.xoff_bytes = \"50KB\"\n"
      "switch.queue.lossless.headroom_bytes = \"100KB\"\n";
  EXPECT_THAT(format_advice("f", advice(plan_of(over_roce(lossless)))),
              testing::HasSubstr("set ddl.transport.priority = 3"));
  EXPECT_TRUE(advice(plan_of(over_roce(lossless + "ddl.transport.priority = 3\n"))).empty());
  EXPECT_TRUE(advice(plan_of(over_roce(""))).empty());
}

TEST(Plan, TransportsAreArmsOfOneComparison) {
  for (const char* name : {"ddl.transport.protocol", "ddl.transport.mlt.class_dscps",
                           "ddl.transport.mlt.probe_timeout"})
    EXPECT_TRUE(tells_arms_apart(name)) << name;
  EXPECT_FALSE(tells_arms_apart("job.burst_bytes"));
}

// Faults of signals are parameters of the regulator, so curves over a fault's rate have one off
// arm.
TEST(Plan, FaultsOfSignalsAreThoseOfTheRegulatedArms) {
  const auto cases = plan_of(
      small_experiment(
          "[[sweep]]\njob.announce.faults.lost = [0.0, 0.5]\njob.announce.faults.late = [0.25]\n"
          "job.announce.faults.late_by = [\"2rtt\"]\njob.announce.faults.duplicated = "
          "[1.0]\njob.announce.faults.copies = [3]\n"
          "job.announce.faults.copy_gap = [\"1rtt\"]\njob.announce.faults.forged_per_second = "
          "[4.0]\n"
          "arms = [\"off\", \"off-no-start\", \"on\"]\n"),
      {.seeds = 1});
  ASSERT_EQ(cases.size(), 3U + 2U);
  for (const auto& c : cases) {
    const SignalFaultsConfig& f = c.traffic.jobs[0].announce.faults;
    const bool faulty = &c == &cases[3] || &c == &cases[4];
    EXPECT_EQ(f.late, faulty ? 0.25 : 0) << c.label;
    EXPECT_EQ(f.forged_per_second, faulty ? 4 : 0);
    if (!faulty) continue;
    EXPECT_EQ(f.lost, &c == &cases[4] ? 0.5 : 0);
    EXPECT_EQ(f.late_by, 2 * c.base_rtt);
    EXPECT_EQ(f.copies, 3U);
    EXPECT_EQ(f.copy_gap, c.base_rtt);
    EXPECT_EQ(without_background(c).traffic.jobs[0].announce.faults.forged_per_second, 0);
  }
}

TEST(Plan, JobsThatSignHaveKeysOfTheirOwn) {
  const auto cases = plan_of(
      small_experiment(
          "[[sweep]]\njob.announce.signal_form = [\"udp\"]\njob.announce.signal_key = [\"auto\"]\n"
          "job.announce.faults.forged_tag = [\"wrong\"]\njob.announce.faults.replayed_per_second = "
          "[3.0]\n"
          "arms = [\"on\"]\n"),
      {.seeds = 2});
  std::set<std::array<std::uint8_t, 16>> secrets;
  std::size_t signing = 0;
  for (const auto& c : cases) {
    const AnnounceConfig& announce = c.traffic.jobs[0].announce;
    const auto keys = virtual_signal_keys(c.traffic);
    EXPECT_EQ(keys.size(), announce.signal_key ? 1U : 0U);
    if (!announce.signal_key) continue;
    ++signing;
    EXPECT_EQ(announce.faults.forged_tag, ForgedTag::kWrong);
    EXPECT_EQ(announce.faults.replayed_per_second, 3);
    secrets.insert(keys.at(*announce.signal_key).secret);
    EXPECT_EQ(without_background(c).traffic.jobs[0].announce.signal_key, announce.signal_key);
  }
  EXPECT_EQ(signing, 2U);
  EXPECT_EQ(secrets.size(), 2U) << "by the seed";
}

TEST(Plan, TheTosFormIsNotSigned) {
  const auto file = read_experiment(
      small_experiment("[[sweep]]\njob.announce.signal_key = [\"auto\"]\narms = [\"on\"]\n"));
  ASSERT_TRUE(file);
  const auto plan = make_plan(*file.config, {.seeds = 1});
  ASSERT_FALSE(plan);
  EXPECT_THAT(format_issues("plan", plan.issues), testing::HasSubstr("needs signal_form \"udp\""));
}

// 100 Mbit/s and 2 ms are 16.25 packets of 1538 bytes.
TEST(Plan, AnAutomaticLeadFollowsTheRuleOfWindowsAndIsARoundTripElsewhere) {
  const auto on_case = [](const std::string& regulation, const std::string& parameters) {
    const std::string text = with(small_experiment(), "switch.regulation.mode = \"mark\"\n",
                                  "switch.regulation.mode = \"" + regulation + "\"\n");
    return plan_of(with(text, "job.iterations = 2\n", "job.iterations = 2\n" + parameters),
                   {.seeds = 1})
        .back();
  };
  const auto lead_of = [](const Case& c) { return c.traffic.jobs[0].announce.lead; };
  EXPECT_EQ(lead_of(on_case("mark", "")), 2ms);
  EXPECT_EQ(lead_of(on_case("window", "job.announce.lead = \"3rtt\"\n")), 6ms);
  const Case on = on_case("window", "");
  const double packet_ns = 1538 * 8e9 / 1e8, path = 2e6 / packet_ns;
  const double k = on.switches.switches[0].ports[0].marker.threshold_packets;
  const double h = on.traffic.jobs[0].announce.threshold_packets, flows = on.background_flows;
  const double drains = 1.5 * (path + k + flows) - (path + h);
  EXPECT_NEAR(static_cast<double>(lead_of(on).count()), 2e6 + drains * packet_ns, 1);
  EXPECT_GT(lead_of(on_case("window", "background.transport.ecn = false\n")), lead_of(on))
      << "without marks the queue stands at its limit";
}

TEST(Plan, WarnsWhereHeldFlowsKeepTooMuchAndWhereAnEntryExpiresBeforeItsBurst) {
  const auto shown = [](const std::string& more) {
    return format_advice(
        "f",
        advice(plan_of(
            with(small_experiment(), "switch.regulation.mode = \"mark\"\n",
                 "switch.regulation.mode = \"window\"\njob.announce.lead_source = \"overlap\"\n" +
                     more),
            {.seeds = 1})));
  };
  EXPECT_EQ(shown(""), "");
  EXPECT_THAT(shown("switch.regulation.window.least_segments = 20\n"),
              testing::HasSubstr("arm \"on\": window.least_segments: 2 held flows keep 20 segments "
                                 "each, 71 % of path and standing queue: no lead makes more room"));
  EXPECT_THAT(shown("switch.regulation.expiry = \"4rtt\"\n"),
              testing::HasSubstr("arm \"on\": expiry: 8ms is over before the burst comes"));
}

TEST(Plan, WarnsOfGroupsOfHostsThatNothingUses) {
  const auto shown = [](const std::string& text) {
    const auto file = read_experiment(text);
    return format_advice("f", advice(file.config.value()));
  };
  EXPECT_EQ(shown(small_experiment()), "");
  const std::string none =
      shown(with(small_experiment(), "[background]\nfrom = \"sender\"\nto = \"receiver\"\n", ""));
  EXPECT_THAT(none, testing::HasSubstr("hosts \"sender\": sends and receives nothing: no job is on "
                                       "these hosts, and there is no [background]"));
  EXPECT_THAT(none, testing::HasSubstr("hosts \"receiver\": "));
  EXPECT_THAT(none, testing::Not(testing::HasSubstr("hosts \"worker\"")));
  const std::string more = "[[hosts]]\nname = \"sender_2\"\nswitch = \"a\"\nrate = \"1gbit\"\n";
  EXPECT_THAT(
      shown(with(small_experiment(), "[background]\n", more + "[background]\n")),
      testing::HasSubstr("hosts \"sender_2\": sends and receives nothing: neither a job nor "
                         "[background] is on these hosts"));
}

TEST(Plan, WarnsOfAThresholdThatMarksNoEarlierThanTheQueue) {
  const auto shown = [](const std::string& h) {
    const std::string text =
        with(small_experiment(), "job.iterations = 2",
             "job.iterations = 2\nh_packets = " + h + "\nswitch.marker.threshold_packets = 40");
    return format_advice("f", advice(plan_of(text, {.seeds = 1})));
  };
  EXPECT_THAT(shown("40"),
              testing::HasSubstr("arm \"on\": h_packets: 40 marks no earlier than "
                                 "the queue's own threshold, 40, does without a START"));
  EXPECT_THAT(shown("35"), testing::Not(testing::HasSubstr("h_packets")));
  EXPECT_THAT(shown("40\nswitch.regulation.spare_ddl = "
                    "false\nswitch.marker.background_threshold_packets = 50"),
              testing::Not(testing::HasSubstr("h_packets")))
      << "the job's own threshold falls";
}

TEST(Plan, WarnsOfArmsThatDropWhatOthersLetPass) {
  const auto shown = [](const std::string& arm, const std::string& parameters = "") {
    const auto file = read_experiment(
        with(small_experiment(arm), "job.iterations = 2", "job.iterations = 2\n" + parameters));
    return format_advice("f", advice(file.config.value()));
  };
  const std::string red = "[[arm]]\nlabel = \"off-red\"\nswitch.marker.kind = \"red\"\n";
  EXPECT_THAT(shown(red), testing::StartsWith("f: warning: switch.marker.not_ect: absent, so that "
                                              "off-red drop Not-ECT packets"));
  EXPECT_EQ(shown(red + "switch.marker.not_ect = \"drop\"\n"), "") << "it says so";
  EXPECT_EQ(shown(red, "switch.marker.not_ect = \"pass\"\n"), "");
  EXPECT_EQ(shown("[[arm]]\nlabel = \"off-tail\"\nswitch.marker.kind = \"tail_drop\"\n"), "");
}

TEST(Plan, WarnsWhereAHoldCostsMoreThanItsBurst) {
  const auto shown = [](const std::string& mode, const std::string& bytes) {
    const std::string short_bursts = with(small_experiment(), "job.burst_bytes = \"100kB\"",
                                          "job.burst_bytes = \"" + bytes + "\"");
    return format_advice("f",
                         advice(plan_of(with(short_bursts, "switch.regulation.mode = \"mark\"\n",
                                             "switch.regulation.mode = \"" + mode + "\"\n"),
                                        {.seeds = 1})));
  };
  EXPECT_THAT(shown("window", "10kB"),  // of 25 kB
              testing::HasSubstr("arm \"on\": mode: the bursts of an iteration have 40 % of a path "
                                 "(rate x RTT): a hold costs background about a path, 2.5 bytes "
                                 "for each of theirs; mode \"pace\""));
  EXPECT_EQ(shown("window", "25kB"), "");
  EXPECT_EQ(shown("pace", "10kB"), "");
}

TEST(Plan, BuildsWhatTheParametersSay) {
  const auto cases =
      plan_of(with(small_experiment(), "job.iterations = 2",
                   "job.iterations = 2\nworkers = 3\njob.announce.lead = \"2rtt\"\nh_packets = "
                   "15\nbackground.transport.obey_ece = false\n"
                   "background.flows_per_pair = 2\ntransport.min_rto = \"50ms\""),
              {.seeds = 1});
  const Case& on = cases.back();
  EXPECT_EQ(on.workers, 3U);
  EXPECT_EQ(on.background_flows, 4U);
  EXPECT_EQ(on.base_rtt, 2ms);
  EXPECT_EQ(on.bottleneck, BitRate{100'000'000});
  EXPECT_EQ(on.switches.bin, 2ms);
  const JobConfig& job = on.traffic.jobs[0];
  EXPECT_THAT(job.workers, testing::ElementsAre("worker_0", "worker_1", "worker_2"));
  EXPECT_EQ(job.announce.lead, 4ms);
  EXPECT_EQ(job.announce.threshold_packets, 15U);
  EXPECT_EQ(on.traffic.transports[0].tcp.min_rto, 50ms);
  EXPECT_TRUE(on.traffic.transports[0].tcp.obey_ece) << "the job's";
  EXPECT_FALSE(on.traffic.transports[1].tcp.obey_ece) << "the background's";
  std::uint32_t recorded = 0;
  for (const auto& sw : on.switches.switches)
    for (const auto& port : sw.ports) recorded += port.record ? 1 : 0;
  EXPECT_EQ(recorded, 1U);
  EXPECT_EQ(on.switches.devices.size(), 2U) << "one a leaf";
}

// Off and on cases that belong together send the same signals.
TEST(Plan, EveryArmSendsTheFormOfSignalThatTheParameterSays) {
  for (const auto form : {SignalForm::kTos, SignalForm::kUdp}) {
    const std::string line = form == SignalForm::kUdp ? "\njob.announce.signal_form = \"udp\"" : "";
    const auto cases =
        plan_of(with(small_experiment(), "job.iterations = 2", "job.iterations = 2" + line));
    for (const auto& c : cases) {
      EXPECT_EQ(c.traffic.jobs[0].announce.signal_form, form) << c.label;
      const SignalConfig& read = c.switches.switches[0].signals;
      EXPECT_EQ(read.accept_tos, form == SignalForm::kTos) << c.label;
      EXPECT_EQ(read.accept_udp, form == SignalForm::kUdp) << c.label;
    }
  }
  EXPECT_FALSE(is_regulator_parameter("job.announce.signal_form"));
}

TEST(Plan, StaticPairMarksBackgroundAtHAndTheJobAtK) {
  const auto cases = plan_of(
      small_experiment("[[arm]]\nlabel = "
                       "\"off-static-pair\"\nswitch.marker.background_threshold_packets = \"h\"\n"),
      {.filter = "static"});
  const MarkerConfig& marker = cases.at(0).switches.switches[0].ports[0].marker;
  EXPECT_EQ(marker.background_threshold_packets, 10U);
  EXPECT_EQ(marker.threshold_packets, 40U);
}

TEST(Plan, RemediesOfTheQueuesReachEveryPort) {
  const auto port_of = [](const std::string& keys) {
    const auto cases = plan_of(small_experiment("[[arm]]\nlabel = \"off-x\"\n" + keys),
                               {.seeds = 1, .filter = "off-x"});
    EXPECT_EQ(cases.at(0).switches.switches[1].classes.background_queue,
              cases[0].switches.switches[1].ports[0].queues.empty() ? 0U : 1U);
    return cases[0].switches.switches[0].ports[0];
  };
  const auto red = port_of(
      "switch.marker.kind = \"red\"\nswitch.marker.red.kmin_packets = 7.0\nswitch.marker.red.pmax "
      "= 0.3\n");
  EXPECT_EQ(red.marker.kind, MarkerKind::kRed);
  EXPECT_EQ(red.marker.red.kmin_packets, 7);
  EXPECT_EQ(red.marker.red.kmax_packets, 40) << "K";
  EXPECT_EQ(red.marker.red.pmax, 0.3);
  const auto pie = port_of(
      "switch.marker.kind = \"pie\"\nswitch.marker.pie.target = \"1rtt\"\n"
      "switch.marker.pie.mark_ecnth = 0.3\n");
  EXPECT_EQ(pie.marker.kind, MarkerKind::kPie);
  EXPECT_EQ(pie.marker.pie.target, 2ms);
  EXPECT_EQ(pie.marker.pie.mark_ecnth, 0.3);
  const auto codel =
      port_of("switch.marker.kind = \"codel\"\nswitch.marker.codel.interval = \"30ms\"\n");
  EXPECT_EQ(codel.marker.kind, MarkerKind::kCodel);
  EXPECT_EQ(codel.marker.codel.interval, 30ms);
  const auto dwrr = port_of("switch.scheduler = \"dwrr\"\nswitch.ddl_queue.weight = 4.0\n");
  ASSERT_EQ(dwrr.queues.size(), 2U);
  EXPECT_EQ(dwrr.scheduler, SchedulerKind::kDwrr);
  EXPECT_EQ(dwrr.queues[0].queue.weight, 4);
  EXPECT_EQ(dwrr.queues[1].queue.limit_packets, dwrr.queue.limit_packets);
  const auto floor =
      port_of("switch.scheduler = \"strict_floor\"\nswitch.background_queue.floor = 0.1\n");
  EXPECT_EQ(floor.scheduler, SchedulerKind::kStrictFloor);
  EXPECT_EQ(floor.queues.at(1).queue.floor_rate, BitRate{10'000'000}) << "of 100 Mbit/s";
}

TEST(Plan, TwoQueuesMayShareTheRoomOfOne) {
  const auto port_of = [](const std::string& keys) {
    return plan_of(
               small_experiment("[[arm]]\nlabel = \"off-x\"\nswitch.scheduler = \"dwrr\"\n" + keys),
               {.seeds = 1, .filter = "off-x"})
        .at(0)
        .switches.switches[0]
        .ports[0];
  };
  const auto each = port_of("");
  const std::uint32_t limit = each.queue.limit_packets;
  EXPECT_EQ(each.queues.at(0).queue.limit_packets, limit);
  EXPECT_EQ(each.queues.at(1).queue.limit_packets, limit);
  EXPECT_EQ(each.limit_packets, std::nullopt);
  const auto shared = port_of(
      "switch.share_limit = true\nswitch.background_queue.marker.threshold_packets = \"1.25K\"\n");
  EXPECT_EQ(shared.limit_packets, limit);
  EXPECT_EQ(shared.limit_bytes, std::nullopt);
  EXPECT_EQ(shared.queues.at(0).queue.limit_packets, limit);
  EXPECT_EQ(shared.queues.at(0).marker.threshold_packets, each.marker.threshold_packets);
  EXPECT_EQ(shared.queues.at(1).marker.threshold_packets, each.marker.threshold_packets * 5 / 4);
  const auto bytes = port_of("switch.share_limit = true\nswitch.queue.limit_bytes = \"90kB\"\n");
  EXPECT_EQ(bytes.limit_bytes, 90'000U);
}

/// Returns the first port of the first switch in the case of an arm with two queues.
sw::SwitchPortConfig port_of_two_queues(const std::string& label, const std::string& parameters,
                                        const std::string& arm) {
  const auto text = with(small_experiment("[[arm]]\nlabel = \"" + label +
                                          "\"\n"
                                          "switch.scheduler = \"strict_floor\"\n" +
                                          arm),
                         "job.iterations = 2\n", "job.iterations = 2\n" + parameters);
  const auto cases = plan_of(text, {.seeds = 1, .filter = label});
  EXPECT_TRUE(validate(cases.at(0).switches).empty());
  return cases.at(0).switches.switches[0].ports[0];
}

TEST(Plan, TwoQueuesMayHaveSharesOfTheirOwn) {
  const std::string both = "switch.queue.alpha = 2.0\n";
  const auto same = port_of_two_queues("off-x", both, "");
  EXPECT_EQ(same.queues.at(0).queue.alpha, 2);
  EXPECT_EQ(same.queues.at(1).queue.alpha, 2);
  const auto own = port_of_two_queues(
      "off-x", both, "switch.ddl_queue.alpha = 8.0\nswitch.background_queue.alpha = 0.5\n");
  EXPECT_EQ(own.queues.at(0).queue.alpha, 8);
  EXPECT_EQ(own.queues.at(1).queue.alpha, 0.5);
}

// The queue of bursts needs no room from itself.
TEST(Plan, BackgroundHearsOfBurstsInTheOtherQueue) {
  const auto port = port_of_two_queues(
      "on-x", "switch.buffer.total_bytes = \"1MB\"\nswitch.queue.limit_packets = 700\n",
      "switch.regulation.mode = \"window\"\nswitch.regulation.recovery = \"burst_end\"\n"
      "switch.regulation.hears = \"switch\"\n");
  EXPECT_EQ(port.queues.at(0).regulation.mode, RegulationMode::kOff);
  EXPECT_EQ(port.queues.at(1).regulation.mode, RegulationMode::kWindow);
  EXPECT_EQ(port.queues.at(1).regulation.hears, Subscription::kSwitch);
}

TEST(Plan, SteeredBurstsHaveTheFirstQueueToThemselves) {
  const auto cases = plan_of(
      small_experiment(
          "[[arm]]\nlabel = \"on-x\"\nswitch.regulation.mode = \"steer\"\n"
          "switch.regulation.recovery = \"burst_end\"\nswitch.scheduler = \"strict_floor\"\n"),
      {.seeds = 1, .filter = "on-x"});
  const sw::SwitchConfig& sw = cases.at(0).switches.switches[0];
  EXPECT_EQ(sw.classes.ddl_queue, 1U);
  EXPECT_EQ(sw.classes.background_queue, 1U);
  EXPECT_EQ(sw.ports[0].queues.at(0).regulation.mode, RegulationMode::kOff);
  EXPECT_EQ(sw.ports[0].queues.at(1).regulation.mode, RegulationMode::kSteer);
  EXPECT_EQ(sw.ports[0].queues.at(1).regulation.steer_to_queue, 0U);
  EXPECT_TRUE(validate(cases[0].switches).empty());
}

TEST(Plan, PredictionsNeedNoStart) {
  const std::string arm =
      "[[arm]]\nlabel = \"on-x\"\nswitch.regulation.mode = \"mark\"\njob.announce.lead_source = "
      "\"none\"\n"
      "switch.regulation.predict.from = \"traffic\"\nswitch.regulation.lead = \"3rtt\"\n"
      "switch.regulation.predict.idle_gap = \"20rtt\"\n";
  const auto cases = plan_of(small_experiment(arm), {.seeds = 1, .filter = "on-x"});
  const RegulationPolicy& policy = cases.at(0).switches.switches[0].ports[0].regulation;
  EXPECT_EQ(policy.predict.from, PredictFrom::kTraffic);
  EXPECT_EQ(policy.predict.threshold_packets, 10U);
  EXPECT_EQ(policy.predict.idle_gap, 40ms);
  EXPECT_EQ(policy.lead, 6ms);
  EXPECT_EQ(plan_of(small_experiment())[0].switches.switches[0].ports[0].regulation.lead,
            std::nullopt);
}

TEST(Plan, HostDelaysDependOnTheSeedAlone) {
  const auto cases = plan_of(small_experiment("[[sweep]]\nworkers = [2]\narms = [\"off\"]\n"));
  const auto delays = [](const Case& c) {
    std::map<std::string, Duration> by_port;
    for (const auto& port : c.switches.switches[0].ports)
      if (port.name.starts_with("to_sender")) by_port[port.name] = port.delay;
    return by_port;
  };
  std::map<std::uint64_t, std::map<std::string, Duration>> by_seed;
  for (const auto& c : cases) {
    const auto [known, is_new] = by_seed.try_emplace(c.seed, delays(c));
    EXPECT_EQ(known->second, delays(c)) << c.label << ": alike in all arms, however many workers";
  }
  EXPECT_NE(by_seed[1], by_seed[2]);
  for (const auto& [port, delay] : by_seed[1]) {
    EXPECT_GE(delay, 200us);
    EXPECT_LE(delay, 300us);
  }
}

TEST(Plan, WithoutBackgroundTheJobDoesNotWait) {
  const auto cases = plan_of(small_experiment(), {.seeds = 1});
  const Case alone = without_background(cases.back());
  EXPECT_TRUE(alone.traffic.long_flows.empty());
  EXPECT_EQ(alone.background_flows, 0U);
  EXPECT_LT(alone.traffic.jobs[0].first_due, 100ms);
  EXPECT_EQ(alone.seed, cases.back().seed);
  EXPECT_TRUE(validate(alone.traffic).empty());
}

struct NetworkFault {
  std::string from, to, key, problem;
};

TEST(Plan, NetworkFaultsNameTheirKey) {
  const NetworkFault faults[] = {
      {"rtt = \"2ms\"", "rtt = \"3ms\"", "network.rtt", "back add up to 2ms"},
      {"measured = \"a.to_b\"", "measured = \"a.to_c\"", "network.measured",
       "did you mean \"a.to_b\"?"},
      {"[[switch]]\nname = \"b\"", "[[switch]]\nname = \"b\"\n[[switch]]\nname = \"c\"", "link",
       "no [[link]] leads"},
      {"job.iterations = 2", "switch.marker.threshold_packets = 60",
       "parameters.switch.marker.threshold_packets", "must be below the queue's limit_packets"},
      {"job.iterations = 2", "h_packets = 12", "parameters.h_packets", "multiple of 5"},
      {"job.iterations = 2", "job.model = \"none.toml\"", "parameters.job.model", "none.toml"},
  };
  for (const auto& fault : faults) {
    const auto file = read_experiment(with(small_experiment(), fault.from, fault.to));
    ASSERT_TRUE(file) << format_issues("text", file.issues);
    const auto plan = make_plan(*file.config);
    EXPECT_FALSE(plan);
    ASSERT_FALSE(plan.issues.empty()) << fault.key;
    EXPECT_EQ(plan.issues[0].key, fault.key) << format_issues("text", plan.issues);
    EXPECT_THAT(plan.issues[0].problem, testing::HasSubstr(fault.problem));
  }
}

TEST(ShippedExperiments, LoadAndPlan) {
  const auto files = experiment_files();
  EXPECT_GE(files.size(), 4U);
  for (const auto& path : files) {
    const auto file = load_experiment(path.string());
    ASSERT_TRUE(file) << format_issues(path.string(), file.issues);
    const std::string folder = path.parent_path().stem().string();
    EXPECT_EQ(file.config->name,
              (folder == "experiments" ? "" : folder + "-") + path.stem().string());
    const auto plan = make_plan(*file.config, {.seeds = 1});
    ASSERT_TRUE(plan) << format_issues(path.string(), plan.issues);
    std::set<std::string> names;
    for (const auto& c : *plan.config) {
      EXPECT_TRUE(names.insert(case_name(*file.config, c)).second) << case_name(*file.config, c);
      EXPECT_TRUE(validate(c.switches).empty());
      EXPECT_TRUE(validate(c.traffic).empty());
      EXPECT_TRUE(validate(without_background(c).traffic).empty());
    }
  }
}

// Every on case must have an off case to be compared with.
// prophet.toml compares orders of gradients; at each point they are compared with FIFO's.
TEST(ShippedExperiments, SendPoliciesAreArmsOfOnePoint) {
  const auto file = load_experiment(source_path("conf/experiments/prophet.toml"));
  ASSERT_TRUE(file);
  const auto plan = make_plan(*file.config, {.seeds = 1});
  ASSERT_TRUE(plan);
  std::vector<const Case*> cases;
  for (const auto& c : *plan.config) cases.push_back(&c);
  const CasePoints points = points_of(cases);
  std::set<std::size_t> off_cases;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_LT(points.baseline[i], cases.size()) << cases[i]->label;
    const Case& off = *cases[points.baseline[i]];
    const std::set<std::string> usual{"off", "off-p3", "off-credit"};
    EXPECT_TRUE(usual.contains(off.label)) << off.label << ": FIFO has no messages";
    EXPECT_EQ(parameter(off, "rate_factor"), parameter(*cases[i], "rate_factor"));
    if (off.label != "off-credit") off_cases.insert(points.baseline[i]);
  }
  EXPECT_EQ(off_cases.size(), 7U) << "one a point";
}

TEST(ShippedExperiments, EveryOnCaseHasItsOffCase) {
  for (const auto& path : experiment_files()) {
    const auto file = load_experiment(path.string());
    ASSERT_TRUE(file);
    const auto plan = make_plan(*file.config, {.seeds = 1});
    ASSERT_TRUE(plan);
    std::vector<const Case*> cases;
    for (const auto& c : *plan.config) cases.push_back(&c);
    const CasePoints points = points_of(cases);
    std::uint32_t on_cases = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (!cases[i]->label.starts_with("on")) continue;
      ++on_cases;
      const std::size_t off = points.baseline[i];
      ASSERT_LT(off, cases.size()) << path << ": " << case_name(*file.config, *cases[i]);
      // "on-mark-pfc" has its "off-pfc", where the switch's queues are others.
      const std::string& label = cases[off]->label;
      EXPECT_TRUE(label.starts_with("off") && cases[i]->label.ends_with(label.substr(3)))
          << path << ": " << case_name(*file.config, *cases[i]) << " has " << label;
    }
    // These compare runtimes, transports, send policies, synchronisation, queue disciplines.
    const std::set<fs::path> none{
        "dcqcn-incast", "dcqcn-join",    "demotion",     "dlcp",
        "dlcp-100g",    "dlcp-learning", "dlcp-spine",   "agreement/one-queue",
        "front",        "mltcp",         "prophet",      "r2sp",
        "r2sp-models",  "rfc7928",       "tensorlights", "tensorlights-small"};
    const bool compares = path.parent_path().filename() == "agreement";
    const fs::path name = compares ? "agreement" / path.stem() : path.stem();
    EXPECT_EQ(on_cases > 0, !none.contains(name)) << path;
  }
}

}  // namespace
}  // namespace outrider::plan_test
