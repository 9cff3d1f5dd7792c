// Goal: the bands of the authors' agent, by hand for literal sets of jobs.
#include "trafficgen/policy/tensorlights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace outrider::workload_tensorlights_test {
using namespace tg;
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<int> bands_of(const std::vector<std::uint64_t>& model_bytes, std::uint64_t rotation,
                          std::uint32_t bands = 7) {
  std::vector<std::uint8_t> out(model_bytes.size());
  TensorLightsBands(model_bytes, bands).assign(rotation, out);
  return {out.begin(), out.end()};
}

TEST(TensorLightsBands, JobsShareBandsWhenTheyOutnumberThem) {
  const std::vector<std::uint64_t> jobs(21, 1'856'616);  // as in the paper: three a band
  EXPECT_THAT(bands_of(jobs, 0),
              ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6));
  EXPECT_THAT(bands_of(std::vector<std::uint64_t>(10, 5), 0),
              ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4))
      << "ceil(10 / 7) = 2 a band";
  EXPECT_THAT(bands_of({5, 5, 5}, 0), ElementsAre(0, 1, 2));
}

TEST(TensorLightsBands, ARotationMovesEveryJobOnAndComesRound) {
  EXPECT_THAT(bands_of({5, 5, 5}, 1), ElementsAre(1, 2, 0));
  EXPECT_THAT(bands_of({5, 5, 5}, 2), ElementsAre(2, 0, 1));
  EXPECT_THAT(bands_of({5, 5, 5}, 3), ElementsAre(0, 1, 2));
  // Over a full round every job has had every position.
  std::array<int, 21> sum{};
  for (std::uint64_t r = 0; r < 21; ++r) {
    const auto bands = bands_of(std::vector<std::uint64_t>(21, 5), r);
    for (std::size_t j = 0; j < 21; ++j) sum[j] += bands[j];
  }
  EXPECT_THAT(sum, testing::Each(3 * (0 + 1 + 2 + 3 + 4 + 5 + 6)));
}

TEST(TensorLightsBands, SmallerModelsComeFirst) {
  EXPECT_THAT(bands_of({100, 2, 100, 2}, 0), ElementsAre(2, 0, 3, 1));
  EXPECT_THAT(bands_of({100, 2, 100, 2}, 1), ElementsAre(3, 1, 2, 0)) << "among those of a model";
}

TEST(TensorLightsBands, OneBandIsNoBand) {
  EXPECT_THAT(bands_of({3, 2, 1}, 1, 1), ElementsAreArray({0, 0, 0}));
}

}  // namespace
}  // namespace outrider::workload_tensorlights_test
