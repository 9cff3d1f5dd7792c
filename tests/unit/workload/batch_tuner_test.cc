// Goal: batches grow by the samples that fit into what a worker is held, and only then.
#include "trafficgen/workload/sync/batch_tuner.h"

#include <gtest/gtest.h>

namespace outrider::batch_tuner_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// 100 samples at first; worker 1 needs 1 ms for one, worker 2 0.5 ms.
BatchTuner tuner() { return {100, {200ms, 100ms, 50ms}}; }

void hold(BatchTuner& t, std::uint32_t worker, Duration held, int times) {
  for (int i = 0; i < times; ++i) t.on_held(worker, held, 300ms);
}

TEST(BatchTuner, GrowsAfterTenHolds) {
  BatchTuner t = tuner();
  hold(t, 1, 40ms, 9);
  EXPECT_EQ(t.batch(1), 100U);
  hold(t, 1, 40ms, 1);
  EXPECT_EQ(t.batch(1), 140U) << "40 ms at 1 ms a sample";
  EXPECT_DOUBLE_EQ(t.growth(1), 1.4);
  hold(t, 1, 40ms, 10);
  EXPECT_EQ(t.batch(1), 180U) << "by the time of a sample, which stays";
  hold(t, 2, 40ms, 10);
  EXPECT_EQ(t.batch(2), 180U) << "80 samples of 0.5 ms";
  EXPECT_EQ(t.batch(0), 100U);
}

TEST(BatchTuner, CountsTheLastFive) {
  BatchTuner t = tuner();
  hold(t, 1, 500ms, 5);
  hold(t, 1, 0ms, 4);
  hold(t, 1, 200ms, 1);
  EXPECT_EQ(t.batch(1), 140U) << "(0 + 0 + 0 + 0 + 200) / 5";
}

TEST(BatchTuner, ATenthOfThePeriodIsTolerated) {
  BatchTuner t = tuner();
  hold(t, 1, 30ms, 10);
  EXPECT_EQ(t.batch(1), 100U) << "exactly a tenth of 300 ms";
  hold(t, 1, 31ms, 10);
  EXPECT_EQ(t.batch(1), 131U);
}

TEST(BatchTuner, TheFirstWorkerIsTheMeasure) {
  BatchTuner t = tuner();
  hold(t, 0, 500ms, 30);
  EXPECT_EQ(t.batch(0), 100U);
}

}  // namespace
}  // namespace outrider::batch_tuner_test
