#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::lab {

/// One [[switch]] of an experiment.
struct SwitchEntry {
  std::string name;
  bool outside = false;  ///< somebody else's, see LabOutside
};

/// One [[link]] between two switches. Each end becomes a port called "to_OTHER".
struct TrunkEntry {
  std::string a;
  std::string b;
  BitRate rate{};
  Duration delay{};
  /// Numbers of data packets from a to b that are lost or marked, as the switch's settings have it
  std::vector<std::uint32_t> lose_packets{}, mark_packets{};
  /// Our switches may be told of the queue from a to b, see LabOutside.
  bool bottleneck = false;
  bool gray = false;  ///< loses the share `gray_loss` of its packets in each direction
};

/// Returns the name of a switch's port towards a neighbour or a host.
inline std::string port_towards(const std::string& name) { return "to_" + name; }

}  // namespace outrider::lab
