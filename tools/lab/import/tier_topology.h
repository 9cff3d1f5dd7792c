#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/config/config_result.h"

namespace outrider::lab {

/// One tier of htsim's topology: tier 0 are the switches of the hosts.
struct TopologyTier {
  std::uint64_t down_gbps = 0;        ///< of each link downwards
  std::uint64_t radix_down = 0;       ///< links downwards of each switch
  std::uint64_t radix_up = 0;         ///< links upwards; 0 at the top
  std::uint64_t bundle = 1;           ///< parallel links downwards to the same switch
  std::uint64_t down_latency_ns = 0;  ///< of each link downwards
  std::uint64_t switch_latency_ns = 0;
};

/// A topology of htsim: two or three tiers, and pods of hosts.
struct TierTopology {
  std::uint64_t nodes = 0, tiers = 0, pod_size = 0;
  std::array<TopologyTier, 3> tier{};
};

/// Reads a topology of htsim: lines "Nodes N", "Tiers 2|3" and "Podsize N", then for each tier a
/// line "Tier I" and lines of keys and values: Downlink_speed_Gbps, Radix_Down, Radix_Up, Bundle,
/// Downlink_Latency_ns, Switch_Latency_ns; Oversubscribed, Queue_Up and Queue_Down are checked to
/// be whole numbers and not used. Case does not matter. Format: spcl/HTSIM,
/// htsim/sim/datacenter/topologies and fat_tree_topology.cpp.
///
/// @return the topology, or faults by "line N"
ConfigResult<TierTopology> parse_tier_topology(std::string_view text);

/// Returns the same topology in HPCC's form, see parse_hpcc_topology(): hosts have the numbers 0 to
/// nodes - 1, then come the switches, tier by tier. A switch's latency is added to its links
/// downwards, so that a path has that of its topmost switch twice.
std::string hpcc_text_of(const TierTopology& topology);

}  // namespace outrider::lab
