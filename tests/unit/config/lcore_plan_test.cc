// Goal: lcores share no connection, and a device only where nothing else is left; the load is even,
// and the plan depends on the configuration alone. Method: small configurations by hand.
#include "trafficgen/config/lcore_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/process_checks.h"
#include "common/config/quantities.h"
#include "tests/unit/config/issue_matchers.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::trafficgen_lcore_plan_test {
using namespace tg;
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns hosts h0, h1, ... of 10 Gbit/s, each behind a device of its own.
GeneratorConfig hosts_apart(int hosts) {
  GeneratorConfig c;
  c.duration = std::chrono::seconds(1);
  c.transports = {{"tcp", {}}};
  for (int i = 0; i < hosts; ++i) {
    const std::string n = std::to_string(i);
    c.devices.push_back({.name = "d" + n, .device = "net_ring" + n});
    c.hosts.push_back(
        {.name = "h" + n, .address = "10.0.0." + std::to_string(i + 1), .device = "d" + n});
  }
  return c;
}

LongFlowsConfig bulk(std::vector<std::string> from, std::vector<std::string> to) {
  return {.name = "bulk", .from = std::move(from), .to = std::move(to), .transport = "tcp"};
}

TEST(GeneratorLcorePlan, GivesHostsAndDevicesThatNothingJoinsToLcoresInTurn) {
  const auto c = hosts_apart(4);
  const LcorePlan plan = plan_lcores(c, 2);
  EXPECT_THAT(plan.of_host, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(plan.of_device, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(plan_lcores(c, 1).of_host, ElementsAre(0, 0, 0, 0));
}

TEST(GeneratorLcorePlan, KeepsWhatATableJoinsOnOneLcore) {
  struct Row {
    const char* what;
    std::function<void(GeneratorConfig&)> join;  ///< h0 and h3
  };
  for (const Row& row : {
           Row{"a long flow", [](auto& c) { c.long_flows = {bulk({"h0"}, {"h3"})}; }},
           Row{"a request",
               [](auto& c) {
                 c.requests = {{.name = "r", .from = {"h0"}, .to = {"h3"}, .transport = "tcp"}};
               }},
           Row{"a transfer",
               [](auto& c) {
                 c.transfers = {{.name = "t", .from = "h0", .to = "h3", .transport = "tcp"}};
               }},
           Row{"a flow group",
               [](auto& c) {
                 c.flows.emplace_back().from = {"h0"};
                 c.flows[0].to = {"h3"};
               }},
           Row{"a flow list",
               [](auto& c) {
                 c.flows.emplace_back().hosts = {"h0", "h3"};
               }},
           Row{"a job",
               [](auto& c) {
                 c.jobs.emplace_back().workers = {"h0"};
                 c.jobs[0].servers = {"h3"};
               }},
           Row{"a device", [](auto& c) { c.hosts[3].device = "d0"; }},
       }) {
    auto c = hosts_apart(4);
    row.join(c);
    const LcorePlan plan = plan_lcores(c, 2);
    EXPECT_THAT(plan.of_host, ElementsAre(0, 1, 1, 0)) << row.what;
    EXPECT_EQ(plan.of_device[0], 0U) << row.what;
  }
}

TEST(GeneratorLcorePlan, JoinsThroughOthersAndEachPairOfATableForItself) {
  auto c = hosts_apart(6);
  c.long_flows = {bulk({"h0", "h1"}, {"h2", "h3"}), bulk({"h2"}, {"h5"})};
  EXPECT_THAT(plan_lcores(c, 2).of_host, ElementsAre(0, 1, 0, 1, 1, 0));
}

TEST(GeneratorLcorePlan, AssignsTheGroupWithTheFastestNicsFirst) {
  auto c = hosts_apart(4);
  c.hosts[2].rate = {100'000'000'000};
  EXPECT_THAT(plan_lcores(c, 2).of_host, ElementsAre(1, 1, 0, 1));
}

TEST(GeneratorLcorePlan, GivesAllDevicesOfStreamsToTheFirstLcore) {
  auto c = hosts_apart(3);
  c.devices.push_back({.name = "d3", .device = "net_ring3"});  // without hosts
  c.streams = {{.name = "s", .device = "d3", .receive_device = "d2"}};
  const LcorePlan plan = plan_lcores(c, 2);
  EXPECT_THAT(plan.of_device, ElementsAre(1, 0, 0, 0)) << "d2 and d3, then in turn";
  EXPECT_EQ(plan.of_host, (std::vector<std::uint32_t>{1, 0, 0}));
}

TEST(GeneratorLcorePlan, SplitsTheHostsOfADeviceOnlyIfGroupsAreFewerThanLcores) {
  auto c = hosts_apart(6);
  for (const std::size_t h : {1U, 2U, 3U}) c.hosts[h].device = "d0";
  c.long_flows = {bulk({"h0", "h1"}, {"h2", "h3"})};
  const LcorePlan apart = plan_lcores(c, 3);
  EXPECT_THAT(apart.of_host, ElementsAre(0, 0, 0, 0, 1, 2)) << "three groups: d0, h4, h5";
  EXPECT_TRUE(borrowings(c, apart).empty());

  c.hosts[1].rate = {40'000'000'000};
  const LcorePlan shared = plan_lcores(c, 4);
  EXPECT_THAT(shared.of_host, ElementsAre(1, 0, 1, 0, 2, 3));
  EXPECT_THAT(shared.of_device, ElementsAre(0, 0, 0, 0, 2, 3)) << "d0: h1 may send most";
  EXPECT_THAT(borrowings(c, shared), ElementsAre(Borrowing{.borrower = 1, .owner = 0}));
  c.more_lcores = {2, 3, 4};
  EXPECT_EQ(describe(c, shared), "CPU 1 has 2 hosts of " + format_rate({50'000'000'000}) +
                                     "; CPU 2 has 2 hosts of " + format_rate({20'000'000'000}) +
                                     ", behind devices of CPU 1; CPU 3 has 1 host of " +
                                     format_rate({10'000'000'000}) + "; CPU 4 has 1 host of " +
                                     format_rate({10'000'000'000}));
  EXPECT_EQ(required_mbufs(c), [&] {
    auto one = c;
    one.more_lcores.clear();
    return required_mbufs(one) + 3 * kPoolCachePackets + 2 * kHandoverPackets;
  }());
}

TEST(GeneratorLcorePlan, LetsHostsBehindStreamsBeOnOtherLcores) {
  auto c = hosts_apart(2);
  c.streams = {{.name = "s", .device = "d0", .receive_device = "d1"}};
  const LcorePlan plan = plan_lcores(c, 2);
  EXPECT_THAT(plan.of_device, ElementsAre(0, 0));
  EXPECT_THAT(plan.of_host, ElementsAre(1, 0));
  EXPECT_THAT(borrowings(c, plan), ElementsAre(Borrowing{.borrower = 1, .owner = 0}));
}

TEST(GeneratorLcorePlan, SharesStreamsOutByTheirDevicesWhereThereAreNoHosts) {
  auto c = hosts_apart(5);
  c.hosts.clear();
  c.streams = {{.name = "a", .device = "d0", .receive_device = "d1"},
               {.name = "b", .device = "d2"},
               {.name = "c", .receive_device = "d1"},
               {.name = "d", .device = "d3", .receive_device = "d3"}};
  const LcorePlan plan = plan_lcores(c, 2);
  EXPECT_THAT(plan.of_device, ElementsAre(0, 0, 1, 0, 0)) << "d4 has nothing to do";
  EXPECT_THAT(streams_of(c, {.plan = plan, .lcore = 0}), ElementsAre(0, 2, 3));
  EXPECT_THAT(streams_of(c, {.plan = plan, .lcore = 1}), ElementsAre(1));
  c.streams[1].device = "d0";
  c.streams[3].device = "d1";
  EXPECT_THAT(plan_lcores(c, 1).of_device, ElementsAre(0, 0, 0, 0, 0));
  c.more_lcores = {2};
  EXPECT_THAT(format_issues("c", validate(c)),
              HasSubstr("more_lcores: 1: makes 2 lcores, but streams join their devices into 1 "
                        "group; a group stays on one lcore"));
}

// A pause frame stops all hosts behind a device, and an lcore hears those of its own devices alone.
TEST(GeneratorLcorePlan, KeepsHostsThatObeyPausesWithTheirDevice) {
  auto c = hosts_apart(4);
  for (std::size_t i = 1; i < 4; ++i) c.hosts[i].device = i == 1 ? "d0" : "d3";
  c.more_lcores = {2, 3};
  EXPECT_TRUE(validate(c).empty());
  EXPECT_THAT(plan_lcores(c, 3).of_host, ElementsAre(0, 1, 2, 0));
  c.transports[0].tcp.priority = 3;
  EXPECT_THAT(format_issues("c", validate(c)),
              HasSubstr("more_lcores: 2: makes 3 lcores, but jobs, flows, requests and transfers "
                        "join the hosts into 2 groups, as a transport's priority makes pauses "
                        "concern all hosts behind a device"));
  EXPECT_THAT(plan_lcores(c, 2).of_host, ElementsAre(0, 0, 1, 1));
}

TEST(GeneratorLcorePlan, LeavesAShareItsOwnTrafficAlone) {
  auto c = hosts_apart(4);
  c.long_flows = {bulk({"h0", "h1"}, {"h2", "h3"})};
  c.transfers = {{.name = "out", .from = "h1", .to = "192.0.2.1", .transport = "tcp"}};
  const LcorePlan plan = plan_lcores(c, 2);
  const GeneratorConfig first = traffic_of(c, {.plan = plan, .lcore = 0});
  const GeneratorConfig second = traffic_of(c, {.plan = plan, .lcore = 1});
  EXPECT_THAT(first.long_flows[0].from, ElementsAre("h0"));
  EXPECT_THAT(first.long_flows[0].to, ElementsAre("h2"));
  EXPECT_THAT(second.long_flows[0].from, ElementsAre("h1"));
  EXPECT_TRUE(first.transfers.empty());
  EXPECT_EQ(second.transfers.size(), 1U);
  EXPECT_EQ(first.hosts.size(), 4U) << "their positions count";
}

TEST(GeneratorLcorePlan, MoreLcoresThanGroupsAreRefused) {
  auto c = hosts_apart(4);
  c.long_flows = {bulk({"h0", "h1"}, {"h2", "h3"})};
  c.more_lcores = {2};
  ASSERT_TRUE(validate(c).empty()) << format_issues("two", validate(c));
  const Breach<GeneratorConfig> breaches[] = {
      {[](GeneratorConfig& g) {
         g.more_lcores = {2, 3};
       },
       "more_lcores",
       "2: makes 3 lcores, but jobs, flows, requests and transfers join the hosts into 2 groups"},
      {[](GeneratorConfig& g) {
         g.long_flows = {bulk({"h0", "h1", "h3"}, {"h2", "h2", "h2"})};
       },
       "more_lcores",
       "1: makes 2 lcores, but jobs, flows, requests and transfers join the hosts into 1 group,"},
      {[](GeneratorConfig& g) { g.more_lcores = {1024}; }, "more_lcores[0]",
       "1024: must be at most"},
  };
  expect_each_reported(breaches, c);
  c.more_lcores.resize(64);
  EXPECT_THAT(format_issues("c", validate(c)),
              HasSubstr("more_lcores: 64 lcores: must be at most"));
}

}  // namespace
}  // namespace outrider::trafficgen_lcore_plan_test
