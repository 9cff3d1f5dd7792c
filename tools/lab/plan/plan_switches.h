#pragma once

#include "switch/config/config.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/topology.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// A bin is a base RTT: room for minutes of the shortest.
inline constexpr std::uint32_t kMaxBins = 1U << 20;

/// DSCP of a class of layers, 0 the most urgent: the class selectors (RFC 2474, 4.2.2) from
/// the highest down to 1, so that 0 is left for others.
constexpr std::uint32_t layer_dscp(std::uint32_t layer_class, std::uint32_t classes) noexcept {
  return 8 * (classes - layer_class);
}

/// The switches of a case: one device a switch that has hosts, one edge port a
/// host, one port a trunk end; queue, marker and regulation alike at all ports.
sw::SwitchProcessConfig plan_switches(const ExperimentFile& experiment,
                                      const CaseParameters& parameters,
                                      const ProgramSettings& settings, const Topology& topology);

/// The hosts, the job and the background of a case.
tg::GeneratorConfig plan_traffic(const ExperimentFile& experiment, const CaseParameters& parameters,
                                 const ProgramSettings& settings, const Topology& topology,
                                 std::uint64_t seed);

/// Device strings of the loopback runtime; in virtual time nothing opens them.
std::string vhost_device(std::size_t index, const std::string& socket);
std::string virtio_user_device(std::size_t index, const std::string& socket);

}  // namespace outrider::lab
