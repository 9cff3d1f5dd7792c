// Goal: background's loss per byte of bursts and the metrics of its floor follow their
// definitions in the registry. Method: time series made by hand with bins of 1 ms go through
// summarise(); expected numbers are computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/summary/summary.h"

namespace outrider::background_metrics_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;
constexpr auto kBackground = TrafficClass::kBackground;

class Runs {
 public:
  RunResult& add(Case definition, std::uint64_t seed, std::int64_t end_ms) {
    cases_.push_back(std::move(definition));
    cases_.back().seed = seed;
    experiment_.runs.push_back({.definition = &cases_.back(), .result = make_result(end_ms)});
    return experiment_.runs.back().result;
  }
  [[nodiscard]] double value(const std::string& arm, const std::string& metric) const {
    for (const auto& a : summarise(experiment_).arms)
      if (a.label == arm) return a.metric(metric).value.value;
    return kNotDefined;
  }

 private:
  std::deque<Case> cases_;
  Experiment experiment_{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};
};

// -- background_bytes_lost_per_burst_byte

/// Adds bursts due at 100, 300 and 480, of 100,000 bytes and 40 ms each. Background delivers
/// 1000 bytes per bin, and `during` in the first 40 bins of the first two bursts.
void add_bursts(RunResult& r, std::uint64_t during) {
  deliver(r, kBackground, 0, 500, 1'000);
  occupy(r, 0, 500, 1);
  std::uint32_t iteration = 0;
  for (const int due : {100, 300, 480}) {
    const double at = due;
    add_burst(r, 0, iteration++, {.due = at, .first = at, .delivered = at + (due < 480 ? 40 : 15)});
    if (due < 480) deliver(r, kBackground, due, due + 40, during);
  }
}

TEST(BackgroundMetrics, BytesLostPerBurstByteCountThePushesInTheWindows) {
  Runs runs;
  add_bursts(runs.add(make_case("off", 1), 1, 500), 500);
  add_bursts(runs.add(make_case("on", 1), 1, 500), 400);
  // The windows are [due, due + 50]. The run does not cover the last one, so two of three pushes
  // count, and 2 x 40 x 100 bytes are lost for 2 x 100,000.
  EXPECT_DOUBLE_EQ(runs.value("on", "background_bytes_lost_per_burst_byte"), 0.04);
  EXPECT_DOUBLE_EQ(runs.value("off", "background_bytes_lost_per_burst_byte"), 0);

  // A second seed loses nothing. Sums are divided: (8000 + 0) / (200,000 + 200,000).
  add_bursts(runs.add(make_case("off", 1), 2, 500), 500);
  add_bursts(runs.add(make_case("on", 1), 2, 500), 500);
  EXPECT_DOUBLE_EQ(runs.value("on", "background_bytes_lost_per_burst_byte"), 0.02);
}

TEST(BackgroundMetrics, BytesLostPerBurstByteCountAllPushesOfAClosedLoop) {
  Runs runs;
  for (const auto& [label, during] : {std::pair{"off", 1'000U}, std::pair{"on", 500U}}) {
    RunResult& r = runs.add(make_case(label, 1, Schedule::kClosedLoop), 1, 200);
    deliver(r, kBackground, 0, 200, 1'000);
    deliver(r, kBackground, 100, 140, during);
    occupy(r, 0, 200, 1);
    add_burst(r, 0, 0, {.due = 100, .first = 100, .delivered = 140});
  }
  // 40 bins of 500 bytes less, over one push of 100,000.
  EXPECT_DOUBLE_EQ(runs.value("on", "background_bytes_lost_per_burst_byte"), 0.2);
}

// Lost bytes are those of off's run. A faster arm pushes more in that time than in its own run.
TEST(BackgroundMetrics, BytesLostPerBurstByteAreOfOneTimeInAClosedLoop) {
  Runs runs;
  struct Row {
    const char* label;
    int end;
    std::uint64_t delivered;
  };
  for (const auto& [label, end, delivered] : {Row{"off", 300, 1'000}, Row{"on", 200, 600}}) {
    RunResult& r = runs.add(make_case(label, 1, Schedule::kClosedLoop), 1, end);
    deliver(r, kBackground, 0, end, delivered);
    occupy(r, 0, end, 1);
    add_burst(r, 0, 0, {.due = 100, .first = 100, .delivered = end - 10.0});
  }
  // From 100 on: off delivers 200 x 1000 bytes, and on would deliver 200 x 600 and push twice.
  EXPECT_DOUBLE_EQ(runs.value("on", "background_bytes_lost_per_burst_byte"), 80e3 / 200e3);
}

TEST(BackgroundMetrics, BytesLostPerBurstByteNeedAnOffArm) {
  Runs runs;
  add_bursts(runs.add(make_case("on", 1), 1, 500), 400);
  EXPECT_TRUE(std::isnan(runs.value("on", "background_bytes_lost_per_burst_byte")));
}

// -- the floor

constexpr std::uint64_t kFrame = 1514;        // of background; 1538 bytes on the wire, ...
constexpr double kShare = 1538.0 * 8 / 80e3;  // ... of the 10,000 bytes that a bin has room for
constexpr double kFloor = 0.2;

void add_iteration(RunResult& r, std::uint32_t iteration, double due) {
  add_burst(r, 0, iteration, {.due = due, .start = due - 2, .first = due, .delivered = due + 40});
}

void at_queue(RunResult& r, std::uint32_t iteration, double first_ms, double last_ms) {
  add_queue_burst(r, 0, iteration, first_ms, 0, 0).last_at_ns = at_ms(last_ms);
}

/// Returns runs of one worker. Its iterations are announced at 98, 298 and 398 and delivered at
/// 140, 340 and 440.
Runs floor_runs() {
  Case c = make_case("on", 1);
  c.switches.switches[0].ports[0].regulation.window.floor = kFloor;
  Runs runs;
  RunResult& r = runs.add(c, 1, 700);
  queue_of(r).drain_bits_per_second = 80'000'000;
  deliver(r, kBackground, 0, 700, 1'000);

  // At the queue from 100 to 130. In each ten bins: two frames per bin, then one, then three.
  add_iteration(r, 0, 100);
  at_queue(r, 0, 100, 130);
  carry(r, kBackground, 100, 110, 2 * kFrame);
  carry(r, kBackground, 110, 120, kFrame);
  carry(r, kBackground, 120, 130, 3 * kFrame);
  deliver(r, kBackground, 98, 144, 0);
  deliver(r, kBackground, 144, 145, 300);

  // At the queue from 300.5 to 330.5, which is 29 whole bins, one of them without background.
  add_iteration(r, 1, 300);
  at_queue(r, 1, 300.5, 330.5);
  carry(r, kBackground, 301, 330, 3 * kFrame);
  carry(r, kBackground, 305, 306, 0);

  // Not recorded at the queue; afterwards background stays at 90 %.
  add_iteration(r, 2, 400);
  deliver(r, kBackground, 440, 700, 900);
  return runs;
}

TEST(BackgroundMetrics, SharesOfTheLinkWhileBurstsPass) {
  const Runs runs = floor_runs();
  // (10 x 2 + 10 x 1 + 10 x 3 + 28 x 3) frames in 30 + 29 bins.
  EXPECT_NEAR(runs.value("on", "background_share_mean"), 144 * kShare / 59, 1e-12);
  // Ten base RTTs are ten bins. The least spans have ten frames, and nine bins of three frames.
  EXPECT_NEAR(runs.value("on", "background_share_least"), kShare, 1e-12);
  EXPECT_NEAR(runs.value("on", "background_share_least_median"), (1 + 2.7) / 2 * kShare, 1e-12);
  // 0.154 is below the floor of 0.2, and 0.415 is not.
  EXPECT_EQ(runs.value("on", "iterations_below_floor"), 1);
}

TEST(BackgroundMetrics, HowSoonBackgroundIsBack) {
  const Runs runs = floor_runs();
  // Iteration 0 lacks 700 bytes of bin 144: ten bins from 144.3 on have 9510 of 10,000 bytes,
  // from 144.2 on 9440, and 95 % are needed. Iteration 1 recovers at once. Iteration 2 never
  // recovers, which counts as 200.
  EXPECT_DOUBLE_EQ(runs.value("on", "background_return_rtts_median"), 4.3);
  EXPECT_DOUBLE_EQ(runs.value("on", "background_return_rtts_max"), 200);
  EXPECT_NEAR(runs.value("on", "background_return_rtts_p99"), 4.3 + 0.98 * (200 - 4.3), 1e-9);
  // 5300 of 10,000 bytes, all, and nine tenths.
  EXPECT_NEAR(runs.value("on", "background_first_share_median"), 0.9, 1e-12);
}

// An iteration whose background never comes back has no time of recovery. It is counted.
TEST(BackgroundMetrics, CountsIterationsWithoutRecovery) {
  Runs runs;
  RunResult& r = runs.add(make_case("on", 1), 1, 500);
  deliver(r, kBackground, 0, 500, 1'000);
  add_burst(r, 0, 0, {.due = 100, .first = 100, .delivered = 140});
  deliver(r, kBackground, 100, 140, 500);
  add_burst(r, 0, 1, {.due = 300, .first = 300, .delivered = 340});
  deliver(r, kBackground, 300, 500, 500);
  EXPECT_EQ(runs.value("on", "iterations_not_recovered"), 1);
  EXPECT_NEAR(runs.value("on", "background_recovery_seconds"), 0.05, 0.002) << "of the other";
  const RunResult same = r;
  runs.add(make_case("on", 1), 2, 500) = same;
  EXPECT_EQ(runs.value("on", "iterations_not_recovered"), 2) << "both seeds";
}

}  // namespace
}  // namespace outrider::background_metrics_test
