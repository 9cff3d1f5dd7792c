// Goal: `loss` drops a share of packets by seed under its own name. It drops no signals and
// does not depend on the queue. ARP goes to its target's port. Method: one switch.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "switch/config/config_toml.h"
#include "switch/runtime/network.h"
#include "tests/unit/switch/egress/port_bench.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::loss_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

constexpr std::uint32_t kPackets = 20'000;

/// Returns the sequence numbers that passed `loss`, with one packet every `gap`.
std::vector<std::uint32_t> survivors(double loss, Duration gap, std::uint64_t seed = 1) {
  auto config = B::config();
  config.ports[B::kEast].loss = loss;
  config.ports[B::kEast].marker.kind = MarkerKind::kTailDrop;
  config.ports[B::kEast].queue.limit_packets = kPackets;
  B bench;
  Switch sw(config, bench.loop, {.tap = {}, .seed = seed});
  Collector out;
  Link link(bench.loop, Duration{}, out, 0);
  sw.port(B::kEast).transmitter().output().connect(link);
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    FrameSpec spec = B::background();
    spec.sequence = i;
    bench.loop.run_until(Time{} + gap * i);
    sw.receive(B::kWest, make_packet(bench.pool.get(), spec), Time{} + gap * i);
  }
  bench.run();
  SwitchReport r;
  r.ledger_balanced = true;
  sw.fill(r, Time{});
  EXPECT_TRUE(r.ledger_balanced);
  const auto reason = static_cast<std::size_t>(DropReason::kInjectedLoss);
  EXPECT_EQ(r.drops[TrafficClass::kBackground][reason], kPackets - out.size());
  std::vector<std::uint32_t> numbers;
  for (const auto& arrival : out.arrivals) numbers.push_back(arrival.sequence);
  return numbers;
}

TEST(InjectedLoss, IsTheShareAskedForAndDependsOnTheSeedAlone) {
  EXPECT_EQ(survivors(0, 10us).size(), kPackets);
  const auto one_percent = survivors(0.01, 10us);
  EXPECT_NEAR(static_cast<double>(kPackets - one_percent.size()), 200.0, 5 * 14.1) << "5 sigma";
  EXPECT_EQ(survivors(0.01, 20us), one_percent) << "not on the time";
  EXPECT_NE(survivors(0.01, 10us, 2), one_percent);
  EXPECT_NEAR(static_cast<double>(survivors(0.5, 10us).size()), kPackets / 2.0, 5 * 70.7);
}

TEST(InjectedLoss, SparesSignals) {
  auto config = B::config();
  config.ports[B::kEast].loss = 0.999;
  B bench(config);
  for (std::uint32_t i = 0; i < 50; ++i) bench.send(B::start(i, 1, 10), Time{10us * i});
  bench.fill(50, Time{1ms});
  bench.run();
  EXPECT_EQ(bench.report({}).queues[B::kEast].transmitted[TrafficClass::kSignal], 50U);
  EXPECT_LT(bench.out[B::kEast].size(), 55U);
}

TEST(InjectedLoss, OfAllIsALinkThatIsDown) {
  auto config = B::config();
  config.ports[B::kEast].loss = 1;
  B bench(config);
  bench.send(B::start(0, 1, 10), Time{});
  bench.fill(50, Time{1ms});
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].size(), 0U) << "a signal does not pass either";
  EXPECT_EQ(bench.drops(TrafficClass::kSignal, DropReason::kInjectedLoss), 1U);
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kInjectedLoss), 50U);
}

// -- by number

/// Returns a port that loses and marks by number.
SwitchPortConfig numbered_port() {
  SwitchPortConfig port = port_config();
  port.lose_packets = {2, 5, 9};
  port.mark_packets = {1, 5, 7};
  return port;
}

TEST(NumberedPackets, AreLostAndMarkedByTheirNumberAmongThoseWithPayload) {
  PortBench bench(numbered_port());
  for (std::uint32_t i = 1; i <= 10; ++i) {
    bench.send(0, Ecn::kEct0, Time{1ms * i}, 0);  // a pure ACK has no number
    bench.send(0, Ecn::kEct0, Time{1ms * i});
  }
  bench.run();
  std::vector<std::uint32_t> arrived, marked;
  for (const auto& a : bench.out.arrivals) {
    if (a.bytes.size() < 100) continue;
    arrived.push_back(static_cast<std::uint32_t>((a.at - Time{}) / 1ms));
    if ((a.bytes[15] & 3) == 3) marked.push_back(arrived.back());
  }
  EXPECT_EQ(arrived, (std::vector<std::uint32_t>{1, 3, 4, 6, 7, 8, 10}));
  EXPECT_EQ(marked, (std::vector<std::uint32_t>{1, 7})) << "5 is lost";
  EXPECT_EQ(bench.drops(0, DropReason::kInjectedLoss), 3U);
  const auto marks = bench.reports()[0].marks[TrafficClass::kBackground];
  EXPECT_EQ(marks[MarkReason::kInjected], 2U);
  EXPECT_EQ(marks[MarkReason::kMarker], 0U);
  EXPECT_TRUE(bench.balanced());
}

