#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// One emulated host of a case.
struct PlacedHost {
  std::string name;  ///< "worker_0"; in a group with count = 1 the group's name
  std::string address;
  std::size_t group = 0;  ///< index into ExperimentFile::hosts
  std::size_t at_switch = 0;
  Duration delay{};  ///< drawn from the group's spread
  BitRate rate{};    ///< of its NIC and of the switch's port to it
};

/// Says where the hosts of a case are and how its switches reach them.
struct Topology {
  std::vector<PlacedHost> hosts;
  /// next[s][d]: the neighbours of switch s on the shortest paths, in hops, to switch d
  std::vector<std::vector<std::vector<std::size_t>>> next;
  Duration rtt{};  ///< worker to server and back, without spread
  BitRate measured_rate{};
};

/// Places the hosts, finds routes and checks [network] against them. The spread of a
/// host's delay depends only on the seed and the host, so it is equal in all arms.
/// @return nothing, with issues, if the network is not connected or not as stated
std::optional<Topology> make_topology(const ExperimentFile& experiment,
                                      const CaseParameters& parameters, std::uint64_t seed,
                                      ConfigIssues& issues);

/// Returns the prefix of all hosts at switch `index`, "10.S.0.0/16".
std::string switch_prefix(std::size_t index);

/// Returns the name of a switch's port towards a neighbour or a host.
std::string port_towards(const std::string& name);

}  // namespace outrider::lab
