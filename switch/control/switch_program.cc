#include "switch/control/switch_program.h"

#include <unistd.h>

#include <chrono>
#include <deque>
#include <iostream>
#include <sstream>

#include "common/config/process_checks.h"
#include "common/dpdk/eal/control_thread.h"
#include "common/prometheus/endpoint.h"
#include "common/runtime/device_check.h"
#include "common/runtime/live_report.h"
#include "common/runtime/poll_stop.h"
#include "common/runtime/program_pool.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/log.h"
#include "common/telemetry/service_manager.h"
#include "common/telemetry/whole_file.h"
#include "switch/config/config_toml.h"
#include "switch/config/program_name.h"
#include "switch/control/live.h"
#include "switch/control/metrics.h"
#include "switch/control/telemetry.h"
#include "switch/report/process_state.h"
#include "switch/report/report_json.h"
#include "switch/report/report_text.h"
#include "switch/runtime/poll_loop.h"
#include "switch/runtime/reload.h"

namespace outrider::sw {
namespace {

void log_reload(const std::string& file, const ReloadResult& result) {
  std::istringstream lines(format_reload(file, result));
  for (std::string line; std::getline(lines, line);) {
    if (result.issues.empty()) log_info(line);
    else log_error(line);
  }
}

std::vector<PortConfig> ports_of(const SwitchProcessConfig& config, const ProgramOptions& options) {
  std::vector<PortConfig> ports;
  for (const auto& d : config.devices) {
    ports.push_back(port_config(d.name, d.device, d.rx_descriptors, d.tx_descriptors, options));
    ports.back().rx_queues = d.rx_queues;
    ports.back().mtu_bytes = d.mtu_bytes;
    ports.back().lcores = static_cast<std::uint16_t>(cpus_of(config).size());
  }
  return ports;
}

}  // namespace

ConfigResult<SwitchProcessConfig> load_configuration(const ProgramOptions& options,
                                                     std::uint64_t now_since_1970_ns) {
  auto loaded = load_switch_config(options.config, now_since_1970_ns);
  if (loaded && options.lcore) loaded.config->lcore = *options.lcore;
  return loaded;
}

namespace {

std::vector<OutputPath> outputs_of(const ProgramOptions& options,
                                   const std::vector<CaptureOptions>& captures) {
  std::vector<OutputPath> outputs{{"--report", options.report}};
  outputs.reserve(1 + captures.size());
  for (const auto& capture : captures)
    outputs.push_back({"--capture " + capture.port, capture.file});
  return outputs;
}

}  // namespace

int run_switch_program(const SwitchProcessConfig& config, const ProgramOptions& options,
                       const std::vector<CaptureOptions>& captures,
                       std::optional<Duration> duration, std::uint64_t (*now_since_1970_ns)(),
                       std::vector<std::string> eal_extra) {
  check_report_paths(outputs_of(options, captures));
  const std::vector<std::uint32_t> cpus = cpus_of(config);
  const std::vector<PortConfig> ports = ports_of(config, options);
  const std::uint32_t mbufs = starting_mbufs(config);
  const std::uint32_t room_bytes = frame_room_bytes(config);
  EalOptions eal_settings = eal_options(kSwitchProgram, cpus, mbufs, ports, std::move(eal_extra));
  eal_settings.memory_mb +=
      table_memory_mb(config) +
      static_cast<std::uint32_t>(std::uint64_t{mbufs} * (room_bytes - frame_room_bytes({})) >> 20);
  eal_settings.memory_keys = buffer_keys(config);
  const Eal eal(eal_settings);
  const Mempool pool = make_program_pool(eal, {.name = "packets",
                                               .mbufs = mbufs,
                                               .frame_room_bytes = room_bytes,
                                               .lcores = static_cast<std::uint32_t>(cpus.size())});
  PollDevices devices(ports, *pool);
  if (options.devices)
    return tell_devices(kSwitchProgram, cpus, devices, from_seconds(options.wait_for_peer_seconds));
  log_info("forwarding on " + named_cpus(cpus) + "; Ctrl-C ends");

  SwitchSnapshots snapshots(config, cpus.size(), &devices);
  const auto read_all = [&] { return SwitchLive{snapshots.read(), snapshots.read_rates()}; };
  std::optional<LiveThread<SwitchLive>> live;
  if (options.live) live.emplace(std::cerr, isatty(STDERR_FILENO) == 1, read_all);
  SwitchReload reload(config, mbufs, cpus.size(),
                      [&] { return load_configuration(options, now_since_1970_ns()); });
  const auto reload_now = [&] {
    ReloadResult result = reload.reload();
    log_reload(options.config, result);
    return result;
  };
  const ControlThread control("control", std::chrono::milliseconds(100), [&] {
    if (take_reload_request()) reload_now();
  });
  TelemetryCommands commands;
  add_commands(commands, snapshots, reload_now);
  log_info("telemetry socket " + Eal::telemetry_socket().string());
  const ProcessStateReader state(config, snapshots, {pool.get()});
  const auto prometheus = PrometheusEndpoint::serve(
      config.telemetry.prometheus, [&] { return metrics_of(snapshots.read(), state.read()); });
  SwitchControl attached{.snapshots = &snapshots, .reload = &reload};
  std::deque<CaptureFile> files;
  for (const auto& capture : captures) {
    auto& file = files.emplace_back(capture, now_since_1970_ns());
    attached.captures.push_back({capture.port, &file.packets()});
  }
  if (const std::string why = tell_ready(); !why.empty()) log_warn(why);
  const SwitchReport report = run_switch(config, devices, duration, attached);
  files.clear();
  if (live) live->finish(read_all());
  print_summary(std::cout, report);
  if (!options.report.empty()) write_whole_file(options.report, to_json(report));
  devices.require_all();
  return report.ledger_balanced ? kExitOk : kExitLedger;
}

}  // namespace outrider::sw
