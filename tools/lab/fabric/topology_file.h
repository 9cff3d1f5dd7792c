#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/config_issue.h"
#include "tools/lab/fabric/fabric.h"

namespace outrider::lab {

/// Reads the topology files of HPCC's simulator and of those that come from it: a line with the
/// numbers of nodes, switches and links, or of nodes, switches, switches with hosts and links; a
/// line with the numbers of the nodes that are switches; and a line for each link,
///
///     node node rate delay error-rate
///
/// such as "0 40 100Gbps 1000ns 0". A rate without a unit is in bit/s. The error rate is the share
/// of packets that the link loses in each direction, and of a host's link on the way to the host.
/// Two switches may have several links. A node that is no switch is a host, and each of its links,
/// 16 at most, is a NIC with a place of its own. Lines after the last link are not read.
///
/// Formats: alibaba-edu/High-Precision-Congestion-Control, simulation/mix/topology.txt, and
/// inet-tub/ns3-datacenter, examples/PowerTCP/topology.txt. Deviations: what a host sends is not
/// lost on its link; the third of four numbers is checked to be at most the number of switches, and
/// not used.
///
/// @return nothing, with faults by line, if it is not that
std::optional<Fabric> parse_hpcc_topology(std::string_view text, ConfigIssues& issues);

/// Reads node-link JSON as networkx writes it: "nodes" with "id" (a text or a number) and
/// "links" (or "edges") with "source", "target", and the attributes "rate" and "delay" as texts,
/// "100gbit" or "100Gbps", and "1us". A node with the attribute "type": "host" is a host, as is,
/// if no node has a type, each node with one link.
///
/// @return nothing, with faults by key, if it is not that
std::optional<Fabric> parse_node_link(std::string_view text, ConfigIssues& issues);

/// Reads a file by its ending: ".json" is node-link JSON, any other HPCC's form.
/// @return nothing, with faults, if it cannot be read
std::optional<Fabric> load_topology(const std::string& path, ConfigIssues& issues);

}  // namespace outrider::lab
