// Goal: peak to mean of bursts follows its definition, and is not defined where the series cannot
// say. Method: series made by hand with bins of 1 ms; expected numbers are computed by hand.
#include "tools/lab/measure/burst_peaks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/lab/measure/metrics_fixture.h"

namespace outrider::burst_peaks_test {
using namespace lab;
namespace {

using namespace lab_test;
constexpr auto kDdl = TrafficClass::kDdl;

/// Three iterations that begin every 20 ms from `first_ms` on, each of two full bins.
RunResult three_bursts(int first_ms, std::int64_t end_ms) {
  RunResult r = make_result(end_ms);
  for (int i = 0; i < 3; ++i) {
    const int due = first_ms + 20 * i;
    add_burst(r, 0, static_cast<std::uint32_t>(i),
              {.due = static_cast<double>(due), .delivered = due + 2.0});
    carry(r, kDdl, due, due + 2, 1000);
  }
  return r;
}

TEST(BurstPeaks, AreTheFullestWindowOverTheMeanOfWholeIterations) {
  RunResult r = three_bursts(10, 100);
  carry(r, TrafficClass::kBackground, 0, 100, 1000);
  carry(r, kDdl, 0, 5, 9000);  // before the first push
  const BurstPeaks peaks = burst_peaks(make_case("off", 1), r);
  EXPECT_DOUBLE_EQ(peaks.over_1ms, 10) << "1000 bytes; 4000 in 40 windows";
  EXPECT_DOUBLE_EQ(peaks.over_10ms, 2) << "2000 bytes; 4000 in 4 windows";
  EXPECT_TRUE(std::isnan(peaks.over_100ms)) << "40 ms";
  EXPECT_DOUBLE_EQ(peaks.link_share, 0.1) << "4000 bytes in 40 bins of 1000";
}

TEST(BurstPeaks, LeaveOutTheIterationsBeforeTheMeasuredOnes) {
  RunResult r = three_bursts(10, 100);
  carry(r, kDdl, 10, 11, 5000);  // of the first
  Case c = make_case("off", 1);
  c.skip_iterations = 1;
  EXPECT_DOUBLE_EQ(burst_peaks(c, r).over_1ms, 10) << "1000 bytes; 2000 in 20 windows";
}

TEST(BurstPeaks, AreNotDefinedWhereTheSeriesCannotSay) {
  const Case c = make_case("off", 1);
  RunResult coarse = three_bursts(10, 100);
  coarse.switches.bin_ns = 2 * kMs;
  EXPECT_TRUE(std::isnan(burst_peaks(c, coarse).over_1ms));
  EXPECT_FALSE(std::isnan(burst_peaks(c, coarse).over_10ms));
  RunResult cut = three_bursts(10, 100);
  queue_of(cut).bins.resize(49);  // the last push is due at 50 ms
  EXPECT_TRUE(std::isnan(burst_peaks(c, cut).over_10ms));
  EXPECT_TRUE(std::isnan(burst_peaks(c, make_result(100)).over_1ms)) << "no bursts";
  EXPECT_TRUE(std::isnan(burst_peaks(c, make_result(100)).link_share));
  RunResult two = make_result(100);
  for (const int due : {10, 25}) {
    add_burst(two, 0, static_cast<std::uint32_t>(due),
              {.due = static_cast<double>(due), .delivered = due + 2.0});
    carry(two, kDdl, due, due + 2, 1000);
  }
  EXPECT_TRUE(std::isnan(burst_peaks(c, two).over_10ms)) << "one window in 15 ms";
  Case elsewhere = c;
  elsewhere.measured_queue = "spine.up";
  EXPECT_TRUE(std::isnan(burst_peaks(elsewhere, three_bursts(10, 100)).over_1ms));
}

}  // namespace
}  // namespace outrider::burst_peaks_test
