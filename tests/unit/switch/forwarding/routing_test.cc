// Goal: routed packets take the longest prefix and one of its equal-cost ports, and leave
// with the right MAC addresses, TTL and checksum. Bad input is dropped by name.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/core/random.h"
#include "switch/forwarding/route_table.h"
#include "tests/support/ipv6_frames.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::routing_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;
using Bytes = std::vector<std::uint8_t>;

void receive(B& bench, std::uint32_t port, const Bytes& bytes, Time now) {
  bench.receive(port, packet_of(bench.pool.get(), bytes), now);
}

SwitchConfig equal_costs(bool spray) {
  auto config = B::config();
  config.routes.push_back(
      {.prefix = "10.9.0.0/16", .ports = {"east", "south", "west"}, .spray = spray});
  return config;
}

TEST(EqualCost, AFlowKeepsItsPortAndFlowsSpread) {
  B bench(equal_costs(false));
  std::map<std::uint16_t, std::set<std::uint32_t>> ports_of;
  for (int round = 0; round < 3; ++round)
    for (std::uint16_t flow = 0; flow < 300; ++flow) {
      const Time now{std::chrono::milliseconds(round * 1000 + flow)};
      bench.send(
          {.flow = {ip("10.0.1.1"), ip("10.9.1.1"), static_cast<std::uint16_t>(1000 + flow), 80}},
          now);
    }
  bench.run();
  for (const auto& out : bench.out)
    for (const auto& a : out.arrivals) ports_of[a.flow.source_port].insert(a.port);
  EXPECT_EQ(ports_of.size(), 300U);
  for (const auto& [flow, ports] : ports_of) EXPECT_EQ(ports.size(), 1U) << flow;
  for (const auto& out : bench.out) {  // binomial: 100 +- 8 a port
    EXPECT_GT(out.size() / 3, 60U);
    EXPECT_LT(out.size() / 3, 140U);
  }
}

TEST(EqualCost, SprayedPacketsTakeTurns) {
  B bench(equal_costs(true));
  for (int i = 0; i < 300; ++i)
    bench.send({.flow = {ip("10.0.1.1"), ip("10.9.1.1"), 1, 2}}, Time{i * 1ms});
  bench.run();
  for (const auto& out : bench.out) EXPECT_EQ(out.size(), 100U);
}

