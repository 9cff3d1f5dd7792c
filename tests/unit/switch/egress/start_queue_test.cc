// Goal: the start queue of a burst at a port with several queues is what leaves before its first
// packet, whichever queue it waits in. Method: random queues under each scheduler. What the record
// says must be what is then seen to leave before the packet, as nothing else arrives.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "common/core/random.h"
#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::start_queue_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr QueueTap::Limits kTap{.bursts = 64, .bins = 16, .bin = 1ms};

SwitchPortConfig two_queues(SchedulerKind kind) {
  SwitchPortConfig port = port_config();
  port.scheduler = kind;
  port.record = true;
  port.marker.kind = MarkerKind::kTailDrop;
  port.queues.assign(2, {port.queue, port.marker, port.regulation});
  if (kind == SchedulerKind::kDwrr) port.queues[0].queue.weight = 3;
  if (kind == SchedulerKind::kStrictFloor) port.queues[1].queue.floor_rate = BitRate{300'000'000};
  return port;
}

/// Sends the first packet of a burst of its own to queue 0.
void send_first(PortBench& bench, std::uint32_t iteration, Time now) {
  FrameSpec spec = SwitchBench::data(0, 1000 * iteration);
  spec.identity = BurstIdentity{.job = 1, .worker = 0, .iteration = iteration};
  Packet* packet = make_packet(bench.pool.get(), spec);
  ASSERT_EQ(parse(*packet).kind, FrameKind::kIpv4);
  meta(*packet).queue = 0;
  meta(*packet).traffic_class = TrafficClass::kDdl;
  bench.loop.run_until(now);
  bench.port.enqueue(packet, false, now);
}

struct Seen {
  std::uint32_t packets = 0;
  std::uint64_t bytes = 0;
};

/// Returns what left before the packet of the burst, of what waited when it came.
Seen before_burst(const PortBench& bench, std::size_t gone) {
  Seen seen;
  const auto& all = bench.out.arrivals;
  for (std::size_t i = gone; i < all.size() && all[i].flow != SwitchBench::ddl_flow(); ++i) {
    ++seen.packets;
    seen.bytes += all[i].payload_bytes + 54U;  // Ethernet, IPv4 and TCP
  }
  return seen;
}

TEST(StartQueue, IsWhatLeavesBeforeTheBurst) {
  for (const auto kind :
       {SchedulerKind::kStrict, SchedulerKind::kDwrr, SchedulerKind::kStrictFloor}) {
    std::uint32_t from_queue_1 = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE("scheduler " + std::to_string(static_cast<int>(kind)) + ", seed " +
                   std::to_string(seed));
      RandomStream random(seed, 0, RandomPurpose::kTest);
      PortBench bench(two_queues(kind), {.tap = kTap});
      const auto payload = [&random] {
        return static_cast<std::uint16_t>(100 + random.next_u32() % 1300);
      };
      std::array<std::uint32_t, 2> sent{};
      Time now{};
      for (std::uint32_t i = random.next_u32() % 120; i > 0; --i) {
        const unsigned queue = random.next_u32() % 2;
        bench.send(queue, Ecn::kEct0, now, payload());
        ++sent[queue];
        now += Duration{random.next_u32() % 6000};
      }
      bench.port.transmitter().serve_until(now);
      const std::uint64_t waiting = waiting_packets(bench.port);
      const std::uint32_t waiting_0 = bench.port.queues()[0].fifo().occupancy_packets();
      send_first(bench, 1, now);
      const auto report = bench.reports()[0];
      ASSERT_EQ(report.bursts.size(), 1U);
      bench.run();
      const Seen seen = before_burst(bench, sent[0] + sent[1] - waiting);
      EXPECT_EQ(report.bursts[0].start_packets[TrafficClass::kBackground], seen.packets);
      EXPECT_EQ(report.bursts[0].start_bytes, seen.bytes);
      from_queue_1 += seen.packets - waiting_0;
    }
    EXPECT_EQ(from_queue_1 > 100, kind != SchedulerKind::kStrict)
        << "of the other queue, only what the scheduler owes it: " << from_queue_1;
  }
}

TEST(StartQueue, LaterPacketsOfTheBurstChangeNothing) {
  PortBench bench(two_queues(SchedulerKind::kDwrr), {.tap = kTap});
  for (int i = 0; i < 30; ++i) bench.send(1, Ecn::kEct0, Time{});
  send_first(bench, 1, Time{});
  const auto first = bench.reports()[0].bursts.at(0);
  for (int i = 0; i < 30; ++i) bench.send(0, Ecn::kEct0, Time{1us});
  send_first(bench, 1, Time{2us});
  const auto later = bench.reports()[0].bursts;
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0].start_bytes, first.start_bytes);
}

}  // namespace
}  // namespace outrider::start_queue_test
