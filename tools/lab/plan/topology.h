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
  std::string name;  ///< "worker_0"; of a group with count = 1 the group's name
  std::string address;
  std::size_t group = 0;  ///< index into ExperimentFile::hosts
  std::size_t at_switch = 0;
  Duration delay{};  ///< drawn from the group's spread
};

/// Where the hosts of a case are and how its switches reach them.
struct Topology {
  std::vector<PlacedHost> hosts;
  /// next[s][d]: the neighbours of switch s on the shortest ways, in hops, to switch d
  std::vector<std::vector<std::vector<std::size_t>>> next;
  Duration rtt{};  ///< worker to server and back, without spread
  BitRate measured_rate{};
};

/// Places hosts, finds routes and checks what [network] says against them. The
/// spread depends on the seed and the host alone: alike in all arms.
/// @return nothing, with issues, if the network is not connected or not as stated
std::optional<Topology> make_topology(const ExperimentFile& experiment,
                                      const CaseParameters& parameters, std::uint64_t seed,
                                      ConfigIssues& issues);

/// "10.S.0.0/16", of all hosts at switch `index`.
std::string switch_prefix(std::size_t index);

/// Name of a switch's port towards a neighbour or a host.
std::string port_towards(const std::string& name);

}  // namespace outrider::lab
