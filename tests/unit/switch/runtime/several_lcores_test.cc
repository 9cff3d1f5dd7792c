// Goal: several lcores forward like one, keep every flow's order, and account for every packet,
// including those on the way between them. Method: the workers of a DirectSwitch take turns in
// one thread, at literal instants. The test puts packets into net_ring devices, which receive
// what they transmit.
#include <gtest/gtest.h>

#include "common/core/random.h"
#include "tests/unit/switch/runtime/lcores_bench.h"

namespace outrider::several_lcores_test {
using namespace sw;
namespace {

/// Runs flows, f from port f % kPorts, with 0 to 3 packets of random flows per step, by seed.
Left run(std::uint32_t lcores, std::uint64_t seed,
         const SwitchProcessConfig& config = four_ports()) {
  LcoresBench bench(config, lcores);
  RandomStream random(seed, 0, RandomPurpose::kImpairment);
  std::vector<std::uint32_t> sequences(40);
  for (int step = 0; step < 400; ++step) {
    for (std::uint32_t n = random.next_u32() % 4; n != 0; --n) {
      const std::uint32_t f = random.next_u32() % 40;
      const std::uint32_t to = (f / kPorts) % kPorts;
      bench.arrive(f % kPorts, {.flow = {0x0A000001 + ((f % kPorts) << 8), 0x0A000002 + (to << 8),
                                         static_cast<std::uint16_t>(1000 + f), 80},
                                .sequence = sequences[f]++});
    }
    bench.poll();
  }
  bench.poll();
  const SwitchReport before = bench.report();
  EXPECT_TRUE(before.ledger_balanced);
  EXPECT_EQ(before.received, bench.arrived());
  Left left = bench.leave();
  const SwitchReport after = bench.report();
  EXPECT_TRUE(after.ledger_balanced);
  EXPECT_EQ(after.transmitted, bench.arrived());
  EXPECT_EQ(after.resident, 0U);
  return left;
}

TEST(SeveralLcores, ForwardAsOneAndKeepTheOrderOfFlows) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Left one = run(1, seed);
    EXPECT_EQ(one.size(), kPorts);
    for (const auto& [port, flows] : one)
      for (const auto& [flow, sequences] : flows)
        for (std::uint32_t i = 0; i < sequences.size(); ++i)
          ASSERT_EQ(sequences[i], i) << "port " << port << " flow " << flow;
    for (const std::uint32_t lcores : {2U, 3U, 4U}) EXPECT_EQ(run(lcores, seed), one) << lcores;
  }
}

// Ports that hold windows see their incoming packets before another lcore gets them. The path to
// that lcore is longer, but a flow keeps its order.
TEST(SeveralLcores, KeepTheOrderOfFlowsWhereWindowsAreHeld) {
  SwitchProcessConfig c = four_ports();
  for (const std::uint32_t p : {1U, 2U}) {  // one of each way in and out
    c.switches[0].ports[p].regulation.mode = RegulationMode::kWindow;
    c.switches[0].ports[p].regulation.recovery = Recovery::kTimer;
  }
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Left one = run(1, seed);
    for (const std::uint32_t lcores : {1U, 2U, 3U, 4U})
      EXPECT_EQ(run(lcores, seed, c), one) << lcores;
  }
}

