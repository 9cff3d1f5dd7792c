// Goal: the test of marks accepts a queue that follows the law, and refuses ones that do not.
// Method: counts of marks are drawn by the law itself, or by one that is a little off; quantiles of
// chi-square are those of published tables.
#include "trafficgen/streams/benchmark/ecn_law.h"

#include <gtest/gtest.h>

#include "common/core/random.h"

namespace outrider::ecn_law_test {
using namespace tg;
namespace {

constexpr std::uint32_t kRepetitions = 200;

/// Draws how often each position is marked by a law.
std::vector<std::uint32_t> drawn(const EcnLawConfig& law, std::uint64_t seed) {
  RandomStream random(seed, 0, RandomPurpose::kTest);
  std::vector<std::uint32_t> marked;
  for (const double p : expected_marks(law)) {
    std::uint32_t count = 0;
    for (std::uint32_t r = 0; r < kRepetitions; ++r) count += random.uniform() < p ? 1 : 0;
    marked.push_back(count);
  }
  return marked;
}

EcnFit fit_to(const EcnLawConfig& law, const std::vector<std::uint32_t>& marked) {
  return fit_marks(marked, expected_marks(law), kRepetitions);
}

TEST(EcnLaw, RisesFromKminToKmaxAndIsCertainAbove) {
  const EcnLawConfig law;
  EXPECT_EQ(mark_probability(law, 499), 0);
  EXPECT_EQ(mark_probability(law, 500), 0);
  EXPECT_DOUBLE_EQ(mark_probability(law, 1250), 0.025);
  EXPECT_EQ(mark_probability(law, 2000), 1);
}

TEST(EcnLaw, AtEnqueueTheLastPacketsMeetTheLongestQueueAndAtDequeueTheFirstLeaveIt) {
  EcnLawConfig law{.mark_at = EcnMarkPoint::kEnqueue};
  EXPECT_EQ(expected_marks(law)[1999], mark_probability(law, 1999));
  EXPECT_EQ(expected_marks(law)[2000], 1);
  law.mark_at = EcnMarkPoint::kDequeue;
  EXPECT_EQ(expected_marks(law)[9], 1) << "it leaves 2,000 packets behind";
  EXPECT_EQ(expected_marks(law)[10], mark_probability(law, 1999));
  EXPECT_EQ(expected_marks(law)[2009], 0);
}

TEST(EcnLaw, ChiSquareTailsAreThoseOfTables) {
  // Abramowitz and Stegun, table 26.8.
  EXPECT_NEAR(chi_square_tail(18.307, 10), 0.05, 0.001);
  EXPECT_NEAR(chi_square_tail(63.167, 50), 0.1, 0.001);
  EXPECT_NEAR(chi_square_tail(135.807, 100), 0.01, 0.0005);
  EXPECT_NEAR(chi_square_tail(99.334, 100), 0.5, 0.001);
}

TEST(EcnLaw, AQueueThatFollowsItPassesBothWays) {
  for (const EcnMarkPoint at : {EcnMarkPoint::kEnqueue, EcnMarkPoint::kDequeue}) {
    const EcnLawConfig law{.mark_at = at};
    int low = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const EcnFit fit = fit_to(law, drawn(law, seed));
      EXPECT_GT(fit.groups, 900U);
      EXPECT_EQ(fit.marked_below + fit.unmarked_above, 0U);
      ASSERT_TRUE(fit.p_value);
      EXPECT_GT(*fit.p_value, 0.001);
      low += *fit.p_value < 0.5 ? 1 : 0;
    }
    EXPECT_GT(low, 3) << "p-values are spread";
    EXPECT_LT(low, 17);
  }
}

TEST(EcnLaw, AQueueThatIsALittleOffFails) {
  const EcnLawConfig law;
  for (const EcnLawConfig& off : {EcnLawConfig{.pmax = 0.06}, EcnLawConfig{.kmin_packets = 800},
                                  EcnLawConfig{.mark_at = EcnMarkPoint::kDequeue}})
    EXPECT_LT(fit_to(law, drawn(off, 1)).p_value.value_or(1), 1e-6);
}

TEST(EcnLaw, MarksWhereTheLawIsCertainAreCounted) {
  const EcnLawConfig step{.kmin_packets = 2, .kmax_packets = 2, .pmax = 1, .packets = 4};
  const EcnFit fit = fit_marks(std::vector<std::uint32_t>{0, 3, 10, 9}, expected_marks(step), 10);
  EXPECT_EQ(fit.marked_below, 3U);
  EXPECT_EQ(fit.unmarked_above, 1U);
  EXPECT_EQ(fit.groups, 0U);
  EXPECT_FALSE(fit.p_value) << "nothing was tested";
}

}  // namespace
}  // namespace outrider::ecn_law_test
