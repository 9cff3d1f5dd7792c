// Goal: every packet has one named end.
#include <gtest/gtest.h>

#include <functional>

#include "common/core/random.h"
#include "switch/runtime/network.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::ledger_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

TEST(Drops, HaveNames) {
  using Spoil = std::function<void(std::vector<std::uint8_t>&)>;
  struct Row {
    Spoil spoil;
    DropReason reason;
  };
  const Row rows[] = {
      {[](auto& f) { f[12] = 0x86, f[13] = 0xDD; }, DropReason::kNotIpv4},
      {[](auto& f) { f.resize(20); }, DropReason::kMalformed},
      {[](auto& f) { f[24] ^= 0xFF; }, DropReason::kBadChecksum},
      {[](auto& f) { f[22] = 1, reseal_ipv4(f); }, DropReason::kTtlExpired},
      {[](auto& f) { f[22] = 0, reseal_ipv4(f); }, DropReason::kTtlExpired},
      {[](auto& f) { f[30] = 11, reseal_ipv4(f); }, DropReason::kNoRoute},
  };
  for (const auto& row : rows) {
    B bench;
    auto frame = bytes_of(B::background());
    row.spoil(frame);
    bench.receive(B::kWest, packet_of(bench.pool.get(), frame), Time{});
    bench.run();
    const SwitchReport r = bench.report({});
    std::uint64_t all = 0;
    for (const auto& by_class : r.drops.values)
      for (const auto n : by_class) all += n;
    EXPECT_EQ(all, 1U);
    EXPECT_EQ(bench.drops(TrafficClass::kBackground, row.reason), 1U)
        << kDropReasonNames[static_cast<std::size_t>(row.reason)];
    EXPECT_TRUE(r.ledger_balanced);
    EXPECT_EQ(bench.pool.in_use(), 0U) << "dropped means released";
  }
}

TEST(Drops, TailByPacketsAndByBytes) {
  auto config = B::config();
  config.ports[B::kEast].queue = {.limit_packets = 5, .limit_bytes = {}};
  config.ports[B::kSouth].queue = {.limit_packets = 60, .limit_bytes = 4'500};
  B bench(config);
  bench.fill(10, Time{}, "10.0.3.9");
  bench.fill(10, Time{}, "10.0.4.9");
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].fifo().occupancy_packets(), 5U);
  EXPECT_EQ(bench.sw.port(B::kSouth).queues()[0].fifo().occupancy_packets(), 4U)
      << "a fifth does not fit in 4500 bytes";
  FrameSpec small = B::background("10.0.4.9");
  small.payload_bytes = 446;
  bench.send(small, Time{});
  EXPECT_EQ(bench.sw.port(B::kSouth).queues()[0].fifo().occupancy_packets(), 5U)
      << "500 bytes do, exactly";
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 4U);
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kTailBytes), 5U);
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].size(), 6U);
  EXPECT_EQ(bench.out[B::kSouth].size(), 6U);
}

// A packet that arrives at the instant at which another leaves can take its place.
TEST(Drops, ADepartureAtTheSameInstantComesFirst) {
  auto config = B::config();
  config.ports[B::kEast].queue.limit_packets = 1;
  B bench(config);
  bench.fill(2, Time{});
  bench.send(B::background(), Time{B::kFrameTime - 1ns});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 1U);
  // The packet arrives before the loop has run, so the port itself must release the other first.
  bench.sw.receive(B::kWest, make_packet(bench.pool.get(), B::background()), Time{B::kFrameTime});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 1U);
}

