// Goal: a burst that a START announced goes to the queue that is served first, from its first
// byte to its end and no longer, no flow is reordered, and forged STARTs gain a bounded share.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/core/random.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::steering_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

constexpr std::uint32_t kFirst = 100'000;  // sequence number of a burst's first byte

/// Returns a switch that knows no DDL data by itself: all packets are background, in queue 1.
SwitchConfig steered(SchedulerKind kind = SchedulerKind::kStrict) {
  auto config = B::config();
  config.ddl_ports = {1, 1};
  config.classes.background_queue = 1;
  config.classes.ddl_queue = 1;
  for (auto& port : config.ports) {
    port.scheduler = kind;
    port.queue.limit_packets = 100;
    port.marker.kind = MarkerKind::kTailDrop;
    port.regulation = {};
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    RegulationPolicy& policy = port.queues[1].regulation;
    policy.mode = RegulationMode::kSteer;
    policy.recovery = Recovery::kBurstEnd;
    policy.idle_end = 2ms;
    policy.expiry = 10ms;
    policy.budget_share = 1;
  }
  return config;
}

QueueReport own(const B& bench) { return bench.report({}).queues[2 * B::kEast + 1]; }
QueueReport target(const B& bench) { return bench.report({}).queues[2 * B::kEast]; }

void expect_identities(const B& bench) {
  const QueueReport from = own(bench), to = target(bench);
  EXPECT_EQ(from.steer.followed + from.steer.no_room, from.starts_armed);
  std::uint64_t arrived = 0;
  for (const auto n : to.arrived.values) arrived += n;
  arrived -= to.arrived[TrafficClass::kSignal];
  EXPECT_EQ(from.steer.packets + from.steer.after_end, arrived);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

std::vector<std::uint32_t> sequences(const B& bench, const FlowKey& flow) {
  std::vector<std::uint32_t> all;
  for (const auto& a : bench.out[B::kEast].arrivals)
    if (a.flow == flow && a.payload_bytes > 0) all.push_back(a.sequence);
  return all;
}

void burst(B& bench, std::uint32_t packets, Time now, std::uint32_t from = kFirst) {
  for (std::uint32_t i = 0; i < packets; ++i) bench.send(B::data(0, from + i * B::kPayload), now);
}

TEST(Steering, ABurstPassesWhatWaits) {
  B bench(steered());
  bench.send(B::start(0, kFirst, 10), Time{});
  bench.fill(50, Time{100ns});
  burst(bench, 5, Time{200ns});
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].fifo().occupancy_packets(), 5U);
  bench.run();
  const auto& seen = bench.out[B::kEast].arrivals;
  const auto first = std::ranges::find_if(
      seen, [](const Arrival& a) { return a.flow == B::ddl_flow() && a.payload_bytes > 0; });
  EXPECT_EQ(std::ranges::count_if(seen.begin(), first,
                                  [](const Arrival& a) { return a.payload_bytes > 0; }),
            0)
      << "START was being sent, so nothing of the background had begun";
  EXPECT_EQ(own(bench).steer.moves, 1U);
  EXPECT_EQ(own(bench).steer.packets, 5U);
  EXPECT_EQ(target(bench).transmitted[TrafficClass::kDdl], 5U) << "the signal classifies";
  expect_identities(bench);
}

TEST(Steering, WithoutStartItIsOneQueue) {
  B bench(steered());
  bench.fill(50, Time{});
  burst(bench, 5, Time{100ns});
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].fifo().occupancy_packets(), 0U);
  EXPECT_EQ(own(bench).steer.packets, 0U);
}