// Two switches in a row have the same group. Flows that the first sends to one port must
// still spread at the second.
TEST(EqualCost, SwitchesChooseIndependently) {
  const auto config = equal_costs(false);
  RouteTable first(config, 0), second(config, 1);
  RouteTable::Spreading spreading = first.make_spreading(1);
  std::array<std::array<std::uint32_t, 3>, 3> both{};
  for (std::uint32_t i = 0; i < 9'000; ++i) {
    const FlowKey flow{ip("10.0.1.1") + i / 100, ip("10.9.1.1"),
                       static_cast<std::uint16_t>(30'000 + i % 100), 80};
    const auto* target = first.find(flow.destination_address);
    ++both[first.choose(*target, flow, {}, spreading).port]
          [second.choose(*second.find(flow.destination_address), flow, {}, spreading).port];
  }
  for (const auto& row : both)
    for (const auto n : row) {
      EXPECT_GT(n, 850U);
      EXPECT_LT(n, 1'150U);
    }
}

// rte_lpm and the core table give equal answers, including default and host routes.
TEST(RouteTables, LpmAgreesWithCore) {
  auto config = B::config();
  config.routes.clear();
  RandomStream random(5, 0, RandomPurpose::kTest);
  const char* const ports[] = {"east", "south", "west"};
  for (unsigned i = 0; i < 200; ++i) {
    const unsigned length = i == 0 ? 0 : 8 + random.next_u32() % 25;
    const std::uint32_t mask = length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
    const std::uint32_t address = (0x0A000000 | (random.next_u32() & 0x00030703)) & mask;
    std::string text;
    for (const int shift : {24, 16, 8, 0})
      text += (text.empty() ? "" : ".") + std::to_string(address >> shift & 255);
    const std::string prefix = text + "/" + std::to_string(length);
    if (std::ranges::find(config.routes, prefix, &RouteConfig::prefix) == config.routes.end())
      config.routes.push_back({prefix, ports[random.next_u32() % 3]});
  }
  auto lpm_config = config;
  lpm_config.route_table = RouteTableKind::kLpm;
  const RouteTable core(config, 0), lpm(lpm_config, 0);
  std::set<std::uint16_t> seen;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t a =
        i % 10 == 0 ? random.next_u32() : 0x0A000000 | (random.next_u32() & 0x00030707);
    ASSERT_EQ(core.port_to(a), lpm.port_to(a)) << a;
    seen.insert(core.port_to(a).value());
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST(Neighbours, GetTheirMacAndTheSwitchsOwnAsSource) {
  auto config = B::config();
  config.mac = "02:00:00:00:00:fe";
  config.neighbours = {{"10.0.3.7", "02:aa:00:00:00:07", "south"},
                       {"10.0.9.1", "02:aa:00:00:00:91", "east"}};
  config.routes.push_back({.prefix = "10.7.0.0/16", .via = {"10.0.9.1"}});
  B bench(config);
  const auto macs = [](const Arrival& a) {
    return std::pair(Bytes(a.bytes.begin(), a.bytes.begin() + 6),
                     Bytes(a.bytes.begin() + 6, a.bytes.begin() + 12));
  };
  bench.send({.flow = {ip("10.0.1.1"), ip("10.0.3.7"), 1, 2}}, Time{0s});
  bench.send({.flow = {ip("10.0.1.1"), ip("10.7.1.1"), 1, 2}}, Time{1ms});
  bench.send({.flow = {ip("10.0.1.1"), ip("10.0.3.8"), 1, 2}}, Time{2ms});
  bench.run();
  ASSERT_EQ(bench.out[B::kSouth].size(), 1U) << "a neighbour is where it says, not its prefix";
  EXPECT_EQ(macs(bench.out[B::kSouth].arrivals[0]),
            std::pair(Bytes({2, 0xAA, 0, 0, 0, 7}), Bytes({2, 0, 0, 0, 0, 0xFE})));
  ASSERT_EQ(bench.out[B::kEast].size(), 2U);
  EXPECT_EQ(macs(bench.out[B::kEast].arrivals[0]),
            std::pair(Bytes({2, 0xAA, 0, 0, 0, 0x91}), Bytes({2, 0, 0, 0, 0, 0xFE})));
  EXPECT_EQ(macs(bench.out[B::kEast].arrivals[1]).first, Bytes({2, 0, 10, 0, 3, 8}))
      << "no neighbour: as it came";
  for (const auto& out : bench.out)
    for (const auto& a : out.arrivals) {
      EXPECT_EQ(a.ttl, 63);
      EXPECT_TRUE(a.checksum_valid);
    }
}

TEST(Arp, IsAnsweredForOwnAddressesAndRoutedElse) {
  auto config = B::config();
  config.mac = "02:00:00:00:00:fe";
  config.addresses = {{"10.0.1.254"}};
  B bench(config);
  receive(bench, B::kSouth, arp_request(ip("10.0.4.1"), ip("10.0.1.254")), Time{0s});
  receive(bench, B::kSouth, tagged(arp_request(ip("10.0.4.1"), ip("10.0.1.254")), 12), Time{1ms});
  receive(bench, B::kSouth, arp_request(ip("10.0.4.1"), ip("10.0.3.1")), Time{2ms});
  bench.run();
  ASSERT_EQ(bench.out[B::kSouth].size(), 2U) << "back out of the port it came from";
  const Bytes expected = {2,  0, 10, 0,   4, 1, 2,  0, 0, 0, 0,  0xFE, 8, 6,
                          0,  1, 8,  0,   6, 4, 0,  2, 2, 0, 0,  0,    0, 0xFE,
                          10, 0, 1,  254, 2, 0, 10, 0, 4, 1, 10, 0,    4, 1};
  const Bytes& got = bench.out[B::kSouth].arrivals[0].bytes;
  EXPECT_EQ(Bytes(got.begin(), got.begin() + 42), expected);
  const Bytes& in_vlan = bench.out[B::kSouth].arrivals[1].bytes;
  EXPECT_EQ(in_vlan[13], 0) << "the tag stays";
  EXPECT_EQ(in_vlan[15], 12);
  EXPECT_EQ(in_vlan[25], 2) << "a reply";
  EXPECT_EQ(bench.out[B::kEast].size(), 1U) << "where a packet to its target would go";
  bench.send({.flow = {ip("10.0.4.1"), ip("10.0.1.254"), 1, 2}}, Time{3ms});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kForSwitch), 1U);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

TEST(Ipv6, IsRoutedMarkedAndLimited) {
  auto config = B::config();
  config.routes.push_back({"2001:db8:3::/48", "east"});
  config.routes.push_back({"2001:db8:3:1::/64", "south"});
  config.ports[B::kEast].marker.threshold_packets = 1;
  B bench(config);
  const Ipv6FrameSpec spec{
      .destination = ip6("2001:db8:3::1"), .traffic_class = 0xB8 | 2, .payload_bytes = 900};
  for (int i = 0; i < 3; ++i) receive(bench, B::kWest, ipv6_bytes_of(spec), Time{0s});
  receive(bench, B::kWest, ipv6_bytes_of({.destination = ip6("2001:db8:3:1::5")}), Time{0s});
  receive(bench, B::kWest, ipv6_bytes_of({.destination = ip6("2001:db8:4::1")}), Time{0s});
  receive(bench, B::kWest, ipv6_bytes_of({.destination = ip6("2001:db8:3::1"), .hop_limit = 1}),
          Time{0s});
  bench.run();
  ASSERT_EQ(bench.out[B::kEast].size(), 3U);
  EXPECT_EQ(bench.out[B::kSouth].size(), 1U) << "the longer prefix";
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kNoRoute), 1U);
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kTtlExpired), 1U);
  std::size_t marked = 0;
  for (const auto& a : bench.out[B::kEast].arrivals) {
    Bytes expected = ipv6_bytes_of(spec);
    expected[21] = 63;
    const bool ce = (a.bytes[15] & 0x30) == 0x30;
    if (ce) expected[15] |= 0x30;
    marked += ce;
    EXPECT_TRUE(std::equal(a.bytes.begin(), a.bytes.end(), expected.begin()))
        << "hop limit and CE, nothing else";
  }
  EXPECT_EQ(marked, 1U);
  EXPECT_EQ(bench.marks(B::kEast, TrafficClass::kDdl, MarkReason::kMarker), 1U);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

