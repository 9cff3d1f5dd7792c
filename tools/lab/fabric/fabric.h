#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/fabric/fabric_config.h"
#include "tools/lab/fabric/network_entries.h"

namespace outrider::lab {

/// A place where one host can be plugged in, or one NIC of a host with several.
struct FabricSlot {
  std::size_t at_switch = 0;  ///< index into Fabric::switches
  BitRate rate{};
  Duration delay{};      ///< one way, host to switch
  double loss = 0;       ///< share of packets lost on the way to the host, in [0, 1]
  std::size_t node = 0;  ///< the host's number in a topology file
  std::size_t nic = 0;   ///< of the host, from 0 in the order of its links in that file
};

/// A fabric as a list. Slots are in the order of their switches, so that neighbours in the list
/// are neighbours in a rack, a pod, the network.
struct Fabric {
  std::vector<SwitchEntry> switches;
  std::vector<TrunkEntry> trunks;
  std::vector<FabricSlot> slots;
};

/// Lists the switches, links and slots of a fabric. Failed links are left out, gray ones are
/// gray. Names: "leaf_0", "spine_0" of a leaf_spine; "leaf_0", "aggregation_0", "core_0" of a
/// fat_tree, where pod p has the leaves and the aggregation switches from p x k/2 on, and
/// aggregation switch i of each pod has a link to the cores from i x k/2 on; "switch_ID" of a
/// file.
///
/// Source of the fat tree: Al-Fares, Loukissas and Vahdat, SIGCOMM 2008, section 3. Deviation:
/// hosts_per_leaf and the rates may differ from it.
///
/// @param directory where a relative path of `file` starts
/// @return nothing, with faults below [fabric], if it cannot be built
std::optional<Fabric> build_fabric(const FabricConfig& config,
                                   const std::filesystem::path& directory, ConfigIssues& issues);

/// Takes the failed links out of a fabric, makes gray ones gray, and refuses what the configuration
/// says of links that there are not.
void impair(const Checks& at, const FabricConfig& config, Fabric& fabric);

/// Returns the place of the link that has a port of this name, "leaf_0.to_spine_1", at one end.
/// @return links.size() if there is none
std::size_t link_with_port(const std::vector<TrunkEntry>& links, const std::string& port);

/// Returns the longest round trip between two places, propagation only, by paths of the fewest
/// links and of those the one with the least delay. Zero with fewer than two places; places
/// without a path between them do not count.
Duration longest_rtt(const Fabric& fabric);

}  // namespace outrider::lab
