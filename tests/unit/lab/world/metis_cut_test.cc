// Goal: METIS cuts any graph into parts that all have something, the same at every call, and finds
// the cut that a person sees. Method: graphs made by hand, and random ones.
#include "tools/lab/simulation/metis_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/core/random.h"

namespace outrider::metis_cut_test {
using namespace lab;
namespace {

using Parts = std::vector<std::uint32_t>;

std::size_t cut_edges(const CutGraph& graph, const Parts& parts) {
  return static_cast<std::size_t>(std::ranges::count_if(
      graph.edges, [&](const CutGraph::Edge& e) { return parts[e.a] != parts[e.b]; }));
}

std::size_t used(const Parts& parts) { return std::set(parts.begin(), parts.end()).size(); }

/// Three meshes of six switches with different degrees, joined by single wires. Vertex v belongs
/// to mesh v % 3.
CutGraph three_meshes() {
  CutGraph graph{.weights = std::vector<std::uint64_t>(18, 4)};
  for (std::size_t a = 0; a < 18; ++a)
    for (std::size_t b = a + 3; b < 18; b += 3)
      if ((a + b) % 5 != 0) graph.edges.push_back({a, b});  // irregular
  graph.edges.push_back({0, 1});
  graph.edges.push_back({4, 5});
  graph.edges.push_back({9, 11});
  return graph;
}

TEST(CutByMetis, FindsTheMeshesOfAnIrregularNetwork) {
  const CutGraph graph = three_meshes();
  const Parts parts = cut_by_metis(graph, 3, 1);
  EXPECT_EQ(used(parts), 3U);
  EXPECT_EQ(cut_edges(graph, parts), 3U) << testing::PrintToString(parts);
  for (std::size_t v = 3; v < 18; ++v) EXPECT_EQ(parts[v], parts[v - 3]) << v;
  Parts in_blocks;
  for (std::uint32_t v = 0; v < 18; ++v) in_blocks.push_back(v / 6);
  EXPECT_GT(cut_edges(graph, in_blocks), 15U) << "the order of the file says nothing here";
}

// The tiles of a rank are neighbours: both halves of a mesh are on the same rank.
TEST(CutByMetis, KeepsTheTilesOfARankTogether) {
  const CutGraph graph = three_meshes();
  const Parts parts = cut_by_metis(graph, 3, 2);
  EXPECT_EQ(used(parts), 6U);
  for (std::size_t v = 3; v < 18; ++v) EXPECT_EQ(parts[v] / 2, parts[v - 3] / 2) << v;
}

TEST(CutByMetis, CutsTwoLightEdgesOfARingRatherThanHeavyOnes) {
  for (const double heavy : {1.5, 10.0, 1e9}) {
    const CutGraph ring{.weights = {1, 1, 1, 1},
                        .edges = {{0, 1, 1}, {1, 2, heavy}, {2, 3, 1}, {3, 0, heavy}}};
    const Parts parts = cut_by_metis(ring, 2, 1);
    EXPECT_EQ(parts[1], parts[2]) << heavy;
    EXPECT_EQ(parts[0], parts[3]) << heavy;
    EXPECT_NE(parts[0], parts[1]) << heavy;
  }
}

TEST(CutByMetis, LeavesNoPartEmptyBesideOneThatOutweighsAll) {
  CutGraph star{.weights = {1'000'000'000'000, 1, 1, 0, 1, 1}};
  for (std::size_t leaf = 1; leaf < 6; ++leaf) star.edges.push_back({0, leaf});
  for (std::uint32_t ranks = 1; ranks <= 6; ++ranks)
    for (std::uint32_t tiles = 1; ranks * tiles <= 6; ++tiles)
      EXPECT_EQ(used(cut_by_metis(star, ranks, tiles)), ranks * tiles) << ranks << " x " << tiles;
  EXPECT_EQ(used(cut_by_metis({.weights = {7, 7, 7}}, 3, 1)), 3U) << "without an edge";
}

TEST(CutByMetis, WeighsWorkBeyond32Bits) {
  CutGraph graph{.weights = {1, 1, 4, 1, 1}};
  for (auto& weight : graph.weights) weight *= 3'000'000'000;
  for (std::size_t a = 0; a < 5; ++a)
    for (std::size_t b = a + 1; b < 5; ++b) graph.edges.push_back({a, b});
  const Parts parts = cut_by_metis(graph, 2, 1);
  EXPECT_EQ(std::ranges::count(parts, parts[2]), 1) << testing::PrintToString(parts);
}

std::size_t below(RandomStream& random, std::size_t end) { return random.next_u32() % end; }

CutGraph random_graph(RandomStream& random) {
  CutGraph graph;
  const std::size_t vertices = 2 + below(random, 40);
  for (std::size_t v = 0; v < vertices; ++v)
    graph.weights.push_back(below(random, 4) == 0 ? 1'000 + below(random, 100'000)
                                                  : below(random, 9));
  for (std::size_t e = below(random, 4 * vertices); e > 0; --e)
    graph.edges.push_back({below(random, vertices), below(random, vertices),
                           1 + static_cast<double>(below(random, 1'000))});
  return graph;
}

TEST(CutByMetis, GivesRandomGraphsTheSamePartsTwiceAndNoneEmpty) {
  std::size_t in_one_piece = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    const CutGraph graph = random_graph(random);
    const auto most = static_cast<std::uint32_t>(graph.weights.size());
    const auto ranks = static_cast<std::uint32_t>(1 + below(random, most));
    const auto tiles = static_cast<std::uint32_t>(1 + below(random, most / ranks));
    const Parts parts = cut_by_metis(graph, ranks, tiles);
    ASSERT_EQ(parts.size(), graph.weights.size());
    EXPECT_EQ(used(parts), ranks * tiles) << "seed " << seed;
    EXPECT_LT(std::ranges::max(parts), ranks * tiles);
    EXPECT_EQ(parts, cut_by_metis(graph, ranks, tiles)) << "seed " << seed;
    in_one_piece += ranks * tiles == 1;
  }
  EXPECT_LT(in_one_piece, 60U) << "most graphs are cut";
}

}  // namespace
}  // namespace outrider::metis_cut_test
