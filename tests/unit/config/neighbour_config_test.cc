// Goal: the settings that reach hosts outside the process are read, written back
// and refused by key. Method: one file that has them all, then one fault at a time.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/unit/config/issue_matchers.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::neighbour_config_test {
using namespace tg;
namespace {

constexpr const char* kFile = R"(
duration = "1s"
[[device]]
name = "eth"
device = "net_af_packet0,iface=eth0"
arp = true
subnet = "10.0.0.0/24"
gateway = "10.0.0.254"
[[host]]
name = "h"
address = "10.0.0.1"
device = "eth"
[[neighbour]]
device = "eth"
address = "10.0.0.2"
mac = "02:aa:bb:cc:dd:ee"
)";

GeneratorConfig valid() {
  const auto result = generator_config_from(*parse_toml(kFile).config, ".");
  EXPECT_TRUE(result) << format_issues("file", result.issues);
  return *result.config;
}

TEST(NeighbourConfig, IsReadAndWrittenBack) {
  const GeneratorConfig c = valid();
  EXPECT_TRUE(c.devices[0].arp.arp);
  EXPECT_EQ(c.devices[0].arp.subnet, "10.0.0.0/24");
  EXPECT_EQ(c.devices[0].arp.gateway, "10.0.0.254");
  ASSERT_EQ(c.neighbours.size(), 1U);
  EXPECT_EQ(c.neighbours[0].device, "eth");
  EXPECT_EQ(c.neighbours[0].address, "10.0.0.2");
  EXPECT_EQ(c.neighbours[0].mac, "02:aa:bb:cc:dd:ee");
  const auto again = generator_config_from(*parse_toml(to_toml(c)).config, ".");
  ASSERT_TRUE(again);
  EXPECT_EQ(to_toml(*again.config), to_toml(c));
  EXPECT_FALSE(GeneratorDeviceConfig{}.arp.arp) << "between emulated hosts nothing is asked";
}

TEST(NeighbourConfig, EveryRuleNamesItsKey) {
  using C = GeneratorConfig;
  const Breach<C> breaches[] = {
      {[](C& c) { c.devices[0].arp = {.subnet = "10.0.0.0/24"}; }, "device[0].subnet",
       "\"10.0.0.0/24\": needs arp = true"},
      {[](C& c) { c.devices[0].arp = {.gateway = "10.0.0.254"}; }, "device[0].gateway",
       "\"10.0.0.254\": needs arp = true"},
      {[](C& c) { c.devices[0].arp.subnet.reset(); }, "device[0].subnet",
       "is required with gateway"},
      {[](C& c) { c.devices[0].arp.subnet = "10.0.0.0/33"; }, "device[0].subnet",
       "\"10.0.0.0/33\": "},
      {[](C& c) { c.devices[0].arp.gateway = "10.0.0"; }, "device[0].gateway", "\"10.0.0\": "},
      {[](C& c) { c.devices[0].arp.gateway = "10.0.1.1"; }, "device[0].gateway",
       "\"10.0.1.1\": must be within subnet, 10.0.0.0/24"},
      {[](C& c) { c.neighbours[0].device = "x"; }, "neighbour[0].device", "\"x\": no [[device]]"},
      {[](C& c) { c.neighbours[0].address = "x"; }, "neighbour[0].address", "\"x\": "},
      {[](C& c) { c.neighbours[0].address = "10.0.0.1"; }, "neighbour[0].address",
       "\"10.0.0.1\": is that of a [[host]]"},
      {[](C& c) { c.neighbours[0].mac = "02:aa"; }, "neighbour[0].mac", "\"02:aa\": "},
      {[](C& c) { c.neighbours[0].mac = "01:00:5e:00:00:01"; }, "neighbour[0].mac",
       "\"01:00:5e:00:00:01\": must be a unicast"},
      {[](C& c) { c.neighbours[0].mac = "00:00:00:00:00:00"; }, "neighbour[0].mac",
       "\"00:00:00:00:00:00\": must be a unicast"},
      {[](C& c) { c.neighbours.push_back(c.neighbours[0]); }, "neighbour[1].address",
       "\"10.0.0.2\": is also that of neighbour[0]"},
  };
  expect_each_reported(breaches, valid());
}

}  // namespace
}  // namespace outrider::neighbour_config_test
