#include "tools/lab/simulation/metis_cut.h"

#include <metis.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace outrider::lab {
namespace {

/// METIS counts in 32 bits on Debian: sums of weights stay below this.
constexpr double kMostWeight = 1 << 30;
/// Edges that differ by a hundredth are still told apart, if kMostWeight allows it.
constexpr double kEdgeScale = 100;

constexpr idx_t kSeed = 1;
/// How much more than its share a half may have [thousandths]. METIS's own 1 leaves no choice
/// among few switches of the same size.
constexpr idx_t kImbalance = 20;
constexpr idx_t kTries = 8;  ///< METIS keeps the best of them

struct Neighbour {
  std::size_t vertex = 0;
  double weight = 0;
};

/// Returns the neighbours of each vertex, each once.
std::vector<std::vector<Neighbour>> neighbours_of(const CutGraph& graph) {
  std::vector<std::vector<Neighbour>> all(graph.weights.size());
  for (const CutGraph::Edge& e : graph.edges) {
    if (e.a == e.b) continue;
    all[e.a].push_back({e.b, e.weight});
    all[e.b].push_back({e.a, e.weight});
  }
  for (auto& list : all) {
    std::ranges::stable_sort(list, {}, &Neighbour::vertex);
    std::size_t kept = 0;
    for (const Neighbour& n : list) {
      if (kept != 0 && list[kept - 1].vertex == n.vertex) list[kept - 1].weight += n.weight;
      else list[kept++] = n;
    }
    list.resize(kept);
  }
  return all;
}

/// What METIS reads.
struct MetisGraph {
  std::vector<idx_t> vertex_weights{};
  std::vector<idx_t> first{0};  ///< [vertices + 1] of its neighbours
  std::vector<idx_t> neighbours{};
  std::vector<idx_t> edge_weights{};
};

/// Returns for each vertex whether it goes to the second half. @param share  of the first half
std::vector<bool> halved(MetisGraph& g, double share) {
  auto vertices = static_cast<idx_t>(g.vertex_weights.size());
  idx_t constraints = 1, parts = 2, cut = 0;
  std::array<real_t, 2> shares{static_cast<real_t>(share), static_cast<real_t>(1 - share)};
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = kSeed;
  options[METIS_OPTION_UFACTOR] = kImbalance;
  options[METIS_OPTION_NCUTS] = kTries;
  std::vector<idx_t> half(g.vertex_weights.size());
  const int status =
      METIS_PartGraphRecursive(&vertices, &constraints, g.first.data(), g.neighbours.data(),
                               g.vertex_weights.data(), nullptr, g.edge_weights.data(), &parts,
                               shares.data(), nullptr, options.data(), &cut, half.data());
  if (status != METIS_OK)
    throw std::runtime_error("METIS cannot cut the network: its status is " +
                             std::to_string(status));
  return {half.begin(), half.end()};
}

class MetisCutter {
 public:
  explicit MetisCutter(const CutGraph& graph)
      : weights_(graph.weights),
        neighbours_(neighbours_of(graph)),
        part_of_(graph.weights.size()),
        index_(graph.weights.size(), kElsewhere) {
    double most = 0;
    for (const auto& list : neighbours_)
      for (const Neighbour& n : list) most += n.weight;
    edge_scale_ = most == 0 ? 1 : std::min(kEdgeScale, kMostWeight / most);
    const auto work =
        static_cast<double>(std::reduce(weights_.begin(), weights_.end(), std::uint64_t{0}));
    vertex_scale_ = work == 0 ? 1 : std::min(1.0, kMostWeight / work);
  }

