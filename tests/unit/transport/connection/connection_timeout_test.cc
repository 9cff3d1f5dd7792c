// Goal: after a time-out nothing but the cumulative acknowledgment opens the window. Method: the
// oldest segment and all that is resent of it are lost for a while, and all others arrive.
#include <gtest/gtest.h>

#include "tests/unit/transport/connection/two_ends.h"

namespace outrider::connection_timeout_test {
namespace {

using namespace std::chrono_literals;
using namespace two_ends;
using tg::Controller;
using tg::LossDetection;

/// Loses the 21st data segment, again and again. @param lossy  as long as this is true
TwoEnds::Options losing_one(Controller controller, LossDetection detection, const bool& lossy) {
  TwoEnds::Options o{.config = datacentre(controller)};
  o.config.loss_detection = detection;
  o.wires[0].drop = [&lossy, lost = std::uint32_t{0}](TcpSegment& s, std::uint64_t n) mutable {
    if (n == 20) lost = s.sequence;
    return lossy && lost != 0 && s.sequence == lost;
  };
  return o;
}

TEST(ConnectionTimeout, SacksAloneDoNotOpenTheWindow) {
  for (const auto controller :
       {Controller::kReno, Controller::kCubic, Controller::kDctcp, Controller::kPrague})
    for (const auto detection : {LossDetection::kRfc6675, LossDetection::kRackTlp}) {
      SCOPED_TRACE(testing::Message()
                   << static_cast<int>(controller) << ", " << static_cast<int>(detection));
      bool lossy = true;
      TwoEnds t(losing_one(controller, detection, lossy));
      t.client().open(t.now());
      t.client().stream().write(1'000'000'000);
      while (t.client().counters().rtos_data == 0) t.run_for(1ms);
      const std::uint32_t window = t.client().sender().state().window.bytes();
      EXPECT_LE(window, 4U * 1448) << "1 ms after the time-out";
      while (t.client().counters().rtos_data < 4) {
        t.run_for(1ms);
        ASSERT_LE(t.client().sender().state().window.bytes(), window);
      }
      lossy = false;
      t.run_for(200ms);
      EXPECT_GT(t.client().sender().state().window.bytes(), window) << "and it opens again";
    }
}

}  // namespace
}  // namespace outrider::connection_timeout_test
