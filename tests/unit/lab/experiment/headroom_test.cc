// Goal: headroom of a link is what it brings after XOFF, and for a device what IEEE 802.3 grants it
// beyond. Method: literal rates and delays.
#include "tools/lab/experiment/headroom.h"

#include <gtest/gtest.h>

namespace outrider::headroom_test {
using namespace lab;
namespace {

using namespace std::chrono_literals;

constexpr BitRate gbit(std::uint64_t n) { return {n * 1'000'000'000}; }

TEST(Headroom, IsWhatComesDuringTwoDelaysAndThreeFrames) {
  EXPECT_EQ(headroom_needed_bytes(gbit(10), 5us, 1514), 12'500U + 2 * 1514 + 84);
  EXPECT_EQ(headroom_needed_bytes(gbit(100), 5us, 9014), 125'000U + 2 * 9014 + 84);
  EXPECT_EQ(headroom_needed_bytes({1'000'000}, 0us, 1514), 3112U);
}

// The rows of docs/howto-thresholds.md.
TEST(Headroom, OfADeviceHasItsReaction) {
  EXPECT_EQ(device_headroom_bytes(gbit(25), 500ns, 4174), 16'677U);
  EXPECT_EQ(device_headroom_bytes(gbit(100), 500ns, 4174), 46'148U);
  EXPECT_EQ(device_headroom_bytes(gbit(400), 500ns, 4174), 116'352U);
}

TEST(Headroom, ARateThatTheStandardLacksReactsAsTheNextHigher) {
  EXPECT_EQ(pause_reaction(gbit(40)).quanta, 118U);
  EXPECT_EQ(pause_reaction(gbit(56)).quanta, 394U);
  EXPECT_EQ(pause_reaction(gbit(56)).rate, gbit(100));
  EXPECT_EQ(pause_reaction(gbit(1600)).rate, gbit(800)) << "the highest";
}

}  // namespace
}  // namespace outrider::headroom_test
