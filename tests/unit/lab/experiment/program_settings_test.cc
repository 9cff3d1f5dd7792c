// Goal: the programs' own readers read dotted keys anywhere in an experiment, and every fault is
// reported by the user's whole key. Method: a small experiment.
#include "tools/lab/experiment/program_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/experiment/replaced_parameters.h"
#include "tools/lab/experiment/summary_points.h"

namespace outrider::program_settings_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Returns the small experiment with an arm "on-x" of these keys, followed by `more`.
std::string with_arm(const std::string& keys, const std::string& more = {}) {
  return small_experiment("[[arm]]\nlabel = \"on-x\"\nswitch.regulation.mode = \"mark\"\n" + keys +
                          more);
}

/// Returns the same with an off arm that "on-x" is compared with.
std::string with_arms(const std::string& keys) {
  return with_arm(keys, "[[arm]]\nlabel = \"off-x\"\n" + keys);
}

std::string faults_of(const std::string& text) {
  return format_issues("f", read_experiment(text).issues);
}

Case case_of(const std::string& text, const std::string& label = "on-x") {
  return plan_of(text, {.seeds = 1, .filter = label + " "}).at(0);
}

RegulationPolicy policy_of(const std::string& keys) {
  return case_of(with_arm(keys)).switches.switches.at(1).ports.at(0).regulation;
}

TEST(ProgramSettings, ReachTheProgramsFromAnArm) {
  const Case c = case_of(with_arms(
      "switch.regulation.pace_floor = 0.25\nswitch.queue.limit_packets = 90\n"
      "switch.signals.udp_port = 4001\njob.aggregate = \"1rtt\"\n"
      "tensorlights.mode = \"one\"\ntransport.mss_bytes = 1000\nddl.transport.sack = false\n"
      "ddl.transport.loss_detection = \"rfc6675\"\n"));
  for (const auto& sw : c.switches.switches) {
    EXPECT_EQ(sw.signals.udp_port, 4001);
    for (const auto& port : sw.ports) {
      EXPECT_EQ(port.regulation.pace_floor, 0.25) << port.name;
      EXPECT_EQ(port.queue.limit_packets, 90U) << port.name;
    }
  }
  EXPECT_EQ(c.traffic.jobs[0].aggregate, 2ms);
  EXPECT_EQ(c.traffic.tensorlights.mode, TensorLightsMode::kOne);
  const auto& [ddl, background] = std::pair(c.traffic.transports[0], c.traffic.transports[1]);
  EXPECT_EQ(ddl.tcp.mss_bytes, 1000U);
  EXPECT_EQ(background.tcp.mss_bytes, 1000U);
  EXPECT_FALSE(ddl.tcp.sack);
  EXPECT_TRUE(background.tcp.sack);
}

TEST(ProgramSettings, QuotedKeysAreTheSame) {
  EXPECT_EQ(policy_of("\"switch.regulation.pace_floor\" = 0.25\n\"switch.regulation.expiry\" = "
                      "\"1s\"\nswitch.regulation.budget_share = 0.125\n")
                .pace_floor,
            0.25);
  EXPECT_EQ(policy_of("switch.regulation.budget_share = 0.125\n\"switch.regulation.expiry\" = "
                      "\"1s\"\n")
                .budget_share,
            0.125);
}

TEST(ProgramSettings, RoundTripsAreAUnitOfDurations) {
  EXPECT_EQ(policy_of("switch.regulation.hold = \"4rtt\"\n").hold, 8ms) << "rtt is 2 ms";
  EXPECT_EQ(policy_of("switch.regulation.idle_end = \"0.5 rtt\"\n").idle_end, 1ms);
  EXPECT_EQ(policy_of("").expiry, 60ms) << "what an experiment has unless it says otherwise";
  for (const char* no_duration : {"rtt", "-1rtt", "4rtts", "1e9rtt"})
    EXPECT_THAT(
        faults_of(with_arm(std::string("switch.regulation.lead = \"") + no_duration + "\"\n")),
        HasSubstr("arm[3].switch.regulation.lead: \"" + std::string(no_duration)));
}

TEST(ProgramSettings, AMistypedKeyIsRefusedWithTheNearestName) {
  EXPECT_THAT(faults_of(with_arm("switch.regulation.pace_flor = 0.1\n")),
              HasSubstr("arm[3].switch.regulation.pace_flor: unknown key; did you mean "
                        "\"pace_floor\"?"));
  EXPECT_THAT(faults_of(with_arm("swich.queue.limit_packets = 9\n")),
              HasSubstr("arm[3].swich: unknown key; did you mean \"switch\"?"));
  EXPECT_THAT(faults_of(with_arm("ddl.transprot.sack = true\n")),
              HasSubstr("arm[3].ddl.transprot: unknown key; did you mean \"transport\"?"));
  EXPECT_THAT(faults_of(with(small_experiment(), "job.iterations = 2",
                             "job.iterations = 2\njob.announce.ack_timout = \"1rtt\"")),
              HasSubstr("parameters.job.announce.ack_timout: unknown key; did you mean "
                        "\"ack_timeout\"?"));
}

