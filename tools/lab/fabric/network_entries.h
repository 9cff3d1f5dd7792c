#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::lab {

/// Returns the name of a switch's port towards a neighbour or a host.
/// @param parallel  number of the link among those between the same two, see TrunkEntry
inline std::string port_towards(const std::string& name, std::uint32_t parallel = 0) {
  return "to_" + name + (parallel == 0 ? "" : '#' + std::to_string(parallel + 1));
}

/// One [[switch]] of an experiment.
struct SwitchEntry {
  std::string name;
  bool outside = false;  ///< somebody else's, see LabOutside
};

/// One [[link]] between two switches. Each end becomes a port called "to_OTHER"; of several links
/// between the same two, the second ends in ports "to_OTHER#2".
struct TrunkEntry {
  std::string a;
  std::string b;
  BitRate rate{};
  Duration delay{};
  /// Numbers of data packets from a to b that are lost or marked, as the switch's settings have it
  std::vector<std::uint32_t> lose_packets{}, mark_packets{};
  /// Our switches may be told of the queue from a to b, see LabOutside.
  bool bottleneck = false;
  bool gray = false;           ///< loses the share `gray_loss` of its packets in each direction
  double loss = 0;             ///< share of packets that it loses in each direction, in [0, 1]
  std::uint32_t parallel = 0;  ///< 1 of the second link between the same two switches, and so on

  [[nodiscard]] std::string port_of_a() const { return a + '.' + port_towards(b, parallel); }
  [[nodiscard]] std::string port_of_b() const { return b + '.' + port_towards(a, parallel); }
};

/// Names of ports by the names of the switch that has them and of the neighbour to which they lead:
/// several of parallel links.
using PortsBetween =
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string>>;

/// @param trunks  whose names the result refers to
inline PortsBetween ports_between(const std::vector<TrunkEntry>& trunks) {
  PortsBetween ports;
  for (const TrunkEntry& t : trunks) {
    ports[{t.a, t.b}].push_back(port_towards(t.b, t.parallel));
    ports[{t.b, t.a}].push_back(port_towards(t.a, t.parallel));
  }
  return ports;
}

}  // namespace outrider::lab
