#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
  double loss = 0;   ///< see FabricSlot
};

/// The IPv4 prefix of all hosts at one switch.
struct HostPrefix {
  std::uint32_t first = 0;  ///< address of the prefix itself
  std::uint8_t length = 0;  ///< 0: the switch can have no hosts
};

/// Says where the hosts of a case are and how its switches reach them.
struct Topology {
  std::vector<PlacedHost> hosts;
  std::vector<HostPrefix> prefixes;  ///< of each switch
  /// next[s][d]: the neighbours of switch s on the shortest paths, in hops, to switch d; empty if
  /// d can have no hosts
  std::vector<std::vector<std::vector<std::size_t>>> next;
  Duration rtt{};  ///< worker to server and back, without spread; in a fabric the longest one
  BitRate measured_rate{};  ///< of the worst queue: the least rate of any port
};

/// Returns the number of hosts in a group. @param parameters of the case
std::uint32_t hosts_in(const ExperimentFile& experiment, const HostGroupEntry& group,
                       const CaseParameters& parameters);

/// Places the hosts, finds routes and checks [network] against them. The spread of a
/// host's delay depends only on the seed and the host, so it is equal in all arms.
/// @return nothing, with issues, if the network is not connected or not as stated
std::optional<Topology> make_topology(const ExperimentFile& experiment,
                                      const CaseParameters& parameters, std::uint64_t seed,
                                      ConfigIssues& issues);

/// Returns network.measured by the full names of ports: "to_HOST" is the port to that host, at the
/// switch that it is placed at.
std::vector<std::string> measured_ports(const ExperimentFile& experiment, const Topology& topology);

/// Returns Topology::next over the experiment's links. Neighbours are in the order of the file, so
/// that every run chooses the same of several equal paths. @param topology  has the prefixes
std::vector<std::vector<std::vector<std::size_t>>> find_routes(const ExperimentFile& experiment,
                                                               const Topology& topology);

/// Returns the names of two switches between which no links lead; nothing if the network is whole.
std::optional<std::pair<std::string, std::string>> switches_apart(const ExperimentFile& experiment,
                                                                  const Topology& topology);

/// Returns a prefix as text, "10.1.0.0/16".
std::string prefix_text(const HostPrefix& prefix);

}  // namespace outrider::lab
