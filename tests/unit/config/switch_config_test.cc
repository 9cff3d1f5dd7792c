// Goal: the switch's file becomes the structs that it says, every rule of
// validate() is reported by key, and a resolved configuration reads back.
#include <gtest/gtest.h>

#include <tuple>

#include "common/config/config_file.h"
#include "switch/config_toml.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;

// The structured bindings below stop compiling when a struct gains a field, so
// that the round trip cannot forget one.
auto fields(const DeviceConfig& c) {
  const auto& [name, device, rx, tx] = c;
  return std::tuple(name, device, rx, tx);
}
auto fields(const QueueConfig& c) {
  const auto& [packets, bytes] = c;
  return std::tuple(packets, bytes);
}
auto fields(const MarkerConfig& c) {
  const auto& [kind, at, threshold, ddl] = c;
  return std::tuple(kind, at, threshold, ddl);
}
auto fields(const RegulationPolicy& c) {
  const auto& [mode, recovery, spare, hold, idle, expiry, share, window, entries] = c;
  return std::tuple(mode, recovery, spare, hold, idle, expiry, share, window, entries);
}
auto fields(const SignalConfig& c) {
  const auto& [tos, from, tokens, burst] = c;
  return std::tuple(tos, from, tokens, burst);
}
auto fields(const SwitchPortConfig& c) {
  const auto& [name, rate, layer, delay, device, queue, marker, regulation, loss, record] = c;
  return std::tuple_cat(std::tuple(name, rate, layer, delay, device, loss, record), fields(queue),
                        fields(marker), fields(regulation));
}
auto fields(const SwitchConfig& c) {
  const auto& [name, ports, routes, macs, ddl, signals] = c;
  return std::tuple_cat(
      std::tuple(name, ports.size(), routes.size(), macs.size(), ddl.first, ddl.last),
      fields(signals));
}
auto fields(const RouteConfig& c) { return std::tuple(c.prefix, c.port); }
auto fields(const MacRouteConfig& c) { return std::tuple(c.mac, c.port); }
auto fields(const SwitchLinkConfig& c) {
  const auto& [a, b, delay] = c;
  return std::tuple(a, b, delay);
}
auto fields(const SwitchProcessConfig& c) {
  const auto& [devices, switches, links, seed, lcore, mbufs, bin, records, bins] = c;
  return std::tuple(devices.size(), switches.size(), links.size(), seed, lcore, mbufs, bin, records,
                    bins);
}

