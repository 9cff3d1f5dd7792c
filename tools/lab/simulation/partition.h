#pragma once

#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "switch/config/config.h"
#include "switch/runtime/network.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// A rule by which the parts of a network are dealt to ranks. Results do not depend on it, the wall
/// time does.
enum class CutKind : std::uint8_t {
  kBlocks,  ///< neighbours in the file stay together: few wires are cut
  kTurns,   ///< in turn: many wires are cut
  kMetis,   ///< as METIS cuts the graph of switches and hosts: few wires are cut in any network
};

/// One direction of a wire between two ranks.
struct CutLine {
  std::uint32_t number = 0;  ///< see CutWire
  std::uint32_t from = 0;    ///< rank
  std::uint32_t to = 0;      ///< rank
  Duration lookahead{};      ///< what is begun now arrives no earlier than this
  bool operator==(const CutLine&) const = default;
};

/// Says which rank builds which switches and hosts of a case, and where that cuts wires.
struct Partition {
  static constexpr Duration kUncut = kNever - Time{};

  std::uint32_t ranks = 1;
  /// Tiles of each rank, which take turns within a window: what a tile needs then stays in the
  /// caches of the processor, where that of a large network does not.
  std::uint32_t tiles = 1;
  std::vector<std::uint32_t> of_switch{};       ///< [switches] rank
  std::vector<std::uint32_t> of_host{};         ///< [hosts] rank
  std::vector<std::uint32_t> tile_of_switch{};  ///< [switches] its tile, of those of its rank
  std::vector<std::uint32_t> tile_of_host{};    ///< [hosts] its tile, of those of its rank
  std::vector<std::uint32_t> host_behind{};     ///< [edge ports] see hosts_behind()
  std::vector<CutLine> cuts{};                  ///< in the order of their numbers
  /// The longest window in which ranks and tiles need not hear of each other; kUncut
  /// without cuts.
  Duration lookahead = kUncut;
  /// [ranks] packets that the rank's ports and NICs can send in a window at their rates
  std::vector<std::uint64_t> packets_per_window{};
};

/// What one rank builds of a case. By default that is everything.
struct RankPart {
  const Partition* partition = nullptr;  ///< nullptr: there is one rank
  std::uint32_t rank = 0;

  [[nodiscard]] bool has_host(std::size_t host) const noexcept {
    return partition == nullptr || partition->of_host[host] == rank;
  }
  [[nodiscard]] bool has_switch(std::size_t s) const noexcept {
    return partition == nullptr || partition->of_switch[s] == rank;
  }
};

/// Deals switches and groups of hosts to ranks, and those of a rank to its tiles. Hosts that a job,
/// a flow, a request or a transfer joins are one group, see tg::host_groups(): it stays in one
/// tile, wherever its switches are. A wire without delay is not cut. Pure.
///
/// @param switches,traffic must be valid
/// @param tiles  of each rank, at the most: a case with too few parts has fewer, and one that
///               samples connections has one. 0: as many as make it quickest, which is one if all
///               fits in the caches or windows are too short, see docs/decisions/019
/// @throws std::runtime_error saying what there is too little of: parts for so many ranks, or a
///         host for an edge port; or naming traffic that cannot be cut
[[nodiscard]] Partition make_partition(const sw::SwitchProcessConfig& switches,
                                       const tg::GeneratorConfig& traffic, std::uint32_t ranks,
                                       CutKind cut, std::uint32_t tiles = 1);

/// Rejects a partition with a rank that can send fewer than `least` packets in a window: it would
/// wait for the others most of the time. @throws std::runtime_error with the number
void check_work(const Partition& partition, std::uint64_t least);

/// Returns the part of the network that a rank builds.
[[nodiscard]] sw::NetworkShare share_of(const RankPart& part, std::size_t switches,
                                        std::size_t edges);

}  // namespace outrider::lab
