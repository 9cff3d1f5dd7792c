#pragma once

#include "switch/config/config.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/topology.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// The bins of a time series. A bin is a base RTT; this many hold minutes of the shortest RTTs.
inline constexpr std::uint32_t kMaxBins = 1U << 20;

/// The same, and the records of bursts, where every port keeps them.
inline constexpr std::uint32_t kMaxBinsOfEach = 1U << 14;
inline constexpr std::uint32_t kMaxRecordsOfEach = 1U << 12;

/// Returns the switches of a case. Each switch with hosts has one device, each host an
/// edge port and each end of a trunk a port. All ports have equal queues, markers and
/// regulation. Switches of somebody else have those of the experiment's [parameters].
/// @param traffic  of the case, see plan_traffic()
sw::SwitchProcessConfig plan_switches(const ExperimentFile& experiment,
                                      const CaseParameters& parameters, const Topology& topology,
                                      const tg::GeneratorConfig& traffic);

/// Has all switches write telemetry if a transport of the case reads it, and refuses that where a
/// switch is somebody else's.
void plan_telemetry(const ExperimentFile& experiment, const CaseParameters& parameters,
                    const tg::GeneratorConfig& traffic, sw::SwitchProcessConfig& config,
                    ConfigIssues& issues);

/// Replaces the routes of all switches by those to the hosts, over the topology's shortest paths:
/// the first of equal ones or all of them, as the parameter `paths` says.
/// @pre the switches have the ports of the hosts and of the links
void set_routes(const ExperimentFile& experiment, const CaseParameters& parameters,
                const Topology& topology, sw::SwitchProcessConfig& config);

/// Returns the hosts, the jobs and the background of a case.
tg::GeneratorConfig plan_traffic(const ExperimentFile& experiment, const CaseParameters& parameters,
                                 const Topology& topology, std::uint64_t seed);

/// Return device strings for the loopback runtime. In virtual time nothing opens them.
std::string vhost_device(std::size_t index, const std::string& socket);
std::string virtio_user_device(std::size_t index, const std::string& socket);

}  // namespace outrider::lab
