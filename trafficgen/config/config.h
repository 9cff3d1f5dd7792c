#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/process_checks.h"
#include "common/config/telemetry_config.h"
#include "common/core/clock.h"
#include "common/core/config_issue.h"
#include "common/core/units.h"
#include "trafficgen/background/capture_config.h"
#include "trafficgen/background/flows_config.h"
#include "trafficgen/background/request_config.h"
#include "trafficgen/background/transfer_config.h"
#include "trafficgen/channel/transport_config.h"
#include "trafficgen/frames/payload_kind.h"
#include "trafficgen/hosts/pause_storm_config.h"
#include "trafficgen/neighbours/neighbour_config.h"
#include "trafficgen/streams/engine/benchmark_config.h"
#include "trafficgen/streams/engine/stream_config.h"
#include "trafficgen/streams/engine/stream_pause.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/config/tensorlights_config.h"

namespace outrider::tg {

struct GeneratorDeviceConfig {
  std::string name;
  std::string device;  ///< PCI address or vdev string
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
  ArpConfig arp{};
  std::optional<BitRate> line_rate{};  ///< L1, for streams; absent: the link's
};

struct HostConfig {
  std::string name;
  std::string address;             ///< IPv4, unique
  std::string device;              ///< name of a device; many hosts may share it
  BitRate rate{10'000'000'000};    ///< of the host's NIC, L1
  std::uint32_t mtu_bytes = 1500;  ///< IP packet
  std::uint32_t tso_bytes = 0;     ///< payload that leaves back to back; 0: no segmentation offload
  PauseStormConfig pause_storm{};
};

/// Returns what a transport of a file begins with: TCP as Linux has it. Other protocols have no
/// stack, and begin with a TcpConfig.
[[nodiscard]] TransportConfig default_transport();

/// Long flows, which always have data to send.
struct LongFlowsConfig {
  std::string name;
  std::vector<std::string> from;  ///< host names, paired with `to`
  std::vector<std::string> to;
  std::uint32_t flows_per_pair = 1;
  std::string transport;
  Duration start{};
  Duration start_spread{};  ///< uniform, by seed
  std::uint16_t tcp_port = 20000;
};

/// Memory that connections may borrow at once; absent settings are derived, see
/// transport_reserve.h.
struct TransportMemoryConfig {
  std::optional<std::uint32_t> flights{};   ///< senders with data in flight
  std::optional<std::uint32_t> segments{};  ///< in flights of more than 8 segments
};

/// All settings that `outrider-trafficgen --config FILE` reads.
struct GeneratorConfig {
  std::uint64_t seed = 1;
  std::optional<Duration> duration{};  ///< absent: until all jobs, or lists, have ended
  std::vector<GeneratorDeviceConfig> devices;
  std::vector<HostConfig> hosts;
  std::vector<TransportConfig> transports;
  std::vector<JobConfig> jobs;
  std::vector<LongFlowsConfig> long_flows;
  std::vector<RequestFlowsConfig> requests;
  std::vector<FlowsConfig> flows;
  std::vector<CaptureConfig> captures{};
  std::vector<NeighbourConfig> neighbours;
  std::vector<StreamConfig> streams{};
  std::vector<PauseConfig> pauses{};  ///< of devices that only streams use
  BenchmarkConfig benchmark{};        ///< for the command `benchmark` alone
  /// Time for which streams are still received after the last has ended.
  Duration stream_drain = std::chrono::milliseconds(100);
  std::vector<TransferConfig> transfers{};
  Payload payload = Payload::kZeros;
  /// Random wait before an idle NIC sends, up to this share of an MTU's serialisation time. It
  /// breaks phase effects. In [0, 1].
  double send_jitter = 1.0;
  std::uint32_t lcore = 1;
  std::vector<std::uint32_t> more_lcores{};  ///< CPUs of further lcores that share the hosts
  std::optional<std::uint32_t> mbufs{};
  Duration bin = std::chrono::milliseconds(1);         ///< width of the time series' bins
  std::uint32_t max_bins = 131072;                     ///< number of bins kept
  std::optional<Duration> connection_sample_period{};  ///< absent: none are taken
  std::uint32_t max_connection_samples = 131072;
  TransportMemoryConfig transport_memory{};
  TensorLightsConfig tensorlights{};
  TelemetryConfig telemetry{};
  bool attribution = false;  ///< virtual time: where each burst's time goes
};

/// @pre the configuration has a transport with this name
[[nodiscard]] const TransportConfig& transport_named(const GeneratorConfig& config,
                                                     const std::string& name);

/// Returns every error, each with the user's key; empty means valid. Pure.
/// @param max_devices  more than a process can open where nothing opens them, as in virtual time
ConfigIssues validate(const GeneratorConfig& config, std::uint64_t max_devices = kMaxDevices);

/// Says whether the flows of lists end the run: it is over when all of them have ended. There is a
/// list then, and no job, transfer or stream. Pure.
[[nodiscard]] inline bool ends_with_lists(const GeneratorConfig& config) {
  bool any = false;
  for (const FlowsConfig& flows : config.flows) any |= flows.list.has_value();
  return any && config.jobs.empty() && config.transfers.empty() && config.streams.empty();
}

}  // namespace outrider::tg