// Random traffic enters tiny queues of one switch; the identities hold at many instants.
TEST(Ledger, BalancesAtEveryInstantOfASwitch) {
  std::array<std::uint64_t, kDropReasons> seen{};
  std::uint64_t transmitted = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto config = B::config();
    for (auto& port : config.ports) port.queue = {.limit_packets = 4, .limit_bytes = {}};
    config.ports[B::kSouth].queue.limit_bytes = 3'000;
    config.signals.token_burst = 1e6;
    B bench(config);
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Time now{};
    std::uint64_t sent = 0;
    for (int i = 0; i < 3'000; ++i) {
      now += Duration{random.next_u32() % (i / 300 % 2 == 0 ? 3'000 : 20'000)};
      const std::uint32_t w = random.next_u32() % 5;
      FrameSpec spec = B::background(random.next_u32() % 2 == 0 ? "10.0.3.9" : "10.0.4.9");
      if (random.next_u32() % 3 == 0) spec = B::data(w, random.next_u32());
      if (random.next_u32() % 8 == 0) spec = B::start(w, random.next_u32(), 5);
      if (random.next_u32() % 20 == 0) spec.ttl = 1;
      if (random.next_u32() % 20 == 0) spec.flow.destination_address = ip("11.0.0.1");
      auto frame = bytes_of(spec);
      if (random.next_u32() % 20 == 0) frame[12 + random.next_u32() % 40] ^= 0x11;
      bench.receive(random.next_u32() % 3, packet_of(bench.pool.get(), frame), now);
      ++sent;
      if (i % 10 != 0) continue;
      const SwitchReport r = bench.report(now);
      ASSERT_TRUE(r.ledger_balanced) << "seed " << seed << " step " << i;
      ASSERT_EQ(r.received, sent);
      std::uint64_t dropped = 0;
      for (const auto& by_class : r.drops.values)
        for (const auto n : by_class) dropped += n;
      ASSERT_EQ(sent, r.transmitted + dropped + r.resident);
      const std::uint64_t on_wires =
          bench.links[0]->resident() + bench.links[1]->resident() + bench.links[2]->resident();
      ASSERT_EQ(bench.pool.in_use(), r.resident + on_wires) << "counters agree with the pool";
    }
    bench.run();
    const SwitchReport r = bench.report(now);
    EXPECT_EQ(r.resident, 0U);
    EXPECT_EQ(r.transmitted, bench.out[0].size() + bench.out[1].size() + bench.out[2].size());
    transmitted += r.transmitted;
    for (const auto& by_class : r.drops.values)
      for (std::size_t i = 0; i < kDropReasons; ++i) seen[i] += by_class[i];
  }
  EXPECT_GT(transmitted, 1'000U);
  for (const auto r : {DropReason::kTailPackets, DropReason::kTailBytes, DropReason::kNotIpv4,
                       DropReason::kMalformed, DropReason::kBadChecksum, DropReason::kTtlExpired,
                       DropReason::kNoRoute})
    EXPECT_GT(seen[static_cast<std::size_t>(r)], 10U)
        << kDropReasonNames[static_cast<std::size_t>(r)];
}

// -- a network of two switches: west - left = right - east

