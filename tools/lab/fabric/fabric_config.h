#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::lab {

enum class FabricKind : std::uint8_t {
  kLeafSpine,  ///< every leaf has a link to every spine
  kFatTree,    ///< k pods of k/2 leaves and k/2 aggregation switches, and (k/2)^2 cores
  kFile,       ///< as `file` lists it
};

/// One [[fabric.failure]]: a link that is down for a time. In both directions it then loses what
/// comes to its queues; what waits there, or is under way, still arrives.
struct LinkFailure {
  std::string link;                 ///< the name of a port at one end, "leaf_0.to_spine_1"
  Duration at{};                    ///< after the begin of the run
  std::optional<Duration> until{};  ///< absent: for the rest of the run
  /// So long after `at` all switches send by other paths, and so long after `until` by this one
  /// again. Absent: they never notice.
  std::optional<Duration> reroute_after{};
};

/// [fabric] of an experiment: a data centre that becomes switches, links and places for hosts.
struct FabricConfig {
  FabricKind kind = FabricKind::kLeafSpine;
  std::optional<std::uint32_t> leaves, spines;  ///< of a leaf_spine
  std::optional<std::uint32_t> k;               ///< ports of each switch of a fat_tree
  /// Places for hosts at each leaf; absent in a fat_tree: k/2
  std::optional<std::uint32_t> hosts_per_leaf;
  std::string file;  ///< of a topology, relative to the experiment's file

  // The tiers, from the hosts upwards. Only a fat_tree has links to cores.
  std::optional<BitRate> host_rate, uplink_rate, core_rate;
  std::optional<Duration> host_delay, uplink_delay, core_delay;
  /// What a leaf's hosts can send over what its uplinks carry; in place of uplink_rate.
  std::optional<double> oversubscription;

  /// Links by the name of a port at one end, "leaf_0.to_spine_1": absent from the network, and
  /// with losses in both directions (`gray_loss`).
  std::vector<std::string> failed_links, gray_links;
  std::vector<LinkFailure> failures;
};

inline constexpr auto kFabricKinds = choices<FabricKind>({{"leaf_spine", FabricKind::kLeafSpine},
                                                          {"fat_tree", FabricKind::kFatTree},
                                                          {"file", FabricKind::kFile}});

/// The limits of what a file may ask for: 65,536 hosts at 10,000 switches.
inline constexpr std::uint64_t kMaxFabricSwitches = 10'000;
inline constexpr std::uint64_t kMaxFabricHosts = 65'536;

/// Checks the rules within the table: which keys its kind needs and which it does not know, and
/// their ranges. Pure.
void check(const Checks& at, const FabricConfig& fabric);

/// Checks the times of its failures alone. Pure.
void check_failures(const Checks& at, const FabricConfig& fabric);

void describe(Settings& v, LinkFailure& c);
void describe(Settings& v, FabricConfig& c);

}  // namespace outrider::lab
