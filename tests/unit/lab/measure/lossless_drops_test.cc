// Goal: a run whose lossless class dropped packets says so, by what let it. Method: reports made by
// hand.
#include "tools/lab/measure/lossless_drops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_notes.h"

namespace outrider::lossless_drops_test {
using namespace lab;
namespace {

using namespace lab_test;
using testing::ElementsAre;
using testing::HasSubstr;

RunResult with_drops() {
  RunResult r = make_result(10);
  auto& drops = queue_of(r).drops;
  drops[TrafficClass::kDdl][DropReason::kHeadroom] = 5;
  drops[TrafficClass::kBackground][DropReason::kHeadroom] = 1;
  drops[TrafficClass::kBackground][DropReason::kPauseWatchdog] = 7;
  drops[TrafficClass::kDdl][DropReason::kTailPackets] = 2;
  drops[TrafficClass::kDdl][DropReason::kOverShare] = 3;
  drops[TrafficClass::kDdl][DropReason::kInjectedLoss] = 100;
  drops[TrafficClass::kSignal][DropReason::kSignalQueue] = 100;
  return r;
}

Case lossless_case(bool lossless) {
  Case c = make_case("off");
  if (lossless) c.switches.switches.front().ports.front().queue.lossless.xoff_bytes = 50'000;
  return c;
}

TEST(LosslessDrops, AreThoseOfLosslessQueuesByCause) {
  const LosslessDrops drops = lossless_drops(lossless_case(true), with_drops().switches);
  EXPECT_EQ(drops.headroom, 6U);
  EXPECT_EQ(drops.watchdog, 7U);
  EXPECT_EQ(drops.queue, 5U) << "neither losses that were asked for nor signals";
  EXPECT_EQ(lossless_drops(lossless_case(false), with_drops().switches).queue, 0U);
}

std::vector<std::string> told(bool lossless) {
  const Case c = lossless_case(lossless);
  Experiment experiment{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};
  experiment.runs.push_back({.definition = &c, .result = with_drops()});
  std::vector<std::string> texts;
  for (const ArmWarning& w : warnings_of(summarise(experiment)))
    if (w.text.starts_with("packets of a lossless class"))
      texts.push_back(w.label + ": " + std::to_string(w.count) + ' ' + w.text);
  return texts;
}

TEST(LosslessDrops, AreInTheWarningsOfTheAnswer) {
  EXPECT_THAT(told(true), ElementsAre(HasSubstr("off: 6 packets of a lossless class were dropped "
                                                "because the headroom was full"),
                                      HasSubstr("off: 7 packets of a lossless class were dropped "
                                                "by the watchdog"),
                                      HasSubstr("off: 5 packets of a lossless class were dropped "
                                                "at a limit")));
  EXPECT_THAT(told(false), ElementsAre());
}

}  // namespace
}  // namespace outrider::lossless_drops_test
