#include "trafficgen/apps/host_program.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "common/config/addresses.h"
#include "common/config/process_checks.h"
#include "common/runtime/device_check.h"
#include "common/runtime/entropy.h"
#include "common/runtime/program_pool.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/log.h"
#include "common/telemetry/service_manager.h"
#include "trafficgen/apps/poll_loop.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/frames/frame.h"
#include "trafficgen/measure/program_name.h"
#include "trafficgen/report/report_text.h"
#include "trafficgen/streams/run/stream_process.h"

namespace outrider::tg {
namespace {

/// Returns the addresses of the hosts at the device.
std::vector<MacAddress> macs_behind(const GeneratorConfig& config, const std::string& device) {
  std::vector<MacAddress> macs;
  for (const HostConfig& host : config.hosts)
    if (host.device == device) macs.push_back(mac_of(*parse_ipv4(host.address).value));
  return macs;
}

std::vector<PortConfig> ports_of(const GeneratorConfig& config, const ProgramOptions& options) {
  std::vector<PortConfig> ports;
  for (const auto& d : config.devices) {
    ports.push_back(port_config(d.name, d.device, d.rx_descriptors, d.tx_descriptors, options));
    ports.back().mtu_bytes = device_mtu_bytes(config, d);
    if (config.streams.empty()) ports.back().hosts = macs_behind(config, d.name);
  }
  return ports;
}

int status_of(const GeneratorRun& result, std::optional<Duration> stall) {
  if (result.stall) {
    const std::string& device = result.stall->device;
    log_error("stalled: sent " + std::to_string(result.stall->unanswered) + " packets" +
              (device.empty() ? "" : " to device " + device) + " and received 0" +
              (device.empty() ? "" : " from it") + " for " + std::to_string(seconds(*stall)) +
              " s (--stall)");
    return kExitStalled;
  }
  if (!result.report.ledger_balanced) return kExitLedger;
  if (result.report.payload.mismatched_bytes != 0) return kExitTransfer;
  if (!result.interrupted && !all_completed(result.report.transfers)) return kExitTransfer;
  return result.interrupted && !result.report.jobs_finished ? kExitInterrupted : kExitOk;
}

}  // namespace

std::uint32_t ring_mbufs(const GeneratorConfig& config) {
  // the pool's caches and batches in hand
  auto mbufs = static_cast<std::uint32_t>(1024 * cpus_of(config).size());
  for (const auto& d : config.devices)
    mbufs += std::max(receive_ring_mbufs(d.rx_descriptors), std::uint32_t{d.tx_descriptors}) +
             2 * kBatchPackets;
  return mbufs;
}

int run_host_program(const GeneratorConfig& config, const ProgramOptions& options,
                     const OutputFiles& files, std::vector<std::string> eal_extra,
                     std::optional<Duration> stall) {
  const std::vector<std::uint32_t> cpus = cpus_of(config);
  const auto lcores = static_cast<std::uint32_t>(cpus.size());
  const std::vector<PortConfig> ports = ports_of(config, options);
  const std::uint32_t send_mbufs = config.mbufs.value_or(required_mbufs(config));
  const std::uint32_t receive = ring_mbufs(config);
  const std::uint32_t streams = config.streams.empty() ? 0 : stream_send_mbufs(config);
  EalOptions eal_settings = eal_options(
      kProgram, cpus,
      send_mbufs + (std::uint64_t{receive} + streams) * (stream_room_bytes(config) / 2048), ports,
      std::move(eal_extra));
  eal_settings.memory_keys = buffer_keys(config);
  const Eal eal(eal_settings);
  const Mempool send_pool =
      make_program_pool(eal, {.name = "sent", .mbufs = send_mbufs, .lcores = lcores});
  const Mempool receive_pool =
      make_program_pool(eal, {.name = "received",
                              .mbufs = receive,
                              .frame_room_bytes = stream_room_bytes(config),
                              .lcores = lcores});
  PollDevices devices(ports, *receive_pool);
  const Duration wait = from_seconds(options.wait_for_peer_seconds);
  if (!wait_for_links(devices, wait)) return kExitInterrupted;
  Mempool stream_pool;  // separate: hosts write where a stream's payload must be zeros
  std::optional<StreamEngine> engine;
  if (streams != 0) {
    check_streams_fit(config, devices);
    stream_pool = make_program_pool(
        eal, {.name = "streams", .mbufs = streams, .frame_room_bytes = stream_room_bytes(config)});
    engine.emplace(stream_setup(config, devices, config.duration), *stream_pool);
  }
  const HostLanes lanes = make_host_lanes(
      config, {.full_payload = true, .sequence_key = SipKey{random_word(), random_word()}},
      *send_pool, devices);
  if (options.devices) return tell_devices(kProgram, cpus, devices, wait);
  if (lcores > 1) log_info(describe(config, plan_lcores(config, lcores)));
  log_info("sending from " + named_cpus(cpus) + "; Ctrl-C ends");
  if (const std::string why = tell_ready(); !why.empty()) log_warn(why);
  StreamSteering steering(stream_setup(config, devices, config.duration),
                          std::vector<std::uint32_t>(config.streams.size(), 0), 1);

  const GeneratorRun result =
      run_generator(lanes, devices,
                    {.duration = config.duration,
                     .stall = stall,
                     .control = {.live = options.live,
                                 .telemetry = config.telemetry,
                                 .devices = stream_devices(config, devices)}},
                    engine ? &*engine : nullptr, steering);
  print_summary(std::cout, result.report);
  std::vector<const StreamEngine*> streamed;
  if (engine) streamed.push_back(&*engine);
  write(files, result.report, streamed);
  devices.require_all();
  return status_of(result, stall);
}

}  // namespace outrider::tg
