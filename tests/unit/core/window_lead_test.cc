// Goal: the lead of a held burst is what the told windows take to drain, and no more where there
// is nothing to drain; what cannot drain is said. Method: cases worked out by hand.
#include "switch/regulation/windows/window_lead.h"

#include <gtest/gtest.h>

namespace outrider::window_lead_test {
namespace {

using namespace std::chrono_literals;

/// One packet of 1250 bytes takes 10 us, the path holds 100 packets.
WindowLeadInput hundred_packets() {
  return {.rate = BitRate{1'000'000'000},
          .rtt = 1ms,
          .packet_bytes = 1250,
          .standing_packets = 50,
          .h_packets = 10,
          .flows = 4,
          .standing_clamp = 1.5,
          .whole_paths = false};
}

TEST(WindowLead, IsARoundTripAndWhatTheWindowsHoldBeyondPathAndH) {
  // 1.5 x (100 + 50 + 4) - (100 + 10) = 121 packets of 10 us.
  const WindowLead rule = window_lead(hundred_packets());
  EXPECT_EQ(rule.lead, 1ms + 1210us);
  EXPECT_DOUBLE_EQ(rule.left_packets, 10);
  EXPECT_DOUBLE_EQ(rule.kept_share, 8.0 / 150);
}

TEST(WindowLead, GrowsWithTheStandingQueueAndTheClampAndFallsWithH) {
  const Duration lead = window_lead(hundred_packets()).lead;
  WindowLeadInput in = hundred_packets();
  in.standing_packets = 150;
  EXPECT_EQ(window_lead(in).lead, lead + 1500us) << "100 packets more, 1.5 times";
  in = hundred_packets();
  in.standing_clamp = 1.25;
  EXPECT_EQ(window_lead(in).lead, lead - 385us) << "a quarter of 154 packets";
  in = hundred_packets();
  in.h_packets = 40;
  EXPECT_EQ(window_lead(in).lead, lead - 300us);
}

TEST(WindowLead, CoversAPathOfEachFlow) {
  WindowLeadInput in = hundred_packets();
  in.whole_paths = true;
  EXPECT_EQ(window_lead(in).lead, 1ms + 2900us) << "4 x 100 - 110 packets";
  in.flows = 2;
  EXPECT_EQ(window_lead(in).lead, 1ms + 1180us) << "2 paths are less than 1.5 x 152 packets";
}

TEST(WindowLead, TakesWhatWasToldIfThatIsKnown) {
  WindowLeadInput in = hundred_packets();
  in.whole_paths = true;
  in.told_packets = 130;
  EXPECT_EQ(window_lead(in).lead, 1ms + 200us) << "130 - 110 packets, not 400";
  in.told_packets = 30;
  EXPECT_EQ(window_lead(in).lead, 1ms) << "nothing has to drain";
}

TEST(WindowLead, IsTheSameNumberOfRoundTripsAtEveryRate) {
  WindowLeadInput in = hundred_packets();
  in.rate.bits_per_second *= 10;
  in.rtt = 100us;
  EXPECT_EQ(window_lead(in).lead, window_lead(hundred_packets()).lead / 10);
}

TEST(WindowLead, LeavesWhatEveryFlowKeeps) {
  // A path of one packet, and 20 flows of two segments: 39 packets stay in the queue.
  WindowLeadInput in = hundred_packets();
  in.rtt = 10us;
  in.flows = 20;
  const WindowLead rule = window_lead(in);
  EXPECT_DOUBLE_EQ(rule.left_packets, 39);
  EXPECT_DOUBLE_EQ(rule.kept_share, 40.0 / 51);
  EXPECT_EQ(rule.lead, 10us + 665us) << "1.5 x (1 + 50 + 20) - 40 packets";
  in.flows = 100;
  EXPECT_DOUBLE_EQ(window_lead(in).kept_share, 1) << "the queue already stands at what they keep";
}

TEST(WindowLead, IsARoundTripWhereHExceedsWhatStands) {
  WindowLeadInput in = hundred_packets();
  in.h_packets = 1000;
  EXPECT_EQ(window_lead(in).lead, 1ms);
}

}  // namespace
}  // namespace outrider::window_lead_test