  /// Deals `vertices` to the parts from `first` on.
  void cut(const std::vector<std::size_t>& vertices, std::uint32_t first, std::uint32_t ranks,
           std::uint32_t tiles) {
    const std::uint32_t parts = ranks * tiles;
    assert(vertices.size() >= parts);
    if (parts == 1) {
      for (const std::size_t v : vertices) part_of_[v] = first;
      return;
    }
    const bool of_ranks = ranks > 1;
    const std::uint32_t left = of_ranks ? ranks / 2 * tiles : tiles / 2;
    auto halves = halve(vertices, left, parts);
    cut(halves.first, first, of_ranks ? ranks / 2 : 1, of_ranks ? tiles : left);
    cut(halves.second, first + left, of_ranks ? ranks - ranks / 2 : 1,
        of_ranks ? tiles : parts - left);
  }

  [[nodiscard]] std::vector<std::uint32_t> parts() && { return std::move(part_of_); }

 private:
  static constexpr std::size_t kElsewhere = SIZE_MAX;

  using Vertices = std::vector<std::size_t>;

  /// @param left  parts of the first half, of `parts`
  std::pair<Vertices, Vertices> halve(const Vertices& vertices, std::uint32_t left,
                                      std::uint32_t parts) {
    for (std::size_t i = 0; i < vertices.size(); ++i) index_[vertices[i]] = i;
    MetisGraph metis = metis_graph(vertices);
    std::vector<bool> second = halved(metis, static_cast<double>(left) / parts);
    fill(vertices, second, true, parts - left);
    fill(vertices, second, false, left);
    std::pair<Vertices, Vertices> halves;
    for (std::size_t i = 0; i < vertices.size(); ++i)
      (second[i] ? halves.second : halves.first).push_back(vertices[i]);
    for (const std::size_t v : vertices) index_[v] = kElsewhere;
    return halves;
  }

  MetisGraph metis_graph(const Vertices& vertices) const {
    const auto scaled = [](double weight, double scale) {
      return static_cast<idx_t>(std::max(1.0, std::round(weight * scale)));
    };
    MetisGraph g;
    for (const std::size_t v : vertices) {
      g.vertex_weights.push_back(scaled(static_cast<double>(weights_[v]), vertex_scale_));
      for (const Neighbour& n : neighbours_[v]) {
        if (index_[n.vertex] == kElsewhere) continue;
        g.neighbours.push_back(static_cast<idx_t>(index_[n.vertex]));
        g.edge_weights.push_back(scaled(n.weight, edge_scale_));
      }
      g.first.push_back(static_cast<idx_t>(g.neighbours.size()));
    }
    return g;
  }

  /// Moves vertices to a half until it has `least`, those first by which the cut grows least.
  void fill(const Vertices& vertices, std::vector<bool>& second, bool half, std::size_t least) {
    for (auto has = static_cast<std::size_t>(std::ranges::count(second, half)); has < least;
         ++has) {
      std::size_t best = kElsewhere;
      double best_growth = 0;
      for (std::size_t i = 0; i < vertices.size(); ++i) {
        if (second[i] == half) continue;
        const double growth = growth_of(vertices[i], second, half);
        if (best != kElsewhere && growth >= best_growth) continue;
        best = i;
        best_growth = growth;
      }
      second[best] = half;
    }
  }

  /// By how much the cut grows if a vertex moves to a half.
  double growth_of(std::size_t vertex, const std::vector<bool>& second, bool half) const {
    double growth = 0;
    for (const Neighbour& n : neighbours_[vertex])
      if (index_[n.vertex] != kElsewhere)
        growth += second[index_[n.vertex]] == half ? -n.weight : n.weight;
    return growth;
  }

  const std::vector<std::uint64_t>& weights_;
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<std::uint32_t> part_of_;
  std::vector<std::size_t> index_;  ///< [vertices] among those that are halved now
  double edge_scale_ = 1, vertex_scale_ = 1;
};

}  // namespace

std::vector<std::uint32_t> cut_by_metis(const CutGraph& graph, std::uint32_t ranks,
                                        std::uint32_t tiles) {
  MetisCutter cutter(graph);
  std::vector<std::size_t> all(graph.weights.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  cutter.cut(all, 0, ranks, tiles);
  return std::move(cutter).parts();
}

}  // namespace outrider::lab
