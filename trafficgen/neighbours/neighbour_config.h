#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/config/addresses.h"
#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider::tg {

/// How the hosts of a device find MAC addresses of others, and let others find theirs.
struct ArpConfig {
  bool arp = false;  ///< ask and answer by ARP; off: every MAC follows from its address
  std::optional<std::string> subnet{};   ///< prefix of directly reachable addresses; absent: all
  std::optional<std::string> gateway{};  ///< within `subnet`; next hop of all other addresses
};

/// A neighbour whose MAC address is known from the start.
struct NeighbourConfig {
  std::string device;
  std::string address;  ///< IPv4
  std::string mac;      ///< unicast
};

/// Describes keys that are in [[device]] itself.
void describe(Settings& v, ArpConfig& c);
void describe(Settings& v, NeighbourConfig& c);

void check(const Checks& at, const ArpConfig& arp);
/// @param root of the file
/// @param devices names, @param hosts addresses of the emulated hosts
void check_neighbours(const Checks& root, const std::vector<NeighbourConfig>& neighbours,
                      const std::set<std::string>& devices, const std::set<std::uint32_t>& hosts);

}  // namespace outrider::tg
