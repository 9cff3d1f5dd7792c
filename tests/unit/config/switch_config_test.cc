// Goal: the switch's file becomes the structs that it says, and every rule of
// validate() is reported by key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "common/config/config_file.h"
#include "common/config/process_checks.h"
#include "switch/config/config_toml.h"
#include "tests/unit/config/full_switch.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider::switch_config_test {
using namespace sw;
namespace {

TEST(SwitchConfig, PortsOverrideTheirSwitchKeyByKey) {
  const auto result = switch_config_from(parse_toml(R"(
[[device]]
name = "a"
device = "net_null0"
[[device]]
name = "b"
device = "net_null1"
[[switch]]
name = "s"
[[switch.port]]
name = "inherits"
device = "a"
[[switch.port]]
name = "overrides"
device = "b"
queue.limit_packets = 200
marker = { threshold_packets = 70 }
[switch.queue]
limit_packets = 100
limit_bytes = 100000
[switch.marker]
mark_at = "dequeue"
threshold_packets = 30
)")
                                             .config.value());
  ASSERT_TRUE(result) << format_issues("text", result.issues);
  const auto& ports = result.config->switches[0].ports;
  EXPECT_EQ(ports[0].queue.limit_packets, 100U);
  EXPECT_EQ(ports[1].queue.limit_packets, 200U);
  for (const auto& port : ports) EXPECT_EQ(port.queue.limit_bytes, std::optional(100'000U));
  EXPECT_EQ(ports[0].marker.threshold_packets, 30U);
  EXPECT_EQ(ports[1].marker.threshold_packets, 70U);
  EXPECT_EQ(ports[1].marker.at, MarkAt::kDequeue);
}

TEST(SwitchConfig, EveryRuleNamesItsKey) {
  using C = SwitchProcessConfig;
  const auto port = [](C& c) -> SwitchPortConfig& { return c.switches[0].ports[0]; };
  const auto signer = [](C& c) -> SignerConfig& { return c.switches[0].signals.signers[0]; };
  const Breach<C> breaches[] = {
      {[](C& c) { c.devices[0].rx_descriptors = 1000; }, "device[0].rx_descriptors",
       "1000: must be a power of two"},
      {[](C& c) { c.devices[0].tx_descriptors = 16; }, "device[0].tx_descriptors",
       "16: must be a power of two"},
      {[](C& c) { c.devices[0].device = "eno1"; }, "device[0].device",
       "\"eno1\": must be a PCI address"},
      {[](C& c) { c.devices[0].device = "0000:3b:0.00"; }, "device[0].device",
       "\"0000:3b:0.00\": must be a PCI address"},
      {[](C& c) {
         c.devices.push_back({"nic2", "net_null0"});
       },
       "device[1].name", "\"nic2\": no port uses this device"},
      {[&](C& c) {
         port(c).device = "nix";
         c.devices.clear();
       },
       "switch[0].port[0].device", "\"nix\": no [[device]]"},
      {[](C& c) { c.switches[1].ports[0].device = "nic"; }, "switch[1].port[0].device",
       "\"nic\": but link[0] joins"},
      {[](C& c) { c.switches[1].ports.push_back({.name = "x", .device = "nic"}); },
       "switch[1].port[1].device", "\"nic\": is the device of switch \"leaf\""},
      {[](C& c) { c.switches[0].ports.push_back({.name = "x"}); }, "switch[0].port[2].device",
       "is required: no [[link]] names \"leaf.x\""},
      {[](C& c) { c.switches[0].ports[1].delay = 1ms; }, "switch[0].port[1].delay",
       "1ms: belongs to link[0]"},
      {[&](C& c) { port(c).delay = -1ms; }, "switch[0].port[0].delay",
       "-1ms: must not be negative"},
      {[&](C& c) { port(c).drain_rate = {}; }, "switch[0].port[0].drain_rate",
       "0bit: must be more than"},
      {[&](C& c) { port(c).drain_rate = {500'000'000'000}; }, "switch[0].port[0].drain_rate",
       "500gbit: must be"},
      {[&](C& c) { port(c).queue.limit_packets = 0; }, "switch[0].port[0].queue.limit_packets",
       "0 packets: must be at least 1"},
      {[&](C& c) { port(c).queue.limit_bytes = 1000; }, "switch[0].port[0].queue.limit_bytes",
       "1000 bytes: must be at least 9018"},
      {[](C& c) { c.switches[0].ports[1].marker.threshold_packets = 60; },
       "switch[0].port[1].marker.threshold_packets",
       "60 packets: must be below the queue's limit_packets, 60"},
      {[](C& c) { c.switches[0].ports[1].marker.threshold_packets = 0; },
       "switch[0].port[1].marker.threshold_packets", "0 packets: must be at least 1"},
      {[](C& c) { c.switches[0].ports[1].marker.background_threshold_packets = 61; },
       "switch[0].port[1].marker.background_threshold_packets", "61 packets: must be below"},
      {[](C& c) { c.switches[1].ports[0].regulation.mode = RegulationMode::kMark; },
       "switch[1].port[0].regulation.mode", "\"mark\": needs signals"},
      {[](C& c) { c.switches[1].ports[0].regulation.mode = RegulationMode::kPace; },
       "switch[1].port[0].regulation.mode", "\"pace\": needs signals"},
      {[&](C& c) { port(c).regulation.hold = 0ms; }, "switch[0].port[0].regulation.hold",
       "0s: must be longer than zero"},
      {[&](C& c) { port(c).regulation.hold = 51ms; }, "switch[0].port[0].regulation.hold",
       "51ms: must not be longer than expiry, 50ms"},
      {[&](C& c) { port(c).regulation.idle_end = 0ms; }, "switch[0].port[0].regulation.idle_end",
       "0s: must be longer"},
      {[&](C& c) {
         port(c).regulation.recovery = Recovery::kBurstEnd;
         port(c).regulation.idle_end = 51ms;
       },
       "switch[0].port[0].regulation.idle_end", "51ms: must not be longer than expiry"},
      {[](C& c) {
         c.switches[0].ports[1].regulation.recovery = Recovery::kArrival;
         c.switches[0].ports[1].regulation.expiry = 0ms;
       },
       "switch[0].port[1].regulation.expiry", "0s: must be longer"},
      {[&](C& c) { port(c).regulation.budget_share = 0; },
       "switch[0].port[0].regulation.budget_share", "0.0: must be more than 0.0 and at most 1.0"},
      {[&](C& c) { port(c).regulation.budget_share = 1.01; },
       "switch[0].port[0].regulation.budget_share", "1.01: must be"},
      {[&](C& c) { port(c).regulation.budget_window = 0s; },
       "switch[0].port[0].regulation.budget_window", "0s: must be longer"},
      {[&](C& c) {
         port(c).regulation.mode = RegulationMode::kMarkWindow;
         port(c).regulation.predict.from = PredictFrom::kOff;
         port(c).regulation.recovery = Recovery::kArrival;
       },
       "switch[0].port[0].regulation.recovery", "\"arrival\": must be \"burst_end\""},
      {[&](C& c) { port(c).regulation.grant.budget_bytes = 0; },
       "switch[0].port[0].regulation.grant.budget_bytes", "0 bytes: must be at least 1"},
      {[&](C& c) { port(c).regulation.window.floor = 1; },
       "switch[0].port[0].regulation.window.floor", "1.0: must be at least 0.0"},
      {[&](C& c) { port(c).regulation.window.gain = 0; },
       "switch[0].port[0].regulation.window.gain", "0.0: must be more than 0.0"},
      {[&](C& c) { port(c).regulation.window.standing_clamp = 0.9; },
       "switch[0].port[0].regulation.window.standing_clamp", "0.9: must be at least 1.0"},
      {[&](C& c) { port(c).regulation.window.base_rtt = -1ns; },
       "switch[0].port[0].regulation.window.base_rtt", "-1ns: must not be negative"},
      {[&](C& c) { port(c).regulation.window.beyond[0].name = ""; },
       "switch[0].port[0].regulation.window.beyond[0].name", "must not be empty"},
      {[&](C& c) {
         auto& beyond = port(c).regulation.window.beyond;
         beyond.push_back(beyond.front());
       },
       "switch[0].port[0].regulation.window.beyond[1].name", "\"core\": is also that of beyond[0]"},
      {[&](C& c) { port(c).regulation.window.beyond[0].destinations.clear(); },
       "switch[0].port[0].regulation.window.beyond[0].destinations", "must have a prefix"},
      {[&](C& c) { port(c).regulation.window.beyond[0].destinations[0] = "10.0.7.1/24"; },
       "switch[0].port[0].regulation.window.beyond[0].destinations[0]",
       "\"10.0.7.1/24\": has bits beyond its length"},
      {[&](C& c) { port(c).regulation.window.beyond[0].rate = {}; },
       "switch[0].port[0].regulation.window.beyond[0].rate", "0bit: must be more than 0bit"},
      {[&](C& c) {
         auto& beyond = port(c).regulation.window.beyond;
         for (int i = 1; i < 9; ++i) {
           beyond.push_back(beyond.front());
           beyond.back().name = "core" + std::to_string(i);
         }
       },
       "switch[0].port[0].regulation.window.beyond", "9 bottlenecks: must be"},
      {[&](C& c) { port(c).regulation.window.max_flows = 0; },
       "switch[0].port[0].regulation.window.max_flows", "0: must be at least 1"},
      {[&](C& c) { port(c).regulation.max_entries = 0; },
       "switch[0].port[0].regulation.max_entries", "0: must be at least 1"},
      {[](C& c) { c.switches[0].signals = {.accept_tos = true, .accept_udp = true}; },
       "switch[0].signals.accept_from", "is required with accept_tos"},
      {[](C& c) { c.switches[0].signals = {.accept_udp = true}; }, "switch[0].signals.accept_from",
       "is required with accept_udp"},
      {[&](C& c) {
         c.switches[0].signals.accept_udp = false;
         for (auto& queue : port(c).queues) queue.regulation = {};
         port(c).regulation = {};
       },
       "switch[0].signals.signers", "need accept_udp"},
      {[](C& c) { c.switches[0].signals.signers.clear(); }, "switch[0].signals.require_signed",
       "true: needs a signer"},
      {[](C& c) { c.switches[0].signals.trusted[0].ports = {"side"}; },
       "switch[0].signals.trusted[0].ports[0]", "\"side\": is no port of this switch"},
      {[](C& c) { c.switches[0].signals.trusted[0].ports.clear(); },
       "switch[0].signals.trusted[0].ports", "must name a port"},
      {[](C& c) { c.switches[0].signals.trusted[0].from = {"10"}; },
       "switch[0].signals.trusted[0].from[0]", "\"10\": "},
      {[](C& c) { c.switches[0].signals.trusted[0].from.clear(); },
       "switch[0].signals.trusted[0].from", "must have a prefix"},
      {[](C& c) { c.switches[0].signals.burst_sizes[0].destinations.clear(); },
       "switch[0].signals.burst_sizes[0].destinations", "must have a prefix"},
      {[](C& c) { c.switches[0].signals.burst_sizes[0].destinations = {"10.0.5.1/24"}; },
       "switch[0].signals.burst_sizes[0].destinations[0]", "\"10.0.5.1/24\": "},
      {[](C& c) {
         c.switches[0].signals.burst_sizes[0].destination_ports = PortRange{9, 8};
       },
       "switch[0].signals.burst_sizes[0].destination_ports",
       "\"9-8\": must not end before it begins"},
      {[](C& c) { c.switches[0].signals.burst_sizes[0].bytes = 0; },
       "switch[0].signals.burst_sizes[0].bytes", "0 bytes: must be at least 1"},
      {[](C& c) {
         auto& sizes = c.switches[0].signals.burst_sizes;
         sizes.assign(65, sizes[0]);
       },
       "switch[0].signals.burst_sizes", "65 tables: must be at most 64"},
      {[&](C& c) { signer(c).name.clear(); }, "switch[0].signals.signers[0].name",
       "must not be empty"},
      {[&](C& c) { c.switches[0].signals.signers.push_back(signer(c)); },
       "switch[0].signals.signers[1].name", "\"training\": is also that of signers[0]"},
      {[&](C& c) { signer(c).keys.clear(); }, "switch[0].signals.signers[0].keys",
       "0 files: must be at least 1"},
      {[&](C& c) { signer(c).keys.push_back("c.key"); }, "switch[0].signals.signers[0].keys",
       "3 files: must be at most 2"},
      {[&](C& c) { signer(c).accept_from.clear(); }, "switch[0].signals.signers[0].accept_from",
       "must have a prefix"},
      {[&](C& c) { signer(c).accept_from[0] = "x"; }, "switch[0].signals.signers[0].accept_from[0]",
       "\"x\": "},
      {[&](C& c) { signer(c).ports[0] = "side"; }, "switch[0].signals.signers[0].ports[0]",
       "\"side\": is no port of this switch"},
      {[&](C& c) { signer(c).destinations[0] = "x"; },
       "switch[0].signals.signers[0].destinations[0]", "\"x\": "},
      {[&](C& c) {
         signer(c).destination_ports = PortRange{2, 1};
       },
       "switch[0].signals.signers[0].destination_ports", "\"2-1\": must not end"},
      {[&](C& c) { signer(c).min_threshold_packets = 31; },
       "switch[0].signals.signers[0].max_threshold_packets",
       "30: must not be below min_threshold_packets, 31"},
      {[&](C& c) { signer(c).due_limit = 4s; }, "switch[0].signals.signers[0].due_limit",
       "4s: must not be longer than that of all signals, 3s"},
      {[&](C& c) { signer(c).max_entries.reset(); }, "switch[0].signals.signers[0].max_entries",
       "is required with budget_share"},
      {[&](C& c) { signer(c).budget_share.reset(); }, "switch[0].signals.signers[0].budget_share",
       "is required with max_entries"},
      {[&](C& c) { signer(c).budget_share = 0; }, "switch[0].signals.signers[0].budget_share",
       "0.0: must be more than 0.0 and at most 1.0"},
      {[&](C& c) { signer(c).max_entries = 0; }, "switch[0].signals.signers[0].max_entries",
       "0: must be at least 1"},
      {[&](C& c) { signer(c).budget_share = 0.6; },
       "switch[0].port[0].queues[0].regulation.budget_queue_share",
       "0.6: must be more than budget_share of all signers together, 0.6"},
      {[&](C& c) { signer(c).max_entries = 12; },
       "switch[0].port[0].queues[0].regulation.max_entries",
       "12: must be more than max_entries of all signers together, 12"},
      {[&](C& c) {
         port(c).queues.clear();
         port(c).scheduler = SchedulerKind::kStrict;
         signer(c).max_entries = 12;
       },
       "switch[0].port[0].regulation.max_entries", "12: must be more than max_entries of all"},
      {[&](C& c) {
         port(c).queues[0].regulation = {};
         for (int i = 0; i < 16; ++i) {
           c.switches[0].signals.signers.push_back(signer(c));
           c.switches[0].signals.signers.back().name += std::to_string(i);
         }
       },
       "switch[0].signals.signers", "17 signers with budget_share: must be at most 16"},
      {[](C& c) { c.switches[0].hop_records.udp_port = 0; }, "switch[0].hop_records.udp_port",
       "0: must be at least 1"},
      {[](C& c) { c.switches[0].hop_records.udp_port = 5901; }, "switch[0].hop_records.udp_port",
       "5901: is the port of signals already"},
      {[](C& c) { c.switches[1].hop_records.id = 4; }, "switch[1].hop_records.id",
       "4: needs udp_port or roce"},
      {[](C& c) {
         c.switches[1].hop_records = {5902, 3};
       },
       "switch[1].hop_records.id", "3: is also that of switch[0]"},
      {[](C& c) { c.switches[1].hop_records = {.id = 3, .roce = true}; },
       "switch[1].hop_records.id", "3: is also that of switch[0]"},
      {[](C& c) { c.switches[0].signals.udp_port = 0; }, "switch[0].signals.udp_port",
       "0: must be at least 1"},
      {[&](C& c) {
         c.switches[0].signals.due_limit = 0ms;
         signer(c).due_limit.reset();
       },
       "switch[0].signals.due_limit", "0s: must be longer"},
      {[](C& c) { c.switches[0].signals.due_limit = 1h + 1ms; }, "switch[0].signals.due_limit",
       "3600001ms: must be at most 3600s"},
      {[&](C& c) { port(c).regulation.lead = -1ms; }, "switch[0].port[0].regulation.lead",
       "-1ms: must not be negative"},
      {[](C& c) { c.switches[0].signals.accept_from[1] = "10.0.2.1/24"; },
       "switch[0].signals.accept_from[1]", "\"10.0.2.1/24\": has bits beyond its length"},
      {[](C& c) { c.switches[0].signals.tokens_per_second = 0; },
       "switch[0].signals.tokens_per_second", "0.0: must be more than"},
      {[](C& c) { c.switches[0].signals.token_burst = 0.5; }, "switch[0].signals.token_burst",
       "0.5: must be at least 1.0"},
      {[](C& c) {
         c.switches[1].name = "leaf";
         c.links.clear();
         c.switches[0].ports.pop_back();
         c.switches[0].routes.pop_back();
         c.switches[0].mac_routes.clear();
         c.switches[1].ports[0].device = "nic";
         c.switches[0].ports[0].device = "nic2";
         c.devices.push_back({"nic2", "net_null0"});
       },
       "switch[1].name", "\"leaf\": is used twice"},
      {[](C& c) {
         c.switches[0].ddl_ports = {7, 6};
       },
       "switch[0].ddl_ports", "\"7-6\": must"},
      {[](C& c) {
         c.switches[0].ddl_ports = {0, 6};
       },
       "switch[0].ddl_ports", "\"0-6\": must"},
      {[](C& c) { c.switches[0].routes[0].prefix = "10.0.1/24"; }, "switch[0].route[0].prefix",
       "\"10.0.1/24\": must be an IPv4 prefix"},
      {[](C& c) { c.switches[0].routes[1].prefix = "10.0.1.0/24"; }, "switch[0].route[1].prefix",
       "\"10.0.1.0/24\": is also that of route[0]"},
      {[](C& c) { c.switches[0].routes[0].port = "dwn"; }, "switch[0].route[0].port",
       "\"dwn\": no [[switch.port]]"},
      {[](C& c) { c.switches[0].mac_routes[0].mac = "02:00"; }, "switch[0].mac_route[0].mac",
       "\"02:00\": must be a MAC"},
      {[](C& c) { c.switches[0].mac_routes[0].mac = "03:00:00:00:00:01"; },
       "switch[0].mac_route[0].mac", "\"03:00:00:00:00:01\": must be a unicast"},
      {[](C& c) {
         c.switches[0].mac_routes.push_back({"02:00:00:00:00:01", "down"});
       },
       "switch[0].mac_route[1].mac", "\"02:00:00:00:00:01\": is also that of mac_route[0]"},
      {[](C& c) { c.switches[0].mac_routes[0].port = "x"; }, "switch[0].mac_route[0].port",
       "\"x\": no [[switch.port]]"},
      {[](C& c) {
         c.links.push_back({"leaf.down", "root.p1"});
         c.switches[0].ports[0].device.reset();
         c.switches[0].ports[0].delay = {};
         c.devices.clear();
       },
       "link[1].b", "\"root.p1\": must be \"switch.port\""},
      {[](C& c) {
         c.links[0].b = "leaf.up";
         c.switches.pop_back();
       },
       "link[0].b", "\"leaf.up\": is an end of link[0] already"},
      {[](C& c) { c.links[0].delay = -1us; }, "link[0].delay", "-1us: must not be negative"},
      {[](C& c) {
         c.links[0].delay = 11s;
         c.mbufs.reset();
       },
       "link[0].delay", "11s: must be at most 10s"},
      {[](C& c) {
         c.switches[0].ports[1].name = "down";
         c.links.clear();
         c.switches.pop_back();
         c.switches[0].ports[1].device = "n2";
         c.devices.push_back({"n2", "net_null0"});
         c.switches[0].routes.pop_back();
         c.switches[0].mac_routes.clear();
       },
       "switch[0].port[1].name", "\"down\": is used twice"},
      {[](C& c) { c = {}; }, "switch", "there must be at least one [[switch]]"},
      {[](C& c) { c.mbufs = 100; }, "mbufs", "100: must be at least "},
      {[](C& c) { c.bin = 0s; }, "bin", "0s: must be at least 1us"},
      {[](C& c) { c.max_burst_records = 0; }, "max_burst_records", "0: must be at least 1"},
      {[](C& c) { c.max_bins = 0; }, "max_bins", "0: must be at least 1"},
      {[](C& c) { c.lcore = 5000; }, "lcore", "5000: must be at most"},
      {[](C& c) { c.telemetry.prometheus = "localhost:80"; }, "telemetry.prometheus",
       "\"localhost:80\": must be an IPv4 address and a port"},
      {[](C& c) { c.telemetry.prometheus = "127.0.0.1"; }, "telemetry.prometheus",
       "\"127.0.0.1\": must be an IPv4 address and a port"},
      {[](C& c) { c.telemetry.prometheus = "127.0.0.1:0"; }, "telemetry.prometheus",
       "\"127.0.0.1:0\": must be an IPv4 address and a port"},
      {[](C& c) { c.telemetry.prometheus = "127.0.0.1:65536"; }, "telemetry.prometheus",
       "\"127.0.0.1:65536\": must be an IPv4 address and a port"},
      {[](C& c) { c.telemetry.prometheus_remote = false; }, "telemetry.prometheus",
       "\"192.0.2.1:9464\": is not a loopback address; set prometheus_remote"},
      {[](C& c) { c.devices[0].mtu_bytes = 67; }, "device[0].mtu_bytes",
       "67 bytes: must be at least 68"},
      {[](C& c) { c.devices[0].mtu_bytes = 9001; }, "device[0].mtu_bytes",
       "9001 bytes: must be at most 9000"},
      {[](C& c) { c.more_lcores = {1}; }, "more_lcores", "1: needs a single [[switch]]"},
      {[](C& c) {
         c.devices[0].rx_queues = 2;
         c.mbufs.reset();
       },
       "device[0].rx_queues", "2: needs a single"},
  };
  expect_each_reported(breaches, full_config());
}

/// One switch, two ports, straight to devices.
SwitchProcessConfig direct() {
  SwitchProcessConfig c;
  c.devices = {{"a", "net_null0"}, {"b", "net_null1"}};
  c.switches = {{.name = "s",
                 .ports = {{.name = "p", .device = "a"}, {.name = "q", .device = "b"}},
                 .routes = {},
                 .mac_routes = {}}};
  return c;
}

void hold_windows(SwitchProcessConfig& c, std::size_t port) {
  c.switches[0].signals = {.accept_tos = true, .accept_from = {"10.0.0.0/8"}};
  c.switches[0].ports[port].regulation.mode = RegulationMode::kWindow;
  c.switches[0].ports[port].regulation.recovery = Recovery::kTimer;
}

// Regulation alone gains; what was measured to gain nothing is allowed, and said.
TEST(SwitchConfig, AdvisesAgainstWhatGainsNothing) {
  auto c = direct();
  c.switches[0].signals = {.accept_tos = true, .accept_from = {"10.0.0.0/8"}};
  for (auto& port : c.switches[0].ports) port.regulation.mode = RegulationMode::kWindow;
  EXPECT_TRUE(validate(c).empty()) << "no recovery has to be given";
  EXPECT_TRUE(advice(c).empty());
  for (auto& port : c.switches[0].ports)
    port.regulation = {.mode = RegulationMode::kPace, .recovery = Recovery::kArrival};
  EXPECT_TRUE(validate(c).empty());
  const auto found = advice(c);
  ASSERT_EQ(found.size(), 1U) << "once for both ports";
  EXPECT_EQ(found[0].key, "switch[0].regulation.recovery");
  EXPECT_EQ(format_advice("f", {{"a.b", "does nothing"}}), "f: warning: a.b: does nothing\n");
}

// At 10 Gbit/s, 1.2304 us are a frame. A path of 5 and a threshold of 6 are 11 frames, and two
// segments are more than a sixth of them.
TEST(SwitchConfig, AdvisesAgainstWindowsThatOneFlowFills) {
  auto c = direct();
  hold_windows(c, 0);
  auto& port = c.switches[0].ports[0];
  port.marker.threshold_packets = 6;
  EXPECT_TRUE(advice(c).empty()) << "how much the path holds is not known";
  port.regulation.window.base_rtt = 5 * 1230ns;
  const auto found = advice(c);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "switch[0].regulation.window.least_segments");
  EXPECT_THAT(found[0].problem, testing::HasSubstr("18 % of path and standing queue"));
  port.marker.threshold_packets = 8;
  EXPECT_TRUE(advice(c).empty()) << "13 frames";
}

TEST(SwitchConfig, WhatSeveralLcoresCannotShareIsRefused) {
  using C = SwitchProcessConfig;
  auto shared = direct();
  shared.more_lcores = {1, 1, 2};
  shared.devices[0].rx_queues = 4;
  EXPECT_TRUE(validate(shared).empty());
  const auto again = switch_config_from(parse_toml(to_toml(shared)).config.value());
  ASSERT_TRUE(again) << format_issues("text", again.issues);
  EXPECT_EQ(again.config->more_lcores, shared.more_lcores);
  EXPECT_EQ(cpus_of(*again.config), (std::vector<std::uint32_t>{0, 1, 1, 2}));
  auto holds = shared;
  hold_windows(holds, 1);
  holds.devices[1].rx_queues = 1;
  EXPECT_TRUE(validate(holds).empty()) << "the other port may have as many as it likes";
  const Breach<C> breaches[] = {
      {[](C& c) { c.more_lcores.push_back(1024); }, "more_lcores[3]", "1024: must be at most 1023"},
      {[](C& c) { c.more_lcores.resize(64); }, "more_lcores", "64 lcores: must be at most 63"},
      {[](C& c) {
         c.devices[0].rx_queues.reset();
         c.switches[0].ports[0].delay = 1us;
       },
       "more_lcores", "3: needs a single"},
      {[](C& c) { c.devices[0].rx_queues = 65; }, "device[0].rx_queues", "65: must be at most 64"},
      {[](C& c) { c.switches[0].buffer.total_bytes = 1'000'000; }, "switch[0].buffer.total_bytes",
       "1000000 bytes: needs one lcore"},
      {[](C& c) { c.switches[0].classes.learned_flows = 9; }, "switch[0].classes.learned_flows",
       "9: needs one lcore"},
      {[](C& c) { hold_windows(c, 0); }, "device[0].rx_queues",
       "4: must be 1 with more_lcores: port \"p\" holds windows"},
      {[](C& c) { hold_windows(c, 1); }, "device[1].rx_queues",
       "up to one per lcore: must be 1 with more_lcores: port \"q\" holds windows"},
  };
  expect_each_reported(breaches, shared);
}

TEST(SwitchConfig, FaultsAreReportedWhereTheUserWroteThem) {
  const std::string head = R"(
[[device]]
name = "a"
device = "net_null0"
[[device]]
name = "b"
device = "net_null1"
[[switch]]
name = "s"
port = [{ name = "p", device = "a" }, { name = "q", device = "b", queue = { limit_packets = 99 } }]
)";
  const auto issues = [&](const std::string& rest) {
    return format_issues("f", switch_config_from(parse_toml(head + rest).config.value()).issues);
  };
  EXPECT_EQ(issues("[switch.regulation]\nhold = \"0s\"\n"),
            "f: 1 invalid setting\n  switch[0].regulation.hold: 0s: must be longer than zero\n");
  // The threshold at fault is a default of ours, taken by a port with nothing of its own.
  EXPECT_EQ(issues("[switch.queue]\nlimit_packets = 40\n"),
            "f: 1 invalid setting\n  switch[0].marker.threshold_packets: 40 packets: must be "
            "below the queue's limit_packets, 40\n");
}

TEST(SwitchConfig, FileFaultsAndRuleFaultsComeTogether) {
  const auto result = switch_config_from(parse_toml(R"(
lcore = "one"
[[switch]]
name = "s"
ddl_ports = "0-5"
[switch.signals]
accept_tos = true
[[switch.port]]
name = "p"
drain_rate = "10gbs"
[switch.port.queue]
limit_packet = 5
)")
                                             .config.value());
  EXPECT_FALSE(result);
  const auto text = format_issues("f", result.issues);
  for (const auto* part :
       {"f: 6 invalid settings", "lcore: \"one\": must be an integer",
        "switch[0].ddl_ports: \"0-5\": must be one port or a range",
        "switch[0].port[0].drain_rate: \"10gbs\": unknown unit \"gbs\"",
        "switch[0].port[0].queue.limit_packet: unknown key; did you mean \"limit_packets\"?",
        "switch[0].port[0].device: is required",
        "switch[0].signals.accept_from: is required with accept_tos"})
    EXPECT_NE(text.find(part), text.npos) << part << "\nis not in\n" << text;
}

TEST(SwitchConfig, RequiredMbufsCountWhatCanHoldAPacket) {
  auto c = full_config();
  // 2 x 2048 + 512 descriptors of a NIC; (10 + 60 + 1) + (60 + 1) + (60 + 1) waiting or in service;
  // 12 answers that grants may hold;
  // 1.5 us x 9.5 Gbit/s = 21 frames of 84 B, both ways; the link 100 us x 0.2 Gbit/s = 29 and
  // 100 us x 10 Gbit/s = 1488; each pipe one more; 4 x 64 batches; 512 cached.
  EXPECT_EQ(required_mbufs(c),
            4608U + 193U + 12U + 2 * (21 + 1) + (29 + 1) + (1488 + 1) + 256U + 512U);
  c.mbufs = required_mbufs(c);
  EXPECT_TRUE(validate(c).empty());
  c.mbufs = required_mbufs(c) - 1;
  const auto issues = validate(c);
  ASSERT_EQ(issues.size(), 1U);
  EXPECT_EQ(issues[0].problem,
            "7143: must be at least 7144 = descriptors 4608 + queues 205 + in flight on links 1563 "
            "+ batches, caches and rings 768");
  c.mbufs.reset();
  c.devices[0].device = "net_tap0";
  EXPECT_EQ(required_mbufs(c), 7144U - 2048U) << "a virtual device has one ring";
}

// virtio-net refuses buffers below MTU + 14 B Ethernet + 4 B tag + 12 B of its own.
TEST(SwitchConfig, BuffersHoldWhatDriversCountForTheMtu) {
  SwitchProcessConfig c;
  EXPECT_EQ(frame_room_bytes(c), 2048U);
  c.devices = {{.name = "a", .device = "net_null0"}, {.name = "b", .device = "net_null1"}};
  c.devices[1].mtu_bytes = 2030;
  EXPECT_GE(frame_room_bytes(c), 2030U + 30U);
  c.devices[1].mtu_bytes = 9000;
  EXPECT_GE(frame_room_bytes(c), 9000U + 30U);
}

TEST(SwitchConfig, MissingFileSaysSo) {
  EXPECT_EQ(format_issues("/none.toml", load_switch_config("/none.toml").issues),
            "/none.toml: cannot be opened: No such file or directory\n");
}

}  // namespace
}  // namespace outrider::switch_config_test
