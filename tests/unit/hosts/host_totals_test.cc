// Goal: the sum of hosts has every count. Method: numbers that all differ, by the rows.
#include "trafficgen/hosts/host_totals.h"

#include <gtest/gtest.h>

#include "common/telemetry/figures.h"
#include "tests/support/filled.h"

namespace outrider::host_totals_test {
using namespace tg;
namespace {

TEST(HostTotals, AddEveryCount) {
  // What it adds are words: each of them has to be a count with a row.
  EXPECT_EQ(BoundBytes::faults<HostCounters>(), "");
  HostCounters one;
  Filler().value("counters", one);
  HostCounters sum = one;
  add(sum, one);
  add(sum, one);
  const auto ones = figures_of_fields(one);
  const auto sums = figures_of_fields(sum);
  ASSERT_GT(ones.size(), 40U);
  for (std::size_t i = 0; i < ones.size(); ++i) {
    EXPECT_NE(ones[i].value, 0U) << ones[i].figure.field;
    EXPECT_EQ(sums[i].value, 3 * ones[i].value) << ones[i].figure.field;
  }
}

}  // namespace
}  // namespace outrider::host_totals_test
