#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/process_checks.h"
#include "common/config/telemetry_config.h"
#include "common/core/clock.h"
#include "common/core/config_issue.h"
#include "common/core/units.h"
#include "common/net/headers.h"
#include "switch/config/classes_config.h"
#include "switch/config/forwarding_config.h"
#include "switch/config/hop_config.h"
#include "switch/config/queue_config.h"
#include "switch/config/signal_config.h"

namespace outrider::sw {

/// An Ethernet device at the edge of the process.
struct DeviceConfig {
  std::string name;    ///< unique; how ports and hosts refer to it
  std::string device;  ///< PCI address, or a vdev string such as "net_vhost0,iface=/tmp/s,client=1"
  std::uint16_t rx_descriptors = 1024;  ///< [packets] power of two
  std::uint16_t tx_descriptors = 1024;  ///< [packets] power of two
  /// Each receive queue is polled by one lcore. Absent: as many as lcores if the device can
  /// spread flows over them, else one.
  std::optional<std::uint16_t> rx_queues{};
  std::uint16_t mtu_bytes = 1500;  ///< longest IP packet, 68 to kMaxMtuBytes
};

struct SwitchPortConfig {
  std::string name;                    ///< unique within the switch
  BitRate drain_rate{10'000'000'000};  ///< rate of the emulated link
  RateLayer rate_layer = RateLayer::kL1;
  Duration delay{};                     ///< propagation to and from a host behind `device`, one way
  std::optional<std::string> device{};  ///< makes it an edge port; absent: a [[link]] names it
  QueueConfig queue{};
  MarkerConfig marker{};
  RegulationPolicy regulation{};
  SchedulerKind scheduler = SchedulerKind::kStrict;
  std::vector<PortQueueConfig>
      queues{};  ///< at most kMaxQueuesPerPort; [0] has the highest priority
  std::optional<std::uint32_t> limit_packets{};  ///< of all queues together; absent: of each alone
  std::optional<std::uint64_t> limit_bytes{};    ///< likewise, frame bytes
  /// Share of packets dropped at random, for tests and experiments; 1: the link is down
  double loss = 0;
  /// Numbers of data packets, ascending, that are lost or marked; see numbered_packets.h
  std::vector<std::uint32_t> lose_packets{}, mark_packets{};
  bool record = false;  ///< keep burst records and the time series of its queue
};

/// Returns the queues of a port, at least one, the one with the highest priority first.
std::vector<PortQueueConfig> queues_of(const SwitchPortConfig& port);

/// Configures the packet buffer that all queues of a switch share, see shared_buffer.h.
struct BufferConfig {
  std::optional<std::uint64_t> total_bytes{};  ///< absent: no shared buffer, only queue limits
};

struct SwitchConfig {
  std::string name;
  std::vector<SwitchPortConfig> ports;
  std::vector<RouteConfig> routes;
  std::vector<MacRouteConfig> mac_routes;
  PortRange ddl_ports{5000, 5999};  ///< TCP ports (either end) whose packets are DDL data
  SignalConfig signals{};
  std::optional<std::string> mac{};  ///< MAC address of the switch itself
  RouteTableKind route_table = RouteTableKind::kCore;
  L2Config l2{};
  std::vector<SwitchNeighbourConfig> neighbours{};
  std::vector<SwitchAddressConfig> addresses{};
  ClassesConfig classes{};
  std::vector<RuleConfig> rules{};
  BufferConfig buffer{};
  HopRecordConfig hop_records{};
};

struct SwitchLinkConfig {
  std::string a;  ///< "switch.port"
  std::string b;
  Duration delay{};  ///< one way
};

/// Holds everything that `outrider-switch --config FILE` reads.
struct SwitchProcessConfig {
  std::vector<DeviceConfig> devices;
  std::vector<SwitchConfig> switches;
  std::vector<SwitchLinkConfig> links;
  std::uint64_t seed = 1;                       ///< for the ports' `loss`
  std::uint32_t lcore = 0;                      ///< CPU that the poll loop runs on
  std::vector<std::uint32_t> more_lcores{};     ///< CPUs of further lcores that share the work
  std::optional<std::uint32_t> mbufs{};         ///< absent: derived from queues and descriptors
  Duration bin = std::chrono::milliseconds(1);  ///< width of the time series' bins
  std::uint32_t max_burst_records = 65536;      ///< kept per recorded port
  std::uint32_t max_bins = 131072;              ///< kept per recorded port
  TelemetryConfig telemetry{};
};

/// Returns every error, each with the user's key; empty means valid. Pure.
/// @param max_devices  more than a process can open where nothing opens them, as in virtual time
ConfigIssues validate(const SwitchProcessConfig& config, std::uint64_t max_devices = kMaxDevices);

/// Returns what is valid but known not to help, see advice(const RegulationPolicy&), once a switch.
ConfigIssues advice(const SwitchProcessConfig& config);

}  // namespace outrider::sw
