#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Returns the position of the host's device in the file; the number of devices if none has its
/// name.
[[nodiscard]] std::uint32_t device_of(const GeneratorConfig& config, const HostConfig& host);

/// Packets that may wait between two lcores in one direction, beside those that the sender holds.
inline constexpr std::uint32_t kHandoverPackets = 512;

/// Says which lcore owns which hosts and devices when several share a configuration.
struct LcorePlan {
  std::vector<std::uint32_t> of_host;    ///< [hosts] lcore that owns the host and what it does
  std::vector<std::uint32_t> of_device;  ///< [devices] lcore that polls it and sends by it
};

/// Assigns hosts and devices to lcores. Hosts that a job, a flow, a request or a transfer joins,
/// directly or through others, form a *group*, and a group has one owner: so lcores share no
/// connection. The group with the highest sum of its NICs' rates is assigned first, each to the
/// lcore that has least; of equal ones the first in the file to the first lcore.
///
/// A device joins the hosts behind it as well, if that leaves a group for each lcore. If not, its
/// hosts may be on several lcores. It belongs to the one whose hosts behind it have the highest sum
/// of rates, and the others hand their packets to that one, see Borrowing. Where hosts obey
/// pause frames a device always joins them. All devices of streams
/// are joined, and belong to lcore 0. Only in a file without hosts does each stream join its own
/// two devices alone, and the groups go to the lcores in turn. Pure.
///
/// @param config valid for `lcores` lcores, see check_lcores(); for one, any valid configuration
[[nodiscard]] LcorePlan plan_lcores(const GeneratorConfig& config, std::uint32_t lcores);

/// Returns for each host a number of its group, whatever devices the hosts have: the position of
/// the group's first host. Pure.
[[nodiscard]] std::vector<std::uint32_t> host_groups(const GeneratorConfig& config);

/// One lcore has hosts behind devices of another.
struct Borrowing {
  std::uint32_t borrower = 0;
  std::uint32_t owner = 0;
  bool operator==(const Borrowing&) const = default;
};

/// Returns each pair once, in ascending order.
[[nodiscard]] std::vector<Borrowing> borrowings(const GeneratorConfig& config,
                                                const LcorePlan& plan);

/// Returns for the log what each lcore has, so that a user sees an uneven plan: "CPU 2 has 3 hosts
/// of 30 Gbit/s; CPU 4 has 1 host of 10 Gbit/s, behind devices of CPU 2".
[[nodiscard]] std::string describe(const GeneratorConfig& config, const LcorePlan& plan);

/// Rejects more lcores than there are groups of hosts, or of streams.
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

/// Returns the positions of a share's streams: those whose devices it has.
[[nodiscard]] std::vector<std::size_t> streams_of(const GeneratorConfig& config,
                                                  const LcoreShare& share);

/// Returns the configuration with the traffic of one share alone, and with all hosts.
[[nodiscard]] GeneratorConfig traffic_of(GeneratorConfig config, const LcoreShare& share);

}  // namespace outrider::tg
