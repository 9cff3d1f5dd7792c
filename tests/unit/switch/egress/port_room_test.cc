// Goal: queues of a port with a limit of its own hold no more together than that, one may use what
// another does not, and none holds more than its own limit. Method: one port, whose queues are
// filled at one instant.
#include <gtest/gtest.h>

#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::port_room_test {
using namespace sw;
namespace {

/// Returns a port with two queues of 80 and 60 packets, and 100 together.
SwitchPortConfig two_queues() {
  SwitchPortConfig port = port_config();
  port.scheduler = SchedulerKind::kStrict;
  port.limit_packets = 100;
  port.marker.kind = MarkerKind::kTailDrop;
  port.queues.assign(2, {port.queue, port.marker, port.regulation});
  port.queues[0].queue.limit_packets = 80;
  port.queues[1].queue.limit_packets = 60;
  return port;
}

void fill(PortBench& bench, unsigned queue, std::uint32_t packets) {
  for (std::uint32_t i = 0; i < packets; ++i) bench.send(queue, Ecn::kEct0, Time{});
}

TEST(PortRoom, QueuesShareTheLimitOfTheirPort) {
  struct Row {
    std::uint32_t low, high, low_drops, high_drops;
  };
  // One packet more than waits is in service.
  for (const Row& row : {Row{61, 40, 0, 0}, Row{62, 40, 1, 0}, Row{61, 41, 0, 1}, Row{21, 80, 0, 0},
                         Row{21, 81, 0, 1}, Row{90, 50, 29, 10}}) {
    SCOPED_TRACE(testing::Message() << row.low << " " << row.high);
    PortBench bench(two_queues());
    fill(bench, 1, row.low);
    fill(bench, 0, row.high);
    EXPECT_EQ(bench.drops(1, DropReason::kTailPackets), row.low_drops);
    EXPECT_EQ(bench.drops(0, DropReason::kTailPackets), row.high_drops);
    EXPECT_TRUE(bench.balanced());
  }
}

TEST(PortRoom, WhatLeavesMakesRoom) {
  PortBench bench(two_queues());
  Time now{};
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (int i = 0; i < 61; ++i) bench.send(1, Ecn::kEct0, now);
    for (int i = 0; i < 41; ++i) bench.send(0, Ecn::kEct0, now);
    EXPECT_EQ(bench.drops(0, DropReason::kTailPackets), round);
    EXPECT_EQ(bench.drops(1, DropReason::kTailPackets), 0U);
    now += 200 * PortBench::kFrameTime;  // all have left
  }
  EXPECT_TRUE(bench.balanced());
}

TEST(PortRoom, BytesAreSharedToo) {
  SwitchPortConfig port = two_queues();
  port.limit_packets.reset();
  port.limit_bytes = 99'999;  // room for 99 of 1,000 bytes
  PortBench bench(port);
  fill(bench, 1, 61);
  fill(bench, 0, 40);
  EXPECT_EQ(bench.drops(0, DropReason::kTailBytes), 1U);
  EXPECT_EQ(bench.drops(0, DropReason::kTailPackets), 0U);
  EXPECT_TRUE(bench.balanced());
}

}  // namespace
}  // namespace outrider::port_room_test
