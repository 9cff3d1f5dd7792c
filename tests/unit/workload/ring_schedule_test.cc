// Goal: the ring's steps reduce every chunk of every worker exactly once and give
// everybody every result, with the bytes that theory says. Method: play the steps
// on sets of contributions.
#include "trafficgen/workload/collective/ring/ring_schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "common/core/random.h"

namespace outrider::ring_schedule_test {
using namespace tg;
namespace {

/// Whose gradients are in a chunk at a worker; a multiset, so that a contribution
/// that is added twice shows.
using Sum = std::multiset<std::uint32_t>;

TEST(RingSchedule, EveryChunkIsReducedExactlyOnceAndReachesEverybody) {
  for (const std::uint32_t n : {2U, 3U, 4U, 7U, 32U}) {
    const RingSchedule ring(n, 1'000'003);
    std::vector<std::vector<Sum>> at(n, std::vector<Sum>(n));
    for (std::uint32_t w = 0; w < n; ++w)
      for (std::uint32_t c = 0; c < n; ++c) at[w][c] = {w};
    for (std::uint32_t step = 0; step < ring.steps(); ++step) {
      std::vector<Sum> sent(n);
      for (std::uint32_t w = 0; w < n; ++w) sent[w] = at[w][ring.chunk(w, step)];
      for (std::uint32_t w = 0; w < n; ++w) {
        Sum& mine = at[ring.right_of(w)][ring.chunk(w, step)];
        if (step < n - 1) mine.insert(sent[w].begin(), sent[w].end());
        else mine = sent[w];
      }
    }
    Sum everybody;
    for (std::uint32_t w = 0; w < n; ++w) everybody.insert(w);
    for (std::uint32_t w = 0; w < n; ++w)
      for (std::uint32_t c = 0; c < n; ++c) ASSERT_EQ(at[w][c], everybody) << n << ": " << w;
  }
}

// A step passes on what the step before it has brought.
TEST(RingSchedule, AStepSendsTheChunkThatHasJustArrived) {
  const RingSchedule ring(5, 500);
  for (std::uint32_t w = 0; w < 5; ++w) {
    EXPECT_EQ(ring.chunk(w, 0), w);
    EXPECT_EQ(ring.left_of(ring.right_of(w)), w);
    for (std::uint32_t step = 1; step < ring.steps(); ++step)
      EXPECT_EQ(ring.chunk(w, step), ring.chunk(ring.left_of(w), step - 1));
  }
}

TEST(RingSchedule, BytesAreTwiceNMinusOneOverN) {
  for (const std::uint32_t n : {2U, 3U, 4U, 256U}) {
    const std::uint64_t divisible = std::uint64_t{n} * 1000;
    for (std::uint32_t w = 0; w < n; ++w)
      EXPECT_EQ(RingSchedule(n, divisible).sent_bytes(w), 2ULL * (n - 1) * 1000);
    const RingSchedule uneven(n, divisible + 1);
    std::uint64_t chunks = 0, sent = 0;
    for (std::uint32_t w = 0; w < n; ++w) {
      chunks += uneven.chunk_bytes(w);
      sent += uneven.sent_bytes(w);
    }
    EXPECT_EQ(chunks, divisible + 1);
    EXPECT_EQ(sent, 2 * (n - 1) * (divisible + 1)) << "every chunk travels 2(N - 1) times";
  }
}

/// What a worker sends when.
struct Worker {
  RingProgress progress{4};
  std::vector<std::uint32_t> sent{};

  void release() {
    progress.on_released([this](std::uint32_t step) { sent.push_back(step); });
  }
  void receive(std::uint32_t step) {
    progress.on_received(step, [this](std::uint32_t next) { sent.push_back(next); });
  }
};
using Steps = std::vector<std::uint32_t>;

TEST(RingProgress, SendsWhatItsGradientsAndItsNeighbourAllow) {
  Worker w;
  w.receive(0);
  EXPECT_EQ(w.sent, Steps()) << "the neighbour is early, there are no gradients yet";
  w.release();
  EXPECT_EQ(w.sent, Steps({0, 1})) << "step 0 had arrived before";
  w.receive(1);
  EXPECT_EQ(w.sent, Steps({0, 1, 2})) << "step 2 passes on what step 1 brings";
  w.receive(2);
  EXPECT_EQ(w.sent, Steps({0, 1, 2, 3}));
  EXPECT_FALSE(w.progress.done());
  w.receive(3);
  EXPECT_EQ(w.sent, Steps({0, 1, 2, 3})) << "there are 4 steps";
  EXPECT_TRUE(w.progress.done());
  w.progress.begin();
  EXPECT_FALSE(w.progress.done());
  w.receive(0);
  EXPECT_EQ(w.sent.size(), 4U) << "a new iteration, whose gradients are not there";
}

TEST(RingProgress, AStepDoesNotWaitForTheOneBefore) {
  Worker w;
  w.release();
  w.receive(1);
  EXPECT_EQ(w.sent, Steps({0, 2}));
  w.receive(0);
  EXPECT_EQ(w.sent, Steps({0, 2, 1}));
  w.receive(3);
  w.receive(2);
  EXPECT_EQ(w.sent, Steps({0, 2, 1, 3}));
  EXPECT_TRUE(w.progress.done());
}

}  // namespace
}  // namespace outrider::ring_schedule_test
