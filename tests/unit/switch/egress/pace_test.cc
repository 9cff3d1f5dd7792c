// Goal: while a queue is paced, a burst finds at most the target of background before it,
// whatever the background's senders do. No packet is lost or reordered, no class starves.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "common/core/random.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::pace_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

SwitchConfig paced(double floor = 0) {
  auto config = B::config();
  for (auto& port : config.ports) {
    port.queue.limit_packets = 100;
    port.marker.threshold_packets = 90;
    port.regulation.mode = RegulationMode::kPace;
    port.regulation.recovery = Recovery::kBurstEnd;
    port.regulation.expiry = 1s;
    port.regulation.budget_share = 1;
    port.regulation.pace_floor = floor;
  }
  return config;
}

PaceCounters counters(const B& bench) { return bench.report({}).queues[B::kEast].pace; }

TEST(Pace, ABurstFindsTheTargetAndNoMore) {
  B bench(paced());
  bench.send(B::start(0, 1000, 10), Time{});
  bench.fill(60, Time{100ns});
  for (std::uint32_t i = 0; i < 5; ++i) bench.send(B::data(0, 1000 + i * B::kPayload), Time{200ns});
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].fifo().occupancy_packets(), 10U + 5U);
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].waiting().packets, 60U + 5U);
  bench.run();
  std::size_t background_before_burst = 0;
  for (const auto& a : bench.out[B::kEast].arrivals) {
    if (a.payload_bytes == 0) continue;
    if (a.flow == B::ddl_flow()) break;
    ++background_before_burst;
  }
  EXPECT_EQ(background_before_burst, 10U) << "START was in service: 10 of the background waited";
  const PaceCounters n = counters(bench);
  EXPECT_EQ(n.held, 50U);
  EXPECT_EQ(n.max_held, 50U);
  EXPECT_EQ(n.held, n.released_room + n.released_floor + n.released_end + n.pushed_out);
  EXPECT_GT(n.held_ns, 0U) << "the added delay is the price, and is reported";
  const SwitchReport r = bench.report({});
  EXPECT_TRUE(r.ledger_balanced);
  EXPECT_EQ(r.transmitted, 66U) << "nothing was lost";
  EXPECT_EQ(r.queues[B::kEast].marks[TrafficClass::kBackground][0], 0U);
  EXPECT_EQ(bench.out[B::kEast].arrivals.back().at, Time{480ns + 65 * B::kFrameTime})
      << "nor was the link ever idle";
}

// A flow that sends the other way is not stopped by a burst that it does not meet. The floor bounds
// what passes, so nobody gets by with packets that only look like acknowledgments.
TEST(Pace, AcknowledgmentsHaveTheFloorBeforeDataThatAreHeld) {
  B bench(paced(0.05));
  bench.send(B::start(0, 1000, 10), Time{});
  bench.fill(60, Time{100ns});
  for (std::uint32_t i = 0; i < 30; ++i)
    bench.send(B::data(0, 1000 + i * B::kPayload), Time{200ns});
  const auto send = [&](std::uint8_t flags, std::uint16_t payload, int count) {
    FrameSpec frame = B::background();
    frame.tcp_flags = flags;
    frame.payload_bytes = payload;
    const std::uint64_t held = counters(bench).held;
    for (int i = 0; i < count; ++i) bench.send(frame, Time{20us});
    return counters(bench).held - held;
  };
  // 20 us of the floor, 6.25 Mbyte/s, are 125 bytes: two frames of 60.
  EXPECT_EQ(send(kTcpAck, B::kPayload, 1), 1U) << "data wait behind data";
  EXPECT_EQ(send(kTcpAck | kTcpFin, 0, 1), 1U) << "the end of a stream does not overtake it";
  EXPECT_EQ(send(kTcpAck, 0, 10), 8U);
  bench.run();
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

TEST(Pace, HeldPacketsAreNoPartOfTheStartQueue) {
  auto config = paced();
  config.ports[B::kEast].record = true;
  B bench(config, {.tap = {.bursts = 4, .bins = 16, .bin = 1ms}});
  bench.send(B::start(0, 1000, 10), Time{});
  bench.fill(60, Time{100ns});
  FrameSpec first = B::data(0, 1000);
  first.identity = BurstIdentity{.job = 1, .iteration = 1};
  bench.send(first, Time{200ns});
  const SwitchReport r = bench.report({});
  const auto& bursts = r.queues[B::kEast].bursts;
  ASSERT_EQ(bursts.size(), 1U);
  EXPECT_EQ(bursts[0].start_packets[TrafficClass::kBackground], 10U) << "50 leave after it";
}

TEST(Pace, HeldPacketsCountAgainstTheQueuesLimit) {
  B bench(paced());
  bench.send(B::start(0, 1000, 10), Time{});
  bench.fill(150, Time{100ns});
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].waiting().packets, 100U);
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 50U);
}

