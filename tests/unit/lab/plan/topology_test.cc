// Goal: routes of a case use the paths that the parameter `paths` selects, and the metric of
// their load follows docs/measurement.md.
#include "tools/lab/plan/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/measure/metrics_paths.h"
#include "tools/lab/plan/plan_switches.h"

namespace outrider::topology_test {
using namespace sw;
using namespace lab;
namespace {

/// Returns leaves a and b with spines s and t; the link from a to t is gray.
std::string leaf_spine(const std::string& parameters) {
  std::string text = with(small_experiment(), "[[switch]]\nname = \"b\"\n",
                          "[[switch]]\nname = \"b\"\n[[switch]]\nname = \"s\"\n"
                          "[[switch]]\nname = \"t\"\n");
  text = with(text, "measured = \"a.to_b\"", "measured = \"a.to_s\"");
  text = with(text, "[[link]]\na = \"a\"\nb = \"b\"\nrate = \"100mbit\"\ndelay = \"500us\"\n",
              R"([[link]]
a = "a"
b = "s"
rate = "100mbit"
delay = "250us"
[[link]]
a = "a"
b = "t"
rate = "100mbit"
delay = "250us"
gray = true
[[link]]
a = "s"
b = "b"
rate = "100mbit"
delay = "250us"
[[link]]
a = "t"
b = "b"
rate = "100mbit"
delay = "250us"
)");
  return with(text, "[parameters]\n", "[parameters]\n" + parameters + '\n');
}

/// Returns the switches of the first case.
SwitchProcessConfig switches_of(const std::string& parameters) {
  const auto experiment = read_experiment(leaf_spine(parameters));
  EXPECT_TRUE(experiment) << format_issues("", experiment.issues);
  const auto plan = make_plan(*experiment.config, {.seeds = 1});
  EXPECT_TRUE(plan) << format_issues("", plan.issues);
  return plan.config->front().switches;
}

const RouteConfig& route_to(const SwitchProcessConfig& config, std::size_t from, std::size_t to) {
  const HostPrefix prefix{10U << 24 | static_cast<std::uint32_t>(to + 1) << 16, 16};
  return *std::ranges::find(config.switches[from].routes, prefix_text(prefix),
                            &RouteConfig::prefix);
}

const SwitchPortConfig& port_of(const SwitchProcessConfig& config, std::size_t sw,
                                const std::string& name) {
  return *std::ranges::find(config.switches[sw].ports, name, &SwitchPortConfig::name);
}

constexpr std::size_t kLeafA = 0, kLeafB = 1, kSpineS = 2;

TEST(Paths, AreTheFirstOfEqualOnesByDefault) {
  const auto config = switches_of("");
  EXPECT_EQ(route_to(config, kLeafA, kLeafB).port, "to_s");
  EXPECT_TRUE(route_to(config, kLeafA, kLeafB).ports.empty());
  EXPECT_EQ(route_to(config, kSpineS, kLeafB).port, "to_b");
}

TEST(Paths, ByFlowAndByPacketNameAllEqualOnes) {
  for (const bool spray : {false, true}) {
    const auto config = switches_of(spray ? "paths = \"spray\"" : "paths = \"flow\"");
    const auto& route = route_to(config, kLeafA, kLeafB);
    EXPECT_THAT(route.ports, testing::ElementsAre("to_s", "to_t"));
    EXPECT_FALSE(route.port);
    EXPECT_EQ(route.spray, spray);
    EXPECT_EQ(route_to(config, kSpineS, kLeafB).port, "to_b") << "one way only";
    EXPECT_EQ(route_to(config, kLeafA, kSpineS).port, "to_s") << "the other way has two more hops";
  }
}

TEST(Paths, OfFlowletsHaveTheGapWhereThereAreSeveral) {
  const auto config = switches_of("paths = \"flowlets\"\nswitch.flowlet_gap = \"70us\"");
  EXPECT_EQ(route_to(config, kLeafA, kLeafB).flowlet_gap, std::chrono::microseconds(70));
  EXPECT_FALSE(route_to(config, kLeafA, kLeafB).spray);
  EXPECT_EQ(route_to(config, kSpineS, kLeafB).flowlet_gap, std::nullopt) << "one way only";
}

TEST(Paths, OfAGrayLinkLoseBothWays) {
  const auto config = switches_of("gray_loss = 0.01");
  EXPECT_EQ(port_of(config, kLeafA, "to_t").loss, 0.01);
  EXPECT_EQ(port_of(config, 3, "to_a").loss, 0.01);
  EXPECT_EQ(port_of(config, kLeafA, "to_s").loss, 0);
}

TEST(Links, LoseAndMarkByNumberFromAToB) {
  const auto experiment =
      read_experiment(with(small_experiment(), "delay = \"500us\"\n",
                           "delay = \"500us\"\nlose_packets = [3, 7]\nmark_packets = [5]\n"));
  ASSERT_TRUE(experiment) << format_issues("", experiment.issues);
  const auto plan = make_plan(*experiment.config, {.seeds = 1});
  ASSERT_TRUE(plan) << format_issues("", plan.issues);
  const SwitchPortConfig& there = port_of(plan.config->front().switches, 0, "to_b");
  EXPECT_THAT(there.lose_packets, testing::ElementsAre(3, 7));
  EXPECT_THAT(there.mark_packets, testing::ElementsAre(5));
  const SwitchPortConfig& back = port_of(plan.config->front().switches, 1, "to_a");
  EXPECT_TRUE(back.lose_packets.empty() && back.mark_packets.empty());
}

ConfigResult<std::vector<Case>> plan_with(const std::string& observe, const char* measured) {
  const auto experiment =
      read_experiment(with(with(small_experiment(), "measured = \"a.to_b\"", measured),
                           "[parameters]\n", "[observe]\n" + observe + "\n[parameters]\n"));
  if (!experiment) return {{}, experiment.issues};
  return make_plan(*experiment.config, {.seeds = 1});
}

TEST(Observed, PortsAreRecordedAndKept) {
  const auto plan = plan_with(
      "queues = [\"b.to_a\"]\ncaptures = [\"a.to_b\", \"b.to_a\"]\n"
      "capture_from = \"2s\"\ncapture_packets = 50",
      "measured = \"a.to_b\"");
  ASSERT_TRUE(plan) << format_issues("", plan.issues);
  const Case& c = plan.config->front();
  EXPECT_TRUE(port_of(c.switches, 1, "to_a").record);
  EXPECT_THAT(c.observed.captures, testing::ElementsAre("a.to_b", "b.to_a"));
  EXPECT_EQ(c.observed.capture_from, std::chrono::seconds(2));
  EXPECT_EQ(c.observed.capture_packets, 50U);
  EXPECT_TRUE(without_background(c).observed.captures.empty());
}

TEST(Observed, FaultsNameTheKey) {
  const auto told = [](const std::string& observe, const char* measured) {
    return format_issues("", plan_with(observe, measured).issues);
  };
  const char* one = "measured = \"a.to_b\"";
  EXPECT_THAT(told("queues = [\"a.to_c\"]", one), testing::HasSubstr("observe.queues: \"a.to_c\""));
  EXPECT_THAT(told("captures = [\"a.b\"]", one),
              testing::HasSubstr("observe.captures: \"a.b\": must be \"SWITCH.to_NEIGHBOUR\""));
  EXPECT_THAT(told("capture_packets = 0", one), testing::HasSubstr("observe.capture_packets"));
  EXPECT_THAT(told("capture_from = \"-1s\"", one), testing::HasSubstr("observe.capture_from"));
  const auto plan = plan_with("queues = [\"a.to_b\"]", "measured = [\"a.to_b\", \"b.to_a\"]");
  EXPECT_TRUE(plan) << format_issues("", plan.issues);
  EXPECT_THAT(told("queues = [\"b.to_a\"]", "measured = [\"a.to_b\", \"b.to_server\"]"),
              testing::HasSubstr("must be one of network.measured"));
}

TEST(EarlyDrop, ReachesEveryPort) {
  EXPECT_EQ(port_of(switches_of("switch.marker.not_ect = \"drop\""), kLeafA, "to_s").marker.not_ect,
            NotEct::kDrop);
  EXPECT_FALSE(port_of(switches_of(""), kLeafA, "to_s").marker.not_ect);
}

/// Returns a report of the bytes that two ports of a switch sent in two classes.
SwitchReport report_of(std::uint64_t to_s, std::uint64_t to_t) {
  SwitchReport report;
  for (const auto& [port, bytes] : {std::pair{"to_s", to_s}, {"to_t", to_t}}) {
    auto& queue = report.queues.emplace_back();
    queue.switch_name = "a";
    queue.port_name = port;
    queue.transmitted_bytes[TrafficClass::kDdl] = bytes;
    queue.transmitted_bytes[TrafficClass::kBackground] = 100;
  }
  return report;
}

TEST(PathBalance, IsTheBusiestOverTheMeanAndJainsIndex) {
  const auto config = switches_of("paths = \"spray\"");
  EXPECT_DOUBLE_EQ(path_balance(config, report_of(200, 200)).mmr, 1);
  EXPECT_DOUBLE_EQ(path_balance(config, report_of(200, 200)).jain_index, 1);
  EXPECT_DOUBLE_EQ(path_balance(config, report_of(500, 100)).mmr, 1.5) << "600 of 800, mean 400";
  EXPECT_DOUBLE_EQ(path_balance(config, report_of(500, 100)).jain_index, 0.8)
      << "800^2 / (2 (600^2 + 200^2))";
  EXPECT_TRUE(std::isnan(path_balance(config, SwitchReport{}).mmr));
  EXPECT_TRUE(std::isnan(path_balance(switches_of(""), report_of(1, 2)).jain_index));
}

}  // namespace
}  // namespace outrider::topology_test