TEST(ProgramSettings, FaultsOfSeveralArmsAndSweepsAreReportedAtOnce) {
  const std::string text = with_arm(
      "switch.regulation.pace_flor = 0.1\n",
      "[[arm]]\nlabel = \"on-y\"\nswitch.regulation.mode = \"mark\"\ntransport.min_rto = 20\n"
      "[[sweep]]\nswitch.queue.limt_packets = [1, 2]\narms = [\"on\"]\n"
      "[[sweep]]\nswitch.marker.kind = [\"step\", \"redd\"]\narms = [\"on\"]\n"
      "[[sweep]]\nswtch.queue.weight = [1]\narms = [\"on\"]\n");
  const auto file = read_experiment(text);
  std::vector<std::string> keys;
  for (const auto& issue : file.issues) keys.push_back(issue.key);
  EXPECT_THAT(keys, testing::UnorderedElementsAre(
                        "arm[3].switch.regulation.pace_flor", "arm[4].transport.min_rto",
                        "sweep[0].switch.queue.limt_packets", "sweep[1].switch.marker.kind[1]",
                        "sweep[2].swtch.queue.weight"));
  const std::string said = format_issues("f", file.issues);
  EXPECT_THAT(said, HasSubstr("switch.queue.limt_packets\": unknown key; did you mean "
                              "\"limit_packets\"?"));
  EXPECT_THAT(said, HasSubstr("did you mean \"red\"?"));
  EXPECT_THAT(said, HasSubstr("did you mean \"switch\"?"));
}

TEST(ProgramSettings, RangesAreTheProgramsOwn) {
  const auto file = read_experiment(with_arm("switch.regulation.pace_floor = 2\n"));
  ASSERT_TRUE(file);
  const auto plan = make_plan(*file.config, {.seeds = 1});
  EXPECT_THAT(format_issues("f", plan.issues), HasSubstr("regulation.pace_floor: 2.0: must be"));
}

TEST(ProgramSettings, WhatFollowsFromSomethingElseIsRefused) {
  EXPECT_THAT(faults_of(with_arm("switch.signals.accept_tos = true\n")),
              HasSubstr("arm[3].switch.signals.accept_tos: follows from job.announce.signal_form"));
  EXPECT_THAT(faults_of(with_arm("job.first_due = \"1s\"\n")),
              HasSubstr("arm[3].job.first_due: follows from warm_up_seconds"));
  EXPECT_THAT(faults_of(with_arm("switch.name = \"x\"\n")),
              HasSubstr("arm[3].switch.name: follows from the topology"));
  EXPECT_THAT(faults_of(small_experiment("[[sweep]]\njob.servers = [1]\narms = [\"on\"]\n")),
              HasSubstr("sweep[0].job.servers: \"job.servers\": follows from servers"));
}

TEST(ProgramSettings, AnEarlierParameterIsRefusedWithWhatReplacesIt) {
  EXPECT_THAT(faults_of(with_arm("lead_rtts = 2\n")),
              HasSubstr("arm[3].lead_rtts: is job.announce.lead now: `outrider-lab convert FILE` "
                        "rewrites the file"));
  EXPECT_THAT(faults_of(with(small_experiment(), "job.iterations = 2", "iterations = 30")),
              HasSubstr("parameters.iterations: is job.iterations now"));
  EXPECT_THAT(faults_of(small_experiment("[[sweep]]\nconnection = [\"new\"]\n")),
              HasSubstr("sweep[0].connection: \"connection\": is transport.connections now"));
  EXPECT_EQ(replaced_parameter("h_packets"), "");
}

TEST(ProgramSettings, AValueMayNameTheThresholdThatStartsCarry) {
  const Case c = case_of(with(with_arm("switch.marker.background_threshold_packets = \"h\"\n"),
                              "job.iterations = 2", "job.iterations = 2\nh_packets = 15"));
  EXPECT_EQ(c.switches.switches.at(1).ports.at(0).marker.background_threshold_packets, 15U);
  EXPECT_EQ(c.traffic.jobs.at(0).announce.threshold_packets, 15U);
}

