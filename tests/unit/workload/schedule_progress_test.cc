// Goal: a message leaves when its rank's data may leave and what it needs has arrived, once, in the
// iteration to which it belongs. Method: rings and a tree whose arrivals the test chooses.
#include "trafficgen/workload/collective/scheduled/schedule_progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace outrider::schedule_progress_test {
using namespace tg;
namespace {

using Messages = std::vector<std::uint32_t>;

struct Scene {
  explicit Scene(const CollectiveSchedule& s) : table(s), progress(table) {}
  void release(std::uint32_t rank) {
    progress.on_released(rank, [this](std::uint32_t m) { sent.push_back(m); });
  }
  void receive(std::uint32_t message, std::uint32_t iteration = 0) {
    progress.on_received(message, iteration, [this](std::uint32_t m) { sent.push_back(m); });
  }
  MessageTable table;
  ScheduleProgress progress;
  Messages sent{};
};

// In a ring of 3, message 3k + w is step k of rank w.
TEST(ScheduleProgress, SendsWhatItsDataAndItsPeersAllow) {
  Scene s(ring_schedule(3, 300, 1));
  s.receive(2);
  EXPECT_EQ(s.sent, Messages()) << "the left neighbour is early, rank 0 has no gradients yet";
  s.release(0);
  EXPECT_EQ(s.sent, Messages({0, 3})) << "step 0 of the neighbour had arrived before";
  s.receive(5);
  EXPECT_EQ(s.sent, Messages({0, 3, 6})) << "step 2 passes on what step 1 brings";
  s.receive(8);
  EXPECT_EQ(s.sent, Messages({0, 3, 6, 9}));
  EXPECT_FALSE(s.progress.done(0));
  s.receive(11);
  EXPECT_EQ(s.sent, Messages({0, 3, 6, 9})) << "there are 4 steps";
  EXPECT_TRUE(s.progress.done(0));
  s.progress.next(0);
  EXPECT_EQ(s.progress.iteration(0), 1U);
  EXPECT_FALSE(s.progress.done(0));
  s.receive(2, 1);
  EXPECT_EQ(s.sent.size(), 4U) << "a new iteration, whose gradients are not there";
}

TEST(ScheduleProgress, AStepDoesNotWaitForTheOneBefore) {
  Scene s(ring_schedule(3, 300, 1));
  s.release(0);
  s.receive(5);
  EXPECT_EQ(s.sent, Messages({0, 6}));
  s.receive(2);
  EXPECT_EQ(s.sent, Messages({0, 6, 3}));
  s.receive(11);
  s.receive(8);
  EXPECT_EQ(s.sent, Messages({0, 6, 3, 9}));
  EXPECT_TRUE(s.progress.done(0));
}

// Rank 1 has all from rank 0 and waits for rank 2. Rank 0 is already in the next iteration.
TEST(ScheduleProgress, KeepsWhatArrivesForTheNextIteration) {
  Scene s(all_to_all_schedule(3, 300, 1, 0));  // 0>1 0>2 1>2 1>0 2>0 2>1
  s.release(1);
  s.receive(0);
  s.receive(0, 1);
  EXPECT_FALSE(s.progress.done(1)) << "the second message is one of the next iteration";
  s.receive(5);
  EXPECT_TRUE(s.progress.done(1));
  s.progress.next(1);
  s.release(1);
  EXPECT_FALSE(s.progress.done(1));
  s.receive(5, 1);
  EXPECT_TRUE(s.progress.done(1)) << "the early one counts";
}

// The next message of the root leaves when the one before has arrived at another rank.
TEST(ScheduleProgress, WaitsForItsOwnMessages) {
  Scene s(tree_schedule(4, 100));  // 1>0 3>2 2>0, 0>2 0>1 2>3
  s.release(0);
  s.receive(0);
  EXPECT_EQ(s.sent, Messages());
  s.receive(2);
  EXPECT_EQ(s.sent, Messages({3}));
  EXPECT_FALSE(s.progress.done(0));
  s.receive(3);
  EXPECT_EQ(s.sent, Messages({3, 4})) << "and nothing of rank 2, whose data are not released";
  EXPECT_TRUE(s.progress.done(0));
}

TEST(MessageTable, NumbersLanesAndParts) {
  const MessageTable t(tree_schedule(4, 100));
  EXPECT_EQ(t.most_targets(), 2U);
  EXPECT_EQ(t.targets_of(0), 2U);
  EXPECT_EQ(t.peer(0, 0), 2U);
  EXPECT_EQ(t.targets_of(1), 1U);
  EXPECT_TRUE(t.on_lane(1, 1).empty()) << "no such lane";
  const MessageTable ring(ring_schedule(3, 300, 1));
  EXPECT_EQ(ring.most_targets(), 1U);
  EXPECT_EQ(ring.on_lane(2, 0).size(), 4U);
  EXPECT_EQ(ring.row(ring.on_lane(2, 0)[3]).part, 3U);
  EXPECT_EQ(ring.received_by(0), 4U);
}

}  // namespace
}  // namespace outrider::schedule_progress_test
