// Goal: the text of a stall names the side that stood still, and its counter.
#include "tools/lab/run/stall_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outrider::stall_text_test {
using namespace lab;
namespace {

using testing::HasSubstr;

TEST(StallText, NamesTheSideAndTheCounter) {
  tg::GeneratorReport generator;
  generator.sent = 1234;
  sw::SwitchReport sw;
  EXPECT_THAT(text_of_stall(generator, sw, 10),
              HasSubstr("received nothing, on one device or on all, for 10 s"));
  EXPECT_THAT(text_of_stall(generator, sw, 10), HasSubstr("sent 1234 packets, received 0"));
  EXPECT_THAT(text_of_stall(generator, sw, 10), HasSubstr("Nothing came to the switch"));
  sw.received = 1234;
  sw.drops[TrafficClass::kBackground][DropReason::kNoRoute] = 1200;
  sw.drops[TrafficClass::kDdl][DropReason::kNoRoute] = 34;
  EXPECT_THAT(text_of_stall(generator, sw, 10), HasSubstr("dropped 1234 (no_route 1234)"));
  EXPECT_THAT(text_of_stall(generator, sw, 10), HasSubstr("The switch forwards too little"));
  sw.drops = {};
  sw.transmitted = 1234;
  EXPECT_THAT(text_of_stall(generator, sw, 10), HasSubstr("from the switch to the generator"));
}

}  // namespace
}  // namespace outrider::stall_text_test
