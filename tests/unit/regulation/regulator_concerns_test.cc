// Goal: a switch may skip the regulator for packets that do not concern it. Method: two
// regulators under the same seeded random traffic.
#include <gtest/gtest.h>

#include "common/core/random.h"
#include "switch/regulation/regulator/regulator.h"

namespace outrider::regulator_concerns_test {
namespace {

using namespace std::chrono_literals;

FlowKey worker(std::uint32_t w) {
  return {0x0A000101U + w, 0x0A000301, static_cast<std::uint16_t>(40'000 + w), 5000};
}

RegulationPolicy policy(Recovery recovery) {
  return {.mode = RegulationMode::kMark,
          .recovery = recovery,
          .hold = 10ms,
          .idle_end = 5ms,
          .expiry = 100ms,
          .budget_share = 1,
          .budget_window = 10s,
          .max_entries = 300};
}

// If concerns() is false, a switch need not call on_payload(). A regulator that is always called
// and one that is called only if concerns() is true stay equal, with few live entries and with
// more than concerns() can distinguish.
TEST(Regulator, WhatDoesNotConcernItChangesNothing) {
  for (const Recovery recovery : {Recovery::kArrival, Recovery::kBurstEnd, Recovery::kTimer})
    for (const std::uint32_t flows : {20U, 400U}) {
      const RegulationPolicy p = policy(recovery);
      Regulator told(p), asked(p);
      RandomStream random(flows, 0, RandomPurpose::kTest);
      std::uint32_t spared = 0;
      for (std::uint32_t step = 0; step < 20'000; ++step) {
        const Time now{step * 20us};
        const FlowKey flow = worker(random.next_u32() % flows);
        const std::uint32_t sequence = random.next_u32() % 3000;
        if (random.next_u32() % 8 == 0) {
          const StartSignal start{flow, sequence,
                                  static_cast<std::uint16_t>(1 + random.next_u32() % 20)};
          ASSERT_EQ(told.on_start(start, now), asked.on_start(start, now));
        } else {
          told.on_payload(flow, sequence, 100, false, now);
          if (asked.concerns(flow, now)) asked.on_payload(flow, sequence, 100, false, now);
          else ++spared;
        }
        ASSERT_EQ(told.threshold(now), asked.threshold(now)) << "step " << step;
        ASSERT_EQ(told.live_entries(), asked.live_entries()) << "step " << step;
      }
      EXPECT_EQ(told.counters().recovered_arrival, asked.counters().recovered_arrival);
      EXPECT_EQ(told.counters().recovered_burst_end, asked.counters().recovered_burst_end);
      EXPECT_EQ(told.counters().expired, asked.counters().expired);
      EXPECT_GT(told.counters().starts_armed, 100U);
      if (flows == 20 && recovery == Recovery::kArrival) {
        EXPECT_GT(spared, 1000U);
      }
    }
}

}  // namespace
}  // namespace outrider::regulator_concerns_test
