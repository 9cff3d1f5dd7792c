#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/config_issue.h"
#include "common/core/units.h"
#include "trafficgen/transport/tcp_config.h"

namespace outrider {

struct GeneratorDeviceConfig {
  std::string name;
  std::string device;  ///< PCI address or vdev string
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
};

struct HostConfig {
  std::string name;
  std::string address;             ///< IPv4, unique
  std::string device;              ///< name of a device; many hosts may share it
  BitRate rate{10'000'000'000};    ///< of the host's NIC, L1
  std::uint32_t mtu_bytes = 1500;  ///< IP packet
};

struct TransportConfig {
  std::string name;
  TcpConfig tcp;
};

/// When the worker announces a burst.
enum class LeadSource : std::uint8_t {
  kNone,     ///< never: no START
  kWait,     ///< at gradients ready, which then wait for the ACK and the rest of the lead
  kOverlap,  ///< `lead` before the gradients are due
};

struct AnnounceConfig {
  LeadSource lead_source = LeadSource::kWait;
  Duration lead{};                       ///< START to burst, at least; zero: the ACK alone
  std::uint16_t threshold_packets = 10;  ///< h, multiple of 5 up to 75
  Duration ack_timeout = std::chrono::milliseconds(50);  ///< > 0, then the burst leaves anyway
};

enum class Schedule : std::uint8_t {
  kClosedLoop,  ///< an iteration begins when the last one has ended
  kFixed,       ///< gradients are due at first_due + n * period
};

struct JobConfig {
  std::string name;
  std::vector<std::string> workers;  ///< host names, 1 to 256
  std::vector<std::string> servers;  ///< host names; the model is split evenly
  std::string transport;
  std::optional<std::string> model{};          ///< path of a profile; or
  std::optional<std::uint64_t> burst_bytes{};  ///< a synthetic burst per worker
  bool pull = true;                            ///< servers send the parameters back
  std::uint32_t iterations = 1;                ///< >= 1
  Schedule schedule = Schedule::kClosedLoop;
  Duration first_due{};   ///< kFixed: gradients of iteration 0; kClosedLoop: start of the job
  Duration period{};      ///< kFixed, > 0
  Duration due_jitter{};  ///< kFixed: uniform delay of each due time, by seed
  std::optional<Duration> compute{};  ///< kClosedLoop: per iteration; absent: the model's
  double compute_jitter = 0;          ///< uniform +- share of compute, in [0, 1)
  Duration aggregate{};               ///< server: last gradient to first parameter
  AnnounceConfig announce{};
  std::uint16_t tcp_port = 5000;  ///< of the servers; job i of a file should use its own
};

/// Long flows that always have data.
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

/// Everything that `outrider-trafficgen --config FILE` reads.
struct GeneratorConfig {
  std::uint64_t seed = 1;
  std::optional<Duration> duration{};  ///< absent: until all jobs have ended
  std::vector<GeneratorDeviceConfig> devices;
  std::vector<HostConfig> hosts;
  std::vector<TransportConfig> transports;
  std::vector<JobConfig> jobs;
  std::vector<LongFlowsConfig> long_flows;
  /// Random wait before a NIC that was idle sends, up to this share of an MTU's
  /// serialisation time: breaks phase effects. In [0, 1].
  double send_jitter = 1.0;
  std::uint32_t lcore = 1;
  std::optional<std::uint32_t> mbufs{};
  Duration bin = std::chrono::milliseconds(1);  ///< width of the time series' bins
  std::uint32_t max_bins = 131072;              ///< kept
};

ConfigIssues validate(const GeneratorConfig& config);

}  // namespace outrider
