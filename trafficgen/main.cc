// outrider-trafficgen: emulated hosts, training jobs and background on real devices.
#include <algorithm>
#include <iostream>
#include <numeric>

#include "common/config/quantities.h"
#include "common/dpdk/mempool.h"
#include "common/runtime/poll_cli.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/log.h"
#include "trafficgen/apps/poll_loop.h"
#include "trafficgen/apps/preview.h"
#include "trafficgen/apps/stream_commands.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/report/output_files.h"
#include "trafficgen/report/program_name.h"
#include "trafficgen/streams/run/stream_process.h"
#include "trafficgen/streams/run/stream_program.h"
#include "trafficgen/workload/job_summary.h"

namespace outrider {
namespace {

void print_bursts(std::ostream& out, const GeneratorReport& r) {
  std::vector<std::int64_t> took_ns;
  std::uint64_t bytes = 0;
  for (const auto& burst : r.bursts) {
    if (burst.delivered_ns == kNotYet_ns || burst.first_sent_ns == kNotYet_ns) continue;
    took_ns.push_back(burst.delivered_ns - burst.first_sent_ns);
    bytes += burst.bytes;
  }
  out << "  bursts: " << took_ns.size() << " of " << r.bursts.size() << " delivered, " << bytes
      << " bytes";
  if (!took_ns.empty()) {
    std::sort(took_ns.begin(), took_ns.end());
    out << "; completion time median " << static_cast<double>(took_ns[took_ns.size() / 2]) / 1e6
        << " ms, longest " << static_cast<double>(took_ns.back()) / 1e6 << " ms";
  }
  out << '\n';
}

void print_background(std::ostream& out, const GeneratorReport& r) {
  std::uint64_t bytes = 0;
  std::uint64_t flows = 0;
  std::uint64_t retransmitted = 0;
  for (const auto& flow : r.flows) {
    retransmitted += flow.retransmitted;
    if (flow.traffic_class != TrafficClass::kBackground) continue;
    ++flows;
    bytes += flow.delivered_bytes;
  }
  const double bits_per_second =
      r.end_ns == 0 ? 0 : static_cast<double>(bytes) * 8e9 / static_cast<double>(r.end_ns);
  out << "  background: " << flows << " flows, " << bytes << " bytes, " << bits_per_second / 1e6
      << " Mbit/s of payload; retransmitted segments of all flows: " << retransmitted << '\n';
}

void print_requests(std::ostream& out, const GeneratorReport& r) {
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  for (const auto& pair : r.requests) {
    const Histogram& l = pair.latency_ns;
    out << "  requests \"" << pair.name << "\": " << pair.open << " connections open, "
        << pair.closed << " closed; " << pair.completed << " answered";
    if (l.count() != 0)
      out << "; latency [us] min " << us(l.min()) << ", median " << us(l.quantile(0.5)) << ", p99 "
          << us(l.quantile(0.99)) << ", p99.99 " << us(l.quantile(0.9999)) << ", longest "
          << us(l.max());
    out << '\n';
  }
}

void print_summary(std::ostream& out, const GeneratorReport& r) {
  out << kProgram << ": " << static_cast<double>(r.end_ns) / 1e9 << " s, jobs "
      << (r.jobs_finished ? "finished" : "not finished") << '\n'
      << "  packets: sent " << r.sent << ", received " << r.received << ", consumed " << r.consumed
      << "; ledger " << (r.ledger_balanced ? "balanced" : "NOT BALANCED") << "\n  drops:";
  for (std::size_t i = 0; i < kDropReasons; ++i)
    if (r.drops[i] != 0) out << ' ' << r.drops[i] << ' ' << kDropReasonNames[i];
  out << (std::accumulate(r.drops.begin(), r.drops.end(), std::uint64_t{0}) == 0 ? " none\n"
                                                                                 : "\n");
  print_bursts(out, r);
  print_jobs(out, r);
  print_background(out, r);
  print_transfers(out, r.transfers, r.payload);
  print_requests(out, r);
  print_flow_groups(out, r.flow_groups, r.end_ns);
  print_neighbours(out, r.neighbourhood);
  out << to_text(r.streams);
  out << "  signals: START sent " << r.starts_sent << ", answered " << r.acks_received
      << ", timed out " << r.ack_timeouts << '\n'
      << "  waits for a buffer: " << r.mbuf_exhausted
      << ", for a full device: " << r.device_full_waits << '\n'
      << "  devices: receive missed " << r.device_rx_missed << ", no buffer " << r.device_rx_nombuf
      << "\n  longest gap between two polls: " << static_cast<double>(r.longest_poll_gap_ns) / 1e3
      << " us\n";
}

/// Buffers of the receive rings alone. They are a pool of their own: what is
/// received holds bytes of others, and senders rely on zeros behind their headers.
std::uint32_t receive_mbufs(const GeneratorConfig& config) {
  std::uint32_t mbufs = 1024;  // the pool's cache and batches in hand
  for (const auto& d : config.devices)
    mbufs += std::uint32_t{std::max(d.rx_descriptors, d.tx_descriptors)} + 2 * kBatchPackets;
  return mbufs;
}

struct PreviewOptions {
  std::string file;  ///< empty: none
  std::optional<std::uint64_t> limit;
};

void check_preview(const GeneratorConfig& config, const PreviewOptions& wanted) {
  check_report_path(wanted.file, "--preview");
  const bool pcap = wanted.file.ends_with(".pcap");
  if (!pcap && !wanted.file.ends_with(".csv"))
    throw UsageError("--preview " + wanted.file + ": must end with .csv or .pcap");
  if (!config.duration)
    throw UsageError("--preview needs a duration, in the configuration or as --duration");
  if (!pcap && !config.streams.empty() && config.hosts.empty())
    throw UsageError("--preview " + wanted.file +
                     ": packets of streams are shown as .pcap alone; a .csv lists starts of flows");
  if (!pcap) return;
  ConfigIssues issues;
  std::vector<StreamDevice> devices;
  for (const auto& d : config.devices) devices.push_back({d.name, d.line_rate.value_or(BitRate{})});
  check_line_rates(Checks(issues), config.streams, devices);
  if (!issues.empty()) throw UsageError(format_issues("--preview", issues));
}

int write_preview(const GeneratorConfig& config, const PreviewOptions& wanted) {
  check_preview(config, wanted);
  std::uint64_t written = 0;
  bool ends_before_run = false;
  const char* what = "events";
  if (wanted.file.ends_with(".pcap")) {
    const std::uint64_t limit = preview_limit(wanted.limit, longest_stream_frame(config.streams));
    const PreviewFrames shown = preview_pcap(config, *config.duration, limit, wanted.file);
    if (shown.without_frame != 0)
      std::cout << kProgram << ": " << shown.without_frame
                << " starts of bursts or jobs have no frame of their own\n";
    written = shown.frames;
    ends_before_run = shown.ends_before_run;
    what = "frames";
  } else {
    const Preview shown =
        preview(config, *config.duration, wanted.limit.value_or(kMaxPreviewEvents));
    write_report_file(wanted.file, shown.csv);
    written = shown.events;
    ends_before_run = shown.ends_before_run;
  }
  std::cout << kProgram << ": " << written << ' ' << what
            << (ends_before_run ? ", the first of more (--preview-limit)" : "") << " in "
            << wanted.file << '\n';
  return kExitOk;
}

int run(const GeneratorConfig& config, const ProgramOptions& options, const OutputFiles& files,
        std::optional<Duration> duration, std::vector<std::string> eal_extra) {
  std::vector<PortConfig> ports;
  for (const auto& d : config.devices)
    ports.push_back(port_config(d.name, d.device, d.rx_descriptors, d.tx_descriptors, options));
  const std::uint32_t send_mbufs = config.mbufs.value_or(required_mbufs(config));
  const std::uint32_t receive = receive_mbufs(config);
  const std::uint32_t streams = config.streams.empty() ? 0 : stream_send_mbufs(config);
  const Eal eal(eal_options(kProgram, {config.lcore},
                            send_mbufs + (receive + streams) * (stream_room_bytes(config) / 2048),
                            ports, std::move(eal_extra)));
  const Mempool send_pool = make_packet_pool({.name = "sent", .mbufs = send_mbufs});
  const Mempool receive_pool = make_packet_pool(
      {.name = "received", .mbufs = receive, .frame_room_bytes = stream_room_bytes(config)});
  PollDevices devices(ports, *receive_pool);
  Mempool stream_pool;  // hosts write where a stream's payload of zeros is
  std::optional<StreamEngine> engine;
  if (streams != 0) {
    check_streams_fit(config, devices);
    stream_pool = make_packet_pool(
        {.name = "streams", .mbufs = streams, .frame_room_bytes = stream_room_bytes(config)});
    engine.emplace(stream_setup(config, devices, duration), *stream_pool);
  }
  EventLoop loop;
  Generator generator(config, loop, *send_pool, {.full_payload = true});
  const auto wires = connect_devices(generator, loop, devices);
  if (!wait_for_links(devices, from_seconds(options.wait_for_peer_seconds)))
    return kExitInterrupted;
  log_info("sending from CPU " + std::to_string(config.lcore) + "; Ctrl-C ends");

  const auto live = live_report<TrafficLive>(options);
  const GeneratorRun result =
      run_generator(generator, loop, devices, duration, engine ? &*engine : nullptr, live.get());
  print_summary(std::cout, result.report);
  write(files, result.report, engine ? &*engine : nullptr);
  if (!result.report.ledger_balanced) return kExitLedger;
  if (result.report.payload.mismatched_bytes != 0) return kExitTransfer;
  if (!result.interrupted && !all_completed(result.report.transfers)) return kExitTransfer;
  return result.interrupted && !result.report.jobs_finished ? kExitInterrupted : kExitOk;
}

std::optional<Duration> run_time_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const Parsed<Duration> parsed = parse_duration(text);
  if (!parsed.value) throw UsageError("--duration " + text + ": " + parsed.problem);
  return parsed.value;
}

int start(int argc, char** argv) {
  catch_stop_signals();
  SplitArguments arguments = split_arguments(argc, argv);
  ProgramOptions options;
  OutputFiles files;
  std::optional<std::uint64_t> seed;
  CLI::App app("Traffic generator: training jobs and the traffic they compete with.", kProgram);
  add_common_options(app, options);
  PreviewOptions preview_options;
  app.add_option("--preview", preview_options.file,
                 "Write what will start when (.csv) or the frames (.pcap), and send nothing")
      ->type_name("FILE");
  app.add_option("--preview-limit", preview_options.limit,
                 "Of lines [5000000] or frames [1000000]");
  app.add_option("--csv", files.csv_directory,
                 "Write bursts, iterations, flows, streams and so on as CSV, on every exit")
      ->type_name("DIRECTORY");
  app.add_option("--flow-records", files.flow_records,
                 "Write the records of [[flows]] tables with `records`")
      ->type_name("FILE.csv");
  app.add_option("--seed", seed, "Seed of all random draws, instead of the file's");
  app.add_option("--streams-csv", files.streams_csv, "Write a line of figures a stream")
      ->type_name("FILE.csv");
  app.add_option("--samples", files.samples, "Write the raw latencies that streams keep")
      ->type_name("FILE.csv");
  app.add_option("--hops", files.hops, "Write the raw hop records that streams of probes keep")
      ->type_name("FILE.csv");
  if (const auto status = parse_command_line(app, options, std::move(arguments.own)))
    return *status;
  start_log(kProgram, options.verbose ? LogLevel::kDebug : LogLevel::kInfo);

  auto loaded = load_generator_config(options.config);
  if (!loaded) {
    std::cerr << format_issues(options.config, loaded.issues);
    return kExitUsage;
  }
  GeneratorConfig& config = *loaded.config;
  if (config.attribution) {
    ConfigIssues issues;
    Checks(issues).fault("attribution",
                         "is for virtual time alone (outrider-lab): with real devices nobody can "
                         "say what was served while a packet waited");
    std::cerr << format_issues(options.config, issues);
    return kExitUsage;
  }
  if (options.lcore) config.lcore = *options.lcore;
  if (seed) config.seed = *seed;
  if (const auto given = run_time_of(options.duration)) config.duration = given;
  if (options.check) {
    std::cout << to_toml(config);
    return kExitOk;
  }
  if (!preview_options.file.empty()) return write_preview(config, preview_options);
  auto eal = eal_words(std::move(arguments.eal), options.eal);
  files.report = options.report;
  prepare(files);
  // Streams alone do not pay for hosts: they have a loop of their own.
  if (config.hosts.empty()) return run_stream_program(config, options, files, std::move(eal));
  return run(config, options, files, config.duration, std::move(eal));
}

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  if (argc > 1 && outrider::is_stream_command(argv[1]))
    return outrider::run_program([argc, argv] { return outrider::run_stream_command(argc, argv); });
  return outrider::run_program([argc, argv] { return outrider::start(argc, argv); });
}
