// Goal: the first bytes of each flow, and packets without payload, go to the queue that is served
// first; no flow is reordered; strangers with many flows take no more than early service.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/switch/switch_bench.h"

namespace outrider::demotion_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

constexpr std::uint32_t kEarlyPackets = 4;  ///< of a flow

/// Returns a switch in which all packets are background, in queue 1.
SwitchConfig demoting(std::uint32_t max_flows = 64) {
  auto config = B::config();
  config.ddl_ports = {1, 1};
  config.classes.background_queue = 1;
  config.classes.ddl_queue = 0;
  for (auto& port : config.ports) {
    port.scheduler = SchedulerKind::kStrict;
    port.queue.limit_packets = 100;
    port.marker.kind = MarkerKind::kTailDrop;
    port.regulation = {};
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    port.queues[1].queue.demotion = {
        .after_bytes = kEarlyPackets * B::kPayload, .idle = 400us, .max_flows = max_flows};
  }
  return config;
}

QueueReport own(const B& bench) { return bench.report({}).queues[2 * B::kEast + 1]; }
QueueReport early(const B& bench) { return bench.report({}).queues[2 * B::kEast]; }

constexpr std::uint16_t port_of(std::uint16_t flow) {
  return static_cast<std::uint16_t>(1'000 + flow);
}

FrameSpec packet(std::uint16_t flow, std::uint32_t number) {
  FrameSpec spec = B::background();
  spec.flow.source_port = port_of(flow);
  spec.sequence = number * B::kPayload;
  return spec;
}

void send(B& bench, std::uint16_t flow, std::uint32_t packets, Time now, std::uint32_t from = 0) {
  for (std::uint32_t i = 0; i < packets; ++i) bench.send(packet(flow, from + i), now);
}

std::vector<std::uint32_t> sequences(const B& bench, std::uint16_t flow) {
  std::vector<std::uint32_t> all;
  for (const auto& a : bench.out[B::kEast].arrivals)
    if (a.flow.source_port == port_of(flow) && a.payload_bytes > 0) all.push_back(a.sequence);
  return all;
}

TEST(Demotion, TheFirstBytesOfAFlowPassWhatWaits) {
  B bench(demoting());
  send(bench, 1, 30, Time{});
  send(bench, 2, kEarlyPackets, Time{100ns});
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[1].fifo().occupancy_packets(), 26U);
  bench.run();
  const auto& seen = bench.out[B::kEast].arrivals;
  const auto last = std::ranges::find_if(seen.rbegin(), seen.rend(), [](const Arrival& a) {
    return a.flow.source_port == port_of(2);
  });
  EXPECT_EQ(seen.rend() - last, 2 * kEarlyPackets) << "behind the first bytes of the other alone";
  EXPECT_TRUE(std::ranges::is_sorted(sequences(bench, 1)));
  const QueueReport r = own(bench);
  EXPECT_EQ(r.demotion.flows, 2U);
  EXPECT_EQ(r.demotion.early, 2 * kEarlyPackets);
  EXPECT_EQ(r.demotion.demoted, 1U) << "the other has sent no more";
  EXPECT_EQ(early(bench).transmitted[TrafficClass::kBackground], 2 * kEarlyPackets);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

TEST(Demotion, AcknowledgmentsNeverWaitBehindIt) {
  B bench(demoting());
  send(bench, 1, 30, Time{});
  FrameSpec ack = packet(1, 30);
  ack.payload_bytes = 0;
  bench.send(ack, Time{100ns});
  bench.run();
  EXPECT_EQ(own(bench).demotion.empty, 1U);
  const auto& seen = bench.out[B::kEast].arrivals;
  const auto at = std::ranges::find(seen, std::uint32_t{0}, &Arrival::payload_bytes);
  EXPECT_EQ(at - seen.begin(), kEarlyPackets);
}

TEST(Demotion, AFlowBeginsAnewAfterSilence) {
  B bench(demoting());
  send(bench, 1, 10, Time{});
  bench.run_to(Time{200us});
  send(bench, 1, 1, Time{300us}, 10);
  EXPECT_EQ(own(bench).demotion.early, kEarlyPackets) << "it was silent for too short";
  bench.run_to(Time{600us});
  send(bench, 1, 1, Time{750us}, 11);
  EXPECT_EQ(own(bench).demotion.early, kEarlyPackets + 1);
  EXPECT_EQ(own(bench).demotion.flows, 2U);
}

TEST(Demotion, AFlowThatIsHeldUpDoesNotBeginAnew) {
  B bench(demoting());
  send(bench, 2, kEarlyPackets + 1, Time{});
  for (std::uint16_t i = 0; i < 90; ++i)  // they keep the link for 720 us
    send(bench, static_cast<std::uint16_t>(100 + i / 2), 1, Time{100ns}, i % 2);
  bench.run_to(Time{400us});
  ASSERT_EQ(bench.sw.port(B::kEast).queues()[1].fifo().occupancy_packets(), 1U);
  const std::uint64_t before = own(bench).demotion.early;
  send(bench, 2, 1, Time{500us}, kEarlyPackets + 1);
  EXPECT_EQ(own(bench).demotion.early, before);
  bench.run();
  EXPECT_TRUE(std::ranges::is_sorted(sequences(bench, 2)));
}

TEST(Demotion, AFlowThatGetsAPlaceDoesNotPassItsOwnPackets) {
  B bench(demoting(1));
  send(bench, 1, 1, Time{});
  send(bench, 2, 2, Time{100ns});
  EXPECT_EQ(own(bench).demotion.no_room, 2U);
  FrameSpec ddl = packet(0, 0);
  ddl.flow.source_port = 1;
  for (int i = 0; i < 90; ++i) bench.send(ddl, Time{200ns});  // they keep the link for 720 us
  bench.run_to(Time{500us});
  ASSERT_EQ(bench.sw.port(B::kEast).queues()[1].fifo().occupancy_packets(), 2U);
  send(bench, 2, 1, Time{600us}, 2);
  EXPECT_EQ(own(bench).demotion.flows, 2U) << "the other is idle";
  EXPECT_EQ(own(bench).demotion.demoted, 1U);
  bench.run();
  EXPECT_TRUE(std::ranges::is_sorted(sequences(bench, 2)));
  send(bench, 3, 1, Time{5ms});
  EXPECT_EQ(own(bench).demotion.early, 2U) << "of the first and of this one";
}

TEST(Demotion, ManyFlowsOfAStrangerTakeEarlyServiceAlone) {
  constexpr std::uint32_t kFlows = 16;
  B bench(demoting(kFlows));
  for (std::uint16_t i = 0; i < kFlows; ++i)
    send(bench, static_cast<std::uint16_t>(100 + i), 1, Time{});
  send(bench, 1, 1, Time{1us});
  EXPECT_EQ(own(bench).demotion.no_room, 1U);
  bench.run_to(Time{1ms});
  send(bench, 1, 1, Time{1001us}, 1);
  EXPECT_EQ(own(bench).demotion.no_room, 1U) << "the others are idle";
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].arrivals.size(), kFlows + 2);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

}  // namespace
}  // namespace outrider::demotion_test
