// Goal: Swift keeps round trips at its target with equal shares, however many flows there are.
// Method: long flows over RoCEv2 in virtual time, one seed or three with OUTRIDER_FULL=1.
// OUTRIDER_FIGURES=1 prints the figures of docs/rxe.md.
// Source: Kumar et al., SIGCOMM 2020, sections 3 and 5.
#include "tests/virtual/roce_long_flows.h"

namespace outrider::swift_effect_test {
using namespace roce_long_flows;
namespace {

RoceConfig swift(Duration range) {
  RoceConfig roce{.controller = RoceController::kSwift};
  roce.swift.base_target = 40us;
  roce.swift.scaling_range = range;
  return roce;
}

/// The round trip without waiting: propagation, and what a packet and its acknowledgment take at
/// each NIC and port.
constexpr double kEmptyUs = 21;

// Sections 3.2 and 5: the round trip stays near the target while the link is full.
TEST(SwiftEffect, RoundTripsStayAtTheTargetAndTheLinkIsFull) {
  for (const std::uint32_t flows : {2U, 8U, 32U}) {
    const Measured m = mean_of("Swift", {.flows = flows, .roce = swift(50us)}, 50ms, 100ms);
    EXPECT_GT(m.jain, 0.95) << flows;
    EXPECT_GT(m.use, 0.95) << flows;
    EXPECT_GT(m.wait_us, 0.5 * (40 - kEmptyUs)) << flows;
    EXPECT_LT(m.wait_us, 40 + 50 - kEmptyUs) << flows << ": the target is at most that";
    EXPECT_EQ(m.retransmitted, 0U);
  }
}

// Section 3.5: without it flows with small windows share unequally, as all of them have one target.
TEST(SwiftEffect, FlowScalingMakesSharesEqual) {
  const LongFlows with{.flows = 32, .roce = swift(50us)};
  LongFlows without = with;
  without.roce = swift(0us);
  EXPECT_GT(mean_of("with scaling", with, 20ms, 40ms).jain,
            mean_of("without", without, 20ms, 40ms).jain);
}

// Section 3.4: more flows than packets fit into the path are paced below a packet a round trip.
TEST(SwiftEffect, AnIncastOfManyKeepsTheQueueShort) {
  const LongFlows many{.flows = 200, .roce = swift(100us), .rate = BitRate{10'000'000'000}};
  const Measured m = mean_of("Swift, incast", many, 50ms, 100ms);
  EXPECT_GT(m.use, 0.75);
  EXPECT_LT(m.wait_us, 95) << "with a window of a packet each they would wait for 155 us";
  EXPECT_GT(m.jain, 0.9);
}

}  // namespace
}  // namespace outrider::swift_effect_test
