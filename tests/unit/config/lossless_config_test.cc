// Goal: the rules of lossless queues, each by its key, and what they set aside.
#include <gtest/gtest.h>

#include "switch/config/config_toml.h"
#include "switch/config/lcore_plan.h"
#include "tests/unit/config/full_switch.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider::lossless_config_test {
using namespace sw;
namespace {

using C = SwitchProcessConfig;

LosslessConfig& lossless(C& c, std::size_t queue = 1) {
  return c.switches[0].ports[0].queues[queue].queue.lossless;
}

TEST(LosslessConfig, EveryRuleNamesItsKey) {
  const Breach<C> breaches[] = {
      {[](C& c) { lossless(c).xon_bytes = 20'000; },
       "switch[0].port[0].queues[1].lossless.xon_bytes",
       "20000 B: must be below xoff_bytes, 20000 B"},
      {[](C& c) { lossless(c).priority = 8; }, "switch[0].port[0].queues[1].lossless.priority",
       "8"},
      {[](C& c) { lossless(c).pause_quanta = 26; },
       "switch[0].port[0].queues[1].lossless.pause_quanta", "26"},
      {[](C& c) { lossless(c).watchdog = 0s; }, "switch[0].port[0].queues[1].lossless.watchdog",
       "0s"},
      {[](C& c) { lossless(c, 0) = {.xoff_bytes = 2'000, .headroom_bytes = 1'000, .priority = 5}; },
       "switch[0].port[0].queues[1].lossless.priority", "5: another queue of the port has it"},
      {[](C& c) { lossless(c).headroom_bytes = 30'001; }, "switch[0].port[0].queues[1].limit_bytes",
       "50000 B: must hold the 50001 B that lossless queues of all ports may bring"},
      {[](C& c) {
         c.switches[0].ports[0].queues[1].queue.limit_bytes.reset();
         lossless(c).headroom_bytes = 60 * 1514 - 20'000 + 1;
       },
       "switch[0].port[0].queues[1].limit_packets", "60 packets: must hold the 90841 B"},
      {[](C& c) { c.switches[0].buffer.total_bytes = 38'017; }, "switch[0].buffer.total_bytes",
       "38017 bytes: must hold a frame of 9018 B and what queues reserve, 0 B, beside what "
       "lossless queues have alone, 29000 B"},
      {[](C& c) { lossless(c).xon_offset_bytes = 1; },
       "switch[0].port[0].queues[1].lossless.xon_offset_bytes",
       "1 B: belongs to xoff_alpha; with xoff_bytes set xon_bytes"},
  };
  expect_each_reported(breaches, full_config());
}

/// Queue 1 of port 0 has a dynamic threshold; 9,000 B are its headroom, and 91,000 B are shared.
C dynamic_config() {
  C c = full_config();
  c.switches[0].buffer.total_bytes = 100'000;
  lossless(c) = {.xoff_alpha = 0.25, .xon_offset_bytes = 2'000, .headroom_bytes = 9'000};
  c.switches[0].ports[0].queues[1].queue.limit_bytes = 100'000;
  c.switches[0].ports[0].queues[1].queue.limit_packets = 67;
  return c;
}

TEST(LosslessConfig, EveryRuleOfADynamicThresholdNamesItsKey) {
  const Breach<C> breaches[] = {
      {[](C& c) { lossless(c).xoff_bytes = 1; }, "switch[0].port[0].queues[1].lossless.xoff_alpha",
       "0.25: excludes xoff_bytes: a threshold is fixed or dynamic"},
      {[](C& c) { lossless(c).xon_bytes = 1'000; },
       "switch[0].port[0].queues[1].lossless.xon_bytes",
       "1000 B: belongs to xoff_bytes; with xoff_alpha set xon_offset_bytes"},
      {[](C& c) { c.switches[0].buffer.total_bytes.reset(); },
       "switch[0].port[0].queues[1].lossless.xoff_alpha",
       "0.25: needs total_bytes in [switch.buffer], of which it is a share"},
      {[](C& c) { lossless(c).xoff_alpha = 1001; },
       "switch[0].port[0].queues[1].lossless.xoff_alpha", "1001"},
      {[](C& c) { lossless(c).xoff_alpha = 1.0 / 64; },  // of 91,000 B
       "switch[0].port[0].queues[1].lossless.xoff_alpha",
       "0.015625: must let a frame of 1514 B in, and allows 1421 B: xoff_alpha times the 91000 B "
       "that queues share"},
      {[](C& c) { lossless(c).xon_offset_bytes = 22'750; },
       "switch[0].port[0].queues[1].lossless.xon_offset_bytes",
       "22750 B: must be below the largest threshold, 22750 B: xoff_alpha times the 91000 B"},
      {[](C& c) { c.switches[0].ports[0].queues[1].queue.limit_packets = 66; },
       "switch[0].port[0].queues[1].limit_packets",
       "66 packets: must hold the 100000 B that lossless queues of all ports may bring, 67 full"},
      {[](C& c) { c.switches[0].buffer.total_bytes = 18'017; }, "switch[0].buffer.total_bytes",
       "18017 bytes: must hold a frame of 9018 B and what queues reserve, 0 B, beside what "
       "lossless queues have alone, 9000 B"},
  };
  expect_each_reported(breaches, dynamic_config());
}

TEST(LosslessConfig, ADynamicThresholdSetsTheHeadroomAside) {
  C c = dynamic_config();
  EXPECT_TRUE(validate(c).empty()) << format_issues("config", validate(c));
  EXPECT_EQ(lossless_own_bytes(c.switches[0]), 9'000U);
  EXPECT_EQ(shared_part_bytes(c.switches[0]), 91'000U);
  EXPECT_EQ(lossless_room_bytes(c.switches[0], 1), 100'000U) << "all of it may wait in one queue";
  EXPECT_EQ(lossless_room_bytes(c.switches[0], 0), 0U);
  lossless(c).headroom_bytes = 0;
  EXPECT_TRUE(has_lossless(c.switches[0]));
  EXPECT_FALSE(runs_directly(c));
}

// A queue of one port takes what the same queue of all ports brings, lossless itself or not.
TEST(LosslessConfig, RoomIsForWhatAllPortsBring) {
  C c = full_config();
  EXPECT_EQ(lossless_room_bytes(c.switches[0], 1), 29'000U);
  EXPECT_EQ(lossless_room_bytes(c.switches[0], 0), 0U);
  lossless(c, 0) = {.xoff_bytes = 2'000, .headroom_bytes = 1'000};
  c.switches[0].ports[1].queue.lossless = {.xoff_bytes = 4'000, .headroom_bytes = 500};
  EXPECT_EQ(lossless_room_bytes(c.switches[0], 0), 7'500U);
  EXPECT_EQ(lossless_own_bytes(c.switches[0]), 36'500U);
  EXPECT_TRUE(validate(c).empty());
  EXPECT_EQ(lossless(c, 0).resume_bytes(), 1'000U) << "half";
}

TEST(LosslessConfig, PausesNeedAnEventLoop) {
  C c = full_config();
  c.links.clear();
  c.switches.resize(1);
  c.switches[0].ports.resize(1);
  c.switches[0].ports[0].delay = {};
  EXPECT_FALSE(runs_directly(c));
  lossless(c) = {};
  EXPECT_TRUE(runs_directly(c));
}

}  // namespace
}  // namespace outrider::lossless_config_test
