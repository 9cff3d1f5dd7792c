#pragma once

#include <cstdint>
#include <vector>

#include "common/config/checks.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Says which lcore owns which hosts and devices when several share a configuration.
struct LcorePlan {
  std::vector<std::uint32_t> of_host;    ///< [hosts] lcore that owns the host and what it does
  std::vector<std::uint32_t> of_device;  ///< [devices] lcore that polls it and sends by it
};

/// Assigns hosts and devices to lcores. Hosts that a job, a flow, a request, a transfer or a device
/// joins, directly or through others, form a *group*, and a group has one owner: so lcores share no
/// connection and no device. The group with the highest sum of its NICs' rates is assigned first,
/// each to the lcore that has least; of equal ones the first in the file to the first lcore. All
/// devices of streams are joined too, and that group belongs to lcore 0. Pure.
///
/// @param config valid for `lcores` lcores, see check_lcores(); for one, any valid configuration
[[nodiscard]] LcorePlan plan_lcores(const GeneratorConfig& config, std::uint32_t lcores);

/// Rejects more lcores than there are groups.
void check_lcores(const Checks& root, const GeneratorConfig& config);

/// What one lcore owns of a configuration. By default that is everything.
struct LcoreShare {
  LcorePlan plan{};  ///< empty: one lcore has all
  std::uint32_t lcore = 0;

  [[nodiscard]] bool has_host(std::size_t host) const noexcept {
    return plan.of_host.empty() || plan.of_host[host] == lcore;
  }
  [[nodiscard]] bool has_device(std::size_t device) const noexcept {
    return plan.of_device.empty() || plan.of_device[device] == lcore;
  }
  /// @param name of a host of the configuration
  [[nodiscard]] bool has_host(const GeneratorConfig& config, const std::string& name) const;
  /// Returns whether the share has a table of traffic that one group of hosts has.
  [[nodiscard]] bool has(const GeneratorConfig& config, const JobConfig& job) const;
  [[nodiscard]] bool has(const GeneratorConfig& config, const TransferConfig& transfer) const;
  [[nodiscard]] bool has(const GeneratorConfig& config, const FlowsConfig& flows) const;
};

/// Returns the configuration with the traffic of one share alone, and with all hosts.
[[nodiscard]] GeneratorConfig traffic_of(GeneratorConfig config, const LcoreShare& share);

}  // namespace outrider::tg
