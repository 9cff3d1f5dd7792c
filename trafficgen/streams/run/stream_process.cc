#include "trafficgen/streams/run/stream_process.h"

#include <algorithm>
#include <utility>

#include "common/config/config_result.h"
#include "common/config/process_checks.h"
#include "common/dpdk/eal/eal_check.h"
#include "common/runtime/poll_loop.h"
#include "common/runtime/poll_program.h"
#include "common/runtime/program_pool.h"
#include "trafficgen/measure/program_name.h"

namespace outrider::tg {
namespace {

constexpr std::uint32_t kEthernetBytes = 14;
constexpr std::uint32_t kAroundPacketBytes = kEthernetBytes + kFcsBytes;
constexpr std::uint32_t kUsualMtuBytes = 1500;
constexpr std::uint32_t kMinRoomBytes = 2048;

std::uint32_t lcores_of(const GeneratorConfig& c) {
  return static_cast<std::uint32_t>(cpus_of(c).size());
}

/// Returns the packets that the pools' caches of all lcores but the first may hold.
std::uint64_t further_caches(const GeneratorConfig& c) {
  return c.more_lcores.size() * kPoolCachePackets;
}

std::uint32_t receive_mbufs(const GeneratorConfig& c) {
  std::uint64_t sum = further_caches(c);
  for (const auto& d : c.devices) sum += receive_ring_mbufs(d.rx_descriptors);
  return stream_mbufs(c.streams, sum);
}

/// Returns buffers of stream_room_bytes() in units of the buffers that eal_options() counts.
std::uint64_t plain_mbufs(const GeneratorConfig& c) {
  const std::uint32_t each =
      (stream_room_bytes(c) + 512 + kBytesPerPlainMbuf - 1) / kBytesPerPlainMbuf;
  return (std::uint64_t{stream_send_mbufs(c)} + receive_mbufs(c)) * each;
}

std::vector<PortConfig> stream_ports(const GeneratorConfig& config, const ProgramOptions& options) {
  std::vector<PortConfig> ports;
  for (const auto& d : config.devices) {
    ports.push_back(port_config(d.name, d.device, d.rx_descriptors, d.tx_descriptors, options));
    ports.back().mtu_bytes = device_mtu_bytes(config, d);
  }
  return ports;
}

}  // namespace

std::vector<StreamDevice> stream_devices(const GeneratorConfig& config,
                                         const PollDevices& devices) {
  std::vector<StreamDevice> known;
  for (std::size_t i = 0; i < config.devices.size(); ++i) {
    const Port& port = devices.port(i);
    const BitRate link = port.is_virtual() ? BitRate{} : port.link_rate();
    known.push_back({config.devices[i].name, config.devices[i].line_rate.value_or(link)});
  }
  return known;
}

void check_streams_fit(const GeneratorConfig& config, const PollDevices& devices) {
  ConfigIssues issues;
  const Checks root(issues);
  check_line_rates(root, config.streams, stream_devices(config, devices));
  for (std::size_t i = 0; i < config.streams.size(); ++i) {
    const auto& s = config.streams[i];
    const auto device = std::ranges::find(config.devices, s.device, &GeneratorDeviceConfig::name);
    if (device == config.devices.end()) continue;
    const Port& port = devices.port(static_cast<std::size_t>(device - config.devices.begin()));
    const std::uint32_t longest = longest_stream_frame({s});
    const std::uint32_t room = port.mtu_bytes() + kEthernetBytes + kFcsBytes;
    const std::string_view key = s.imix ? "imix" : "frame_bytes";
    root.below("stream", i)
        .require(longest <= room, key, std::to_string(longest) + " bytes",
                 "is beyond the MTU of device \"" + s.device + "\": frames of at most " +
                     std::to_string(room));
  }
  if (!issues.empty()) throw UsageError(format_issues("streams and devices", issues));
}

std::uint32_t stream_send_mbufs(const GeneratorConfig& config) {
  std::uint64_t sum = further_caches(config);
  for (const auto& d : config.devices) sum += d.tx_descriptors;
  return stream_mbufs(config.streams, sum);
}

std::uint16_t device_mtu_bytes(const GeneratorConfig& config, const GeneratorDeviceConfig& device) {
  std::uint32_t mtu = kUsualMtuBytes;
  if (!is_pci_address(device.device)) return static_cast<std::uint16_t>(mtu);
  for (const auto& h : config.hosts)
    if (h.device == device.name) mtu = std::max(mtu, h.mtu_bytes);
  for (const auto& s : config.streams)
    if (s.device == device.name || s.receive_device == device.name)
      mtu = std::max(mtu, longest_stream_frame({s}) - kAroundPacketBytes);
  return static_cast<std::uint16_t>(mtu);
}

std::uint32_t stream_room_bytes(const GeneratorConfig& config) {
  std::uint32_t bytes = std::max(kMinRoomBytes, longest_stream_frame(config.streams));
  for (const auto& d : config.devices)
    bytes = std::max(bytes, receive_room_bytes(device_mtu_bytes(config, d)));
  return bytes;
}

StreamEngine::Setup stream_setup(const GeneratorConfig& config, const PollDevices& devices,
                                 std::optional<Duration> duration) {
  if (duration) duration = std::max(*duration - config.stream_drain, Duration::zero());
  return {.streams = config.streams,
          .devices = stream_devices(config, devices),
          .seed = config.seed,
          .duration = duration,
          .ticks_per_second = stamp_ticks_per_second()};
}

StreamProcess::StreamProcess(const GeneratorConfig& config, const ProgramOptions& options,
                             std::vector<std::string> eal_extra)
    : config_(config),
      options_(options),
      ports_(stream_ports(config, options)),
      eal_(eal_options(kProgram, cpus_of(config), plain_mbufs(config), ports_,
                       std::move(eal_extra))),
      send_pool_(make_program_pool(eal_, {.name = "streams",
                                          .mbufs = stream_send_mbufs(config),
                                          .frame_room_bytes = stream_room_bytes(config),
                                          .lcores = lcores_of(config)})),
      receive_pool_(make_program_pool(eal_, {.name = "received",
                                             .mbufs = receive_mbufs(config),
                                             .frame_room_bytes = stream_room_bytes(config),
                                             .lcores = lcores_of(config)})),
      devices_(ports_, *receive_pool_) {}

bool StreamProcess::wait_for_links() {
  if (!outrider::wait_for_links(devices_, from_seconds(options_.wait_for_peer_seconds)))
    return false;
  check_streams_fit(config_, devices_);
  return true;
}

StreamEngine::Setup StreamProcess::setup(std::optional<Duration> duration) const {
  GeneratorConfig config = config_;
  config.stream_drain = Duration::zero();  // its loop continues to receive by itself
  return stream_setup(config, devices_, duration);
}

StreamEngine StreamProcess::engine(const std::vector<StreamConfig>& streams,
                                   std::optional<Duration> duration, std::vector<std::size_t> own,
                                   std::vector<PauseConfig> pauses) {
  StreamEngine::Setup all = setup(duration);
  all.streams = streams;
  all.own = std::move(own);
  all.pauses = std::move(pauses);
  return StreamEngine(all, *send_pool_);
}

StreamRun StreamProcess::run(StreamEngine& engine, std::optional<Duration> duration) {
  const auto live = live_report<TrafficLive>(options_);
  return run_streams(engine, devices_, duration, config_.stream_drain, live.get());
}

}  // namespace outrider::tg