TEST(NumberedPackets, AreNotMarkedWithoutEcn) {
  PortBench bench(numbered_port());
  bench.send(0, Ecn::kNotEct, Time{});
  bench.run();
  ASSERT_EQ(bench.out.size(), 1U);
  EXPECT_EQ(bench.out.arrivals[0].bytes[15] & 3, 0);
  EXPECT_EQ(bench.reports()[0].marks_not_ect[TrafficClass::kBackground], 1U);
}

TEST(NumberedPackets, AreValidated) {
  for (const auto& numbers : {std::vector<std::uint32_t>{0}, {7, 7}, {7, 3}}) {
    SwitchProcessConfig config;
    config.switches = {B::config()};
    config.switches[0].ports[0].lose_packets = numbers;
    config.switches[0].ports[1].mark_packets = numbers;
    const auto issues = validate(config);
    const auto at = [&](std::string_view key) {
      return std::ranges::count_if(issues,
                                   [&](const ConfigIssue& i) { return i.key.starts_with(key); });
    };
    EXPECT_EQ(at("switch[0].port[0].lose_packets"), 1) << numbers.front();
    EXPECT_EQ(at("switch[0].port[1].mark_packets"), 1) << numbers.front();
  }
}

TEST(InjectedLoss, IsValidated) {
  for (const double loss : {-0.1, 1.1, 2.0}) {
    SwitchProcessConfig config;
    config.switches = {B::config()};
    config.switches[0].ports[0].loss = loss;
    const auto issues = validate(config);
    EXPECT_EQ(std::ranges::count(issues, "switch[0].port[0].loss", &ConfigIssue::key), 1) << loss;
  }
}

// -- ARP

std::vector<std::uint8_t> arp(std::uint32_t sender, std::uint32_t target, std::uint8_t operation) {
  std::vector<std::uint8_t> f(42);
  std::fill_n(f.begin(), 6, operation == 1 ? 0xFF : 0x02);
  const std::uint8_t fixed[] = {0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, operation};
  std::copy(std::begin(fixed), std::end(fixed), f.begin() + 12);
  for (std::size_t i = 0; i < 4; ++i) {
    f[28 + i] = static_cast<std::uint8_t>(sender >> (24 - 8 * i));
    f[38 + i] = static_cast<std::uint8_t>(target >> (24 - 8 * i));
  }
  return f;
}

TEST(Arp, GoesWhereItsTargetIsAndIsLeftAsItIs) {
  auto config = B::config();
  config.ports[B::kEast].marker.threshold_packets = 1;
  B bench(config);
  bench.fill(10, Time{});  // a queue above its threshold
  const auto request = arp(ip("10.0.1.1"), ip("10.0.3.9"), 1);
  bench.receive(B::kWest, packet_of(bench.pool.get(), request), Time{});
  const auto reply = arp(ip("10.0.3.9"), ip("10.0.1.1"), 2);
  bench.receive(B::kEast, packet_of(bench.pool.get(), reply), Time{});
  bench.run();
  ASSERT_EQ(bench.out[B::kEast].size(), 11U);
  EXPECT_EQ(bench.out[B::kEast].arrivals.back().bytes, request) << "not marked, TTL untouched";
  ASSERT_EQ(bench.out[B::kWest].size(), 1U);
  EXPECT_EQ(bench.out[B::kWest].arrivals[0].bytes, reply);
}

TEST(Arp, OtherHardwareIsNotIpv4AndTruncatedOnesAreMalformed) {
  B bench;
  auto frame = arp(ip("10.0.1.1"), ip("10.0.3.9"), 1);
  for (const std::size_t byte : {15U, 16U, 18U, 19U, 20U, 21U}) {
    auto other = frame;
    other[byte] ^= 0x40;
    bench.receive(B::kWest, packet_of(bench.pool.get(), other), Time{});
  }
  frame.resize(41);
  bench.receive(B::kWest, packet_of(bench.pool.get(), frame), Time{});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kNotIpv4), 6U);
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kMalformed), 1U);
  bench.receive(B::kWest, packet_of(bench.pool.get(), arp(1, ip("10.9.9.9"), 1)), Time{});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kNoRoute), 1U);
}

}  // namespace
}  // namespace outrider::loss_test
