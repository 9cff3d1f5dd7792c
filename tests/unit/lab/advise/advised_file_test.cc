// Goal: what `advise` reads is an experiment, faults are its keys, and what it does not say is
// assumed and told; every remedy that may be used there can be planned, each with its kind.
// Method: texts, conf/remedies.toml and conf/remedies-roce.toml.
#include "tools/lab/advise/advised_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/config/config_file.h"
#include "common/config/text_file.h"
#include "common/config/toml_text.h"
#include "switch/config/config_toml.h"
#include "tests/support/source_path.h"
#include "tools/lab/advise/advised_experiment.h"
#include "tools/lab/advise/remedy.h"
#include "tools/lab/advise/remedy_list.h"
#include "tools/lab/advise/scaled.h"
#include "tools/lab/advise/settings_elsewhere.h"
#include "tools/lab/advise/what_if.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/warnings/advice.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::advised_file_test {
using namespace lab;
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

fs::path conf() { return source_path("conf"); }

/// A link of 10 Gbit/s with 300 kB, four workers and three long flows.
constexpr const char* kLink = R"(
[network]
rate = "10gbit"
rtt = "100us"
background_hosts = 3
[parameters]
switch.queue.limit_bytes = "300kB"
workers = 4
job.burst_bytes = "1MB"
job.period = "20ms"
[[background]]
name = "long"
from = "sender"
to = "receiver"
long_flows = 3
)";

ConfigResult<AdvisedFile> read(const std::string& text) {
  auto table = parse_toml(text);
  EXPECT_TRUE(table) << format_issues("t", table.issues);
  (*table.config)["name"] = ConfigValue(std::string("advise"));
  return advised_from(*table.config, conf() / "experiments");
}

AdvisedFile valid(const std::string& text) {
  auto file = read(text);
  EXPECT_TRUE(file) << format_issues("t", file.issues);
  return file ? *file.config : AdvisedFile();
}

AdvisedFile over_roce() {
  auto file = load_advised(conf() / "advise/roce-storage.toml");
  EXPECT_TRUE(file) << format_issues("roce-storage", file.issues);
  return file ? *file.config : AdvisedFile();
}

std::vector<Case> planned(const AdvisedFile& advised, const std::vector<std::string>& arms,
                          const Point& parameters = {}) {
  const auto e = experiment_from(
      experiment_of(advised, {.name = "t", .arms = arms, .parameters = parameters}, conf()), "/");
  EXPECT_TRUE(e) << format_issues("t", e.issues);
  if (!e) return {};
  const auto plan = make_plan(*e.config, {.seeds = 1, .arms = arms});
  EXPECT_TRUE(plan) << format_issues("t", plan.issues);
  return plan ? *plan.config : std::vector<Case>();
}

const Case& find(const std::vector<Case>& cases, const std::string& label) {
  return *std::ranges::find(cases, label, &Case::label);
}

TEST(AdvisedFile, FaultsAreTheUsersKeys) {
  std::string faulty = kLink;
  faulty.replace(faulty.find("workers = 4"), 11, "workrs = 4");
  EXPECT_THAT(read(faulty).issues, Contains(Field(&ConfigIssue::key, "parameters.workrs")));
  EXPECT_THAT(read(std::string(kLink) + "lod = 0.3\n").issues,
              Contains(Field(&ConfigIssue::key, "background[0].lod")));
  EXPECT_THAT(read(std::string(kLink) + "[change]\nswitchs = \"settings\"\n").issues,
              Contains(Field(&ConfigIssue::key, "change.switchs")));
  EXPECT_THAT(read(std::string(kLink) + "[goal]\nbackground_lost = -1.0\n").issues,
              Contains(Field(&ConfigIssue::key, "goal.background_lost")));
}