TEST(ProgramSettings, EveryCaseListsWhatTheFileSetsAnywhere) {
  const std::string text =
      with_arm("job.announce.signal_form = \"udp\"\nswitch.regulation.lead = \"4rtt\"\n",
               "[[sweep]]\ntransport.controller = [\"cubic\", \"reno\"]\n"
               "arms = [\"off\", \"on-x\"]\n");
  const auto cases = plan_of(text, {.seeds = 1});
  ASSERT_EQ(cases.size(), 4U + 2U) << "cubic is what the program has by itself";
  for (const auto& c : cases)
    for (const char* name : {"job.announce.signal_form", "switch.regulation.lead", "workers"})
      EXPECT_NE(std::ranges::find(c.parameters, name, &Parameters::value_type::first),
                c.parameters.end())
          << c.label << ' ' << name;
  const Case& off = cases[0];
  EXPECT_EQ(parameter(off, "switch.regulation.lead"), ParameterValue{std::monostate{}});
  EXPECT_EQ(parameter(off, "transport.controller"), ParameterValue{std::string("cubic")});
  EXPECT_EQ(parameter(cases[3], "switch.regulation.lead"), ParameterValue{std::string("8ms")});
  EXPECT_EQ(parameter(cases[5], "transport.controller"), ParameterValue{std::string("reno")});
  const auto file = read_experiment(text);
  EXPECT_EQ(case_name(*file.config, cases[5]), "on-x transport.controller=reno seed 1");
}

// A regulator's setting does not belong to the point at which off and on are compared.
TEST(ProgramSettings, OfTheRegulatorDoNotSeparateOnFromOff) {
  const auto cases =
      plan_of(with_arm("switch.regulation.pace_floor = 0.25\nswitch.regulation.window.gain = 4\n",
                       "[[sweep]]\nswitch.regulation.budget_share = [0.25]\n"
                       "arms = [\"off\", \"on-x\"]\n"
                       "[[sweep]]\nswitch.queue.limit_packets = [90]\n"
                       "arms = [\"off\", \"on-x\"]\n"),
              {.seeds = 1});
  ASSERT_EQ(cases.size(), 4U + 1U + 2U) << "off has no regulator to set";
  std::vector<const Case*> pointers(cases.size());
  std::ranges::transform(cases, pointers.begin(), [](const Case& c) { return &c; });
  EXPECT_THAT(points_of(pointers).baseline, testing::ElementsAre(0, 0, 0, 0, 0, 5, 5));
}

TEST(ProgramSettings, MarkersArePartsOfArmsButTheirThresholdIsThePoints) {
  for (const char* name : {"switch.marker.kind", "switch.marker.red.pmax", "switch.marker.not_ect",
                           "job.policy.credit_bytes", "tensorlights.interval"})
    EXPECT_TRUE(tells_arms_apart(name)) << name;
  for (const char* name : {"switch.marker.threshold_packets", "switch.queue.limit_packets",
                           "transport.min_rto", "job.announce.ack_timeout"})
    EXPECT_FALSE(tells_arms_apart(name)) << name;
}

TEST(ProgramSettings, BoundedLossTakesNothingOfTcps) {
  const auto arm = [](const char* protocol) {
    return case_of(with(with_arms("transport.controller = \"reno\"\ntransport.min_rto = \"50ms\"\n"
                                  "ddl.transport.mlt.tolerance_push = 0.25\n"),
                        "[parameters]\n",
                        std::string("[parameters]\njob.announce.signal_form = "
                                    "\"udp\"\nddl.transport.protocol = \"") +
                            protocol + "\"\n"))
        .traffic.transports;
  };
  const auto bounded = arm("mlt"), tcp = arm("tcp");
  EXPECT_EQ(bounded[0].tcp.control.controller, Controller::kDctcp);
  EXPECT_EQ(bounded[0].tcp.min_rto, TcpConfig{}.min_rto);
  EXPECT_EQ(bounded[0].mlt.tolerance_push, 0.25);
  EXPECT_EQ(bounded[1].tcp.control.controller, Controller::kReno);
  EXPECT_EQ(tcp[0].tcp.control.controller, Controller::kReno);
  EXPECT_EQ(tcp[0].tcp.min_rto, 50ms);
  EXPECT_EQ(tcp[0].mlt, MltConfig{}) << "TCP delivers everything";
}

TEST(ProgramSettings, OfABaseAreKeptKeyByKey) {
  const std::filesystem::path base = testing::TempDir() + "/program_settings_base.toml";
  std::ofstream(base) << with(small_experiment(), "job.iterations = 2",
                              "job.iterations = 2\nswitch.queue.limit_packets = 90\n"
                              "switch.marker.threshold_packets = 30");
  const auto file = experiment_from(
      parse_toml("base = \"" + base.string() +
                 "\"\nname = \"own\"\nquestion = \"?\"\n[parameters]\n"
                 "\"switch.marker.threshold_packets\" = 20\n[[arm]]\nlabel = \"off\"\n")
          .config.value(),
      "");
  std::filesystem::remove(base);
  ASSERT_TRUE(file) << format_issues("f", file.issues);
  const auto plan = make_plan(*file.config, {.seeds = 1});
  ASSERT_TRUE(plan) << format_issues("f", plan.issues);
  const auto& port = plan.config->at(0).switches.switches[0].ports[0];
  EXPECT_EQ(port.queue.limit_packets, 90U);
  EXPECT_EQ(port.marker.threshold_packets, 20U);
}

}  // namespace
}  // namespace outrider::program_settings_test
