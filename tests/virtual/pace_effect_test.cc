// Goal: with equal seeds, pacing helps a burst against background that `mark` by design
// cannot slow down, and the cost to background is as expected.
#include <string>

#include "tests/virtual/regulation_effect.h"

namespace outrider::pace_effect_test {
using namespace tg;
namespace {

using PaceEffect = RegulationEffect;

Change deaf_background(RegulationMode mode) {
  return [mode](Dumbbell& d) {
    d.job.burst_bytes = 30'000;  // a long burst would starve without help
    d.background_tcp.ecn = false;
    d.background_tcp.control.controller = Controller::kReno;
    d.ddl_tcp.min_rto = milliseconds(10);
    d.ddl_tcp.delayed_ack = milliseconds(5);
    d.job.announce.lead = 4 * d.rtt;
    auto& policy = d.bottleneck_port.regulation;
    policy.mode = mode;
    policy.recovery = Recovery::kBurstEnd;
    policy.spare_ddl = true;
    policy.pace_floor = 0.05;
  };
}

// Reno without ECN fills the queue completely and reacts only to losses.
TEST_F(PaceEffect, HelpsAgainstBackgroundThatKnowsNoEcn) {
  const auto off = arm(deaf_background(RegulationMode::kOff));
  const auto mark = arm(deaf_background(RegulationMode::kMark));
  const auto pace = arm(deaf_background(RegulationMode::kPace));
  const auto ms = [](const std::vector<Outcome>& o) {
    return mean_of(o, &Outcome::communication_ms);
  };
  const std::string figures = "communication [ms] off " + std::to_string(ms(off)) + " mark " +
                              std::to_string(ms(mark)) + " pace " + std::to_string(ms(pace)) +
                              ", background [Mbit/s] off " +
                              std::to_string(mean_of(off, &Outcome::background_mbit)) + " pace " +
                              std::to_string(mean_of(pace, &Outcome::background_mbit));
  RecordProperty("figures", figures);
  SCOPED_TRACE(figures);
  EXPECT_GT(ms(mark), 0.9 * ms(off)) << "mark cannot move them";
  EXPECT_LT(ms(pace), 0.6 * ms(off));
  EXPECT_LE(mean_of(pace, &Outcome::rtos), mean_of(off, &Outcome::rtos));
  // The background loses bytes that the bursts carried sooner; the link is not idle.
  EXPECT_GT(mean_of(pace, &Outcome::background_mbit),
            0.9 * mean_of(off, &Outcome::background_mbit));
}

}  // namespace
}  // namespace outrider::pace_effect_test