/// Returns ports with two queues, one judged at dequeue, that are busy half of the time.
SwitchProcessConfig two_queues(SchedulerKind scheduler) {
  auto c = four_ports();
  auto& sw = c.switches[0];
  sw.classes.background_queue = 1;
  sw.signals.accept_tos = true;
  sw.signals.accept_from = {"10.0.0.0/8"};
  for (auto& port : sw.ports) {
    port.drain_rate = BitRate{1'000'000'000};
    port.scheduler = scheduler;
    port.queue.limit_packets = 10;
    port.marker.threshold_packets = 8;
    port.regulation.mode = RegulationMode::kMark;
    port.regulation.recovery = Recovery::kArrival;  // the paper's: entries end with the first data
    port.regulation.spare_ddl = false;              // so that job packets are marked low, too
    port.queues.resize(2,
                       {.queue = port.queue, .marker = port.marker, .regulation = port.regulation});
    port.queues[0].queue.weight = 3;
    port.queues[1].marker.at = MarkAt::kDequeue;
    port.queues[1].queue.floor_rate = BitRate{300'000'000};
  }
  return c;
}

/// The counters of each queue, and the order in which packets left.
struct Watched {
  std::vector<QueueReport> queues;
  Left left;
};

Watched run_two_queues(SchedulerKind scheduler, PortCapture* watcher) {
  LcoresBench bench(two_queues(scheduler), 1);
  if (watcher != nullptr) bench.capture(*watcher);
  RandomStream random(7, 0, RandomPurpose::kTest);
  for (std::uint32_t step = 0; step < 3000; ++step) {
    for (std::uint32_t n = random.next_u32() % 5; n != 0; --n) {
      const std::uint32_t from = random.next_u32() % kPorts;
      const bool ddl = random.next_u32() % 2 == 0;
      const bool start = ddl && random.next_u32() % 16 == 0;
      FrameSpec spec{.flow = {0x0A000001 + (from << 8), 0x0A000002 + (random.next_u32() % 2 << 8),
                              static_cast<std::uint16_t>(1000 + random.next_u32() % 4),
                              static_cast<std::uint16_t>(ddl ? 5000 : 80)},
                     .tos = static_cast<std::uint8_t>(Ecn::kEct0),
                     .sequence = step};
      if (start) spec.tos = 0x84, spec.tcp_flags = 0;  // START, threshold 5 packets
      else spec.payload_bytes = 40;
      bench.arrive(from, spec);
    }
    bench.poll();
  }
  Watched result{.queues = {}, .left = bench.leave()};
  bench.poll();
  EXPECT_TRUE(bench.report().ledger_balanced);
  result.queues = bench.report().queues;
  return result;
}

// With a capture a port does every check for every packet; without one it takes the short path.
// Both must decide equally.
TEST(DirectSwitch, APortForwardsAlikeWatchedOrNot) {
  for (const auto scheduler :
       {SchedulerKind::kStrict, SchedulerKind::kDwrr, SchedulerKind::kStrictFloor}) {
    PortCapture capture(64, 16);
    const Watched plain = run_two_queues(scheduler, nullptr);
    const Watched watched = run_two_queues(scheduler, &capture);
    EXPECT_GT(capture.missed(), 0U) << "it was watched";
    EXPECT_EQ(plain.left, watched.left);
    ASSERT_EQ(plain.queues.size(), watched.queues.size());
    std::uint64_t armed = 0, low = 0, own = 0, dropped = 0;
    for (std::size_t q = 0; q < plain.queues.size(); ++q) {
      const QueueReport &a = plain.queues[q], &b = watched.queues[q];
      EXPECT_EQ(a.arrived.values, b.arrived.values);
      EXPECT_EQ(a.transmitted.values, b.transmitted.values);
      EXPECT_EQ(a.transmitted_bytes.values, b.transmitted_bytes.values);
      EXPECT_EQ(a.drops.values, b.drops.values);
      EXPECT_EQ(a.marks.values, b.marks.values);
      EXPECT_EQ(a.starts_armed, b.starts_armed);
      EXPECT_EQ(a.recovered_arrival, b.recovered_arrival);
      EXPECT_EQ(a.regulated_ns, b.regulated_ns);
      armed += a.recovered_arrival;
      for (const auto& by_reason : a.marks.values) {
        own += by_reason[MarkReason::kMarker];
        low += by_reason[MarkReason::kRegulatedThreshold];
      }
      for (const auto& by_reason : a.drops.values) dropped += by_reason[DropReason::kTailPackets];
    }
    EXPECT_GT(armed, 0U);
    EXPECT_GT(low, 0U);
    EXPECT_GT(own, 0U);
    EXPECT_GT(dropped, 0U);
  }
}

TEST(SeveralLcores, APacketBetweenThemIsResidentAndReleasedAtTheEnd) {
  LcoresBench bench(four_ports(), 2);
  for (int i = 0; i < 5; ++i) bench.arrive(1, {.flow = {1, 0x0A000002, 1000, 80}});
  bench.poll();  // lcore 0 polls first and finds nothing; then lcore 1 gives it the packets for
                 // port 0
  const SwitchReport r = bench.report();
  EXPECT_EQ(r.received, 5U);
  EXPECT_EQ(r.resident, 5U);
  EXPECT_EQ(r.queues[0].arrived[TrafficClass::kBackground], 0U) << "not at the port yet";
  EXPECT_TRUE(r.ledger_balanced);
}  // ~LcoresBench: no buffer is lost

TEST(SeveralLcores, WhatTheOwnerLagsBehindIsDroppedByName) {
  auto c = four_ports();
  c.switches[0].ports[0].drain_rate = BitRate{100'000'000'000};
  LcoresBench bench(c, 2);
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 32; ++i) bench.arrive(1, {.flow = {1, 0x0A000002, 1000, 80}});
    bench.poll_only(1);
  }
  SwitchReport r = bench.report();
  EXPECT_EQ(r.received, 1280U);
  EXPECT_EQ(r.resident, 1024U);
  EXPECT_EQ(r.drops[TrafficClass::kBackground][DropReason::kHandoverFull], 256U);
  EXPECT_TRUE(r.ledger_balanced);
}

