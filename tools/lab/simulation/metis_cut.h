#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace outrider::lab {

/// A graph whose vertices are dealt to parts.
struct CutGraph {
  struct Edge {
    std::size_t a = 0, b = 0;  ///< vertices
    double weight = 1;         ///< what it costs to cut it, > 0; its scale does not matter
  };
  std::vector<std::uint64_t> weights{};  ///< [vertices] the work that each is
  std::vector<Edge> edges{};             ///< in any order; several may join the same two
};

/// Deals vertices to `ranks` times `tiles` parts of about the same work, such that the edges
/// between parts have little weight: METIS halves the graph, then each half, and so on. The first
/// halvings are between ranks, so the tiles of a rank are neighbours. Every part has a vertex:
/// where METIS gives a half fewer than it has parts, those of the other half that cost least
/// follow. The same graph always gives the same parts. Pure.
///
/// @pre there are as many vertices as parts
/// @return [vertices] part: the tiles of rank 0, then those of rank 1, and so on
/// @throws std::runtime_error if METIS has no memory
[[nodiscard]] std::vector<std::uint32_t> cut_by_metis(const CutGraph& graph, std::uint32_t ranks,
                                                      std::uint32_t tiles);

}  // namespace outrider::lab