/// Two switches; every scalar differs from its default.
SwitchProcessConfig full_config() {
  const RegulationPolicy policy{.mode = RegulationMode::kMark,
                                .recovery = Recovery::kTimer,
                                .spare_ddl = true,
                                .hold = 3ms,
                                .idle_end = 4ms,
                                .expiry = 50ms,
                                .budget_share = 0.3,
                                .budget_window = 5s,
                                .max_entries = 12};
  const SwitchPortConfig down{.name = "down",
                              .drain_rate = {9'500'000'000},
                              .rate_layer = RateLayer::kL2,
                              .delay = 1500ns,
                              .device = "nic",
                              .queue = {.limit_packets = 300, .limit_bytes = 400'000},
                              .marker = {.kind = MarkerKind::kTailDrop,
                                         .at = MarkAt::kDequeue,
                                         .threshold_packets = 50,
                                         .ddl_threshold_packets = 90},
                              .regulation = policy,
                              .loss = 0.25,
                              .record = true};
  const SwitchPortConfig up{.name = "up", .drain_rate = {200'000'000}};
  const SwitchConfig leaf{.name = "leaf",
                          .ports = {down, up},
                          .routes = {{"10.0.1.0/24", "down"}, {"0.0.0.0/0", "up"}},
                          .mac_routes = {{"02:00:00:00:00:01", "up"}},
                          .ddl_ports = {6000, 6010},
                          .signals = {.accept_tos = true,
                                      .accept_from = {"10.0.1.0/24", "10.0.2.0/24"},
                                      .tokens_per_second = 12.5,
                                      .token_burst = 3}};
  const SwitchConfig root{
      .name = "root", .ports = {{.name = "p0"}}, .routes = {}, .mac_routes = {}};
  return {.devices = {{"nic", "0000:3b:00.0", 2048, 512}},
          .switches = {leaf, root},
          .links = {{"leaf.up", "root.p0", 100us}},
          .seed = 7,
          .lcore = 3,
          .mbufs = 65'536,
          .bin = 2ms,
          .max_burst_records = 99,
          .max_bins = 77};
}

TEST(SwitchConfig, AFullConfigurationIsValid) {
  const auto issues = validate(full_config());
  EXPECT_TRUE(issues.empty()) << format_issues("full", issues);
}

TEST(SwitchConfig, NoScalarOfTheRoundTripHasItsDefault) {
  const auto c = full_config();
  expect_all_differ(fields(c.switches[0].ports[0]), fields(SwitchPortConfig{}));
  expect_all_differ(fields(c.switches[0]), fields(SwitchConfig{}));
  expect_all_differ(fields(c.devices[0]), fields(DeviceConfig{}));
  expect_all_differ(fields(c.links[0]), fields(SwitchLinkConfig{}));
  expect_all_differ(fields(c), fields(SwitchProcessConfig{}));
}

TEST(SwitchConfig, WhatIsWrittenReadsBack) {
  const auto c = full_config();
  const auto text = to_toml(c);
  const auto result = switch_config_from(parse_toml(text).config.value());
  ASSERT_TRUE(result) << format_issues("text", result.issues) << text;
  const auto& again = *result.config;
  EXPECT_EQ(fields(again), fields(c));
  EXPECT_EQ(fields(again.devices[0]), fields(c.devices[0]));
  EXPECT_EQ(fields(again.links[0]), fields(c.links[0]));
  for (std::size_t s = 0; s < c.switches.size(); ++s) {
    EXPECT_EQ(fields(again.switches[s]), fields(c.switches[s]));
    for (std::size_t i = 0; i < c.switches[s].ports.size(); ++i)
      EXPECT_EQ(fields(again.switches[s].ports[i]), fields(c.switches[s].ports[i]));
    for (std::size_t i = 0; i < c.switches[s].routes.size(); ++i)
      EXPECT_EQ(fields(again.switches[s].routes[i]), fields(c.switches[s].routes[i]));
    for (std::size_t i = 0; i < c.switches[s].mac_routes.size(); ++i)
      EXPECT_EQ(fields(again.switches[s].mac_routes[i]), fields(c.switches[s].mac_routes[i]));
  }
  EXPECT_EQ(to_toml(again), text);
}

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
  EXPECT_EQ(fields(ports[0].queue), std::tuple(100U, std::optional<std::uint64_t>(100'000)));
  EXPECT_EQ(fields(ports[1].queue), std::tuple(200U, std::optional<std::uint64_t>(100'000)));
  EXPECT_EQ(ports[0].marker.threshold_packets, 30U);
  EXPECT_EQ(ports[1].marker.threshold_packets, 70U);
  EXPECT_EQ(ports[1].marker.at, MarkAt::kDequeue);
}

TEST(SwitchConfig, EveryRuleNamesItsKey) {
  using C = SwitchProcessConfig;
  const auto port = [](C& c) -> SwitchPortConfig& { return c.switches[0].ports[0]; };
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
       "1000 bytes: cannot hold one 9018 B frame"},
      {[](C& c) { c.switches[0].ports[1].marker.threshold_packets = 60; },
       "switch[0].port[1].marker.threshold_packets",
       "60 packets: must be below the queue's limit_packets, 60"},
      {[](C& c) { c.switches[0].ports[1].marker.threshold_packets = 0; },
       "switch[0].port[1].marker.threshold_packets", "0 packets: must be at least 1"},
      {[](C& c) { c.switches[0].ports[1].marker.ddl_threshold_packets = 61; },
       "switch[0].port[1].marker.ddl_threshold_packets", "61 packets: must be below"},
      {[](C& c) { c.switches[1].ports[0].regulation.mode = RegulationMode::kMark; },
       "switch[1].port[0].regulation.mode", "\"mark\": needs signals"},
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
      {[](C& c) { c.switches[0].ports[1].regulation.expiry = 0ms; },
       "switch[0].port[1].regulation.expiry", "0s: must be longer"},
      {[&](C& c) { port(c).regulation.budget_share = 0; },
       "switch[0].port[0].regulation.budget_share", "0.0: must be more than 0.0 and at most 1.0"},
      {[&](C& c) { port(c).regulation.budget_share = 1.01; },
       "switch[0].port[0].regulation.budget_share", "1.01: must be"},
      {[&](C& c) { port(c).regulation.budget_window = 0s; },
       "switch[0].port[0].regulation.budget_window", "0s: must be longer"},
      {[&](C& c) { port(c).regulation.max_entries = 0; },
       "switch[0].port[0].regulation.max_entries", "0: must be at least 1"},
      {[](C& c) { c.switches[0].signals.accept_from.clear(); }, "switch[0].signals.accept_from",
       "is required with accept_tos"},
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
  };
  expect_each_reported(breaches, full_config());
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
  // 2048 + 512 descriptors; (300 + 1) + (60 + 1) + (60 + 1) waiting or in service;
  // 1.5 us x 9.5 Gbit/s = 21 frames of 84 B, both ways; the link 100 us x 0.2 Gbit/s = 29 and
  // 100 us x 10 Gbit/s = 1488; each pipe one more; 4 x 64 batches; 512 cached.
  EXPECT_EQ(required_mbufs(c), 2560U + 423U + 2 * (21 + 1) + (29 + 1) + (1488 + 1) + 256U + 512U);
  c.mbufs = required_mbufs(c);
  EXPECT_TRUE(validate(c).empty());
  c.mbufs = required_mbufs(c) - 1;
  const auto issues = validate(c);
  ASSERT_EQ(issues.size(), 1U);
  EXPECT_EQ(issues[0].problem,
            "5313: must be at least 5314 = descriptors 2560 + queues 423 + in flight on links 1563 "
            "+ batches and cache 768");
}

TEST(SwitchConfig, MissingFileSaysSo) {
  EXPECT_EQ(format_issues("/none.toml", load_switch_config("/none.toml").issues),
            "/none.toml: cannot be opened: No such file or directory\n");
}

}  // namespace
}  // namespace outrider