TEST(AdvisedFile, WhatCannotBeJudgedIsRefused) {
  const auto without = [](const std::string& line) {
    std::string text = kLink;
    text.erase(text.find(line), line.size());
    return read(text).issues;
  };
  EXPECT_THAT(without("job.period = \"20ms\"\n"),
              Contains(Field(&ConfigIssue::key, "parameters.job.period")));
  EXPECT_THAT(without("switch.queue.limit_bytes = \"300kB\"\n"),
              Contains(Field(&ConfigIssue::key, "parameters.switch.queue.limit_bytes")));
  EXPECT_THAT(read(std::string(kLink) + "[[sweep]]\nworkers = [1, 2]\n").issues,
              Contains(Field(&ConfigIssue::key, "sweep")));
}

TEST(AdvisedFile, TheOldLanguageIsRefusedWithWhatToWrite) {
  const auto file = read(R"(
[network]
rate = "50mbit"
rtt = "2ms"
buffer = "90kB"
[change]
switch = "settings"
[job]
workers = 2
burst = "100kB"
period = "100ms"
[background]
long_flows = 2
)");
  ASSERT_FALSE(file);
  std::map<std::string, std::string> told;
  for (const auto& issue : file.issues) told[issue.key] = issue.problem;
  EXPECT_EQ(told.size(), 5U);
  EXPECT_THAT(told["network.buffer"], HasSubstr("switch.queue.limit_bytes"));
  EXPECT_THAT(told["change.switch"], HasSubstr("[change] switches"));
  EXPECT_THAT(told["job.burst"], HasSubstr("job.burst_bytes"));
  EXPECT_THAT(told["background.long_flows"], HasSubstr("[[background]]"));
  EXPECT_THAT(told["job.period"], HasSubstr("advise --new"));
}

