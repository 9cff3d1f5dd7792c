// Goal: an experiment runs on the network of another file as on its own, or says by key why it
// cannot. Method: shipped tests of suites on networks that are written here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"

namespace outrider::other_fabric_test {
using namespace lab;
using testing::ElementsAre;
using testing::HasSubstr;
namespace {

const std::string kTwoTiers = R"(
[fabric]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 18
host_rate = "100gbit"
host_delay = "500ns"
uplink_rate = "200gbit"
uplink_delay = "500ns"
failed_links = ["leaf_1.to_spine_1"]
)";

std::string one_switch(int hosts, const std::string& more = {}) {
  return "[[switch]]\nname = \"tor\"\n[[hosts]]\nname = \"place\"\ncount = " +
         std::to_string(hosts) + "\nswitch = \"tor\"\nrate = \"100gbit\"\ndelay = \"2us\"\n" + more;
}

ConfigResult<OtherFabric> network(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("outrider-other-fabric-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << text;
  auto read = load_other_fabric(path.string());
  std::filesystem::remove(path);
  return read;
}

/// A shipped experiment on a network: its cases, or what does not fit.
struct There {
  std::vector<Case> cases{};
  ConfigIssues issues{};
};

There there(const std::string& experiment, const std::string& text) {
  const auto other = network(text);
  EXPECT_TRUE(other) << format_issues("network", other.issues);
  if (!other) return {};
  auto file = load_experiment(source_path(experiment), &*other.config);
  if (!file) return {.issues = std::move(file.issues)};
  auto plan = make_plan(*file.config, {});
  if (!plan) return {.issues = std::move(plan.issues)};
  return {.cases = std::move(*plan.config)};
}

constexpr const char* kIncast = "conf/suites/incast/burst-absorption.toml";
constexpr const char* kRing = "conf/suites/collectives/ring-all-reduce.toml";

TEST(OtherFabric, HostsTakePlacesAndTheMeasuredPortIsWhereItsHostIs) {
  const There incast = there(kIncast, kTwoTiers);
  ASSERT_FALSE(incast.cases.empty()) << format_issues("", incast.issues);
  EXPECT_EQ(incast.cases.front().switches.switches.size(), 4U);
  EXPECT_EQ(incast.cases.front().measured_queue, "leaf_0.to_server_0") << "behind two workers";
  EXPECT_EQ(incast.cases.back().workers, 32U);
  EXPECT_EQ(incast.cases.back().measured_queue, "leaf_1.to_server_0") << "the first rack is full";
  const There ring = there(kRing, one_switch(8, "[parameters]\nh_packets = 3\n"));
  ASSERT_FALSE(ring.cases.empty()) << format_issues("", ring.issues);
  EXPECT_EQ(ring.cases.front().switches.switches.size(), 1U);
  EXPECT_EQ(ring.cases.front().measured_queue, "tor.to_ring_worker_0");
}

// The network of the file itself, as places.
TEST(OtherFabric, OnEqualNetworksCasesAreEqual) {
  const There incast = there(kIncast, one_switch(33));
  const auto own = make_plan(*load_experiment(source_path(kIncast)).config, {});
  ASSERT_EQ(incast.cases.size(), own.config->size()) << format_issues("", incast.issues);
  for (std::size_t i = 0; i < incast.cases.size(); ++i) {
    EXPECT_EQ(incast.cases[i].measured_queue, (*own.config)[i].measured_queue);
    EXPECT_EQ(incast.cases[i].base_rtt, (*own.config)[i].base_rtt);
    EXPECT_EQ(incast.cases[i].bottleneck, (*own.config)[i].bottleneck);
  }
}

TEST(OtherFabric, WhatDoesNotFitIsSaidByItsKey) {
  struct Misfit {
    const char* experiment;
    std::string network;
    const char* key;
    const char* problem;
  };
  const Misfit all[] = {
      {kIncast, one_switch(9), "hosts[0].count", "must be at most 9"},
      {"conf/experiments/pcn-paper.toml", kTwoTiers, "hosts[0].switch", "no [[switch]]"},
  };
  for (const Misfit& m : all) {
    const There found = there(m.experiment, m.network);
    ASSERT_FALSE(found.issues.empty()) << m.experiment;
    EXPECT_EQ(found.issues.begin()->key, m.key) << found.issues.begin()->problem;
    EXPECT_THAT(found.issues.begin()->problem, HasSubstr(m.problem));
  }
}

// Failures of links stay those of the experiment, if the network has these links.
TEST(OtherFabric, ItsOwnLinksAreRefusedAndItsFailuresStay) {
  const auto other = network(kTwoTiers);
  const auto keys = [&other](const std::string& more) {
    const std::string text = "name = \"x\"\nbase = \"" + source_path(kRing) +
                             "\"\n[network]\nmeasured = \"leaf_0.to_ring_worker_0\"\n"
                             "[[arm]]\nlabel = \"off\"\n" +
                             more;
    const auto file = experiment_from(parse_toml(text).config.value(), "", &*other.config);
    std::vector<std::string> all;
    for (const auto& issue : file.issues) all.push_back(issue.key);
    if (file) all.push_back(std::to_string(file.config->fabric.failures.size()) + " failures");
    return all;
  };
  const std::string failure =
      "[fabric]\nkind = \"file\"\n[[fabric.failure]]\nat = \"1ms\"\nlink = ";
  EXPECT_THAT(keys(failure + "\"leaf_0.to_spine_1\"\n"), ElementsAre("1 failures"));
  EXPECT_THAT(keys(failure + "\"leaf_0.to_spine_9\"\n"), ElementsAre("fabric.failure[0].link"));
  EXPECT_THAT(keys("[[switch]]\nname = \"a\"\noutside = true\n[[link]]\na = \"a\"\nb = \"b\"\n"
                   "rate = \"1gbit\"\nlose_packets = [3]\n"),
              ElementsAre("switch[0].outside", "link[0].lose_packets"));
}

TEST(OtherFabric, AFileWithoutANetworkIsRefused) {
  const auto refused = [](const std::string& text, const char* key) {
    const auto read = network(text);
    EXPECT_FALSE(read);
    ASSERT_FALSE(read.issues.empty());
    EXPECT_EQ(read.issues.begin()->key, key) << read.issues.begin()->problem;
  };
  refused("name = \"x\"\n", "switch");
  refused("[[switch]]\nname = \"tor\"\n", "hosts");
  refused(one_switch(4, "delay_spread = 0.2\n"), "hosts[0].delay_spread");
  refused(
      "[[switch]]\nname = \"tor\"\n[[hosts]]\nname = \"w\"\ncount = \"workers\"\n"
      "switch = \"tor\"\nrate = \"1gbit\"\n",
      "hosts[0].count");
}

}  // namespace
}  // namespace outrider::other_fabric_test
