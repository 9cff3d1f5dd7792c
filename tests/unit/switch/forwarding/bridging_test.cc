// Goal: a switch that learns sends each packet to its station's port and floods packets to
// unknown stations. Every packet and every copy has one named end.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/core/random.h"
#include "tests/support/ipv6_frames.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::bridging_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;
using Bytes = std::vector<std::uint8_t>;

SwitchConfig bridge() {
  auto config = B::config();
  config.routes.clear();
  config.l2.learning = true;
  config.l2.ageing = 1s;
  return config;
}

/// Returns a frame from station `from` to station `to`, with the addresses of FrameSpec.
Bytes frame(std::uint32_t from, std::uint32_t to) {
  return bytes_of({.flow = {from, to, 1000, 2000}, .payload_bytes = 100});
}

void receive(B& bench, std::uint32_t port, const Bytes& bytes, Time now) {
  bench.receive(port, packet_of(bench.pool.get(), bytes), now);
}

std::vector<std::size_t> sizes(const B& bench) {
  return {bench.out[0].size(), bench.out[1].size(), bench.out[2].size()};
}
using Sizes = std::vector<std::size_t>;

void expect_balanced(B& bench, Time now) {
  bench.run();
  const SwitchReport r = bench.report(now);
  EXPECT_TRUE(r.ledger_balanced);
  std::uint64_t dropped = 0;
  for (const auto& by_class : r.drops.values)
    for (const auto n : by_class) dropped += n;
  EXPECT_EQ(r.received + r.copied, r.transmitted + dropped);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(Bridge, FloodsUntilItKnowsAndAgainWhenItForgets) {
  B bench(bridge());
  receive(bench, B::kWest, frame(1, 2), Time{0s});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{1, 1, 0})) << "unknown: everywhere but where it came from";
  receive(bench, B::kEast, frame(2, 1), Time{10ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{1, 1, 1})) << "1 was heard in the west";
  receive(bench, B::kWest, frame(1, 2), Time{20ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{2, 1, 1})) << "2 was heard in the east";
  EXPECT_EQ(bench.out[B::kEast].arrivals[1].ttl, 64) << "bridged, not routed";
  receive(bench, B::kEast, frame(2, 1), Time{1s + 15ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{2, 1, 2})) << "1 was last heard at 20 ms";
  receive(bench, B::kEast, frame(2, 1), Time{1s + 100ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{2, 2, 3})) << "forgotten, a sixteenth of a second later at most";
  expect_balanced(bench, Time{2s});
  EXPECT_EQ(bench.report({}).copied, 2U);
}

TEST(Bridge, AStationThatMovesIsFollowed) {
  B bench(bridge());
  receive(bench, B::kWest, frame(1, 9), Time{0s});
  receive(bench, B::kSouth, frame(1, 9), Time{1ms});
  bench.run();
  const Sizes before = sizes(bench);
  receive(bench, B::kEast, frame(2, 1), Time{2ms});
  bench.run();
  EXPECT_EQ(bench.out[B::kSouth].size(), before[B::kSouth] + 1);
  EXPECT_EQ(bench.out[B::kWest].size(), before[B::kWest]);
  receive(bench, B::kSouth, frame(3, 1), Time{3ms});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kFiltered), 1U)
      << "both are in the south";
  expect_balanced(bench, Time{1s});
}

TEST(Bridge, GroupAddressesAreFloodedAndReservedOnesAreNot) {
  B bench(bridge());
  const auto to_group = [](std::initializer_list<std::uint8_t> mac) {
    Bytes f = frame(1, 2);
    std::ranges::copy(mac, f.begin());
    return f;
  };
  receive(bench, B::kSouth, to_group({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}), Time{0s});
  receive(bench, B::kSouth, to_group({0x01, 0x00, 0x5E, 0x00, 0x00, 0x01}), Time{1ms});
  receive(bench, B::kSouth, to_group({0x01, 0x80, 0xC2, 0x00, 0x00, 0x10}), Time{2ms});
  receive(bench, B::kSouth, to_group({0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E}), Time{3ms});
  Bytes lldp = frame(1, 2);
  lldp[12] = 0x88, lldp[13] = 0xCC;
  receive(bench, B::kSouth, lldp, Time{4ms});
  receive(bench, B::kSouth, arp_request(1, 2), Time{5ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{5, 0, 5})) << "what is no IP is bridged as well";
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kLinkLocalMac), 1U);
  expect_balanced(bench, Time{1s});
}

