// Goal: memory for connections is lent to one borrower at a time and returned completely. If
// there is none, connections wait and are not lost.
#include "trafficgen/transport/memory/transport_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/core/random.h"
#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::transport_memory_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::Application;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

TEST(ObjectPool, LendsEachObjectOnce) {
  ObjectPool<Flight> pool(5);
  std::vector<Flight*> lent;
  lent.reserve(5);
  for (int i = 0; i < 5; ++i) lent.push_back(pool.take());
  EXPECT_EQ(std::set<Flight*>(lent.begin(), lent.end()).size(), 5U);
  EXPECT_TRUE(pool.empty());
  EXPECT_EQ(pool.take(), nullptr);
  lent[3]->head = 7;
  pool.give_back(lent[3]);
  pool.give_back(lent[1]);
  EXPECT_EQ(pool.take(), lent[1]) << "the last one back is still in the cache";
  Flight* again = pool.take();
  EXPECT_EQ(again, lent[3]);
  EXPECT_EQ(again->head, 0U) << "as new";
  EXPECT_EQ(pool.lent(), 5U);
}

TEST(SegmentArena, FindsTheSmallestOrder) {
  EXPECT_EQ(SegmentArena::order_of(1), 0U);
  EXPECT_EQ(SegmentArena::order_of(16), 0U);
  EXPECT_EQ(SegmentArena::order_of(17), 1U);
  EXPECT_EQ(SegmentArena::order_of(32), 1U);
  EXPECT_EQ(SegmentArena::order_of(4096), 8U);
}

// The arena is compared with a map of lent units: no blocks overlap, can_lend() is true
// exactly if an aligned block is free, and at the end all blocks have merged again.
TEST(SegmentArena, AgreesWithAMapOfUnits) {
  constexpr std::uint32_t kUnits = 44;  // 32 + 8 + 4
  std::uint64_t taken = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    SegmentArena arena(kUnits * SegmentArena::kUnitSegments);
    SentSegment* const base = arena.take(5);  // the block of 32 is the first
    arena.give_back(base, 5);
    std::map<std::uint32_t, unsigned> lent;  // unit -> order
    const auto is_free = [&lent](std::uint32_t unit, unsigned order) {
      for (const auto& [u, o] : lent)
        if (u < unit + (1U << order) && unit < u + (1U << o)) return false;
      return unit + (1U << order) <= kUnits;
    };
    for (int step = 0; step < 3000; ++step) {
      const unsigned order = random.next_u32() % 6;
      if (random.next_u32() % 2 == 0 && !lent.empty()) {
        auto it = std::next(lent.begin(), random.next_u32() % lent.size());
        arena.give_back(base + it->first * SegmentArena::kUnitSegments, it->second);
        lent.erase(it);
        continue;
      }
      bool possible = false;
      for (std::uint32_t u = 0; u < kUnits; u += 1U << order) possible |= is_free(u, order);
      ASSERT_EQ(arena.can_lend(order), possible) << "seed " << seed << " step " << step;
      refused += !possible;
      if (!possible) continue;
      const auto unit =
          static_cast<std::uint32_t>(arena.take(order) - base) / SegmentArena::kUnitSegments;
      ASSERT_EQ(unit % (1U << order), 0U);
      ASSERT_TRUE(is_free(unit, order));
      lent[unit] = order;
      ++taken;
    }
    for (const auto& [unit, order] : lent)
      arena.give_back(base + unit * SegmentArena::kUnitSegments, order);
    EXPECT_EQ(arena.lent_segments(), 0U);
    EXPECT_TRUE(arena.can_lend(5));
    EXPECT_FALSE(arena.can_lend(6));
  }
  EXPECT_GT(taken, 10'000U);
  EXPECT_GT(refused, 5000U);
}

TEST(TransportMemory, AnIdleConnectionBorrowsNothing) {
  TwoEnds::Options o{.config = datacentre()};
  o.wires[0].loss = 0.02;
  o.wires[0].reorder = 0.05;
  TwoEnds t(std::move(o));
  std::uint64_t most_segments = 0;
  std::uint32_t flights = 0, disorders = 0;
  t.client().open(t.now());
  t.client().stream().write(3'000'000);
  while (t.server().receiver().delivered_bytes() < 3'000'000) {
    t.run_for(10us);
    most_segments = std::max(most_segments, t.memory(0).segments.lent_segments());
    flights = std::max(flights, t.memory(0).flights.lent());
    disorders = std::max(disorders, t.memory(1).disorders.lent());
  }
  t.run_for(100ms);  // the connection stays open
  EXPECT_EQ(t.client().state(), ConnectionState::kEstablished);
  EXPECT_EQ(flights, 1U);
  EXPECT_EQ(disorders, 1U);
  EXPECT_GE(most_segments, 16U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(t.memory(i).flights.lent(), 0U);
    EXPECT_EQ(t.memory(i).segments.lent_segments(), 0U);
    EXPECT_EQ(t.memory(i).disorders.lent(), 0U);
  }
}

