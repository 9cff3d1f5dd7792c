// Goal: the settings of forwarding and classification read back as they are written, and
// each rule is reported under the user's key.
#include <gtest/gtest.h>

#include "common/config/addresses.h"
#include "common/config/toml_file.h"
#include "common/config/toml_text.h"
#include "switch/config/config_toml.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider::forwarding_config_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using C = SwitchProcessConfig;

/// Two ports of two queues; every setting of this file's is there.
C valid_config() {
  SwitchConfig sw;
  sw.name = "sw";
  for (const char* name : {"a", "b"}) {
    SwitchPortConfig port;
    port.name = name;
    port.device = name;
    port.queues = {{}, {}};
    sw.ports.push_back(port);
  }
  sw.routes = {{"10.0.1.0/24", "a"},
               {.prefix = "10.0.3.0/24", .ports = {"a", "b"}, .spray = true},
               {.prefix = "2001:db8::/32", .via = {"10.0.9.1"}},
               {.prefix = "10.0.5.0/24", .ports = {"a", "b"}, .flowlet_gap = 50us}};
  sw.mac_routes = {{"02:00:00:00:00:01", "b"}};
  sw.mac = "02:00:00:00:00:fe";
  sw.route_table = RouteTableKind::kLpm;
  sw.l2 = {.learning = true, .ageing = 20s, .max_entries = 500};
  sw.neighbours = {{"10.0.9.1", "02:00:00:00:00:02", "b"}};
  sw.addresses = {{"10.0.1.254", "a"}, {"10.0.9.254"}};
  sw.classes.background_queue = 1;
  sw.classes.ddl_queue = 1;
  sw.classes.dscp["46"] = ConfigValue(std::int64_t{0});
  sw.classes.pcp["5"] = ConfigValue(std::int64_t{1});
  sw.classes.dscp_ddl = {10, 12};
  sw.classes.pcp_ddl = {6, 7};
  sw.classes.learned_flows = 100;
  sw.rules = {{.source = "10.0.0.0/8",
               .destination = "10.0.1.0/24",
               .protocol = std::uint8_t{6},
               .source_ports = PortRange{1, 9},
               .destination_ports = PortRange{80, 80},
               .traffic_class = RuleClass::kDdl,
               .queue = 1U},
              {.queue = 0U}};
  return {.devices = {{.name = "a", .device = "net_null0"}, {.name = "b", .device = "net_null1"}},
          .switches = {sw},
          .links = {}};
}

TEST(ForwardingConfig, WhatIsWrittenReadsBack) {
  const C c = valid_config();
  EXPECT_TRUE(validate(c).empty()) << format_issues("valid", validate(c));
  const auto text = to_toml(c);
  const auto result = switch_config_from(parse_toml(text).config.value());
  ASSERT_TRUE(result) << format_issues("text", result.issues) << text;
  const SwitchConfig& a = result.config->switches[0];
  EXPECT_EQ(a.routes.size(), c.switches[0].routes.size());
  EXPECT_EQ(a.rules.size(), c.switches[0].rules.size());
  EXPECT_EQ(a.neighbours[0].address, "10.0.9.1");
  EXPECT_EQ(a.neighbours[0].mac, "02:00:00:00:00:02");
  EXPECT_EQ(a.neighbours[0].port, "b");
  EXPECT_EQ(a.addresses[0].port, "a");
  EXPECT_EQ(a.addresses[1].port, std::nullopt);
  EXPECT_EQ(to_toml(*result.config), text);
}

