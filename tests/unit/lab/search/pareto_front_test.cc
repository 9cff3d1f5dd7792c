// Goal: the front has the points that no other point dominates, and the area is that of its
// staircase. Method: literal points with areas computed by hand; then random points are compared
// with the definition.
#include "tools/lab/search/pareto_front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>

#include "common/core/random.h"

namespace outrider::pareto_front_test {
using namespace lab;
namespace {

using Points = std::vector<FrontPoint>;
using Indices = std::vector<std::size_t>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ParetoFront, DominatesIfBetterInOneAndWorseInNone) {
  EXPECT_TRUE(dominates({1, 1}, {2, 2}));
  EXPECT_TRUE(dominates({1, 2}, {2, 2}));
  EXPECT_TRUE(dominates({2, 1}, {2, 2}));
  EXPECT_FALSE(dominates({2, 2}, {2, 2})) << "equal";
  EXPECT_FALSE(dominates({1, 3}, {2, 2}));
  EXPECT_FALSE(dominates({kNan, 1}, {2, 2}));
  EXPECT_FALSE(dominates({1, 1}, {2, kNan}));
}

TEST(ParetoFront, HoldsWhatNothingDominatesByRisingTime) {
  EXPECT_EQ(pareto_front(Points{}), Indices{});
  EXPECT_EQ(pareto_front(Points{{3, 4}}), Indices{0});
  //                            0       1       2       3
  EXPECT_EQ(pareto_front(Points{{3, 1}, {1, 3}, {2, 2}, {3, 3}}), (Indices{1, 2, 0}));
}

TEST(ParetoFront, TakesTheFirstOfEqualPointsAndTheBetterOfATie) {
  EXPECT_EQ(pareto_front(Points{{1, 1}, {1, 1}}), Indices{0});
  EXPECT_EQ(pareto_front(Points{{1, 2}, {1, 1}, {2, 1}}), Indices{1});
}

TEST(ParetoFront, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(pareto_front(Points{{kNan, 0}, {2, 2}, {1, kNan}}), Indices{1});
  EXPECT_EQ(dominated_area(Points{{kNan, 0}, {0, kNan}}, {9, 9}), 0);
}

TEST(DominatedArea, IsTheRectangleOfASinglePoint) {
  EXPECT_EQ(dominated_area(Points{{1, 0.1}}, {4, 0.3}), 3 * (0.3 - 0.1));
  EXPECT_EQ(dominated_area(Points{{2, -1}}, {3, 1}), 2) << "background may gain";
}

TEST(DominatedArea, CountsWhatIsCoveredTwiceOnce) {
  // (1, 3): 3 x 1 up to (4, 4); (2, 1) adds 2 x 2 below it; (3, 2) is dominated.
  EXPECT_EQ(dominated_area(Points{{1, 3}, {2, 1}, {3, 2}}, {4, 4}), 3 + 4);
  EXPECT_EQ(dominated_area(Points{{2, 1}, {2, 1}}, {4, 4}), 6) << "a tie";
}

TEST(DominatedArea, IsNothingBeyondTheReference) {
  EXPECT_EQ(dominated_area(Points{}, {4, 4}), 0);
  EXPECT_EQ(dominated_area(Points{{5, 1}}, {4, 4}), 0) << "too slow";
  EXPECT_EQ(dominated_area(Points{{1, 5}}, {4, 4}), 0) << "too dear";
  EXPECT_EQ(dominated_area(Points{{4, 1}}, {4, 4}), 0) << "on the line";
  EXPECT_EQ(dominated_area(Points{{1, 5}, {2, 2}}, {4, 4}), 4) << "the others count";
}

// Coordinates are on a coarse grid, so that ties occur; the area is computed by counting cells.
TEST(ParetoFrontRandom, AgreesWithTheDefinition) {
  constexpr int kGrid = 8;
  RandomStream random(1, 0, RandomPurpose::kTest);
  std::size_t dominated = 0, ties = 0;
  for (std::size_t round = 0; round < 300; ++round) {
    Points points(1 + round % 7);
    for (auto& p : points)
      p = {static_cast<double>(random.next_u32() % kGrid),
           static_cast<double>(random.next_u32() % kGrid)};
    const auto front = pareto_front(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool beaten =
          std::ranges::any_of(points, [&](const auto& p) { return dominates(p, points[i]); });
      const bool repeated = std::ranges::any_of(std::span(points).first(i), [&](auto& p) {
        return p.time == points[i].time && p.cost == points[i].cost;
      });
      dominated += beaten;
      ties += repeated;
      EXPECT_EQ(std::ranges::count(front, i), !beaten && !repeated);
    }
    double cells = 0;
    for (int x = 0; x < kGrid; ++x)
      for (int y = 0; y < kGrid; ++y)
        cells +=
            std::ranges::any_of(points, [&](const auto& p) { return p.time <= x && p.cost <= y; });
    EXPECT_EQ(dominated_area(points, {kGrid, kGrid}), cells);
  }
  EXPECT_GT(dominated, 100U);
  EXPECT_GT(ties, 20U);
}

}  // namespace
}  // namespace outrider::pareto_front_test