TEST(Pace, TheBurstGetsTheRoomThatHeldPacketsTook) {
  B bench(paced());
  bench.send(B::start(0, 1000, 10), Time{});
  bench.fill(100, Time{100ns});
  for (std::uint32_t i = 0; i < 95; ++i)
    bench.send(B::data(0, 1000 + i * B::kPayload), Time{200ns});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 90U)
      << "all that were held, the latest first";
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kTailPackets), 5U);
  EXPECT_EQ(counters(bench).pushed_out, 90U);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

TEST(Pace, TheFloorLetsBackgroundThroughALongBurst) {
  for (const double floor : {0.0, 0.05, 0.21}) {
    B bench(paced(floor));
    bench.send(B::start(0, 1000, 10), Time{});
    std::uint32_t sequence = 1000;
    Time now{1us};
    // Data fills the link for 40 ms; background adds the same load.
    for (; now < Time{40ms}; now += B::kFrameTime) {
      bench.send(B::background("10.0.3.9", Ecn::kNotEct), now);
      bench.send(B::data(0, sequence), now);
      sequence += B::kPayload;
      if (now >= Time{20ms}) continue;
      bench.out[B::kEast].arrivals.clear();  // until the queue is full
    }
    const auto& seen = bench.out[B::kEast].arrivals;
    const auto background =
        bench.out[B::kEast].count([](const Arrival& a) { return a.flow.destination_port != 5000; });
    const double share = static_cast<double>(background) / static_cast<double>(seen.size());
    // The queue is full of data, so only the floor lets background in.
    EXPECT_GE(share, floor * 0.97) << floor;
    EXPECT_LE(share, floor + 0.02) << floor;
    EXPECT_TRUE(bench.report({}).ledger_balanced);
  }
}

// Random arrivals of both kinds, STARTs and idle times: background leaves in order of arrival,
// queue and hold never exceed the limit, and the link is busy whenever a packet waits.
TEST(Pace, OrderLimitAndLedgerHoldUnderRandomTraffic) {
  std::uint64_t held = 0, by_room = 0, by_floor = 0, by_end = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    auto config = paced(seed % 2 == 0 ? 0.1 : 0);
    config.ports[B::kEast].regulation.idle_end = 100us;
    B bench(config);
    Time now{};
    std::uint32_t sequence = 1000, number = 0;
    for (int i = 0; i < 3'000; ++i) {
      now += Duration{random.next_u32() % 14'000};
      const std::uint32_t kind = random.next_u32() % 100;
      if (kind == 0) {
        bench.send(B::start(0, sequence, 5), now);
      } else if (kind < (i / 300 % 2 == 0 ? 30U : 90U)) {
        bench.send(B::data(0, sequence), now);
        sequence += B::kPayload;
      } else {
        FrameSpec spec = B::background("10.0.3.9", Ecn::kNotEct);
        spec.sequence = number++;
        bench.send(spec, now);
      }
      const auto& queue = bench.sw.port(B::kEast).queues()[0];
      ASSERT_LE(queue.waiting().packets, 100U);
      ASSERT_TRUE(queue.waiting().packets == 0 || !queue.fifo().empty()) << "held before nothing";
    }
    bench.run();
    std::uint32_t last = 0;
    for (const auto& a : bench.out[B::kEast].arrivals) {
      if (a.flow.destination_port == 5000) continue;
      ASSERT_GE(a.sequence, last);
      last = a.sequence;
    }
    const SwitchReport r = bench.report({});
    EXPECT_TRUE(r.ledger_balanced);
    EXPECT_EQ(r.resident, 0U);
    const PaceCounters n = counters(bench);
    EXPECT_EQ(n.held, n.released_room + n.released_floor + n.released_end + n.pushed_out);
    held += n.held;
    by_room += n.released_room;
    by_floor += n.released_floor;
    by_end += n.released_end;
  }
  for (const auto n : {held, by_room, by_floor, by_end}) EXPECT_GT(n, 50U);
}

TEST(Pace, WithoutAStartItIsAPlainQueue) {
  B bench(paced());
  bench.fill(60, Time{});
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].fifo().occupancy_packets(), 59U);
  EXPECT_EQ(counters(bench).held, 0U);
}

}  // namespace
}  // namespace outrider::pace_test
