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

/// How the hosts of a device find the MAC addresses of others, and are found.
struct ArpConfig {
  bool arp = false;  ///< ask for addresses and answer; off: every MAC follows from its address
  std::optional<std::string> subnet{};   ///< prefix that is asked for directly; absent: all is
  std::optional<std::string> gateway{};  ///< within `subnet`; what is outside goes to it
};

/// A neighbour whose MAC address is known from the start.
struct NeighbourConfig {
  std::string device;
  std::string address;  ///< IPv4
  std::string mac;      ///< unicast
};

/// Its keys stand in [[device]] itself.
void describe(Settings& v, ArpConfig& c);
void describe(Settings& v, NeighbourConfig& c);

void check(const Checks& at, const ArpConfig& arp);
/// @param root of the file
/// @param devices names, @param hosts addresses of the emulated hosts
void check_neighbours(const Checks& root, const std::vector<NeighbourConfig>& neighbours,
                      const std::set<std::string>& devices, const std::set<std::uint32_t>& hosts);

}  // namespace outrider::tg
