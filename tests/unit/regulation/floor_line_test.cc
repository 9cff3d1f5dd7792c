// Goal: the bytes owed to a flow are right. Neither sending too much nor having no data counts
// for longer than a round trip. Method: literal timelines with a rate of one byte per ns and a
// round trip of 100 ns.
#include "switch/regulation/windows/floor_line.h"

#include <gtest/gtest.h>

namespace outrider::floor_line_test {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRound = 100ns;
constexpr Time at(std::int64_t ns) { return Time{Duration{ns}}; }

TEST(FloorLine, CountsInTimeOfDeparture) {
  FloorLine line;
  line.pay(40, 1, at(1000), kRound);
  EXPECT_EQ(line.owed_bytes(1, at(940), kRound), 0) << "paid until 940: it was late by a round";
  EXPECT_EQ(line.owed_bytes(1, at(1000), kRound), 60);
  line.pay(60, 1, at(1000), kRound);
  EXPECT_EQ(line.owed_bytes(1, at(1000), kRound), 0);
  EXPECT_EQ(line.owed_bytes(0.5, at(1050), kRound), 25) << "at half the rate, from now on";
}

TEST(FloorLine, MoreThanTheFloorIsForgottenAfterARoundTrip) {
  FloorLine line;
  line.pay(1e6, 1, at(1000), kRound);
  EXPECT_EQ(line.owed_bytes(1, at(1100), kRound), 0);
  EXPECT_EQ(line.owed_bytes(1, at(1130), kRound), 30);
}

TEST(FloorLine, BeginsWithARoundTripOnItsWay) {
  FloorLine line;
  line.begin(at(1000), kRound);
  EXPECT_EQ(line.owed_bytes(1, at(1100), kRound), 0);
  EXPECT_EQ(line.owed_bytes(1, at(1110), kRound), 10);
}

TEST(FloorLine, WhoHadNothingToSendIsNotGivenItLater) {
  FloorLine line;
  line.pay(100, 1, at(1000), kRound);
  EXPECT_EQ(line.owed_bytes(1, at(9000), kRound), 100);
  line.pay(10, 1, at(9000), kRound);
  EXPECT_EQ(line.owed_bytes(1, at(9000), kRound), 90) << "of the last round trip alone";
}

}  // namespace
}  // namespace outrider::floor_line_test
