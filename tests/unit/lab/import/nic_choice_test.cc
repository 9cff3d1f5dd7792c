// Goal: flows between hosts with several NICs use all of them, and stay on their rail.
#include "tools/lab/import/nic_choice.h"

#include <gtest/gtest.h>

#include <set>

#include "tools/lab/fabric/topology_file.h"

namespace outrider::nic_choice_test {
using namespace lab;
namespace {

/// Hosts 0 to 3 with a NIC at each rail, whose switches are joined by a spine.
Fabric rails(std::size_t count) {
  const std::size_t spine = 4 + count;
  std::string text = std::to_string(spine + 1) + ' ' + std::to_string(count + 1) + ' ' +
                     std::to_string(5 * count) + '\n';
  for (std::size_t s = 4; s <= spine; ++s) text += std::to_string(s) + ' ';
  for (std::size_t rail = 4; rail < spine; ++rail) {
    for (std::size_t host = 0; host < 4; ++host)
      text += '\n' + std::to_string(host) + ' ' + std::to_string(rail) + " 100Gbps 1us 0";
    text += '\n' + std::to_string(rail) + ' ' + std::to_string(spine) + " 400Gbps 1us 0";
  }
  ConfigIssues issues;
  auto fabric = parse_hpcc_topology(text, issues);
  EXPECT_TRUE(fabric) << text;
  return std::move(*fabric);
}

TEST(NicChoice, FlowsOfTwoHostsTakeTheRailsInTurn) {
  const Fabric fabric = rails(8);
  ASSERT_EQ(fabric.slots.size(), 32U);
  NicChoice nics(fabric);
  std::multiset<std::size_t> used;
  for (int i = 0; i < 16; ++i) {
    const auto slots = nics.next(0, 3);
    ASSERT_TRUE(slots);
    const FabricSlot &from = fabric.slots[slots->first], &to = fabric.slots[slots->second];
    EXPECT_EQ(from.node, 0U);
    EXPECT_EQ(to.node, 3U);
    EXPECT_EQ(from.nic, to.nic);
    used.insert(from.nic);
  }
  for (std::size_t nic = 0; nic < 8; ++nic) EXPECT_EQ(used.count(nic), 2U) << nic;
}

TEST(NicChoice, OneFlowToEachHostUsesSeveralNics) {
  const Fabric fabric = rails(2);
  NicChoice nics(fabric);
  std::set<std::size_t> used;
  for (std::size_t to = 1; to < 4; ++to) used.insert(fabric.slots[nics.next(0, to)->first].nic);
  EXPECT_EQ(used.size(), 2U);
}

TEST(NicChoice, SwitchesAreNoHosts) {
  const Fabric fabric = rails(2);
  const NicChoice nics(fabric);
  EXPECT_TRUE(nics.is_host(3));
  EXPECT_FALSE(nics.is_host(4));
}

// Hosts 0 and 1 at switches 2 and 3, which nothing joins.
TEST(NicChoice, HostsApartHaveNone) {
  ConfigIssues issues;
  const auto fabric = parse_hpcc_topology("4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", issues);
  ASSERT_TRUE(fabric);
  NicChoice nics(*fabric);
  EXPECT_FALSE(nics.next(0, 1));
}

}  // namespace
}  // namespace outrider::nic_choice_test
