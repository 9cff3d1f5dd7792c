#include "trafficgen/transport/receiver/receiver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "common/core/random.h"

namespace outrider::receiver_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kIsn = 0xFFFFFF00;  // wraps within each test
constexpr std::uint32_t kFirst = kIsn + 1;

struct Bench {
  Bench() {
    config.delayed_ack = 40ms;
    receiver.start({.initial_sequence = kIsn, .ecn = true, .sack = true});
  }
  TcpConfig config{};
  TransportMemory memory{TransportMemory::Setup{.flights = 1, .segments = 1, .disorders = 1}};
  TcpContext context{.config = config, .memory = memory};
  TcpReceiver receiver{context, false};
  [[nodiscard]] const TcpCounters& counters() const { return context.counters; }
};

TcpSegment data(std::uint64_t offset, std::uint16_t bytes, Ecn ecn = Ecn::kEct0,
                std::uint8_t flags = kTcpAck) {
  return {.sequence = kFirst + static_cast<std::uint32_t>(offset),
          .flags = flags,
          .payload_bytes = bytes,
          .ecn = ecn};
}

TcpSegment pure_ack(TcpReceiver& r) {
  TcpSegment s;
  r.fill_pure_ack(s, Time{});
  return s;
}

// As Linux does while it takes the sender to be in slow start.
TEST(Receiver, FirstAcksAreQuick) {
  TcpConfig config;
  config.ack_every_segments = 3;
  config.quick_acks = 2;
  TransportMemory memory{TransportMemory::Setup{.flights = 1, .segments = 1, .disorders = 1}};
  TcpContext context{.config = config, .memory = memory};
  TcpReceiver receiver{context, false};
  receiver.start({.initial_sequence = kIsn, .ecn = true, .sack = true});
  EXPECT_FALSE(receiver.ack_due()) << "nothing has come yet";
  EXPECT_EQ(receiver.ack_deadline(), kNever);
  for (const bool due : {true, true, false, false, true, false, false, true}) {
    receiver.on_segment(data(receiver.delivered_bytes(), 100), Time{1ms});
    EXPECT_EQ(receiver.ack_due(), due) << receiver.delivered_bytes();
    if (due) pure_ack(receiver);
  }
}

TEST(Receiver, DelaysAcksByRfc5681) {
  struct Row {
    Duration at;
    TcpSegment segment;
    bool due;
    Time deadline;
    const char* why;
  };
  const Row kTimeline[] = {
      {0ms, data(0, 100), false, Time{40ms}, "the first waits"},
      {1ms, data(100, 100), true, kNever, "every second at once"},
      {2ms, data(200, 100), false, Time{42ms}, "counts anew"},
      {3ms, data(400, 100), true, kNever, "out of order"},
      {4ms, data(400, 100), true, kNever, "a duplicate of it"},
      {5ms, data(600, 100), true, kNever, "another hole"},
      {6ms, data(300, 100), true, kNever, "fills a hole in part"},
      {7ms, data(500, 100), true, kNever, "fills all"},
      {8ms, data(0, 100), true, kNever, "old data"},
      {9ms, data(700, 100), false, Time{49ms}, "in order again"},
      {10ms, data(800, 100, Ecn::kEct0, kTcpAck | kTcpFin), true, kNever, "FIN"},
  };
  Bench b;
  for (const Row& row : kTimeline) {
    b.receiver.on_segment(row.segment, Time{row.at});
    EXPECT_EQ(b.receiver.ack_due(), row.due) << row.why;
    EXPECT_EQ(b.receiver.ack_deadline(), row.deadline) << row.why;
    if (row.due) pure_ack(b.receiver);
    EXPECT_FALSE(b.receiver.ack_due()) << row.why;
  }
  EXPECT_TRUE(b.receiver.fin_received());
  EXPECT_EQ(b.receiver.delivered_bytes(), 900U);
  EXPECT_EQ(b.receiver.window().next_sequence(), kFirst + 901);
  EXPECT_EQ(b.counters().out_of_order_received, 2U);
  EXPECT_EQ(b.counters().duplicates_received, 2U);
  EXPECT_EQ(b.memory.events.out_of_order, 2U);
}

