// Fifo and EgressQueue against std::deque; the token bucket on a timeline.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "common/core/random.h"
#include "switch/aqm/egress_queue.h"
#include "switch/signals/token_bucket.h"
#include "trafficgen/core/fifo.h"

namespace outrider::queues_test {
namespace {

using namespace std::chrono_literals;

TEST(Fifo, BehavesLikeADequeAndGrowsOnlyAtAPeak) {
  for (const std::size_t expected :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    RandomStream random(5, static_cast<std::uint32_t>(expected), RandomPurpose::kTest);
    Fifo<std::unique_ptr<int>> fifo(expected);  // move-only: nothing may be copied
    std::deque<int> model;
    std::size_t peak = 0, emptied = 0;
    for (int step = 0; step < 20'000; ++step) {
      const bool filling = step / 500 % 2 == 0;
      if (random.next_u32() % 8 < (filling ? 5U : 3U)) {
        fifo.push(std::make_unique<int>(step));
        model.push_back(step);
      } else if (!model.empty()) {
        ASSERT_EQ(*fifo.peek(), model.front());
        ASSERT_EQ(*fifo.peek(model.size() - 1), model.back());
        ASSERT_EQ(*fifo.pop(), model.front());
        model.pop_front();
        emptied += model.empty();
      }
      ASSERT_EQ(fifo.size(), model.size());
      ASSERT_EQ(fifo.empty(), model.empty());
      peak = std::max(peak, model.size());
    }
    EXPECT_GT(peak, 64U) << "must have grown";
    EXPECT_GT(emptied, 1U);
  }
}

struct Limit {
  std::uint32_t packets;
  std::optional<std::uint64_t> bytes;
};

// Every step: order, both occupancies, and per class enqueued == dequeued + occupancy.
TEST(EgressQueue, BehavesLikeADequeWithBothLimits) {
  std::uint64_t refused_packets = 0, refused_bytes = 0, filled_to_the_byte = 0;
  for (const Limit limit : {Limit{1, {}}, Limit{10, {}}, Limit{60, 20'000}, Limit{7, 3'000}}) {
    RandomStream random(6, limit.packets, RandomPurpose::kTest);
    EgressQueue<int> queue({limit.packets, limit.bytes});
    std::deque<EgressQueue<int>::Item> model;
    PerClass<std::uint64_t> in{}, out{};
    std::uint64_t bytes = 0;
    for (int step = 0; step < 20'000; ++step) {
      const std::uint32_t size = random.next_u32() % 2 == 0 ? 60 : 60 + random.next_u32() % 1455;
      if (random.next_u32() % 8 < (step / 500 % 2 == 0 ? 6U : 3U)) {
        std::optional<DropReason> expected;
        if (model.size() == limit.packets) expected = DropReason::kTailPackets;
        else if (limit.bytes && bytes + size > *limit.bytes) expected = DropReason::kTailBytes;
        ASSERT_EQ(queue.refuses(size), expected) << "step " << step;
        ASSERT_EQ(queue.admits(size), !expected) << "step " << step;
        if (limit.bytes)
          filled_to_the_byte +=
              queue.refuses(static_cast<std::uint32_t>(*limit.bytes - bytes)) == std::nullopt;
        refused_packets += expected == DropReason::kTailPackets;
        refused_bytes += expected == DropReason::kTailBytes;
        if (!expected) {
          const auto c = static_cast<TrafficClass>(random.next_u32() % kTrafficClasses);
          const EgressQueue<int>::Item item{step, Time{Duration{step}}, size, c};
          queue.push(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class);
          model.push_back(item);
          bytes += size;
          ++in[c];
        }
      } else if (!model.empty()) {
        const auto item = queue.pop();
        const auto& want = model.front();
        ASSERT_EQ(item.packet, want.packet);
        ASSERT_EQ(item.enqueued_at, want.enqueued_at);
        ASSERT_EQ(item.frame_bytes, want.frame_bytes);
        ASSERT_EQ(item.traffic_class, want.traffic_class);
        bytes -= item.frame_bytes;
        ++out[item.traffic_class];
        model.pop_front();
      }
      ASSERT_EQ(queue.occupancy_packets(), model.size());
      ASSERT_EQ(queue.occupancy_bytes(), bytes);
      ASSERT_EQ(queue.empty(), model.empty());
      for (std::size_t c = 0; c < kTrafficClasses; ++c)
        ASSERT_EQ(in.values[c], out.values[c] + queue.occupancy_by_class().values[c]);
    }
  }
  EXPECT_GT(refused_packets, 1'000U);
  EXPECT_GT(refused_bytes, 1'000U);
  EXPECT_GT(filled_to_the_byte, 1'000U) << "a frame that fits exactly is admitted";
}

struct Take {
  Duration at;
  bool admitted;
  const char* why;
};

// 1000 a second: a token a millisecond; 2 at once.
constexpr Take kTokenTimeline[] = {
    {0us, true, "starts full: first of the burst"},
    {0us, true, "second of the burst"},
    {0us, false, "nothing left"},
    {999us, false, "1 us short of a token"},
    {1001us, true, "a token is back"},
    {1002us, false, "and spent"},
    {1500us, false, "half a token does not count"},
    {2002us, true, "the half was kept"},
    {10ms, true, "idle for 8 ms: full again"},
    {10ms, true, "but never above the burst"},
    {10ms, false, "8 tokens were not saved up"},
};

TEST(TokenBucket, AdmitsTheBurstThenTheRate) {
  for (const Duration shift : {Duration{0}, Duration{1ns}, Duration{1h}, Duration{365 * 24h}}) {
    TokenBucket bucket(1000, 2, Time{shift});
    for (const auto& row : kTokenTimeline)
      EXPECT_EQ(bucket.take(Time{shift + row.at}), row.admitted) << row.why;
  }
}

// Who serves queues in turn may step back in time between them: no time counts twice.
TEST(TokenBucket, AnEarlierInstantEarnsNothing) {
  TokenBucket bucket(1000, 2, Time{});
  EXPECT_TRUE(bucket.take(Time{}));
  EXPECT_TRUE(bucket.take(Time{}));
  EXPECT_TRUE(bucket.take(Time{1ms})) << "one earned";
  EXPECT_FALSE(bucket.take(Time{500us}));
  EXPECT_FALSE(bucket.take(Time{1500us})) << "earned since 1 ms: half a token";
  EXPECT_TRUE(bucket.take(Time{2ms}));
}

TEST(TokenBucket, RefusalsCostNothing) {
  TokenBucket hammered(1000, 1, Time{}), left_alone(1000, 1, Time{});
  EXPECT_TRUE(hammered.take(Time{}));
  EXPECT_TRUE(left_alone.take(Time{}));
  for (int us = 1; us <= 900; ++us) EXPECT_FALSE(hammered.take(Time{us * 1us}));
  EXPECT_TRUE(hammered.take(Time{1001us})) << "a source that asks too often keeps its rate";
  EXPECT_TRUE(left_alone.take(Time{1001us}));
}

}  // namespace
}  // namespace outrider::queues_test