// An IPv6 source matches no accepted IPv4 prefix, whatever its first 32 bits are.
TEST(Ipv6, IsNeverASignal) {
  auto config = B::config();
  config.signals.accept_from = {"0.0.0.0/0"};
  config.routes.push_back({"::/0", "east"});
  B bench(config);
  receive(bench, B::kWest, ipv6_bytes_of({.traffic_class = start_tos(20), .tcp_flags = 0}),
          Time{0s});
  bench.send(B::start(0, 1000, 20), Time{1ms});
  bench.run();
  const SwitchReport r = bench.report({});
  EXPECT_EQ(bench.out[B::kEast].size(), 2U);
  EXPECT_EQ(r.queues[B::kEast].arrived[TrafficClass::kSignal], 1U) << "the one of IPv4";
  EXPECT_EQ(r.queues[B::kEast].starts_armed, 1U);
}

TEST(BadInput, OfTheNewHeadersIsCountedByName) {
  struct Row {
    Bytes frame;
    DropReason reason;
  };
  Bytes cut = ipv6_bytes_of({});
  cut.resize(40);
  const Bytes plain = bytes_of(FrameSpec{});
  Bytes oversized = plain;
  oversized[16] = 0xFF;
  reseal_ipv4(oversized);
  const Row rows[] = {
      {cut, DropReason::kMalformed},
      {oversized, DropReason::kMalformed},
      {ipv6_bytes_of({.extensions = Bytes(9, 60)}), DropReason::kIpv6Extensions},
      {tagged(tagged(tagged(plain, 1), 2), 3), DropReason::kVlanDepth},
  };
  for (const auto& row : rows) {
    B bench;
    bench.receive(B::kWest, packet_of(bench.pool.get(), row.frame), Time{});
    EXPECT_EQ(bench.drops(TrafficClass::kBackground, row.reason), 1U)
        << kDropReasonNames[static_cast<std::size_t>(row.reason)];
    EXPECT_TRUE(bench.report({}).ledger_balanced);
    EXPECT_EQ(bench.pool.in_use(), 0U);
  }
}

}  // namespace
}  // namespace outrider::routing_test