TEST(Bridge, VlansLearnApartAndTagsPassUnchanged) {
  B bench(bridge());
  const Bytes sent = tagged(frame(2, 1), 0xA00A);
  receive(bench, B::kWest, tagged(frame(1, 9), 10), Time{0s});
  bench.run();
  const Sizes before = sizes(bench);
  receive(bench, B::kEast, sent, Time{1ms});  // PCP 5, VID 10
  bench.run();
  ASSERT_EQ(bench.out[B::kWest].size(), before[B::kWest] + 1);
  EXPECT_EQ(bench.out[B::kSouth].size(), before[B::kSouth]);
  const Bytes& got = bench.out[B::kWest].arrivals.back().bytes;
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin()));
  receive(bench, B::kEast, tagged(frame(2, 1), 20), Time{2ms});
  bench.run();
  EXPECT_EQ(bench.out[B::kSouth].size(), before[B::kSouth] + 1) << "unknown in VLAN 20";
  expect_balanced(bench, Time{1s});
}

TEST(Bridge, StaticStationsNeitherMoveNorAge) {
  auto config = bridge();
  config.mac_routes = {{"02:00:00:00:00:01", "south"}};
  B bench(config);
  receive(bench, B::kWest, frame(1, 9), Time{0s});  // its address appears at another port
  bench.run();
  const Sizes before = sizes(bench);
  receive(bench, B::kEast, frame(2, 1), Time{1ms});
  bench.run();
  EXPECT_EQ(bench.out[B::kSouth].size(), before[B::kSouth] + 1) << "the claim is not believed";
  receive(bench, B::kEast, frame(2, 1), Time{1h});
  receive(bench, B::kEast, tagged(frame(2, 1), 77), Time{1h + 1ms});
  bench.run();
  EXPECT_EQ(bench.out[B::kSouth].size(), before[B::kSouth] + 3) << "in every VLAN";
  EXPECT_EQ(bench.out[B::kWest].size(), before[B::kWest]);
  expect_balanced(bench, Time{2h});
}

TEST(Bridge, RoutesWhatIsForItsOwnAddress) {
  auto config = bridge();
  config.mac = "02:00:00:00:00:fe";
  config.routes = {{"10.0.3.0/24", "east"}};
  config.addresses = {{"10.0.1.254", "west"}};
  B bench(config);
  FrameSpec spec{.flow = {ip("10.0.1.1"), ip("10.0.3.1"), 1, 2}};
  Bytes routed = bytes_of(spec);
  const std::uint8_t own[] = {2, 0, 0, 0, 0, 0xFE};
  std::ranges::copy(own, routed.begin());
  receive(bench, B::kWest, routed, Time{0s});
  bench.run();
  ASSERT_EQ(sizes(bench), (Sizes{1, 0, 0}));
  EXPECT_EQ(bench.out[B::kEast].arrivals[0].ttl, 63);
  // A frame to another station is bridged, whatever its IP address is.
  receive(bench, B::kWest, bytes_of(spec), Time{1ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{2, 1, 0}));
  EXPECT_EQ(bench.out[B::kEast].arrivals[1].ttl, 64);
  // ARP for the switch's address is answered and not flooded. For other addresses it is flooded.
  receive(bench, B::kWest, arp_request(ip("10.0.1.1"), ip("10.0.1.254")), Time{2ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{2, 1, 1}));
  receive(bench, B::kSouth, arp_request(ip("10.0.1.7"), ip("10.0.1.254")), Time{3ms});
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{3, 1, 2})) << "asked at another port: not its address there";
  routed[12] = 0x88, routed[13] = 0xCC;
  receive(bench, B::kWest, routed, Time{4ms});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kForSwitch), 1U);
  expect_balanced(bench, Time{1s});
}

