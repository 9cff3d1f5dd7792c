// Goal: p-values follow their definitions. Method: cases small enough to count by hand, and the
// rate of false findings over many samples without a difference.
#include "tools/lab/measure/permutation_test.h"

#include <gtest/gtest.h>

#include "common/core/random.h"

namespace outrider::permutation_test_test {
using namespace lab;
namespace {

using Values = std::vector<double>;

double normal(RandomStream& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

TEST(SignFlip, CountsTheWaysThatAreAsFar) {
  EXPECT_EQ(sign_flip_p(Values{}), 1);
  EXPECT_EQ(sign_flip_p(Values{0, 0, 0}), 1);
  EXPECT_EQ(sign_flip_p(Values{1}), 1) << "+ and - are as far";
  EXPECT_EQ(sign_flip_p(Values{1, 1, 1}), 2.0 / 8) << "all plus, all minus";
  EXPECT_EQ(sign_flip_p(Values{-1, -1, -1}), 2.0 / 8);
  EXPECT_EQ(sign_flip_p(Values{3, -1, 1}), 6.0 / 8) << "+-3 with +-1 +-1, but for 1 of each sign";
  EXPECT_EQ(sign_flip_p(Values(10, 0.1)), 2.0 / 1024) << "also with rounding";
}

TEST(SignFlip, DrawsWhereThereAreTooManyWays) {
  EXPECT_NEAR(sign_flip_p(Values(20, 1.0)), 1e-4, 1e-9) << "none of the draws";
  Values balanced;
  for (int i = 0; i < 40; ++i) balanced.push_back(i % 2 == 0 ? 1 : -1.2);
  const double p = sign_flip_p(balanced);  // mean 4, deviation sqrt(20 + 20 x 1.44) = 7.0
  EXPECT_NEAR(p, 0.57, 0.04);
  EXPECT_EQ(p, sign_flip_p(balanced)) << "deterministic";
}

TEST(Exchange, SeparatesWhatIsApart) {
  EXPECT_EQ(exchange_p(Values{}, Values{1}), 1);
  EXPECT_EQ(exchange_p(Values{1, 2}, Values{2, 1}), 1);
  // Of 70 ways to choose 4 of 8, two have means as far apart as these.
  EXPECT_NEAR(exchange_p(Values{1, 2, 3, 4}, Values{11, 12, 13, 14}), 2.0 / 70, 0.006);
}

TEST(Permutation, FalseOnesAreAsRareAsStated) {
  RandomStream random(3, 0, RandomPurpose::kTest);
  int flips = 0, exchanges = 0;
  constexpr int kSamples = 400;
  for (int s = 0; s < kSamples; ++s) {
    Values a, b;
    for (int i = 0; i < 10; ++i) {
      a.push_back(normal(random));
      b.push_back(normal(random));
    }
    flips += sign_flip_p(a) < 0.05;
    if (s < kSamples / 4) exchanges += exchange_p(a, b) < 0.05;
  }
  EXPECT_NEAR(flips, 0.05 * kSamples, 4 * 4.4) << "within 4 deviations of the binomial";
  EXPECT_LT(exchanges, 5 + 4 * 2.2);
}

TEST(Holm, IsAsPublished) {
  // 4 x 0.01, then max with 3 x 0.015, 2 x 0.04, 1 x 0.03 of the sorted ones.
  const auto adjusted = holm(Values{0.04, 0.01, 0.03, 0.015});
  EXPECT_DOUBLE_EQ(adjusted[1], 0.04);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.045);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.06) << "never below the one before";
  EXPECT_EQ(holm(Values{0.9, 0.8}), (Values{1, 1})) << "at most 1";
  EXPECT_TRUE(holm(Values{}).empty());
}

}  // namespace
}  // namespace outrider::permutation_test_test
