// Goal: a topology of htsim becomes the switches and links that its radices say, and one whose
// numbers do not fit is refused by its line or tier.
#include "tools/lab/import/tier_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tools/lab/fabric/topology_file.h"

namespace outrider::tier_topology_test {
using namespace lab;
using namespace std::chrono_literals;
using testing::HasSubstr;
namespace {

// Four leaves of four hosts, two switches above, each joined to each leaf by two links.
constexpr const char* kTwoTiers = R"(Nodes 16
Tiers 2
Podsize 16

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 1000
Oversubscribed 1
Switch_Latency_ns 0

Tier 1
Downlink_speed_Gbps 200
Radix_Down 8
Bundle 2
Downlink_Latency_ns 500
Switch_Latency_ns 100
)";

// Two pods of two leaves with two hosts.
constexpr const char* kThreeTiers = R"(nodes 8
tiers 3
podsize 4
tier 0
downlink_speed_gbps 100
radix_down 2
radix_up 2
tier 1
downlink_speed_gbps 100
radix_down 2
radix_up 2
tier 2
downlink_speed_gbps 100
radix_down 2
)";

std::string edited(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

Fabric fabric_of(const char* text) {
  const auto topology = parse_tier_topology(text);
  EXPECT_TRUE(topology) << format_issues("", topology.issues);
  if (!topology) return {};
  ConfigIssues issues;
  auto fabric = parse_hpcc_topology(hpcc_text_of(*topology.config), issues);
  EXPECT_TRUE(fabric) << format_issues("", issues);
  return fabric.value_or(Fabric{});
}

TEST(TierTopology, TwoTiersWithBundles) {
  const Fabric f = fabric_of(kTwoTiers);
  EXPECT_EQ(f.slots.size(), 16U);
  EXPECT_EQ(f.switches.size(), 6U);
  ASSERT_EQ(f.trunks.size(), 16U);
  EXPECT_EQ(f.trunks[1].parallel, 1U);
  EXPECT_EQ(f.trunks[0].rate.bits_per_second, 200'000'000'000U);
  EXPECT_EQ(f.trunks[0].delay, 600ns) << "the latency of the switch above too";
  EXPECT_EQ(f.slots[5].node, 5U);
  EXPECT_EQ(f.slots[5].at_switch, 1U);
  EXPECT_EQ(longest_rtt(f), 2 * (2 * 1000ns + 2 * 600ns));
}

TEST(TierTopology, ThreeTiersJoinThePods) {
  const Fabric f = fabric_of(kThreeTiers);
  EXPECT_EQ(f.slots.size(), 8U);
  EXPECT_EQ(f.switches.size(), 4U + 4U + 4U);
  EXPECT_EQ(f.trunks.size(), 8U + 8U);
  std::set<std::string> above_first;  // of the first middle switch, node 12
  for (const TrunkEntry& t : f.trunks)
    if (t.a == "switch_12") above_first.insert(t.b);
  EXPECT_EQ(above_first, (std::set<std::string>{"switch_16", "switch_18"}));
}

TEST(TierTopology, FaultsNameLineOrTier) {
  struct Row {
    std::string text, problem;
  };
  const Row rows[] = {
      {"", "needs Nodes"},
      {edited(kTwoTiers, "Tiers 2", "Tiers 4"), "line 2: tiers 4: must be from 2 to 3"},
      {edited(kTwoTiers, "Tier 1\n", "Tier 7\n"), "line 13: Tier 7: must be from 0 to 2"},
      {edited(kTwoTiers, "Podsize 16", "Podsize 8"), "Podsize must be Nodes with two tiers"},
      {edited(kTwoTiers, "Nodes 16", "Nodes 0"), "line 1: nodes 0: must be from 2"},
      {edited(kTwoTiers, "Radix_Down 8", "Radix_Down 4"), "Tier 1: Radix_Down must be"},
      {edited(kTwoTiers, "Radix_Up 4", "Radix_Up 3"), "Tier 0: Radix_Up must be a multiple"},
      {edited(kTwoTiers, "Radix_Up 4\n", ""), "Tier 0 needs Radix_Up"},
      {edited(kTwoTiers, "Bundle 2", "Bindle 2"), "line 16: \"bindle\": is no key of a tier"},
      {edited(kTwoTiers, "Bundle 2", "Bundle two"), "line 16: \"bundle\": must be a key and a"},
      {edited(kThreeTiers, "podsize 4", "podsize 3"), "Nodes must be a multiple of Podsize"},
  };
  for (const Row& row : rows) {
    const auto topology = parse_tier_topology(row.text);
    EXPECT_FALSE(topology) << row.problem;
    EXPECT_THAT(format_issues("", topology.issues), HasSubstr(row.problem));
  }
}

// A file of a few lines must not make millions of links.
TEST(TierTopology, LinksAreBounded) {
  std::string text = edited(kTwoTiers, "Radix_Up 4", "Radix_Up 100000");
  text = edited(edited(text, "Bundle 2", "Bundle 100000"), "Radix_Down 8", "Radix_Down 400000");
  EXPECT_FALSE(parse_tier_topology(text));
  text =
      "Nodes 65000\nTiers 2\nPodsize 65000\nTier 0\nDownlink_speed_Gbps 1\nRadix_Down 10\n"
      "Radix_Up 1000\nTier 1\nDownlink_speed_Gbps 1\nRadix_Down 6500\n";
  EXPECT_THAT(format_issues("", parse_tier_topology(text).issues),
              HasSubstr("makes 6565000 links: must be at most 1000000"));
}

}  // namespace
}  // namespace outrider::tier_topology_test
