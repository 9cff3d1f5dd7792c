// Goal: a cluster's file is refused with all its faults, and what it says is an experiment that can
// be planned, with the remedies that may be used there. Method: texts, and conf/remedies.toml.
#include "tools/lab/advise/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/config/config_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/advise/cluster_experiment.h"
#include "tools/lab/advise/cluster_file.h"
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

namespace fs = std::filesystem;

fs::path conf() { return source_path("conf"); }

/// Returns a cluster with bursts, without flows that come and go.
Cluster with_bursts() {
  Cluster c;
  c.network = {.rate = BitRate{10'000'000'000},
               .rtt = std::chrono::microseconds(101),
               .buffer_bytes = 300'000};
  c.jobs = {{.workers = 4, .burst_bytes = 1'000'000, .period = std::chrono::milliseconds(20)}};
  c.background.long_flows = 3;
  return c;
}

/// Reads a cluster from its file's text. @pre it has no fault
Cluster from_text(const std::string& text) {
  const auto cluster = cluster_from(*parse_toml(text).config, {}, conf());
  EXPECT_TRUE(cluster) << format_issues("new", cluster.issues);
  return cluster ? *cluster.config : Cluster();
}

/// Three jobs of two kinds, and background among other hosts of four racks.
constexpr const char* kInFabric = R"(
[fabric]
kind = "leaf_spine"
leaves = 4
spines = 2
hosts_per_leaf = 8
host_rate = "25gbit"
host_delay = "2us"
uplink_delay = "4us"
oversubscription = 2
[network]
buffer = "600kB"
shared = true
alpha = 4.0
[[job]]
name = "ps"
count = 2
workers = 4
burst = "2500kB"
period = "18ms"
placement = "spread"
[[job]]
name = "ring"
workers = 4
collective = "ring"
burst = "1MB"
period = "30ms"
controller = "cubic"
[background]
hosts = 12
load = 0.3
sizes = "web-search"
)";

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

TEST(Cluster, TheFileToBeginFromIsValid) {
  EXPECT_GT(planned(from_text(new_cluster())).size(), 15U);
}

TEST(Cluster, FaultsAreTheUsersKeysAllAtOnce) {
  Cluster c = with_bursts();
  c.network.buffer_bytes = 10;
  c.jobs.front().workers = 0;
  c.jobs.front().model = "x";
  c.background = {.load = 0.3};
  const auto issues = validate(c);
  for (const char* key : {"network.buffer", "job[0].workers", "job[0].model", "background.sizes"})
    EXPECT_THAT(issues, Contains(Field(&ConfigIssue::key, key)));
  EXPECT_TRUE(validate(with_bursts()).empty());
}

TEST(Cluster, FaultsOfATableHaveItsKeysAndThoseOfAListTheirNumbers) {
  const auto keys = [](const std::string& job) {
    std::vector<std::string> all;
    for (const auto& issue : cluster_from(*parse_toml("[network]\nbuffer = \"1MB\"\n" + job +
                                                      "[background]\nlong_flows = 1\n")
                                               .config,
                                          {}, conf())
                                 .issues)
      all.push_back(issue.key);
    return all;
  };
  EXPECT_THAT(keys("[job]\nworkers = 0\nmodel = \"resnet50\"\ncollective = \"ring\"\n"),
              testing::UnorderedElementsAre("network.rate", "network.rtt", "job.workers",
                                            "job.collective"));
  const std::string one = "[[job]]\nworkers = 1\n", other = one + "servers = 0\n";
  EXPECT_THAT(keys(one + "model = \"resnet50\"\n" + other + "model = \"no-such\"\n"),
              testing::UnorderedElementsAre("network.rate", "network.rtt", "job", "job[1].servers",
                                            "job[1].name", "job[1].model"));
}

// The experiment that was made of it was refused, in the words of a file that nobody had written.
TEST(Cluster, ALinkThatIsTooSlowToShareIsRefusedByItsKey) {
  Cluster c = with_bursts();
  c.network.rate = BitRate{1};
  EXPECT_THAT(validate(c), Contains(Field(&ConfigIssue::key, "network.rate")));
  c.network.rate = BitRate{1'000'000};
  EXPECT_TRUE(validate(c).empty());
  std::string slow = kInFabric;
  slow.replace(slow.find("25gbit"), 6, "1kbit");
  const auto cluster = cluster_from(*parse_toml(slow).config, {}, conf());
  EXPECT_THAT(cluster.issues, Contains(Field(&ConfigIssue::key, "fabric")));
}

TEST(Cluster, AFabricHasTheRatesAndTheRoomForAllHosts) {
  const Cluster c = from_text(kInFabric);
  EXPECT_EQ(path_of(c).rate, (BitRate{25'000'000'000}));
  EXPECT_EQ(path_of(c).rtt, std::chrono::microseconds(24));  // 2 x (2 + 4 + 4 + 2) us
  Cluster wrong = c;
  wrong.network.rate = BitRate{1'000'000};
  wrong.jobs.front().period.reset();
  wrong.jobs.front().burst_bytes.reset();
  wrong.jobs.front().model = "resnet50";
  wrong.background.hosts = 30;  // and 2 x 5 + 4 of the jobs: the fabric has 32
  EXPECT_THAT(validate(wrong),
              testing::UnorderedElementsAre(Field(&ConfigIssue::key, "network.rate"),
                                            Field(&ConfigIssue::key, "job[1].model"),
                                            Field(&ConfigIssue::key, "fabric")));
}

TEST(Cluster, AFabricsJobsHaveTheirHostsAndSettingsForThemselves) {
  const auto cases = planned(from_text(kInFabric));
  ASSERT_FALSE(cases.empty());
  const auto& traffic = cases.front().traffic;
  ASSERT_EQ(traffic.jobs.size(), 3U);
  EXPECT_EQ(traffic.jobs[0].name, "ps_0");
  EXPECT_EQ(traffic.jobs[2].collective, tg::Collective::kRing);
  EXPECT_EQ(traffic.jobs[2].workers.size(), 4U);
  EXPECT_EQ(traffic.hosts.size(), 12U + 2 * 5 + 4);
  EXPECT_EQ(cases.front().measured_queue, "worst");
  const auto& sw = cases.front().switches.switches.front();
  EXPECT_EQ(sw.buffer.total_bytes, 600'000U);
  EXPECT_EQ(sw.ports.front().queue.alpha, 4);
}

TEST(Cluster, ACaptureIsBackgroundOfOneLink) {
  const auto with = [](const std::string& network, const std::string& capture) {
    return cluster_from(*parse_toml(network +
                                    "[job]\nworkers = 2\nburst = \"100kB\"\nperiod = \"20ms\"\n"
                                    "[background]\ncapture = \"" +
                                    capture + "\"\n")
                             .config,
                        conf() / "samples", conf());
  };
  const std::string link = "[network]\nrate = \"1gbit\"\nrtt = \"100us\"\nbuffer = \"300kB\"\n";
  const std::string fabric =
      "[network]\nbuffer = \"300kB\"\n[fabric]\nkind = \"fat_tree\"\nk = 4\n"
      "host_rate = \"1gbit\"\n";
  const auto cluster = with(link, "frames.pcap");
  ASSERT_TRUE(cluster) << format_issues("c", cluster.issues);
  const auto cases = planned(*cluster.config);
  ASSERT_EQ(cases.front().traffic.captures.size(), 1U);
  EXPECT_EQ(cases.front().traffic.captures.front().from, "sender_0");
  EXPECT_TRUE(cases.front().traffic.long_flows.empty());
  const auto refuses_capture = Contains(Field(&ConfigIssue::key, "background.capture"));
  EXPECT_THAT(with(link, "jobs.csv").issues, refuses_capture) << "no capture";
  EXPECT_THAT(with(link, "none.pcap").issues, refuses_capture) << "no file";
  EXPECT_THAT(with(fabric, "frames.pcap").issues, refuses_capture);
}

TEST(Cluster, AListOfFlowsHasSendersAndThenReceivers) {
  const fs::path list = fs::temp_directory_path() / ("list-" + std::to_string(getpid()));
  std::ofstream(list) << "start_seconds,from,to,bytes\n0,0,2,1000\n1,1,3,500\n";
  const auto with = [&](const char* hosts) {
    return cluster_from(*parse_toml("[network]\nrate = \"1gbit\"\nrtt = \"100us\"\n"
                                    "buffer = \"300kB\"\n[job]\nworkers = 2\nburst = \"100kB\"\n"
                                    "period = \"20ms\"\n[background]\nlist = \"" +
                                    list.filename().string() + "\"\n" + hosts)
                             .config,
                        list.parent_path(), conf());
  };
  const auto cluster = with("hosts = 2\n"), few = with("hosts = 1\n"), none = with("");
  EXPECT_TRUE(cluster) << format_issues("c", cluster.issues);
  const auto cases = cluster ? planned(*cluster.config) : std::vector<Case>();
  fs::remove(list);
  ASSERT_FALSE(cases.empty());
  EXPECT_THAT(cases.front().traffic.flows.front().hosts,
              testing::ElementsAre("sender_0", "sender_1", "receiver_0", "receiver_1"));
  // With one sender and one receiver the list names hosts that are not there.
  EXPECT_THAT(few.issues, Contains(Field(&ConfigIssue::key, "background.list")));
  EXPECT_THAT(none.issues, Contains(Field(&ConfigIssue::key, "background.hosts")));
}

TEST(Cluster, AlphaIsOfASharedBuffer) {
  Cluster c = with_bursts();
  c.network.alpha = 1;
  EXPECT_THAT(validate(c), testing::ElementsAre(Field(&ConfigIssue::key, "network.alpha")));
  c.network.shared = true;
  EXPECT_TRUE(validate(c).empty());
  c.network.alpha = 0;
  EXPECT_THAT(validate(c), testing::ElementsAre(Field(&ConfigIssue::key, "network.alpha")));
}

TEST(Cluster, NothingToKeepFromTheJobIsAFault) {
  Cluster c = with_bursts();
  c.background.long_flows = 0;
  EXPECT_THAT(validate(c), Contains(Field(&ConfigIssue::key, "background.long_flows")));
}

TEST(Cluster, EveryRemedyHasItsKind) {
  std::map<RemedyKind, int> kinds;
  for (const Case& c : planned(with_bursts())) ++kinds[nature_of(c.label, c.parameters).kind];
  for (const Case& c : planned(from_text(new_cluster())))
    if (const auto kind = nature_of(c.label, c.parameters).kind; kind == RemedyKind::kOrder)
      ++kinds[kind];
  EXPECT_EQ(kinds[RemedyKind::kOrder], 3) << "conf/policies.toml";
  EXPECT_EQ(kinds.size(), 9U) << "conf/remedies.toml has each other kind";
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

  Cluster with_model = from_text(new_cluster());
  with_model.change.switches = SwitchFreedom::kNothing;
  EXPECT_THAT(kinds_in(with_model),
              testing::UnorderedElementsAre(RemedyKind::kNothing, RemedyKind::kOrder,
                                            RemedyKind::kOrder, RemedyKind::kOrder));
  with_model.change.policy = false;
  EXPECT_EQ(kinds_in(with_model), std::vector{RemedyKind::kNothing});
}

TEST(Cluster, WhatItsFileDoesNotSayIsToldWithItsValue) {
  const ConfigTable written = *parse_toml(R"(
[network]
rate = "10gbit"
rtt = "101us"
buffer = "300kB"
marks = true
[job]
workers = 4
burst = "1MB"
period = "20ms"
[background]
long_flows = 3
ecn = true
[goal]
gain = "10 %"
)")
                                   .config;
  const auto cluster = cluster_from(written, {}, conf());
  ASSERT_TRUE(cluster) << format_issues("c", cluster.issues);
  const auto told = assumed(written, *cluster.config);
  for (const char* one : {"network.second_queue = true", "network.mark_at = \"72890 bytes\"",
                          "change.hosts = true", "job.servers = 1", "goal.background_lost = 0.1"})
    EXPECT_THAT(told, Contains(one));
  for (const char* key : {"rate", "marks =", "workers", "ecn", "gain"})
    EXPECT_THAT(told, Not(Contains(HasSubstr(key)))) << "the file has it";
  EXPECT_THAT(told, Not(Contains(HasSubstr("model")))) << "there is none";
  EXPECT_THAT(told, Not(Contains(HasSubstr("placement")))) << "a link has one place for hosts";
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
  for (const Cluster& c : {with_bursts(), from_text(new_cluster()), from_text(kInFabric)}) {
    const auto changes = what_ifs(c);
    EXPECT_GE(changes.size(), 5U);
    for (const WhatIf& one : changes) {
      EXPECT_FALSE(planned(one.cluster, one.parameters).empty()) << one.name;
      EXPECT_EQ(mark_at(one.cluster), mark_at(c)) << "K stays: " << one.name;
    }
  }
}

}  // namespace
}  // namespace outrider::cluster_test