TEST(AdvisedFile, WhatItDoesNotSayIsAssumedAndTold) {
  const AdvisedFile file = valid(kLink);
  // 100 us x 10 Gbit/s / sqrt(3) are 72168 bytes, 47 full frames.
  for (const char* one :
       {"job.iterations = 8", "warm_up_seconds = 0.06", "h_packets = 10",
        "switch.marker.threshold_packets = 47", "transport.controller = \"dctcp\""})
    EXPECT_THAT(file.assumed, Contains(one));
  EXPECT_THAT(file.assumed, Not(Contains(StartsWith("workers")))) << "the file has it";
  EXPECT_EQ(file.traits.rate, (BitRate{10'000'000'000}));
  EXPECT_TRUE(file.traits.by_rate);
  EXPECT_FALSE(file.traits.roce);
  const auto off = planned(file, {"off"});
  ASSERT_EQ(off.size(), 1U);
  EXPECT_EQ(find_port(off.front())->queue.limit_packets, 199U) << "300 kB hold them";
}

TEST(AdvisedFile, ThresholdsMayBeSizesAndTimes) {
  std::string sizes = kLink;
  sizes.insert(sizes.find("workers"), "switch.marker.threshold_packets = \"151400B\"\n");
  EXPECT_EQ(find_port(planned(valid(sizes), {"off"}).front())->marker.threshold_packets, 100U);
  sizes.replace(sizes.find("151400B"), 7, "121120ns");  // x 10 Gbit/s
  EXPECT_EQ(find_port(planned(valid(sizes), {"off"}).front())->marker.threshold_packets, 100U);
}

TEST(AdvisedFile, EveryRemedyOverTcpHasItsKind) {
  std::string with_model = kLink;
  const std::string bursts = "job.burst_bytes = \"1MB\"\njob.period = \"20ms\"";
  with_model.replace(with_model.find(bursts), bursts.size(), "job.model = \"resnet50\"");
  const AdvisedFile file = valid(with_model);
  const UsableArms arms = usable_arms(file, conf());
  EXPECT_THAT(arms.left_out, testing::IsEmpty());
  const auto cases = planned(file, arms.labels);
  std::map<RemedyKind, int> kinds;
  for (const Case& c : cases)
    ++kinds[nature_of(c.label, c.parameters, find(cases, "off").parameters).kind];
  EXPECT_EQ(kinds[RemedyKind::kNothing], 1);
  EXPECT_EQ(kinds[RemedyKind::kTwoQueues], 7);
  EXPECT_EQ(kinds[RemedyKind::kMark], 3);
  EXPECT_EQ(kinds[RemedyKind::kOrder], 3) << "conf/policies.toml";
  EXPECT_EQ(kinds.size(), 9U) << "conf/remedies.toml has each other kind";
}

TEST(AdvisedFile, WhatMayNotBeChangedIsNotTried) {
  const auto kinds_with = [](const std::string& change) {
    const AdvisedFile file = valid(std::string(kLink) + "[change]\n" + change);
    const auto labels = usable_arms(file, conf()).labels;
    const auto cases = planned(file, labels);
    std::vector<RemedyKind> kinds;
    for (const Case& c : cases)
      kinds.push_back(nature_of(c.label, c.parameters, find(cases, "off").parameters).kind);
    return kinds;
  };
  const auto no_hosts = kinds_with("hosts = false\n");
  EXPECT_THAT(no_hosts, Not(Contains(RemedyKind::kWindow)));
  EXPECT_THAT(no_hosts, Contains(RemedyKind::kTwoQueues));
  const auto one_queue = kinds_with("switches = \"settings\"\nsecond_queue = false\n");
  EXPECT_THAT(one_queue, Not(Contains(RemedyKind::kTwoQueues)));
  EXPECT_THAT(one_queue, Contains(RemedyKind::kMarking));
  EXPECT_THAT(kinds_with("switches = \"nothing\"\n"), testing::ElementsAre(RemedyKind::kNothing));
}

TEST(AdvisedFile, RocesRemediesAreThoseOfSwitchesPausesAndNics) {
  const AdvisedFile file = over_roce();
  EXPECT_TRUE(file.traits.roce);
  EXPECT_TRUE(file.traits.several_jobs);
  EXPECT_EQ(file.traits.frame_bytes, 4096U + 58);
  const UsableArms arms = usable_arms(file, conf());
  EXPECT_THAT(arms.left_out, testing::IsEmpty());
  const auto cases = planned(file, arms.labels);
  const auto& off = find(cases, "off");
  std::map<RemedyKind, int> kinds;
  for (const Case& c : cases) ++kinds[nature_of(c.label, c.parameters, off.parameters).kind];
  for (const RemedyKind kind :
       {RemedyKind::kMarking, RemedyKind::kNics, RemedyKind::kPauses, RemedyKind::kTwoQueues,
        RemedyKind::kMark, RemedyKind::kPace, RemedyKind::kSteer, RemedyKind::kTelemetry})
    EXPECT_GE(kinds[kind], 1) << name_of(kind);

  const auto marker = find_port(find(cases, "off-red-hpcc"))->marker.red;
  EXPECT_NEAR(marker.kmin_packets * 4154, 400'000, 1) << "32 us at 100 Gbit/s";
  EXPECT_THAT(arms.labels, Not(Contains("off-red-dcqcn"))) << "it is what is assumed of today";
  EXPECT_FALSE(find_port(find(cases, "off-no-pfc"))->queue.lossless.on());
  // 400 Gbit/s x 2 x 1 us, four frames of 4218 bytes and a pause.
  EXPECT_EQ(find_port(off)->queue.lossless.headroom_bytes, 100'000U + 4 * 4218 + 84);
  const auto storages = [](const Case& c) {
    return *std::ranges::find(c.traffic.transports, "background_storage",
                              &tg::TransportConfig::name);
  };
  EXPECT_EQ(storages(off).tcp.priority, 3) << "storage obeys pauses";
  EXPECT_EQ(storages(find(cases, "off-dwrr")).tcp.priority, 4) << "the arm's, of each group";
  EXPECT_EQ(storages(find(cases, "off-nic-steps")).roce.dcqcn.additive_increase,
            (BitRate{100'000'000}));
}

TEST(AdvisedFile, RocesWhatMayNotBeChangedIsNotTried) {
  AdvisedFile file = over_roce();
  file.change = {.switches = SwitchFreedom::kSettings, .pauses = false, .nics = false};
  const auto labels = usable_arms(file, conf()).labels;
  EXPECT_THAT(labels, Each(testing::AnyOf("off", StartsWith("off-red"), "off-step",
                                          StartsWith("off-dwrr"), "off-strict")));
  EXPECT_THAT(labels, Contains("off-strict"));
}

TEST(AdvisedFile, ItsOwnArmsAreComparedToo) {
  const AdvisedFile file = valid(std::string(kLink) +
                                 "[[arm]]\nlabel = \"off-own\"\n"
                                 "switch.marker.threshold_packets = \"30280B\"\n");
  const auto labels = usable_arms(file, conf()).labels;
  EXPECT_EQ(labels.front(), "off");
  EXPECT_THAT(labels, Contains("off-own"));
  const auto cases = planned(file, {"off", "off-own"});
  EXPECT_EQ(find_port(find(cases, "off-own"))->marker.threshold_packets, 20U);
}

// Today's setting announced its bursts, and remedies that announce nothing were compared with it.
TEST(AdvisedFile, ArmsAnnounceWhereASwitchActsAlone) {
  const AdvisedFile tcp = valid(std::string(kLink) +
                                "[[arm]]\nlabel = \"on-own\"\nswitch.regulation.mode = \"mark\"\n"
                                "[[arm]]\nlabel = \"on-preset\"\npresets = \"window\"\n"
                                "[[arm]]\nlabel = \"off-preset\"\npresets = \"two-queues\"\n");
  EXPECT_THAT(usable_arms(tcp, conf()).labels, testing::IsSupersetOf({"on-preset", "off-preset"}));
  EXPECT_THAT(to_toml_text(tcp.experiment), HasSubstr("lead_source = \"none\"")) << "asked.toml";
  for (const AdvisedFile& file : {tcp, over_roce()})
    for (const Case& c : planned(file, usable_arms(file, conf()).labels))
      EXPECT_EQ(c.traffic.jobs.front().announce.lead_source,
                c.label.starts_with("on") ? tg::LeadSource::kOverlap : tg::LeadSource::kNone)
          << c.label;
}

TEST(AdvisedFile, WhatTheDefaultsAllowIsKnown) {
  const RemedyNature telemetry{.kind = RemedyKind::kTelemetry, .outrider = true};
  const RemedyNature queue{.kind = RemedyKind::kTwoQueues, .two_queues = true};
  const AdvisedFile open = valid(kLink);
  EXPECT_THAT(needs_by_default(telemetry, open),
              testing::ElementsAre("change.nics = true", "change.switches = \"outrider\""));
  EXPECT_THAT(needs_by_default(queue, open), testing::ElementsAre("change.second_queue = true"));
  const AdvisedFile said =
      valid(std::string(kLink) + "[change]\nswitches = \"outrider\"\nsecond_queue = true\n");
  EXPECT_THAT(needs_by_default(telemetry, said), testing::ElementsAre("change.nics = true"));
  EXPECT_THAT(needs_by_default(queue, said), testing::IsEmpty());
}

// The median of one iteration was as good as any.
TEST(AdvisedFile, ARunOfOneIterationIsToldToSayLittle) {
  const auto told = [](const std::string& iterations) {
    std::string text = kLink;
    text.insert(text.find("workers = 4"), iterations);
    return few_iterations_text(planned(valid(text), {"off"}).front());
  };
  EXPECT_EQ(told("job.iterations = 3\nskip_iterations = 2\n"),
            "job.iterations = 3 and skip_iterations = 2 leave one iteration of each run, which "
            "says little of others; give more iterations");
  EXPECT_EQ(told("job.iterations = 4\nskip_iterations = 2\n"), "");
  EXPECT_EQ(told(""), "");
}

// The text that `advise` prints is an arm of the experiment that was asked, and makes the same
// case.
TEST(AdvisedFile, TheTextOfEveryArmMakesTheSameCase) {
  for (const AdvisedFile& file : {valid(kLink), over_roce()}) {
    const auto labels = usable_arms(file, conf()).labels;
    for (const Case& of_arm : planned(file, labels)) {
      if (of_arm.label == "off") continue;
      const std::string text = arm_text(file, of_arm, conf());
      ConfigTable asked = file.experiment;
      asked["goal"] = ConfigValue(to_config_table(file.goal));
      const auto pasted = parse_toml(to_toml_text(asked) + text);
      ASSERT_TRUE(pasted) << text << format_issues("t", pasted.issues);
      const auto e = experiment_from(*pasted.config, "/");
      ASSERT_TRUE(e) << text << format_issues("t", e.issues);
      EXPECT_THAT(format_advice("asked.toml", advice(*e.config)), Not(HasSubstr("has no effect")))
          << "advise wrote it";
      const auto plan = make_plan(*e.config, {.seeds = 1, .arms = {of_arm.label}});
      ASSERT_TRUE(plan) << text << format_issues("t", plan.issues);
      const Case& again = find(*plan.config, of_arm.label);
      EXPECT_EQ(sw::to_toml(again.switches), sw::to_toml(of_arm.switches)) << text;
      EXPECT_EQ(tg::to_toml(again.traffic), tg::to_toml(of_arm.traffic)) << text;
    }
  }
}

TEST(AdvisedFile, RoomThatOnlyLosslessQueuesSayIsToldWithTheKeyToGive) {
  std::string text = *read_text_file(conf() / "advise/roce-storage.toml", 1).config;
  const std::string limit = "switch.queue.limit_bytes = \"2MB\"\n";
  text.erase(text.find(limit), limit.size());
  const AdvisedFile file = valid(text);
  // Eight ports of a spine with 200 kB and a headroom of 116956 bytes, in full frames.
  EXPECT_THAT(file.assumed, Contains(testing::AllOf(
                                StartsWith("switch.queue.limit_packets = 1675 ("),
                                HasSubstr("give switch.queue.limit_bytes, the buffer of a port"))));
  EXPECT_THAT(file.assumed, Contains("switch.marker.kind = \"red\""));
  EXPECT_EQ(find_port(planned(file, {"off"}).front())->marker.kind, sw::MarkerKind::kRed);
}

TEST(AdvisedFile, PausesBesideADynamicXoffAreLeftOutAndTold) {
  std::string text = *read_text_file(conf() / "advise/roce-storage.toml", 1).config;
  const std::string fixed = "switch.queue.lossless.xoff_bytes = \"200kB\"\n";
  text.replace(text.find(fixed), fixed.size(),
               "switch.buffer.total_bytes = \"16MB\"\nswitch.queue.lossless.xoff_alpha = 0.5\n");
  AdvisedFile file = valid(text);
  const UsableArms arms = usable_arms(file, conf());
  EXPECT_THAT(arms.labels, Not(Contains("off-no-pfc"))) << "it would have pauses still";
  EXPECT_THAT(arms.left_out,
              testing::ElementsAre(testing::AllOf(
                  StartsWith("off-no-pfc, off-pfc, off-pfc-late, off-pfc-red-hpcc: "),
                  HasSubstr("xoff_alpha of the file excludes"))));
  file.change.pauses = false;
  EXPECT_THAT(usable_arms(file, conf()).left_out, testing::IsEmpty());
}

TEST(AdvisedFile, EveryChangeCanBePlanned) {
  for (const AdvisedFile& file : {valid(kLink), over_roce()}) {
    const auto changes = what_ifs(file);
    EXPECT_GE(changes.size(), 5U);
    for (const WhatIf& one : changes)
      EXPECT_EQ(planned(one.advised, {"off"}, one.parameters).size(), 1U) << one.name;
  }
}

TEST(AdvisedFile, SmallerBurstsKeepTheNetworkAndTheShareOfTime) {
  const AdvisedFile file = over_roce();
  // 16 packets of 4154 bytes for each of 16 workers are 1.06 MB.
  EXPECT_EQ(most_smaller(file), 4U);
  AdvisedFile smaller = file;
  smaller.experiment = scaled(file.experiment, file.traits.closed_loop, 0.25, 0.25);
  const auto whole = planned(file, {"off"}), part = planned(smaller, {"off"});
  ASSERT_EQ(whole.size() + part.size(), 2U);
  const auto& was = whole.front().traffic.jobs.front();
  const auto& is = part.front().traffic.jobs.front();
  EXPECT_EQ(was.burst_bytes, 8'000'000U);
  EXPECT_EQ(is.burst_bytes, 2'000'000U);
  EXPECT_EQ(is.compute, *was.compute / 4);
  EXPECT_EQ(part.front().base_rtt, whole.front().base_rtt);
}

TEST(AdvisedFile, OtherSwitchesAndHostsAreToldWhatTheAdvisedArmHas) {
  const AdvisedFile file = valid(kLink);
  const auto cases = planned(file, {});
  const auto told = [&](const char* label) {
    const Case& c = find(cases, label);
    const RemedyNature nature = nature_of(c.label, c.parameters, find(cases, "off").parameters);
    const auto& port = *find_port(c);
    return settings_elsewhere(*find_port(find(cases, "off")), port, nature,
                              file.traits.frame_bytes) +
           settings_of_hosts(port, nature, c.traffic.jobs.front().announce.lead);
  };
  EXPECT_THAT(told("off"), HasSubstr("switch: as today.\nOn the hosts: nothing."));
  EXPECT_THAT(told("off-red"), ContainsRegex("room .B. +300000 +300000\n"));
  EXPECT_THAT(told("off-static-pair"), HasSubstr("the job's from 71158, others from 15140\n"));
  EXPECT_THAT(told("off-static-pair"), HasSubstr("give its packets a DSCP"));
  EXPECT_THAT(told("off-strict-shared"), HasSubstr("strict priority"));
  EXPECT_THAT(told("off-strict"), HasSubstr("at least 500mbit"));
  EXPECT_THAT(told("off-strict"), testing::Not(HasSubstr("both: room")));
  EXPECT_THAT(told("off-strict-shared"), ContainsRegex("both: room .B. +- +\\* 300000\n"));
  EXPECT_THAT(told("off-dwrr-shared"), HasSubstr("weight 9"));
  EXPECT_THAT(told("off-red"), ContainsRegex("from 71158 +\\* RED: 15140 to 72672, at most 10 %"));
  EXPECT_THAT(told("off-dwrr-shared"), ContainsRegex("second queue: traffic +- +\\* every other"));
  for (const char* own : {"off-demotion", "off-fair-window"})
    EXPECT_THAT(told(own), HasSubstr("Another maker's switch cannot do this")) << own;
  EXPECT_THAT(told("off-strict-cross"), HasSubstr("its markers read their own queue alone"));
  EXPECT_THAT(told("on-window"), HasSubstr("does not understand announced bursts"));
  EXPECT_THAT(told("on-pace"), HasSubstr("announce --lead 200us"));
}

TEST(AdvisedFile, SettingsOfNicsHaveTodaysValuesAndAMarkOfChanges) {
  tg::RoceConfig today, advised;
  advised.cnp_interval = std::chrono::microseconds(4);
  std::string text = settings_of_nics(today, advised);
  EXPECT_THAT(text, ContainsRegex("min_time_between_cnps +50 us +\\* 4 us\n"));
  EXPECT_THAT(text, ContainsRegex("cnp_dscp +48 +48\n"));
  advised.controller = tg::RoceController::kHpcc;
  text = settings_of_nics(today, advised);
  EXPECT_THAT(text, ContainsRegex("rate control +dcqcn +\\* hpcc\n"));
  EXPECT_THAT(text, ContainsRegex("rpg_threshold +5 +\\* -\n"));
}

}  // namespace
}  // namespace outrider::advised_file_test
