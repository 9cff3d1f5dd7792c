// Goal: a cluster's file is refused with all its faults, and what it says is an experiment that can
// be planned, with the remedies that may be used there. Method: texts, and conf/remedies.toml.
#include "tools/lab/advise/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/config/config_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/advise/cluster_experiment.h"
#include "tools/lab/advise/remedy.h"
#include "tools/lab/advise/settings_elsewhere.h"
#include "tools/lab/advise/what_if.h"
#include "tools/lab/plan/plan.h"

namespace outrider::cluster_test {
using namespace lab;
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

std::filesystem::path conf() { return source_path("conf"); }

/// Returns a cluster with bursts, without flows that come and go.
Cluster with_bursts() {
  Cluster c;
  c.network = {
      .rate = {10'000'000'000}, .rtt = std::chrono::microseconds(101), .buffer_bytes = 300'000};
  c.job = {.workers = 4, .burst_bytes = 1'000'000, .period = std::chrono::milliseconds(20)};
  c.background.long_flows = 3;
  return c;
}

Cluster from_template() {
  auto read = parse_toml(new_cluster());
  EXPECT_TRUE(read);
  auto cluster = checked_config<Cluster>(*read.config);
  EXPECT_TRUE(cluster) << format_issues("new", cluster.issues);
  cluster.config->job.model = conf() / "models/resnet50.toml";
  cluster.config->background.sizes = conf() / "distributions/web-search.cdf";
  return *cluster.config;
}

std::vector<Case> planned(const Cluster& cluster, const Point& parameters = {}) {
  const auto file = experiment_from(
      experiment_of(cluster, {.name = "t", .question = "What helps?", .parameters = parameters},
                    conf()),
      conf());
  EXPECT_TRUE(file) << format_issues("t", file.issues);
  if (!file) return {};
  const auto plan = make_plan(*file.config, {.seeds = 1});
  EXPECT_TRUE(plan) << format_issues("t", plan.issues);
  return plan ? *plan.config : std::vector<Case>();
}

TEST(Cluster, TheFileToBeginFromIsValid) { EXPECT_GT(planned(from_template()).size(), 15U); }

TEST(Cluster, FaultsAreTheUsersKeysAllAtOnce) {
  Cluster c = with_bursts();
  c.network.buffer_bytes = 10;
  c.job.workers = 0;
  c.job.model = "x";
  c.background = {.load = 0.3};
  const auto issues = validate(c);
  for (const char* key : {"network.buffer", "job.workers", "job.model", "background.sizes"})
    EXPECT_THAT(issues, Contains(Field(&ConfigIssue::key, key)));
  EXPECT_TRUE(validate(with_bursts()).empty());
}

TEST(Cluster, NothingToKeepFromTheJobIsAFault) {
  Cluster c = with_bursts();
  c.background.long_flows = 0;
  EXPECT_THAT(validate(c), Contains(Field(&ConfigIssue::key, "background.long_flows")));
}

TEST(Cluster, EveryRemedyHasItsKind) {
  std::map<RemedyKind, int> kinds;
  for (const Case& c : planned(with_bursts())) ++kinds[nature_of(c.label, c.parameters).kind];
  EXPECT_EQ(kinds.size(), 8U) << "conf/remedies.toml has each kind";
  EXPECT_EQ(kinds[RemedyKind::kNothing], 1);
  EXPECT_EQ(kinds[RemedyKind::kTwoQueues], 3);
  EXPECT_EQ(kinds[RemedyKind::kMark], 3);
}

TEST(Cluster, WhatMayNotBeChangedIsNotTried) {
  const auto kinds_in = [](const Cluster& cluster) {
    std::vector<RemedyKind> kinds;
    for (const Case& c : planned(cluster)) {
      const RemedyNature nature = nature_of(c.label, c.parameters);
      if (is_possible(nature, cluster)) kinds.push_back(nature.kind);
    }
    return kinds;
  };
  Cluster c = with_bursts();
  c.change.hosts = false;
  EXPECT_THAT(kinds_in(c), Not(Contains(RemedyKind::kWindow)));
  EXPECT_THAT(kinds_in(c), Contains(RemedyKind::kTwoQueues));
  c.network.second_queue = false;
  EXPECT_THAT(kinds_in(c), Not(Contains(RemedyKind::kTwoQueues)));
  EXPECT_THAT(kinds_in(c), Contains(RemedyKind::kMarking));
  c.change.switches = SwitchFreedom::kNothing;
  EXPECT_EQ(kinds_in(c), std::vector{RemedyKind::kNothing});
}

TEST(Cluster, ASwitchThatDoesNotMarkTodayMarksAtTheEndOfItsQueue) {
  Cluster c = with_bursts();
  c.network.marks = false;
  const auto cases = planned(c);
  ASSERT_FALSE(cases.empty());
  const auto& port = cases.front().switches.switches.front().ports.front();
  EXPECT_EQ(port.marker.threshold_packets, port.queue.limit_packets - 1);
}

TEST(Cluster, OtherSwitchesAndHostsAreToldWhatTheAdvisedArmHas) {
  const auto cases = planned(with_bursts());
  const auto told = [&](const char* label) {
    const Case& c = *std::ranges::find(cases, label, &Case::label);
    const RemedyNature nature = nature_of(c.label, c.parameters);
    const auto& port = *find_port(c);
    return settings_elsewhere(port, nature) +
           settings_of_hosts(port, nature, c.traffic.jobs.front().announce.lead);
  };
  // 300 kB are 198 full frames, K is 101 us x 10 Gbit/s / sqrt(3): 48 frames. h is 10 of them.
  EXPECT_THAT(told("off"), HasSubstr("299772  from 72672\nOn the hosts: nothing."));
  EXPECT_THAT(told("off-static-pair"), HasSubstr("the job's from 72672, others from 15140\n"));
  EXPECT_THAT(told("off-static-pair"), HasSubstr("give its packets a DSCP"));
  EXPECT_THAT(told("off-strict-split"), HasSubstr("strict priority            149886  from 36336"));
  EXPECT_THAT(told("off-strict-split"), HasSubstr("at least 500mbit           149886"));
  EXPECT_THAT(told("off-dwrr-split"), HasSubstr("weight 9"));
  EXPECT_THAT(told("off-red"), HasSubstr("RED: 15140 to 74186, at most 10 %"));
  EXPECT_THAT(told("on-window"), HasSubstr("does not understand announced bursts"));
  EXPECT_THAT(told("on-pace"), HasSubstr("announce --lead 202us"));
}

TEST(Cluster, EveryChangeCanBePlanned) {
  for (const Cluster& c : {with_bursts(), from_template()}) {
    const auto changes = what_ifs(c);
    EXPECT_GE(changes.size(), 5U);
    for (const WhatIf& one : changes) {
      EXPECT_FALSE(planned(one.cluster, one.parameters).empty()) << one.name;
      EXPECT_EQ(mark_at(one.cluster.network), mark_at(c.network)) << "K stays: " << one.name;
    }
  }
}

}  // namespace
}  // namespace outrider::cluster_test