TEST(Steering, WaitsForTheFlowsOwnPackets) {
  B bench(steered());
  bench.fill(20, Time{});
  burst(bench, 2, Time{50ns}, kFirst - 2 * B::kPayload);  // of the burst before
  bench.send(B::start(0, kFirst, 10), Time{100ns});
  burst(bench, 3, Time{200ns});  // would overtake
  EXPECT_EQ(own(bench).steer.stayed, 3U);
  EXPECT_EQ(own(bench).steer.packets, 0U);
  const Time later{26 * B::kFrameTime + 1us};  // all of them have begun to leave
  bench.fill(20, later);
  burst(bench, 3, later, kFirst + 3 * B::kPayload);
  EXPECT_EQ(own(bench).steer.packets, 3U);
  bench.run();
  const auto seen = sequences(bench, B::ddl_flow());
  ASSERT_EQ(seen.size(), 8U);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  expect_identities(bench);
}

TEST(Steering, EarlierDataStays) {
  B bench(steered());
  bench.send(B::start(0, kFirst, 10), Time{});
  burst(bench, 1, Time{100ns}, kFirst - B::kPayload);
  EXPECT_EQ(own(bench).steer.packets, 0U);
}

// A packet that finds the queue empty takes a number in it as if it had waited: else the next one,
// which gets that number, would seem to be of the burst's flow.
TEST(Steering, DoesNotWaitForAPacketThatHasPassed) {
  B bench(steered());
  bench.send(B::start(0, kFirst, 10), Time{});
  burst(bench, 1, Time{100us}, kFirst - B::kPayload);  // earlier data: it stays in its queue
  bench.fill(1, Time{101us});                          // waits while that is being sent
  burst(bench, 3, Time{102us});
  EXPECT_EQ(own(bench).steer.stayed, 0U);
  EXPECT_EQ(own(bench).steer.packets, 3U);
  bench.fill(1, Time{1ms});  // passes the empty queue behind the burst's end
  burst(bench, 1, Time{1ms + 1us}, kFirst + 3 * B::kPayload);
  bench.run();
  EXPECT_TRUE(std::ranges::is_sorted(sequences(bench, B::ddl_flow())));
  expect_identities(bench);
}

TEST(Steering, EndsWithTheBurst) {
  B bench(steered());
  bench.send(B::start(0, kFirst, 10), Time{});
  burst(bench, 3, Time{1us});
  burst(bench, 1, Time{4ms}, kFirst + 3 * B::kPayload);  // silent for longer than idle_end
  EXPECT_EQ(own(bench).steer.packets, 3U);
  EXPECT_EQ(own(bench).recovered_burst_end, 1U);
  EXPECT_EQ(own(bench).transmitted[TrafficClass::kBackground], 1U);
  expect_identities(bench);
}

TEST(Steering, ExpiresWithoutABurst) {
  B bench(steered());
  bench.send(B::start(0, kFirst, 10), Time{});
  burst(bench, 3, Time{11ms});
  EXPECT_EQ(own(bench).steer.packets, 0U);
  EXPECT_EQ(own(bench).expired, 1U);
}

TEST(Steering, ForgedStartsArmNothing) {
  B bench(steered());
  FrameSpec forged = B::start(0, kFirst, 10);
  forged.flow.source_address = ip("10.0.2.7");  // not listed
  FrameSpec data = B::data(0, kFirst);
  data.flow.source_address = forged.flow.source_address;
  bench.send(forged, Time{});
  bench.send(data, Time{1us});
  EXPECT_EQ(own(bench).steer.packets, 0U);
  EXPECT_EQ(own(bench).starts_armed, 0U);
}

// A sender that is believed announces again and again, and always has packets waiting.
TEST(Steering, TheBudgetBoundsWhoeverAnnounces) {
  auto config = steered();
  for (auto& port : config.ports) {
    port.queues[1].regulation.budget_share = 0.2;
    port.queues[1].regulation.budget_queue_share = 0.2;
    port.queues[1].regulation.budget_window = 10ms;
  }
  B bench(config);
  std::uint32_t sequence = kFirst;
  bench.send(B::start(0, sequence, 10), Time{});
  for (Time now{1us}; now < Time{20ms}; now += B::kFrameTime / 2) {  // twice the rate of the link
    bench.send(B::data(0, sequence), now);
    sequence += B::kPayload;
    bench.send(B::background(), now);
    if (sequence % 10 == 0) bench.send(B::start(0, sequence, 10), now);
  }
  bench.run();
  const auto of_burst = own(bench).steer.packets;
  const auto regulated_ns = bench.report(Time{40ms}).queues[2 * B::kEast + 1].regulated_ns;
  EXPECT_LE(regulated_ns, 4'000'000) << "0.2 of each of two windows";
  EXPECT_GT(of_burst, 500U);
  EXPECT_LE(of_burst, static_cast<std::uint64_t>(regulated_ns) / 4000 + 10) << "at twice the rate";
  EXPECT_LE(own(bench).steer.after_end, 2 * 100U) << "of each end, as many as waited";
  EXPECT_GT(own(bench).budget_exhausted + own(bench).starts_refused_budget, 0U);
  expect_identities(bench);
}