TEST(Receiver, TimerSendsTheDelayedAck) {
  Bench b;
  b.receiver.on_segment(data(0, 100), Time{5ms});
  b.receiver.on_timer(Time{45ms - 1ns});
  EXPECT_FALSE(b.receiver.ack_due());
  b.receiver.on_timer(Time{45ms});
  EXPECT_TRUE(b.receiver.ack_due());
  TcpSegment s;
  b.receiver.fill_piggyback(s, Time{});
  EXPECT_EQ(s.acknowledgment, kFirst + 100);
  EXPECT_FALSE(b.receiver.ack_due());
}

// RFC 2018, section 4: the block that changed last comes first; the others keep their
// order.
TEST(Receiver, OrdersSackBlocksByRecency) {
  Bench b;
  const auto block = [](std::uint32_t begin, std::uint32_t end) {
    return std::pair(kFirst + begin, kFirst + end);
  };
  using Blocks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const std::tuple<std::uint64_t, Blocks, const char*> kRows[] = {
      {100, {block(100, 200)}, "one"},
      {300, {block(300, 400), block(100, 200)}, "newest first"},
      {500, {block(500, 600), block(300, 400), block(100, 200)}, "three"},
      {200, {block(100, 400), block(500, 600)}, "joins two: moves to the front"},
      {700, {block(700, 800), block(100, 400), block(500, 600)}, ""},
      {900, {block(900, 1000), block(700, 800), block(100, 400), block(500, 600)}, "four"},
      {1100,
       {block(1100, 1200), block(900, 1000), block(700, 800), block(100, 400)},
       "the stalest does not fit"},
      {0,
       {block(1100, 1200), block(900, 1000), block(700, 800), block(500, 600)},
       "the cumulative ACK takes one in"},
  };
  for (const auto& [offset, expected, why] : kRows) {
    b.receiver.on_segment(data(offset, 100), Time{});
    EXPECT_TRUE(b.receiver.ack_due_alone()) << why;
    const TcpSegment s = pure_ack(b.receiver);
    Blocks got;
    for (std::size_t i = 0; i < s.sack_blocks; ++i) {
      got.emplace_back(s.sack[i].begin, s.sack[i].end);
    }
    EXPECT_EQ(got, expected) << why;
  }
}

// RFC 2883, section 4, with its examples' shapes.
TEST(Receiver, ReportsDuplicatesFirst) {
  struct Row {
    std::uint64_t offset;
    std::uint16_t bytes;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;
    const char* why;
  };
  const Row kRows[] = {
      {0, 100, {}, "new"},
      {100, 100, {}, "new"},
      {0, 100, {{0, 100}}, "4.1: below the acknowledgment"},
      {300, 200, {{300, 500}}, "a hole"},
      {300, 100, {{300, 400}, {300, 500}}, "4.2: within what waits"},
      {150, 100, {{150, 200}, {300, 500}}, "4.3: a part of it is new"},
      {250, 50, {}, "the hole is filled"},
  };
  Bench b;
  for (const auto& row : kRows) {
    b.receiver.on_segment(data(row.offset, row.bytes), Time{});
    b.receiver.acknowledge_now();
    const TcpSegment s = pure_ack(b.receiver);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> got;
    for (std::size_t i = 0; i < s.sack_blocks; ++i)
      got.emplace_back(s.sack[i].begin - kFirst, s.sack[i].end - kFirst);
    EXPECT_EQ(got, row.blocks) << row.why;
  }
  EXPECT_EQ(b.memory.disorders.lent(), 0U) << "what remembers a duplicate is given back";
}