SwitchProcessConfig bridge() {
  auto c = four_ports();
  c.switches[0].routes.clear();
  c.switches[0].l2.learning = true;
  c.switches[0].l2.ageing = 1s;
  return c;
}

/// Returns a frame between two stations; FrameSpec derives their MAC addresses from IP addresses.
FrameSpec between(std::uint32_t from, std::uint32_t to) {
  return {.flow = {from, to, static_cast<std::uint16_t>(from), 80}};
}

TEST(SeveralLcores, TellEachOtherWhereStationsAre) {
  LcoresBench bench(bridge(), 4);
  bench.arrive(0, between(1, 2));  // only lcore 0 receives it; flooded
  bench.poll();
  bench.poll();
  EXPECT_EQ(bench.report().copied, 2U);
  bench.arrive(3, between(2, 1));  // lcore 3 has never seen station 1
  bench.poll();
  bench.poll();
  EXPECT_EQ(bench.report().copied, 2U) << "and does not flood";
  bench.arrive(1, between(3, 2));
  bench.poll();
  bench.poll();
  EXPECT_EQ(bench.report().copied, 2U) << "nor does lcore 1";
  const Left left = bench.leave();
  EXPECT_EQ(left.at(0).at(2).size(), 1U);
  EXPECT_EQ(left.at(3).at(1).size(), 1U) << "the flooded one";
  EXPECT_EQ(left.at(3).at(3).size(), 1U);
  EXPECT_TRUE(bench.report().ledger_balanced);
}

// A station that sends to only one lcore's ports does not age in the tables of the others.
TEST(SeveralLcores, AStationThatIsHeardDoesNotAgeElsewhere) {
  LcoresBench bench(bridge(), 2);
  bench.arrive(1, between(9, 8));
  bench.poll();
  bench.poll();
  for (int i = 0; i < 30; ++i) {  // 3 s of station 1 at lcore 0, ageing 1 s
    bench.arrive(0, between(1, 9));
    bench.wait(100ms);
  }
  const auto copied = bench.report().copied;
  bench.arrive(1, between(9, 1));
  bench.poll();
  bench.poll();
  EXPECT_EQ(bench.report().copied, copied) << "lcore 1 still knows station 1";
  static_cast<void>(bench.leave());
}

TEST(LcorePlan, DealsOutDevicesAndTheirReceiveQueues) {
  const auto c = four_ports();
  const LcorePlan one = plan_lcores(c, std::vector<std::uint16_t>{1, 1, 1, 1}, 1);
  EXPECT_EQ(one.polled[0].size(), 4U);
  EXPECT_EQ(one.owner_of_port, (std::vector<std::uint32_t>{0, 0, 0, 0}));
  const LcorePlan two = plan_lcores(c, std::vector<std::uint16_t>{2, 1, 1, 3}, 2);
  EXPECT_EQ(two.owner_of_port, (std::vector<std::uint32_t>{0, 1, 0, 1}));
  using Q = LcorePlan::RxQueue;
  EXPECT_EQ(two.polled[0], (std::vector<Q>{{0, 0}, {2, 0}, {3, 1}}));
  EXPECT_EQ(two.polled[1], (std::vector<Q>{{0, 1}, {1, 0}, {3, 0}, {3, 2}}));
  EXPECT_EQ(two.serves[1], (std::vector<std::uint32_t>{1, 3}));
}

}  // namespace
}  // namespace outrider::several_lcores_test