// A window of 10 MB works with the smallest arena that validation allows.
TEST(TransportMemory, HoldsAWindowOf10Megabytes) {
  TcpConfig config = datacentre();
  config.receive_buffer_bytes = 10'000'000;
  config.control.initial_window_segments = 1000;
  const std::uint32_t window = segments_limit(config);
  TwoEnds::Options o{.config = config, .memory = {1, 2 * window, 1}};
  o.wires[0].delay = o.wires[1].delay = 20ms;
  o.wires[0].spacing = o.wires[1].spacing = 10ns;
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.client().stream().write(100'000'000);
  std::uint32_t in_flight = 0;
  while (t.server().receiver().delivered_bytes() < 100'000'000) {
    t.run_for(1ms);
    in_flight = std::max(in_flight, t.client().sender().state().scoreboard.pipe_bytes());
  }
  EXPECT_GT(in_flight, 9'900'000U);
  EXPECT_EQ(t.memory(0).counters.segments_exhausted, 0U);
}

// Without room beyond the 8 segments of a flight a transfer is slower but complete.
TEST(TransportMemory, AFlightThatCannotGrowGoesOnWithItsAcks) {
  TwoEnds::Options o{.config = datacentre(), .memory = {1, 1, 1}};
  o.wires[0].loss = 0.05;
  TwoEnds t(std::move(o));
  transfer(t, 300'000);
  expect_done(t, 300'000);
  EXPECT_GT(t.memory(0).counters.segments_exhausted, 0U);
}

TEST(TransportMemory, ASenderWithoutAFlightIsServedLater) {
  TwoEnds t({.config = datacentre(), .memory = {1, 64, 1}});
  t.client().open(t.now());
  t.run_for(10ms);
  Flight* taken = t.memory(0).flights.take();  // another connection has it
  t.client().stream().write(10'000);
  t.run_for(95ms);
  EXPECT_EQ(t.server().receiver().delivered_bytes(), 0U);
  EXPECT_EQ(t.memory(0).counters.flights_exhausted, 10U) << "asks once per kMemoryRetry";
  EXPECT_EQ(t.client().counters().rtos_data, 0U);
  t.memory(0).flights.give_back(taken);
  t.run_for(15ms);
  EXPECT_EQ(t.server().receiver().delivered_bytes(), 10'000U);
}

TEST(TransportMemory, WithoutADisorderDataOutOfOrderIsSentAgain) {
  TwoEnds::Options o{.config = datacentre(Controller::kDctcp), .memory = {1, 4096, 1}};
  o.wires[0].loss = 0.01;
  TwoEnds t(std::move(o));
  Disorder* taken = t.memory(1).disorders.take();
  transfer(t, 300'000);
  expect_done(t, 300'000);
  EXPECT_GT(t.memory(1).counters.disorders_exhausted, 0U);
  EXPECT_GT(t.memory(1).events.reassembly_refused, 0U);
  t.memory(1).disorders.give_back(taken);
}

TEST(TransportMemory, ManyConnectionsShareFewFlights) {
  const TcpConfig config = datacentre();
  TransportMemory memory({.flights = 3, .segments = 64, .disorders = 1});
  Application application;
  {
    std::vector<std::unique_ptr<TcpConnection>> connections;
    for (std::uint32_t i = 0; i < 10; ++i) {
      connections.push_back(std::make_unique<TcpConnection>(
          config, TcpConnection::Setup{.flow = {.source_address = i}, .initial_sequence = 0},
          memory, application));
      TcpConnection& c = *connections.back();
      c.open(Time{});
      (void)next_segment(c, Time{});
      application.established = false;
      c.on_segment({.sequence = 0,
                    .acknowledgment = 1,
                    .flags = kTcpSyn | kTcpAck,
                    .window = 65535,
                    .window_scale = 7},
                   Time{1ms});
      (void)next_segment(c, Time{1ms});
      c.stream().write(1000);
    }
    int sending = 0;
    for (auto& c : connections) {
      if (c->has_segment(Time{1ms})) {
        (void)next_segment(*c, Time{1ms});
        ++sending;
      }
      EXPECT_NE(c->next_timer(), kNever) << "nobody is stranded";
    }
    EXPECT_EQ(sending, 3);
    EXPECT_EQ(memory.flights.lent(), 3U);
  }
  EXPECT_EQ(memory.flights.lent(), 0U) << "a connection that ends gives back";
}

}  // namespace
}  // namespace outrider::transport_memory_test