TEST(Steering, AFullTableKeepsFlowsWhereTheyAre) {
  auto config = steered();
  for (auto& port : config.ports) {
    port.queues[1].regulation.max_entries = 4;
    port.queues[1].regulation.max_entries_per_sender = 4;
    port.queues[1].regulation.idle_end = 100us;
    port.queues[1].regulation.expiry = 200us;
  }
  B bench(config);
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (std::uint32_t w = 0; w < 4; ++w) {
      FrameSpec start = B::start(w, kFirst, 10);
      start.flow.source_port = static_cast<std::uint16_t>(1000 + 10 * round + w);
      bench.send(start, Time{round * 1ms});
    }
  }
  EXPECT_EQ(own(bench).starts_armed, 40U);
  EXPECT_EQ(own(bench).steer.followed, 40U) << "flows whose entry has ended make room";
  EXPECT_EQ(own(bench).steer.no_room, 0U);
  expect_identities(bench);
}

// Random STARTs, bursts of several workers, and background, under each scheduler: no flow is
// reordered, and each packet is in one queue.
TEST(Steering, NoFlowIsReordered) {
  std::uint64_t moves = 0, stayed = 0, after_end = 0;
  for (const auto kind :
       {SchedulerKind::kStrict, SchedulerKind::kDwrr, SchedulerKind::kStrictFloor}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("scheduler " + std::to_string(static_cast<int>(kind)) + ", seed " +
                   std::to_string(seed));
      RandomStream random(seed, 0, RandomPurpose::kTest);
      auto config = steered(kind);
      for (auto& port : config.ports) {
        port.queues[1].queue.floor_rate = BitRate{200'000'000};
        port.queues[1].regulation.idle_end = 150us;
        port.queues[1].regulation.expiry = 400us;
      }
      B bench(config);
      std::map<std::uint32_t, std::uint32_t> next;  // worker -> sequence
      Time now{};
      for (std::uint32_t i = 0; i < 4'000; ++i) {
        now += Duration{random.next_u32() % 14'000};
        const std::uint32_t worker = random.next_u32() % 4;
        const std::uint32_t kind_of = random.next_u32() % 100;
        if (kind_of < 4) {
          bench.send(B::start(worker, next[worker], 10), now);
        } else if (kind_of < 55 && (i / 200 + worker) % 3 != 0) {
          FrameSpec data = B::data(worker, next[worker]);
          if (kind_of < 8) data.tcp_flags = kTcpAck | kTcpFin;  // ends the burst's entry
          bench.send(data, now);
          next[worker] += B::kPayload;
        } else {
          bench.send(B::background(), now);
        }
      }
      bench.run();
      for (std::uint32_t w = 0; w < 4; ++w) {
        const auto seen = sequences(bench, B::ddl_flow(w));
        const auto late = std::ranges::is_sorted_until(seen);
        EXPECT_EQ(late, seen.end()) << "worker " << w << ": " << *late << " after " << late[-1];
      }
      expect_identities(bench);
      moves += own(bench).steer.moves;
      stayed += own(bench).steer.stayed;
      after_end += own(bench).steer.after_end;
    }
  }
  for (const auto n : {moves, stayed, after_end}) EXPECT_GT(n, 50U);
}

}  // namespace
}  // namespace outrider::steering_test
