// Goal: whose turn it is at a NIC: in turn with one class; with several by floor, then by
// band, then in turn. Method: literal sequences, and a model with random classes.
#include "trafficgen/hosts/nic_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "common/core/random.h"

namespace outrider::nic_queue_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr BitRate kFloor{100'000};
constexpr std::uint32_t kFrame = 1250;  // 100 ms at the floor

/// Serves `n` packets at `now`; who was served comes again at once.
std::string serve(NicQueue& queue, Time now, int n) {
  std::string served;
  for (int i = 0; i < n; ++i) {
    const std::uint32_t connection = queue.pop(now);
    const auto c = static_cast<std::uint8_t>(connection);
    served += static_cast<char>('a' + connection);
    queue.on_sent(c, kFrame, now);
    queue.push(c, connection);
  }
  return served;
}

TEST(NicQueue, OneClassTakesTurns) {
  NicQueue queue(2);
  for (const std::uint32_t c : {7U, 3U, 5U}) queue.push(0, c);
  EXPECT_EQ(queue.pop(Time{}), 7U);
  queue.push(0, 7);
  EXPECT_EQ(queue.peek(1), 5U);
  EXPECT_EQ(queue.pop(Time{}), 3U);
  EXPECT_EQ(queue.pop(Time{}), 5U);
  EXPECT_EQ(queue.pop(Time{}), 7U);
  EXPECT_TRUE(queue.empty());
}

TEST(NicQueue, TheLowestBandBorrowsAndEveryClassHasItsFloor) {
  NicQueue queue(2);
  const std::uint8_t bands[]{7, 1, 0, 1};
  queue.make_classes(bands, kFloor);
  for (std::uint8_t c = 0; c < 4; ++c) queue.push(c, c);
  // Nobody has had anything: all are owed their floor, by band, then in turn.
  EXPECT_EQ(serve(queue, Time{}, 4), "cdba");
  EXPECT_EQ(serve(queue, Time{}, 4), "cccc") << "all borrow: the lowest band alone";
  // c has earned nothing for 500 ms; the others are owed a packet each after 100 ms.
  EXPECT_EQ(serve(queue, Time{99ms}, 2), "cc");
  EXPECT_EQ(serve(queue, Time{100ms}, 4), "dbac");
}

TEST(NicQueue, ClassesOfABandTakeTurns) {
  NicQueue queue(2);
  const std::uint8_t bands[]{7, 2, 2, 2};
  queue.make_classes(bands, kFloor);
  for (std::uint8_t c = 1; c < 4; ++c) queue.push(c, c);
  EXPECT_EQ(serve(queue, Time{}, 9), "bcdbcdbcd");
}

TEST(NicQueue, NewBandsReorderNobodyWithinAClass) {
  NicQueue queue(2);
  const std::uint8_t first[]{7, 0, 1}, second[]{7, 1, 0};
  queue.make_classes(first, kFloor);
  for (const std::uint32_t connection : {10U, 11U, 12U}) queue.push(1, connection);
  for (const std::uint32_t connection : {20U, 21U}) queue.push(2, connection);
  const auto next = [&](std::uint8_t c) {
    const std::uint32_t connection = queue.pop(Time{});
    queue.on_sent(c, kFrame, Time{});
    return connection;
  };
  EXPECT_EQ(next(1), 10U);
  EXPECT_EQ(next(2), 20U) << "its floor";
  EXPECT_EQ(next(1), 11U);
  queue.set_bands(second);
  EXPECT_EQ(next(2), 21U);
  EXPECT_EQ(next(1), 12U);
  EXPECT_TRUE(queue.empty());
}

// Any sequence of pushes, pops and new bands: each class is a queue, and nothing is lost.
TEST(NicQueue, EveryClassIsAQueue) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    const std::size_t classes = 2 + random.next_u32() % 20;
    std::vector<std::uint8_t> bands(classes);
    NicQueue queue(2);
    queue.make_classes(bands, kFloor);
    std::vector<std::deque<std::uint32_t>> model(classes);
    std::uint32_t pushed = 0, popped = 0;
    for (int step = 0; step < 2000; ++step) {
      const Time now{std::chrono::microseconds(step)};
      if (random.next_u32() % 50 == 0) {
        for (auto& band : bands) band = static_cast<std::uint8_t>(random.next_u32() % 7);
        queue.set_bands(bands);
      }
      if (random.next_u32() % 2 == 0 || queue.empty()) {
        const auto c = static_cast<std::uint8_t>(random.next_u32() % classes);
        queue.push(c, pushed * 64 + c);
        model[c].push_back(pushed++ * 64 + c);
        continue;
      }
      const std::uint32_t connection = queue.pop(now);
      const std::size_t c = connection % 64;
      ASSERT_FALSE(model[c].empty());
      EXPECT_EQ(connection, model[c].front());
      model[c].pop_front();
      queue.on_sent(static_cast<std::uint8_t>(c), kFrame, now);
      ++popped;
    }
    EXPECT_EQ(queue.size(), pushed - popped);
    EXPECT_GT(popped, 500U);
  }
}

}  // namespace
}  // namespace outrider::nic_queue_test
