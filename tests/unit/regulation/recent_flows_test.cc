#include "switch/regulation/regulator/recent_flows.h"

#include <gtest/gtest.h>

namespace outrider::recent_flows_test {
namespace {

FlowKey flow(std::uint32_t n) { return {n, 0x0A000301, static_cast<std::uint16_t>(n), 5000}; }

TEST(RecentFlows, ForgetsTheOldestOfABucket) {
  RecentFlows flows(4);  // a single bucket
  for (std::uint32_t n = 1; n <= 4; ++n) EXPECT_TRUE(flows.add(flow(n)));
  EXPECT_FALSE(flows.add(flow(1))) << "there already, and recent from now on";
  EXPECT_EQ(flows.evicted(), 0U);
  EXPECT_TRUE(flows.add(flow(5)));
  EXPECT_EQ(flows.evicted(), 1U);
  EXPECT_FALSE(flows.contains(flow(2))) << "the one that was added longest ago";
  for (const std::uint32_t n : {1U, 3U, 4U, 5U}) EXPECT_TRUE(flows.contains(flow(n))) << n;
}

TEST(RecentFlows, KeepsWhatIsFewAndNeverInvents) {
  RecentFlows flows(4096);
  for (std::uint32_t n = 0; n < 256; ++n) flows.add(flow(n));
  for (std::uint32_t n = 0; n < 256; ++n) EXPECT_TRUE(flows.contains(flow(n))) << n;
  for (std::uint32_t n = 256; n < 10'000; ++n) EXPECT_FALSE(flows.contains(flow(n))) << n;
  EXPECT_FALSE(flows.contains({})) << "a free place is no flow";
  for (std::uint32_t n = 0; n < 100'000; ++n) flows.add(flow(n));
  EXPECT_GT(flows.evicted(), 90'000U);
}

}  // namespace
}  // namespace outrider::recent_flows_test
