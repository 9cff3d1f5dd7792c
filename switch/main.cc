// outrider-switch: the switches of one configuration file on real devices.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <numeric>
#include <sstream>

#include "common/config/quantities.h"
#include "common/dpdk/control_thread.h"
#include "common/dpdk/mempool.h"
#include "common/runtime/poll_cli.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/log.h"
#include "switch/config/config_toml.h"
#include "switch/control/capture_file.h"
#include "switch/control/live.h"
#include "switch/control/prometheus.h"
#include "switch/control/telemetry.h"
#include "switch/report/report_json.h"
#include "switch/runtime/poll_loop.h"
#include "switch/runtime/reload.h"

namespace outrider {
namespace {

constexpr const char* kProgram = "outrider-switch";

template <class Reasons>
void print_reasons(std::ostream& out, const char* title, const Reasons& by_class, auto names) {
  out << title;
  bool any = false;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (by_class.values[c][i] == 0) continue;
      out << (any ? ", " : " ") << by_class.values[c][i] << ' ' << kTrafficClassNames[c] << ' '
          << names[i];
      any = true;
    }
  out << (any ? "\n" : " none\n");
}

void print_queue(std::ostream& out, const QueueReport& q) {
  const auto sum = [](const PerClass<std::uint64_t>& v) {
    return std::accumulate(v.values.begin(), v.values.end(), std::uint64_t{0});
  };
  if (sum(q.arrived) == 0) return;
  out << "  queue " << q.switch_name << '.' << q.port_name << '[' << q.queue << "]: arrived "
      << sum(q.arrived) << ", transmitted " << sum(q.transmitted) << " packets, bursts "
      << q.bursts.size() << '\n';
  print_reasons(out, "    drops:", q.drops, kDropReasonNames);
  print_reasons(out, "    marks:", q.marks, kMarkReasonNames);
  out << "    regulation: armed " << q.starts_armed << ", repeated " << q.starts_repeated
      << ", refused " << q.starts_refused_budget + q.starts_refused_table << ", recovered "
      << q.recovered_arrival + q.recovered_burst_end + q.recovered_timer << ", expired "
      << q.expired << ", regulated " << static_cast<double>(q.regulated_ns) / 1e6 << " ms\n";
}

/// " name n" of each fault that was met.
void print_faults(std::ostream& out,
                  const std::array<std::uint64_t, udp_signal::kFaults>& by_fault) {
  for (std::size_t f = 0; f < by_fault.size(); ++f)
    if (by_fault[f] != 0) out << ", " << udp_signal::kFaultNames[f] << ' ' << by_fault[f];
}

void print_summary(std::ostream& out, const SwitchReport& r) {
  std::uint64_t dropped = 0;
  for (const auto& by_reason : r.drops.values)
    dropped = std::accumulate(by_reason.begin(), by_reason.end(), dropped);
  out << kProgram << ": " << static_cast<double>(r.end_ns) / 1e9 << " s\n"
      << "  packets: received " << r.received << " = transmitted " << r.transmitted << " + dropped "
      << dropped << " + resident " << r.resident << "; ledger "
      << (r.ledger_balanced ? "balanced" : "NOT BALANCED") << '\n';
  print_reasons(out, "  drops:", r.drops, kDropReasonNames);
  for (const auto& queue : r.queues) print_queue(out, queue);
  out << "  signals: bad code " << r.signals_bad_code << ", not accepted " << r.signals_not_accepted
      << ", over rate " << r.signals_over_rate;
  print_faults(out, r.signals_bad_udp);
  const double run_s = static_cast<double>(r.end_ns) / 1e9;
  if (run_s > 0)
    out << "\n  busy: " << static_cast<double>(r.busy_ns) / 1e9 / run_s << " lcores on average";
  out << '\n'
      << "  devices: receive missed " << r.device_rx_missed << ", no buffer " << r.device_rx_nombuf
      << '\n'
      << "  longest gap between two polls: " << static_cast<double>(r.longest_poll_gap_ns) / 1e3
      << " us\n";
}

/// "CPU 2" or "CPUs 2, 3".
std::string named(const std::vector<std::uint32_t>& cpus) {
  std::string text = cpus.size() == 1 ? "CPU " : "CPUs ";
  for (std::size_t i = 0; i < cpus.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(cpus[i]);
  return text;
}

/// What the command line says goes before the file, as at start-up.
ConfigResult<SwitchProcessConfig> load_configuration(const ProgramOptions& options) {
  auto loaded = load_switch_config(options.config);
  if (loaded && options.lcore) loaded.config->lcore = *options.lcore;
  return loaded;
}

void log_reload(const std::string& file, const ReloadResult& result) {
  std::istringstream lines(format_reload(file, result));
  for (std::string line; std::getline(lines, line);) {
    if (result.issues.empty()) log_info(line);
    else log_error(line);
  }
}

std::uint64_t now_since_1970_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

int run(const SwitchProcessConfig& config, const ProgramOptions& options,
        const std::vector<CaptureOptions>& captures, std::optional<Duration> duration,
        std::vector<std::string> eal_extra) {
  check_report_path(options.report);
  const std::vector<std::uint32_t> cpus = cpus_of(config);
  std::vector<PortConfig> ports;
  for (const auto& d : config.devices) {
    ports.push_back(port_config(d.name, d.device, d.rx_descriptors, d.tx_descriptors, options));
    ports.back().rx_queues = d.rx_queues;
    ports.back().mtu_bytes = d.mtu_bytes;
    ports.back().lcores = static_cast<std::uint16_t>(cpus.size());
  }
  const std::uint32_t mbufs = config.mbufs.value_or(required_mbufs(config));
  EalOptions eal_settings = eal_options(kProgram, cpus, mbufs, ports, std::move(eal_extra));
  const std::uint32_t room_bytes = frame_room_bytes(config);
  eal_settings.memory_mb += table_memory_mb(config);
  eal_settings.memory_mb +=
      static_cast<std::uint32_t>(std::uint64_t{mbufs} * (room_bytes - frame_room_bytes({})) >> 20);
  const Eal eal(eal_settings);
  const Mempool pool =
      make_packet_pool({.name = "packets", .mbufs = mbufs, .frame_room_bytes = room_bytes});
  PollDevices devices(ports, *pool);
  log_info("forwarding on " + named(cpus) + "; Ctrl-C ends");

  SwitchSnapshots snapshots(config, cpus.size(), &devices);
  std::optional<SwitchLiveView> live;
  if (options.live) live.emplace(std::cerr, isatty(STDERR_FILENO) == 1, snapshots);
  SwitchReload reload(config, mbufs, cpus.size(), [&] { return load_configuration(options); });
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
  std::optional<PrometheusEndpoint> prometheus;
  if (config.telemetry.prometheus) prometheus.emplace(*config.telemetry.prometheus, snapshots);
  SwitchControl attached{.snapshots = &snapshots, .reload = &reload};
  std::deque<CaptureFile> files;
  for (const auto& capture : captures) {
    auto& file = files.emplace_back(capture, now_since_1970_ns());
    attached.captures.push_back({capture.port, &file.packets()});
  }
  const SwitchReport report = run_switch(config, devices, duration, attached);
  files.clear();
  if (live) live->finish();
  print_summary(std::cout, report);
  if (!options.report.empty()) write_report_file(options.report, to_json(report));
  return report.ledger_balanced ? kExitOk : kExitLedger;
}

struct CaptureArguments {
  std::vector<std::string> ports;  ///< PORT=FILE
  CaptureOptions bounds;
  std::string max_bytes = "100MB";
};

void add_capture_options(CLI::App& app, CaptureArguments& arguments) {
  app.add_option("--capture", arguments.ports,
                 "Write what leaves a port to a pcapng file, with the state of its queue as "
                 "comments; may be repeated")
      ->type_name("SWITCH.PORT=FILE");
  app.add_option("--capture-packets", arguments.bounds.max_packets, "At most so many [100000]")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--capture-bytes", arguments.max_bytes, "Largest file, e.g. 1GB [100MB]")
      ->type_name("BYTES");
  app.add_option("--capture-snap", arguments.bounds.snap_bytes, "Bytes kept of each [128]")
      ->type_name("BYTES")
      ->check(CLI::Range(14U, kLargestFrameBytes));
}

/// @throws UsageError
std::vector<CaptureOptions> captures_of(const CaptureArguments& arguments,
                                        const SwitchProcessConfig& config) {
  const Parsed<std::uint64_t> bytes = parse_bytes(arguments.max_bytes);
  if (!bytes.value)
    throw UsageError("--capture-bytes " + arguments.max_bytes + ": " + bytes.problem);
  std::string ports;
  for (const auto& sw : config.switches)
    for (const auto& port : sw.ports) ports += " " + sw.name + "." + port.name;
  std::vector<CaptureOptions> captures;
  for (const auto& text : arguments.ports) {
    const auto equals = text.find('=');
    CaptureOptions own = arguments.bounds;
    own.max_bytes = *bytes.value;
    own.port = text.substr(0, equals);
    own.file = equals == text.npos ? "" : text.substr(equals + 1);
    const auto same = [&](const CaptureOptions& c) {
      return c.port == own.port || c.file == own.file;
    };
    if (own.file.empty()) throw UsageError("--capture " + text + ": must be SWITCH.PORT=FILE");
    if ((ports + " ").find(" " + own.port + " ") == ports.npos)
      throw UsageError("--capture " + text + ": no such port; there are" + ports);
    if (std::ranges::any_of(captures, same))
      throw UsageError("--capture " + text + ": the port or the file is captured already");
    check_report_path(own.file, "--capture");
    captures.push_back(std::move(own));
  }
  return captures;
}

std::optional<Duration> run_time_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const Parsed<Duration> parsed = parse_duration(text);
  if (!parsed.value) throw UsageError("--duration " + text + ": " + parsed.problem);
  return parsed.value;
}

int start(int argc, char** argv) {
  catch_stop_signals();
  catch_reload_signal();
  SplitArguments arguments = split_arguments(argc, argv);
  ProgramOptions options;
  CLI::App app(
      "Software switch with ECN marking and regulation before announced bursts. SIGHUP "
      "has it read its configuration again.",
      kProgram);
  add_common_options(app, options);
  CaptureArguments capture_arguments;
  add_capture_options(app, capture_arguments);
  if (const auto status = parse_command_line(app, options, std::move(arguments.own)))
    return *status;
  start_log(kProgram, options.verbose ? LogLevel::kDebug : LogLevel::kInfo);

  const auto loaded = load_configuration(options);
  if (!loaded) {
    std::cerr << format_issues(options.config, loaded.issues);
    return kExitUsage;
  }
  const std::optional<Duration> duration = run_time_of(options.duration);
  if (options.check) {
    std::cout << to_toml(*loaded.config);
    return kExitOk;
  }
  return run(*loaded.config, options, captures_of(capture_arguments, *loaded.config), duration,
             eal_words(std::move(arguments.eal), options.eal));
}

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  return outrider::run_program([argc, argv] { return outrider::start(argc, argv); });
}
