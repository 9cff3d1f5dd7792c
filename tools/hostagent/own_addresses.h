#pragma once

#include <cstdint>
#include <vector>

#include "common/config/addresses.h"
#include "tools/hostagent/network_interface.h"

namespace outrider::agent {

/// The IPv4 addresses of this network namespace as they are now.
struct HostAddresses {
  std::vector<std::uint32_t> own;  ///< of all interfaces, host byte order, sorted
  /// Networks of one interface and of those that are stacked on it (VLANs, a bridge, a bond).
  std::vector<Prefix> networks;

  bool operator==(const HostAddresses&) const = default;
};

/// Throws AgentError if the kernel does not say.
HostAddresses addresses_of_host(const NetworkInterface& interface);

}  // namespace outrider::agent
