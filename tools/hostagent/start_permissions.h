#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/config/addresses.h"
#include "common/core/clock.h"
#include "tools/hostagent/network_interface.h"
#include "tools/hostagent/own_addresses.h"

struct AgentPrefix;

namespace outrider::agent {

/// Writes into the maps of a program that includes bpf/start.h for which addresses it heeds
/// STARTs, and of whom. Does nothing while that stays.
class StartPermissions {
 public:
  /// How often the host's addresses may have changed.
  static constexpr Duration kRefresh = std::chrono::seconds(1);

  /// @param own_map,accepted_map file descriptors of `own_addresses` and `accepted`
  /// @param accept_from networks whose STARTs are heeded; none: those of the interface
  StartPermissions(int own_map, int accepted_map, std::vector<Prefix> accept_from,
                   const NetworkInterface& interface);

  /// Follows the host's addresses. Throws AgentError.
  void refresh();

 private:
  void accept(const Prefix& prefix) const;

  int own_map_;
  int accepted_map_;
  std::vector<Prefix> accept_from_;
  NetworkInterface interface_;
  HostAddresses known_{};
};

}  // namespace outrider::agent
