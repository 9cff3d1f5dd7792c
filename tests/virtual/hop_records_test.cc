// Goal: the records that switches write into probes add up: for every probe, the sojourns of
// its hops plus serialisation and propagation are its latency, to the nanosecond.
// Method: Poisson probes and a burst through two bottlenecks in a row, in virtual time. The
// records are compared with the switches' own counters.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/support/pool.h"
#include "tests/unit/streams/stream_fixture.h"
#include "tools/lab/simulation/simulation.h"

namespace outrider::hop_records_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;
using Unit = StreamRate::Unit;

constexpr std::uint64_t kFirstRate = 100'000'000;
constexpr std::uint64_t kSecondRate = 80'000'000;
constexpr std::uint32_t kFrameBytes = 200;  // FCS included

/// Returns left host - near - far - right host. Both switches record hops.
SwitchProcessConfig two_switches() {
  const auto port = [](const char* name, std::uint64_t rate) {
    SwitchPortConfig p;
    p.name = name;
    p.drain_rate = {rate};
    p.queue.limit_packets = 200;
    p.marker.threshold_packets = 200;
    return p;
  };
  SwitchProcessConfig config;
  config.devices = {{.name = "left", .device = "net_null0"},
                    {.name = "right", .device = "net_null1"}};
  SwitchPortConfig host = port("host", 10'000'000'000);
  host.device = "left";
  host.delay = 3us;
  SwitchConfig near;
  near.name = "near";
  near.ports = {host, port("up", kFirstRate)};
  near.routes = {{"10.0.0.0/16", "host"}, {"10.1.0.0/16", "up"}};
  near.hop_records = {.udp_port = 5001, .id = 17};
  SwitchPortConfig out = port("host", kSecondRate);
  out.device = "right";
  out.delay = 5us;
  SwitchConfig far;
  far.name = "far";
  far.ports = {port("down", 10'000'000'000), out};
  far.routes = {{"10.0.0.0/16", "down"}, {"10.1.0.0/16", "host"}};
  far.hop_records = {.udp_port = 5001, .id = {}};
  config.switches = {near, far};
  config.links = {{"near.up", "far.down", 20us}};
  return config;
}

StreamConfig probes() {
  StreamConfig s = stream("probes");
  s.device = "left";
  s.receive_device = "right";
  s.rate = StreamRate{Unit::kPackets, 30'000};
  s.pattern = StreamPattern::kPoisson;
  s.frame_bytes = kFrameBytes;
  s.hops = 2;
  s.udp_checksum = UdpChecksum::kFull;
  s.latency_samples = 10'000;
  return s;
}

/// Returns a stream in bursts of 40 full frames. It goes to another port and is no probe.
StreamConfig others() {
  StreamConfig s = stream("others", "10.0.0.2");
  s.device = "left";
  s.receive_device = "right";
  s.rate = StreamRate{Unit::kPackets, 100'000};
  s.pattern = StreamPattern::kOnOff;
  s.burst_packets = 40;
  s.gap = 20ms;
  s.frame_bytes = 1518;
  s.destination_port = 6000;
  return s;
}

RunResult run(const SwitchProcessConfig& switches, std::vector<StreamConfig> streams,
              std::string* csv = nullptr) {
  TestPool pool(8192, kHeaderRoomBytes);
  GeneratorConfig traffic;
  traffic.devices = {{.name = "left", .device = "net_null0"},
                     {.name = "right", .device = "net_null1"}};
  traffic.streams = std::move(streams);
  traffic.duration = 200ms;
  Simulation simulation(switches, traffic, pool.get());
  simulation.run_until(Time{400ms});
  if (csv != nullptr) *csv = simulation.streams()->hops_csv();
  return simulation.result();
}

/// Returns the time of a probe at L1: preamble, gap and FCS add 24 bytes to the buffer's.
Duration serialisation(std::uint64_t bits_per_second) {
  return Duration{(kFrameBytes - 4 + 24) * 8 * 1'000'000'000ULL / bits_per_second};
}

TEST(HopRecords, SojournsAddUpToTheLatencyOfEveryProbe) {
  std::string csv;
  const RunResult result = run(two_switches(), {probes(), others()}, &csv);
  const StreamReport& r = result.traffic.streams.streams.at(0);
  ASSERT_TRUE(balanced(result.traffic.streams));
  ASSERT_EQ(r.lost, 0U);
  ASSERT_GT(r.distinct, 5'000U);
  EXPECT_EQ(r.hops.probes, r.distinct);
  EXPECT_EQ(r.hops.incomplete, 0U);
  EXPECT_EQ(result.traffic.streams.ends.bad_checksum, 0U) << "rewritten on the way, and right";

  const auto base = 3us + 20us + 5us + serialisation(kFirstRate) + serialisation(kSecondRate);
  std::map<std::uint64_t, std::uint64_t> latency, sojourns, hops;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream fields(line.substr(line.find(',') + 1));
    std::uint64_t v[10];
    char comma;
    for (auto& value : v) fields >> value >> comma;
    const auto sequence = v[1];
    latency[sequence] = v[2];
    ASSERT_EQ(v[3], hops[sequence]++);
    EXPECT_EQ(v[4], v[3] == 0 ? 17U : 1U) << "near's id; far's place in the file";
    EXPECT_EQ(v[5], 1U) << "port";
    sojourns[sequence] += v[7];
  }
  ASSERT_EQ(latency.size(), r.distinct);
  std::uint64_t longest = 0;
  for (const auto& [sequence, all] : latency) {
    EXPECT_EQ(hops[sequence], 2U);
    EXPECT_EQ(all - sojourns[sequence], static_cast<std::uint64_t>(base.count())) << sequence;
    longest = std::max(longest, sojourns[sequence]);
  }
  EXPECT_GT(longest, 3'000'000U) << "some waited behind most of a burst";
}

TEST(HopRecords, AgreeWithTheQueuesCounters) {
  const RunResult result = run(two_switches(), {probes(), others()});
  const StreamReport& r = result.traffic.streams.streams.at(0);
  ASSERT_EQ(r.hops.hops.size(), 2U);
  std::uint64_t counted = 0;
  for (const auto& queue : result.switches.queues) counted += queue.hop_records;
  EXPECT_EQ(counted, 2 * r.distinct);
  for (const auto& hop : r.hops.hops) {
    EXPECT_EQ(hop.probes, r.distinct);
    EXPECT_GT(hop.max_left_packets, 5U);
    EXPECT_GE(hop.max_left_bytes, hop.max_left_packets * 196U);
  }
  EXPECT_EQ(result.traffic.streams.streams.at(1).hops.probes, 0U) << "others carry none";
}

TEST(HopRecords, AHopWithoutRoomIsCountedAndThePacketPasses) {
  StreamConfig s = probes();
  s.hops = 1;
  const RunResult result = run(two_switches(), {s});
  const StreamReport& r = result.traffic.streams.streams.at(0);
  EXPECT_EQ(r.lost, 0U);
  EXPECT_EQ(r.hops.incomplete, r.distinct);
  ASSERT_EQ(r.hops.hops.size(), 1U);
  EXPECT_EQ(r.hops.hops[0].switch_id, 17U);
  std::uint64_t no_room = 0;
  for (const auto& queue : result.switches.queues) no_room += queue.hop_records_no_room;
  EXPECT_EQ(no_room, r.distinct);
}

TEST(HopRecords, AreOffUnlessAsked) {
  SwitchProcessConfig plain = two_switches();
  for (auto& sw : plain.switches) sw.hop_records = {};
  const RunResult result = run(plain, {probes()});
  const StreamReport& r = result.traffic.streams.streams.at(0);
  EXPECT_EQ(r.hops.probes, r.distinct);
  EXPECT_TRUE(r.hops.hops.empty());
}

}  // namespace
}  // namespace outrider::hop_records_test