TEST(Receiver, LatchesEceUntilCwr) {
  struct Row {
    Ecn ecn;
    bool cwr, ece;
    const char* why;
  };
  constexpr Row kRows[] = {
      {Ecn::kEct0, false, false, "no mark yet"},
      {Ecn::kCe, false, true, "CE latches"},
      {Ecn::kEct0, false, true, "stays"},
      {Ecn::kEct0, true, false, "CWR resets"},
      {Ecn::kEct0, false, false, "stays reset"},
      {Ecn::kCe, true, true, "CE on the CWR segment latches again"},
      {Ecn::kCe, false, true, ""},
      {Ecn::kEct0, true, false, "CWR resets, however often it was marked"},
  };
  EcnEcho echo(false);
  echo.on_data(true, false);
  EXPECT_FALSE(echo.ece()) << "not negotiated";
  echo.enable();
  for (const Row& row : kRows) {
    EXPECT_FALSE(echo.changes(row.ecn == Ecn::kCe)) << "no ACK at once in this mode";
    echo.on_data(row.ecn == Ecn::kCe, row.cwr);
    EXPECT_EQ(echo.ece(), row.ece) << row.why;
  }
}

// RFC 8257, section 3.2, figure 1, with an ACK for every third segment.
TEST(Receiver, EchoesPerPacketForDctcp) {
  struct Ack {
    std::uint32_t offset;
    bool ece;
    bool operator==(const Ack&) const = default;
  };
  struct Row {
    std::uint64_t offset;
    bool ce;
    std::vector<Ack> acks;
    const char* why;
  };
  const Row kRows[] = {
      {0, false, {}, "unmarked, waits"},
      {100, false, {}, "unmarked, waits"},
      {200, true, {{200, false}, {300, true}}, "0 to 1: the two before first, then itself"},
      {300, true, {}, "same state: delayed as ever"},
      {400, true, {}, ""},
      {500, true, {{600, true}}, "third"},
      {600, false, {{700, false}}, "1 to 0 with nothing pending"},
      {700, true, {{800, true}}, "0 to 1 with nothing pending"},
      {800, true, {}, ""},
      {900, false, {{900, true}, {1000, false}}, "1 to 0: one before"},
  };
  TcpConfig config;
  config.ack_every_segments = 3;
  TransportMemory memory({.flights = 1, .segments = 1, .disorders = 1});
  TcpContext context{.config = config, .memory = memory};
  TcpReceiver receiver(context, true);
  receiver.start({.initial_sequence = kIsn, .ecn = true, .sack = true});
  for (const Row& row : kRows) {
    receiver.on_segment(data(row.offset, 100, row.ce ? Ecn::kCe : Ecn::kEct0), Time{});
    std::vector<Ack> got;
    while (receiver.ack_due()) {
      const TcpSegment s = pure_ack(receiver);
      got.push_back({s.acknowledgment - kFirst, s.has(kTcpEce)});
    }
    EXPECT_EQ(got, row.acks) << row.offset << ": " << row.why;
  }
  EXPECT_EQ(context.counters.ce_received, 6U);
}

