// Goal: with occupancy = "own_and_higher" a step judges what waits in its own queue and in those
// served before it, at either end, and nothing else; so that background is marked before its own
// queue is full. Method: one port, whose queues are filled at one instant.
#include <gtest/gtest.h>

#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::cross_queue_test {
using namespace sw;
namespace {

constexpr std::uint32_t kK = 10;

/// Returns a port with three queues. The last counts the others' packets with `occupancy`.
SwitchPortConfig three_queues(StepOccupancy occupancy) {
  SwitchPortConfig port = port_config();
  port.scheduler = SchedulerKind::kStrictFloor;
  port.marker.threshold_packets = 500;  // the queues before the last mark nothing here
  port.queues.assign(3, {port.queue, port.marker, port.regulation});
  port.queues[2].marker.threshold_packets = kK;
  port.queues[2].marker.occupancy = occupancy;
  return port;
}

void fill(PortBench& bench, unsigned queue, std::uint32_t packets, Ecn ecn = Ecn::kEct0) {
  for (std::uint32_t i = 0; i < packets; ++i) bench.send(queue, ecn, Time{});
}

TEST(CrossQueue, AStepCountsWhatIsServedBeforeItToo) {
  struct Row {
    std::uint32_t first, second, own, marked_alone, marked;
  };
  // A packet that finds n packets is marked if n >= 10, and `own` of them come one by one.
  for (const Row& row :
       {Row{0, 0, 9, 0, 0}, Row{0, 0, 12, 2, 2}, Row{9, 0, 1, 0, 0}, Row{10, 0, 1, 0, 1},
        Row{0, 10, 5, 0, 5}, Row{3, 4, 5, 0, 2}, Row{60, 60, 15, 5, 15}}) {
    SCOPED_TRACE(testing::Message() << row.first << " " << row.second << " " << row.own);
    for (const auto occupancy : {StepOccupancy::kOwn, StepOccupancy::kOwnAndHigher}) {
      PortBench bench(three_queues(occupancy));
      fill(bench, 2, 1);  // is in service
      fill(bench, 0, row.first);
      fill(bench, 1, row.second);
      fill(bench, 2, row.own);
      EXPECT_EQ(bench.marks(2), occupancy == StepOccupancy::kOwn ? row.marked_alone : row.marked);
      EXPECT_EQ(bench.marks(0) + bench.marks(1), 0U);
    }
  }
}

TEST(CrossQueue, WhatIsServedLaterDoesNotCount) {
  SwitchPortConfig port = three_queues(StepOccupancy::kOwn);
  port.queues[1].marker.threshold_packets = kK;
  port.queues[1].marker.occupancy = StepOccupancy::kOwnAndHigher;
  PortBench bench(port);
  fill(bench, 2, 100);
  fill(bench, 0, 4);
  fill(bench, 1, 7);
  EXPECT_EQ(bench.marks(1), 1U) << "the last finds 4 + 6";
}

TEST(CrossQueue, ClassesKeepTheirThresholds) {
  SwitchPortConfig port = three_queues(StepOccupancy::kOwnAndHigher);
  port.queues[2].marker.threshold_packets = 900;
  port.queues[2].marker.background_threshold_packets = kK;
  PortBench bench(port);
  fill(bench, 0, 13);
  fill(bench, 2, 5);
  EXPECT_EQ(bench.marks(2), 5U);
}

TEST(CrossQueue, AtDequeueTheHigherQueuesCountAsTheyAreThen) {
  SwitchPortConfig port = three_queues(StepOccupancy::kOwnAndHigher);
  port.queues[2].marker.at = MarkAt::kDequeue;
  PortBench bench(port);
  fill(bench, 0, 50);
  fill(bench, 2, 5);
  bench.run();
  EXPECT_EQ(bench.marks(2), 0U) << "the strict queue is empty when they leave";

  port.queues[2].queue.floor_rate = BitRate{300'000'000};
  PortBench guaranteed(port);
  fill(guaranteed, 0, 50);
  fill(guaranteed, 2, 5);
  guaranteed.run();
  EXPECT_EQ(guaranteed.marks(2), 5U) << "their floor lets them leave before the others";
}

TEST(CrossQueue, NotEctIsDroppedWhereItIsToldTo) {
  SwitchPortConfig port = three_queues(StepOccupancy::kOwnAndHigher);
  port.queues[2].marker.not_ect = NotEct::kDrop;
  PortBench bench(port);
  fill(bench, 0, 20);
  fill(bench, 2, 3, Ecn::kNotEct);
  EXPECT_EQ(bench.drops(2, DropReason::kAqmNotEct), 3U);
  bench.run();
  EXPECT_TRUE(bench.balanced());
}

TEST(CrossQueue, AReloadTurnsItOnAndOff) {
  const SwitchPortConfig own = three_queues(StepOccupancy::kOwn);
  const SwitchPortConfig both = three_queues(StepOccupancy::kOwnAndHigher);
  PortBench bench(own);
  fill(bench, 0, 20);
  const auto reload = [&](const SwitchPortConfig& from, const SwitchPortConfig& to) {
    const auto change = bench.port.prepare(from, to, {}, false);
    ASSERT_NE(change, nullptr);
    bench.port.apply(*change, Time{});
  };
  fill(bench, 2, 1);
  EXPECT_EQ(bench.marks(2), 0U);
  reload(own, both);
  fill(bench, 2, 2);
  EXPECT_EQ(bench.marks(2), 2U);
  reload(both, own);
  fill(bench, 2, 3);
  EXPECT_EQ(bench.marks(2), 2U);
}

}  // namespace
}  // namespace outrider::cross_queue_test