TEST(ForwardingConfig, BreachesAreReportedByKey) {
  const auto sw = [](C& c) -> SwitchConfig& { return c.switches[0]; };
  const Breach<C> breaches[] = {
      {[&](C& c) { sw(c).routes[0].port.reset(); }, "switch[0].route[0].port",
       "is required, or ports, or via"},
      {[&](C& c) { sw(c).routes[0].ports = {"b"}; }, "switch[0].route[0].port", "exactly one of"},
      {[&](C& c) { sw(c).routes[1].ports[1] = "x"; }, "switch[0].route[1].ports[1]",
       "\"x\": no [[switch.port]]"},
      {[&](C& c) { sw(c).routes[1].ports.push_back("a"); }, "switch[0].route[1].ports[2]",
       "\"a\": is named twice"},
      {[&](C& c) { sw(c).routes[1].ports.pop_back(); }, "switch[0].route[1].spray",
       "true: needs several"},
      {[&](C& c) { sw(c).routes[3].ports.pop_back(); }, "switch[0].route[3].flowlet_gap",
       "50us: needs several"},
      {[&](C& c) { sw(c).routes[3].spray = true; }, "switch[0].route[3].flowlet_gap",
       "50us: excludes spray"},
      {[&](C& c) { sw(c).routes[3].flowlet_gap = 0ns; }, "switch[0].route[3].flowlet_gap",
       "0s: must be at least 1ns"},
      {[&](C& c) { sw(c).routes[2].via = {"10.0.9.2"}; }, "switch[0].route[2].via[0]",
       "\"10.0.9.2\": no [[switch.neighbour]]"},
      {[&](C& c) { sw(c).routes[2].prefix = "2001:db8::1/32"; }, "switch[0].route[2].prefix",
       "\"2001:db8::1/32\": has bits beyond"},
      {[&](C& c) { sw(c).routes[2].prefix = "2001:db8::/129"; }, "switch[0].route[2].prefix",
       "\"2001:db8::/129\": must be an IPv6 prefix"},
      {[&](C& c) { sw(c).routes[0].prefix = "10.0.9.1/32"; }, "switch[0].neighbour[0].address",
       "\"10.0.9.1\": is also that of route[0]"},
      {[&](C& c) { sw(c).addresses[1].address = "10.0.9.1"; }, "switch[0].address[1].address",
       "\"10.0.9.1\": is also that of neighbour[0]"},
      {[&](C& c) { sw(c).addresses[0].address = "10.0.1"; }, "switch[0].address[0].address",
       "\"10.0.1\": must be an IPv4 address"},
      {[&](C& c) { sw(c).addresses[0].port = "x"; }, "switch[0].address[0].port", "\"x\": no"},
      {[&](C& c) { sw(c).neighbours[0].mac = "03:00:00:00:00:01"; }, "switch[0].neighbour[0].mac",
       "\"03:00:00:00:00:01\": must be a unicast"},
      {[&](C& c) { sw(c).mac = "02:00"; }, "switch[0].mac", "\"02:00\": must be a MAC"},
      {[&](C& c) { sw(c).mac.reset(), sw(c).addresses.clear(); }, "switch[0].mac",
       "is required with [[switch.neighbour]]"},
      {[&](C& c) {
         sw(c).mac.reset(), sw(c).routes.erase(sw(c).routes.begin() + 2), sw(c).neighbours.clear();
       },
       "switch[0].mac", "is required with [[switch.address]]"},
      {[&](C& c) { sw(c).l2.ageing = 9ms; }, "switch[0].l2.ageing", "9ms: must be at least 10ms"},
      {[&](C& c) { sw(c).l2.max_entries = 0; }, "switch[0].l2.max_entries",
       "0 stations: must be at least"},
      {[&](C& c) { sw(c).classes.ddl_queue = 2; }, "switch[0].classes.ddl_queue",
       "2: port \"a\" has only queues 0 to 1"},
      {[&](C& c) {
         sw(c).ports[1].queues.clear();
         sw(c).classes = {};
         sw(c).rules[0].queue = 1;
       },
       "switch[0].rule[0].queue", "1: port \"b\" has only queues 0 to 0"},
      {[&](C& c) { sw(c).classes.dscp["64"] = ConfigValue(std::int64_t{0}); },
       "switch[0].classes.dscp.64", "is no number from 0 to 63"},
      {[&](C& c) { sw(c).classes.dscp["7"] = ConfigValue(std::string("x")); },
       "switch[0].classes.dscp.7", "must be a queue"},
      {[&](C& c) { sw(c).classes.pcp["8"] = ConfigValue(std::int64_t{0}); },
       "switch[0].classes.pcp.8", "is no number from 0 to 7"},
      {[&](C& c) { sw(c).classes.pcp["7"] = ConfigValue(std::int64_t{3}); },
       "switch[0].classes.pcp.7", "3: port \"a\" has only queues"},
      {[&](C& c) { sw(c).classes.pcp_ddl[0] = 8; }, "switch[0].classes.pcp_ddl[0]",
       "8: must be at most 7"},
      {[&](C& c) {
         sw(c).signals.accept_tos = true;
         sw(c).signals.accept_from = {"10.0.0.0/8"};
       },
       "switch[0].classes.dscp", "cannot be used with accept_tos"},
      {[&](C& c) { sw(c).rules[1].queue.reset(); }, "switch[0].rule[1].class",
       "is required, or queue"},
      {[&](C& c) { sw(c).rules[0].source = "10.0.0.1/8"; }, "switch[0].rule[0].source",
       "\"10.0.0.1/8\": has bits beyond"},
      {[&](C& c) {
         sw(c).rules[0].source_ports = PortRange{9, 1};
       },
       "switch[0].rule[0].source_ports", "\"9-1\": must not end before"},
      {[&](C& c) { sw(c).rules[0].protocol = std::uint8_t{1}; }, "switch[0].rule[0].protocol",
       "\"1\": has no ports"},
  };
  expect_each_reported(breaches, valid_config());
}

TEST(Ipv6Text, IsReadStrictly) {
  const auto loopback = parse_ipv6("::1").value;
  ASSERT_TRUE(loopback);
  EXPECT_EQ((*loopback)[15], 1);
  EXPECT_EQ(parse_ipv6_prefix("2001:db8::/32").value->length, 32);
  EXPECT_TRUE(parse_ipv6_prefix("::/0").value);
  for (const char* text : {"", ":", "1::2::3", "::1%eth0", "12345::", "::/x"})
    EXPECT_FALSE(parse_ipv6(text).value) << text;
  for (const char* text : {"::", "::/", "::/129", "::/01", "::1/127"})
    EXPECT_FALSE(parse_ipv6_prefix(text).value) << text;
}

}  // namespace
}  // namespace outrider::forwarding_config_test
