// Goal: what receivers got is in the bin of its time, also where time falls back. Method: literals.
#include "trafficgen/measure/goodput.h"

#include <gtest/gtest.h>

namespace outrider::tg {
namespace {

using namespace std::chrono_literals;

// Hosts of two event loops that take turns share a series: the second begins its window where the
// first did.
TEST(GoodputSeries, TakesWhatComesOutOfTheOrderOfTime) {
  GoodputSeries series(10us, 3);
  series.add(TrafficClass::kDdl, 1, Time{5us});
  series.add(TrafficClass::kDdl, 20, Time{21us});
  series.add(TrafficClass::kDdl, 300, Time{9'999ns});
  series.add(TrafficClass::kDdl, 4000, Time{10us});
  series.add(TrafficClass::kDdl, 50000, Time{30us});
  ASSERT_EQ(series.bins().size(), 3U);
  EXPECT_EQ(series.bins()[0].delivered_bytes[TrafficClass::kDdl], 301U);
  EXPECT_EQ(series.bins()[1].delivered_bytes[TrafficClass::kDdl], 4000U);
  EXPECT_EQ(series.bins()[2].delivered_bytes[TrafficClass::kDdl], 20U);
  EXPECT_EQ(series.totals()[TrafficClass::kDdl], 54321U) << "what comes after the last bin, too";
}

}  // namespace
}  // namespace outrider::tg