// A busy NIC takes no ACK for a long time while the marks alternate.
TEST(Receiver, KeepsEarlierEchoesWithinItsBound) {
  TcpConfig config;
  TransportMemory memory({.flights = 1, .segments = 1, .disorders = 1});
  TcpContext context{.config = config, .memory = memory};
  TcpReceiver receiver(context, true);
  receiver.start({.initial_sequence = kIsn, .ecn = true, .sack = true});
  for (std::uint64_t i = 0; i < 100; ++i) {
    receiver.on_segment(data(i * 100, 100, i % 2 == 0 ? Ecn::kEct0 : Ecn::kCe), Time{});
  }
  std::uint32_t acks = 0, last = 0, marked = 0;
  while (receiver.ack_due()) {
    const TcpSegment s = pure_ack(receiver);
    const std::uint32_t offset = s.acknowledgment - kFirst;
    EXPECT_GT(offset, last);
    if (s.has(kTcpEce)) marked += offset - last;
    last = offset;
    ++acks;
  }
  EXPECT_EQ(last, 10'000U);
  EXPECT_EQ(acks, 17U);
  EXPECT_GT(marked, 0U);
}

TEST(Receiver, AgreesWithASetOfBytes) {
  std::uint64_t refused = 0, duplicates = 0, out_of_order = 0, delivered_late = 0;
  std::uint64_t duplicates_told = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Bench b;
    std::set<std::uint64_t> bytes;
    std::uint64_t next = 0;
    const std::uint32_t largest = seed % 3 == 0 ? 1 : 30;  // single bytes make many holes
    for (int step = 0; step < 1500; ++step) {
      const std::uint64_t offset =
          next + random.next_u32() % 600 - std::min<std::uint64_t>(next, 50);
      const auto length = static_cast<std::uint16_t>(1 + random.next_u32() % largest);
      const TcpSegment s = data(step % 7 == 0 ? next : offset, length);
      const std::uint64_t begin = step % 7 == 0 ? next : offset;
      ASSERT_TRUE(b.receiver.window().acceptable(s));
      const std::uint64_t before = b.memory.events.reassembly_refused;
      const bool advanced = b.receiver.on_segment(s, Time{});
      const bool was_refused = b.memory.events.reassembly_refused != before;
      if (!was_refused) {
        for (std::uint64_t i = begin; i < begin + length; ++i) bytes.insert(i);
      }
      const std::uint64_t old_next = next;
      while (bytes.contains(next)) ++next;
      ASSERT_EQ(b.receiver.delivered_bytes(), next) << "seed " << seed;
      ASSERT_EQ(advanced, next != old_next);
      if (next > begin + length) ++delivered_late;
      if (!b.receiver.ack_due()) continue;
      const TcpSegment ack = pure_ack(b.receiver);
      // A duplicate comes first, below the acknowledgment or within the next block.
      const auto at = [&ack](std::uint32_t sequence) {
        return static_cast<std::int32_t>(sequence - ack.acknowledgment);
      };
      const bool told = ack.sack_blocks != 0 &&
                        (at(ack.sack[0].end) <= 0 ||
                         (ack.sack_blocks > 1 && at(ack.sack[0].begin) >= at(ack.sack[1].begin) &&
                          at(ack.sack[0].end) <= at(ack.sack[1].end)));
      if (told) {
        ++duplicates_told;
        for (std::int64_t k = at(ack.sack[0].begin); k < at(ack.sack[0].end); ++k)
          ASSERT_TRUE(bytes.contains(next + static_cast<std::uint64_t>(k)));
      }
      const std::size_t holes_from = told ? 1 : 0;
      for (std::size_t i = holes_from; i < ack.sack_blocks; ++i) {
        const std::uint64_t from = next + (ack.sack[i].begin - ack.acknowledgment);
        const std::uint64_t to = next + (ack.sack[i].end - ack.acknowledgment);
        ASSERT_GT(from, next);
        ASSERT_FALSE(bytes.contains(from - 1) || bytes.contains(to)) << "blocks are maximal";
        for (std::uint64_t k = from; k < to; ++k) ASSERT_TRUE(bytes.contains(k));
        if (i == holes_from && !was_refused && begin > next) {
          ASSERT_TRUE(from <= begin && begin + length <= to) << "RFC 2018: the latest first";
        }
      }
    }
    refused += b.memory.events.reassembly_refused;
    duplicates += b.counters().duplicates_received;
    out_of_order += b.counters().out_of_order_received;
  }
  EXPECT_GT(refused, 100U);
  EXPECT_GT(duplicates, 100U);
  EXPECT_GT(out_of_order, 100U);
  EXPECT_GT(delivered_late, 10U);
  EXPECT_GT(duplicates_told, 100U);
}

TEST(Receiver, RefusesASecondEndOfTheStream) {
  Bench b;
  b.receiver.on_segment(data(100, 100, Ecn::kEct0, kTcpAck | kTcpFin), Time{});
  EXPECT_FALSE(b.receiver.fin_received());
  b.receiver.on_segment(data(200, 50), Time{});
  EXPECT_EQ(b.memory.events.out_of_stream, 1U) << "data beyond the FIN";
  b.receiver.on_segment(data(0, 50, Ecn::kEct0, kTcpAck | kTcpFin), Time{});
  EXPECT_EQ(b.memory.events.out_of_stream, 2U) << "another FIN";
  b.receiver.on_segment(data(0, 100), Time{});
  EXPECT_TRUE(b.receiver.fin_received());
  EXPECT_EQ(b.receiver.delivered_bytes(), 200U);
  const TcpSegment outside = data(200 + (8U << 20), 100);
  EXPECT_FALSE(b.receiver.window().acceptable(outside));
}

}  // namespace
}  // namespace outrider::receiver_test