// CE of one copy must not appear in another. The east's queue is long, the south's is empty.
TEST(Bridge, CopiesAreMarkedEachByItsOwnQueue) {
  auto config = bridge();
  config.ports[B::kEast].marker.threshold_packets = 1;
  B bench(config);
  const auto flooded = [](std::uint32_t n) {
    Bytes f = bytes_of({.flow = {100 + n, 2, 1, 2}, .tos = 2, .payload_bytes = 900});
    std::fill_n(f.begin(), 6, 0xFF);
    return f;
  };
  for (std::uint32_t n = 0; n < 3; ++n) receive(bench, B::kWest, flooded(n), Time{0s});
  bench.run();
  ASSERT_EQ(sizes(bench), (Sizes{3, 3, 0}));
  EXPECT_EQ(bench.out[B::kEast].count([](const Arrival& a) { return a.ecn() == Ecn::kCe; }), 1U);
  EXPECT_EQ(bench.out[B::kSouth].count([](const Arrival& a) { return a.ecn() == Ecn::kCe; }), 0U);
  for (const auto& out : bench.out)
    for (const auto& a : out.arrivals) EXPECT_TRUE(a.checksum_valid);
  expect_balanced(bench, Time{1s});
}

TEST(Bridge, ACopyWithoutABufferHasAName) {
  B bench(bridge());
  std::vector<Packet*> taken;
  Packet* last = packet_of(bench.pool.get(), frame(1, 2));
  while (Packet* p = rte_pktmbuf_alloc(&bench.pool.get())) taken.push_back(p);
  bench.receive(B::kWest, last, Time{0s});
  for (Packet* p : taken) release(p);
  bench.run();
  EXPECT_EQ(sizes(bench), (Sizes{0, 1, 0})) << "the packet itself goes out of the last port";
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kFloodNoBuffer), 1U);
  expect_balanced(bench, Time{1s});
}

// Stations talk at random, at random ports, with ageing, moves, a tiny table, bad frames and
// tiny queues. A frame is flooded exactly if a model of the table does not know its station.
TEST(Bridge, KeepsItsLedgerUnderRandomTraffic) {
  std::uint64_t copied = 0, full = 0;
  std::array<std::uint64_t, kDropReasons> seen{};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    auto config = bridge();
    config.l2.max_entries = seed % 2 == 0 ? 10 : 1000;
    config.l2.ageing = 20ms;
    for (auto& port : config.ports) port.queue = {.limit_packets = 3, .limit_bytes = {}};
    B bench(config);
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Time now{};
    for (int i = 0; i < 3'000; ++i) {
      now += Duration{random.next_u32() % (i / 200 % 2 == 0 ? 20'000 : 500)};
      Bytes f = frame(random.next_u32() % 30, random.next_u32() % 30);
      if (random.next_u32() % 10 == 0) std::fill_n(f.begin(), 6, 0xFF);
      if (random.next_u32() % 20 == 0) f = tagged(f, static_cast<std::uint16_t>(i % 5));
      if (random.next_u32() % 20 == 0) f[12 + random.next_u32() % 30] ^= 0x11;
      if (random.next_u32() % 50 == 0) f.resize(random.next_u32() % 40);
      receive(bench, random.next_u32() % 3, f, now);
      if (i % 16 != 0) continue;
      const SwitchReport r = bench.report(now);
      ASSERT_TRUE(r.ledger_balanced) << "seed " << seed << " step " << i;
    }
    expect_balanced(bench, now);
    const SwitchReport r = bench.report(now);
    copied += r.copied;
    for (const auto& by_class : r.drops.values)
      for (std::size_t i = 0; i < kDropReasons; ++i) seen[i] += by_class[i];
    const auto* stations = bench.sw.lane(0).forwarding.stations.get();
    full += stations->counters().refused_full;
    EXPECT_EQ(stations->counters().learned, stations->counters().aged + stations->size());
  }
  EXPECT_GT(copied, 1'000U);
  EXPECT_GT(full, 1'000U);
  for (const auto r : {DropReason::kTailPackets, DropReason::kMalformed, DropReason::kBadChecksum,
                       DropReason::kFiltered})
    EXPECT_GT(seen[static_cast<std::size_t>(r)], 10U)
        << kDropReasonNames[static_cast<std::size_t>(r)];
}

}  // namespace
}  // namespace outrider::bridging_test
