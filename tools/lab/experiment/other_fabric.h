#pragma once

#include <string>

#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/core/config_issue.h"
#include "tools/lab/fabric/fabric.h"

namespace outrider::lab {

/// A network in the place of an experiment's own: the switches, the links and the places for hosts
/// of another file.
struct OtherFabric {
  std::string path;                     ///< of the file, for messages
  Fabric fabric{};                      ///< without its failed links
  std::vector<LinkFailure> failures{};  ///< of its [[fabric.failure]]
};

/// Reads [fabric] of an experiment, or its [[switch]], [[link]] and [[hosts]], whose hosts are then
/// places; nothing else of it, so that a file may have these tables alone.
/// @return the network, or every fault by its key
ConfigResult<OtherFabric> load_other_fabric(const std::string& path);

/// Returns `file` without what it says of its network: [fabric], [[switch]], [[link]], network.rtt,
/// and rate and delay of its [[hosts]]. A measured port to a host is the one to that host wherever
/// it is. Hosts that are all at one switch may be anywhere.
/// @param file    with what it inherits
/// @param issues  gets what belongs to the file's own switches and links
ConfigTable on_other_fabric(ConfigTable file, const OtherFabric& other, ConfigIssues& issues);

}  // namespace outrider::lab
