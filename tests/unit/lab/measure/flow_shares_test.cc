// Goal: the time until flows share evenly, and Jain's index, are those of their acknowledged bytes.
// Method: samples by hand, every millisecond.
#include "tools/lab/measure/flow_shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace outrider::flow_shares_test {
using namespace lab;
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Adds a flow that begins and ends at those milliseconds and has so many bytes in each of them.
void add_flow(std::vector<tg::ConnectionSample>& to, const std::string& host, int begin, int end,
              const std::function<std::uint64_t(int)>& bytes_at) {
  std::uint64_t acked = 0;
  for (int ms = begin; ms <= 100; ++ms) {
    if (ms > begin && ms <= end) acked += bytes_at(ms);
    tg::ConnectionSample sample;
    sample.at_ns = ms * kMs;
    sample.host = host;
    sample.acked_bytes = acked;
    to.push_back(sample);
  }
}

// From 50 ms on both have 100 bytes each millisecond; before, 150 and 50.
TEST(FlowShares, ConvergeWhenEachHasATenthMoreOrLessThanTheMean) {
  std::vector<tg::ConnectionSample> samples;
  add_flow(samples, "a", 0, 100, [](int ms) { return ms <= 50 ? 150U : 100U; });
  add_flow(samples, "b", 20, 100, [](int ms) { return ms <= 50 ? 50U : 100U; });
  // In the 10 ms until t at least 8 must be even: 0.2 x 50 is a tenth of the mean.
  EXPECT_DOUBLE_EQ(flow_shares(samples).convergence_seconds, 0.038);
  EXPECT_DOUBLE_EQ(flow_shares(samples).jain_index, 1) << "60 to 100 ms";
}

TEST(FlowShares, OfUnevenFlowsAreNeverEven) {
  std::vector<tg::ConnectionSample> samples;
  add_flow(samples, "a", 0, 100, [](int) { return 300U; });
  add_flow(samples, "b", 0, 100, [](int) { return 100U; });
  EXPECT_TRUE(std::isnan(flow_shares(samples).convergence_seconds));
  EXPECT_DOUBLE_EQ(flow_shares(samples).jain_index, 16.0 / 20);
}

// Windows after the end of a flow are not judged.
TEST(FlowShares, EndWithTheFirstFlowThatEnds) {
  std::vector<tg::ConnectionSample> samples;
  add_flow(samples, "a", 0, 9, [](int) { return 100U; });
  add_flow(samples, "b", 0, 100, [](int) { return 100U; });
  EXPECT_TRUE(std::isnan(flow_shares(samples).convergence_seconds)) << "9 ms are no window";
  EXPECT_DOUBLE_EQ(flow_shares(samples).jain_index, 1);
}

TEST(FlowShares, NeedTwoFlows) {
  std::vector<tg::ConnectionSample> samples;
  EXPECT_TRUE(std::isnan(flow_shares(samples).jain_index));
  add_flow(samples, "a", 0, 100, [](int) { return 100U; });
  EXPECT_TRUE(std::isnan(flow_shares(samples).jain_index));
}

}  // namespace
}  // namespace outrider::flow_shares_test