SwitchProcessConfig two_switches() {
  SwitchProcessConfig c;
  c.devices = {{.name = "d0", .device = "net_null0"}, {.name = "d1", .device = "net_null1"}};
  const auto port = [](const std::string& name, std::optional<std::string> device, Duration delay) {
    SwitchPortConfig p;
    p.name = name;
    p.drain_rate = BitRate{1'000'000'000};
    p.queue.limit_packets = 6;
    p.device = std::move(device);
    p.delay = delay;
    return p;
  };
  SwitchConfig left, right;
  left.name = "left";
  left.ports = {port("host", "d0", 3us), port("trunk", {}, {})};
  left.routes = {{"10.0.1.0/24", "host"}, {"0.0.0.0/0", "trunk"}};
  right.name = "right";
  right.ports = {port("trunk", {}, {}), port("host", "d1", 5us)};
  right.routes = {{"10.0.3.0/24", "host"}, {"0.0.0.0/0", "trunk"}};
  c.switches = {left, right};
  c.links = {{"left.trunk", "right.trunk", 20us}};
  return c;
}

struct Network {
  Network() : net(two_switches(), loop) {
    net.connect(0, west, 0);
    net.connect(1, east, 0);
  }
  ~Network() { net.flush(); }
  TestPool pool;
  EventLoop loop;
  Collector west, east;
  SwitchNetwork net;
};

TEST(Network, DelaysAndSerialisationAddUp) {
  Network n;
  ASSERT_EQ(n.net.edges().size(), 2U);
  FrameSpec spec{.payload_bytes = 922};  // 976 + 24 on the wire: 8 us a hop
  n.net.ingress(0).push(make_packet(n.pool.get(), spec), Time{0us});
  n.loop.run_until(Time{1ms});
  ASSERT_EQ(n.east.size(), 1U);
  EXPECT_EQ(n.east.arrivals[0].at, Time{3us + 8us + 20us + 8us + 5us});
  EXPECT_EQ(n.east.arrivals[0].ttl, 62) << "two hops";
  EXPECT_TRUE(n.east.arrivals[0].checksum_valid);
}

TEST(Network, DevicesFindTheirPortBySourceAddress) {
  Network n;
  n.net.receive_from_device(
      1, make_packet(n.pool.get(), {.flow = {ip("10.0.3.1"), ip("10.0.1.1"), 1, 2}}), Time{0us});
  n.net.receive_from_device(
      0, make_packet(n.pool.get(), {.flow = {ip("10.9.9.9"), ip("10.0.3.1"), 1, 2}}), Time{0us});
  n.loop.run_until(Time{1ms});
  EXPECT_EQ(n.west.size(), 1U);
  EXPECT_EQ(n.east.size(), 1U) << "an unknown source comes in by the device's first port";
  EXPECT_TRUE(n.net.report(Time{1ms}).ledger_balanced);
}

TEST(Ledger, BalancesAtEveryInstantOfANetwork) {
  std::uint64_t dropped = 0, on_links = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Network n;
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Time now{};
    std::uint64_t sent = 0;
    for (int i = 0; i < 2'000; ++i) {
      now += Duration{random.next_u32() % (i / 200 % 2 == 0 ? 6'000 : 40'000)};
      n.loop.run_until(now);
      const bool from_west = random.next_u32() % 2 == 0;
      FrameSpec spec{.payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 1400)};
      if (!from_west) spec.flow = spec.flow.reversed();
      if (random.next_u32() % 30 == 0) spec.ttl = 2;  // dies at the second hop
      n.net.receive_from_device(from_west ? 0 : 1, make_packet(n.pool.get(), spec), now);
      ++sent;
      if (i % 7 != 0) continue;
      const SwitchReport r = n.net.report(now);
      ASSERT_TRUE(r.ledger_balanced) << "seed " << seed << " step " << i;
      ASSERT_EQ(r.resident + r.on_links, n.net.resident());
      ASSERT_EQ(n.pool.in_use(), n.net.resident());
      on_links += r.on_links;
    }
    n.loop.run_until(now + 10ms);
    const SwitchReport r = n.net.report(now + 10ms);
    EXPECT_EQ(n.net.resident(), 0U);
    std::uint64_t lost = 0;
    for (const auto& by_class : r.drops.values)
      for (const auto d : by_class) lost += d;
    EXPECT_EQ(sent, n.west.size() + n.east.size() + lost);
    dropped += lost;
  }
  EXPECT_GT(dropped, 100U);
  EXPECT_GT(on_links, 1'000U);
}

TEST(Network, FlushReleasesEverythingAndKeepsItCountedAsResident) {
  Network n;
  for (int i = 0; i < 5; ++i)
    n.net.ingress(0).push(make_packet(n.pool.get(), {.payload_bytes = 922}), Time{i * 10us});
  n.loop.run_until(Time{30us});
  const std::uint64_t before = n.net.resident();
  ASSERT_GT(before, 2U);
  n.net.flush();
  EXPECT_EQ(n.pool.in_use(), 0U);
}

TEST(Forwarding, MacRoutesComeFirstAndLeaveTheTtl) {
  auto config = B::config();
  config.mac_routes = {{"02:00:0a:00:03:09", "south"}};
  B bench(config);
  bench.fill(1, Time{});              // 10.0.3.9: its MAC has a route
  bench.fill(1, Time{}, "10.0.3.8");  // its MAC has none
  bench.run();
  ASSERT_EQ(bench.out[B::kSouth].size(), 1U);
  EXPECT_EQ(bench.out[B::kSouth].arrivals[0].ttl, 64) << "bridged";
  ASSERT_EQ(bench.out[B::kEast].size(), 1U);
  EXPECT_EQ(bench.out[B::kEast].arrivals[0].ttl, 63) << "routed";
}

}  // namespace
}  // namespace outrider::ledger_test
