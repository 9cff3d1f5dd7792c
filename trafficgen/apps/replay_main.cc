// Command line of replay.
#include <algorithm>
#include <iostream>
#include <optional>

#include "common/config/config_result.h"
#include "common/config/quantities.h"
#include "common/runtime/poll_cli.h"
#include "common/telemetry/log.h"
#include "common/telemetry/option_checks.h"
#include "common/telemetry/whole_file.h"
#include "trafficgen/apps/preview.h"
#include "trafficgen/apps/stream_commands.h"
#include "trafficgen/measure/program_name.h"
#include "trafficgen/streams/replay/pcap_writer.h"
#include "trafficgen/streams/replay/replay_loop.h"

namespace outrider::tg {
namespace {

/// Returns the value, or throws with a line that names the option.
template <class T>
T value_of(const char* option, const std::string& text, const Parsed<T>& parsed) {
  if (!parsed.value) throw UsageError(std::string(option) + ' ' + text + ": " + parsed.problem);
  return *parsed.value;
}

struct ReplayTexts {
  std::string rate, layer = "l1", duration, line_rate, max_memory = "1GiB";
};

void add_options(CLI::App& app, ReplayConfig& c, ReplayTexts& texts, ReplayProcess& process) {
  app.add_option("--file", c.file, "pcap or pcapng file of Ethernet frames")->required();
  app.add_option("--device", process.device, "PCI address or vdev, e.g. net_tap0,iface=t0");
  app.add_option("--speed", c.speed, "2: half the gaps of the file")->capture_default_str();
  app.add_option("--rate", texts.rate, "e.g. 1mpps, 5gbps, 40%, instead of the file's gaps");
  app.add_option("--layer", texts.layer, "Of a bit rate")
      ->capture_default_str()
      ->check(CLI::IsMember({"l1", "l2"}))
      ->needs(app.get_option("--rate"));
  app.add_option("--line-rate", texts.line_rate, "Of the device, at L1; for percentages");
  app.add_option("--loops", c.loops, "Times through the file")
      ->capture_default_str()
      ->check(whole_number(1, kMostReplayLoops));
  app.add_option("--rewrite", c.rewrite, "FROM=TO of IPv4 addresses, e.g. 10.0.0.0/8=198.0.0.0/8")
      ->delimiter(',');
  app.add_flag("--pad-cut", c.pad_cut, "Pad packets that the capture has cut, with zeros");
  app.add_flag("--skip-long", c.skip_long,
               "Leave out and count packets of more than 9014 bytes, which offloads had joined");
  app.add_option("--max-memory", texts.max_memory, "For the file")->capture_default_str();
  app.add_option("--duration", texts.duration, "End after so long");
  app.add_option("--lcore", process.lcore, "CPU")->capture_default_str();
}

void read_texts(const ReplayTexts& texts, ReplayConfig& c, ReplayProcess& process,
                bool sends_nothing) {
  if (!texts.rate.empty()) c.rate = value_of("--rate", texts.rate, parse_stream_rate(texts.rate));
  if (!texts.duration.empty())
    c.duration = value_of("--duration", texts.duration, parse_duration(texts.duration));
  if (!texts.line_rate.empty())
    process.line_rate = value_of("--line-rate", texts.line_rate, parse_rate(texts.line_rate));
  c.max_memory_bytes = value_of("--max-memory", texts.max_memory, parse_bytes(texts.max_memory));
  c.layer = texts.layer == "l1" ? RateLayer::kL1 : RateLayer::kL2;
  if (process.device.empty() && !sends_nothing) throw UsageError("--device is required");
  if (c.rate && c.rate->unit == StreamRate::Unit::kShare && process.line_rate.bits_per_second == 0)
    throw UsageError("--rate " + texts.rate + ": needs --line-rate");
  if (c.rate && c.rate->unit == StreamRate::Unit::kShare &&
      c.rate->value * process.line_rate.bits_per_second < 1'000'000)
    throw UsageError("--rate " + texts.rate + ": of --line-rate " + texts.line_rate +
                     " is less than 1bit a second");
}

/// Writes every frame at its due time into a file, without a device.
int write_preview(const ReplayConfig& config, const LoadedReplay& loaded, BitRate line_rate,
                  const std::string& path, std::optional<std::uint64_t> wanted) {
  check_report_path(path, "--preview");
  if (!path.ends_with(".pcap")) throw UsageError("--preview " + path + ": must end with .pcap");
  const PcapTrace& trace = *loaded.trace;
  const std::uint32_t longest = std::ranges::max(trace.packets, {}, &PcapTrace::Packet::size).size;
  const std::uint64_t limit = preview_limit(wanted, longest);
  ReplaySchedule schedule(config, loaded.trace, line_rate);
  PcapWriter file(path);
  while (schedule.next() != kNever && file.frames() < limit) {
    const Departure d = schedule.take();
    file.write(d.due, trace.frame(d.size));
  }
  file.close();
  if (trace.skipped > 0)
    std::cout << kProgram << ": " << trace.skipped << " packets are too long and were left out\n";
  if (trace.backwards > 0)
    std::cout << kProgram << ": " << trace.backwards
              << " time stamps run backwards (the first: packet " << trace.first_backwards + 1
              << ") and are taken as equal to the one before\n";
  std::cout << kProgram << ": " << file.frames() << " frames"
            << (schedule.next() != kNever ? ", the first of more (--preview-limit)" : "") << " in "
            << path << '\n';
  return kExitOk;
}

}  // namespace

int start_replay(std::vector<std::string> eal, std::vector<std::string> own) {
  ProgramOptions options;
  options.config = "none";  // needs no file
  ReplayConfig config;
  ReplayTexts texts;
  ReplayProcess process;
  CLI::App app("Sends the frames of a capture, with its gaps or at a rate.",
               std::string(kProgram) + " replay");
  add_options(app, config, texts, process);
  std::string preview_file;
  std::optional<std::uint64_t> preview_frames;
  app.add_option("--preview", preview_file, "Write the frames to this file, and send nothing")
      ->type_name("FILE.pcap");
  app.add_option("--preview-limit", preview_frames, "Of frames [1000000]")
      ->check(whole_number(1))
      ->needs(app.get_option("--preview"));
  app.add_option("--report", options.report, "Write the figures as JSON")->type_name("FILE.json");
  app.add_option("--eal", options.eal, "More DPDK EAL arguments, in one word");
  add_live_option(app, options);
  app.add_flag("--verbose", options.verbose, "Show DPDK's own log and the EAL arguments");
  exclude_all(app, "--preview", {"--report", "--live"});
  app.footer(kExitStatusHelp);
  if (const auto status = parse_command_line(app, options, std::move(own))) return *status;
  start_log(kProgram, options.verbose ? LogLevel::kDebug : LogLevel::kInfo);
  read_texts(texts, config, process, !preview_file.empty());
  ConfigIssues issues;
  check(Checks(issues), config);
  for (auto& issue : issues) {  // the keys are those of options
    std::ranges::replace(issue.key, '_', '-');
    issue.key.insert(0, "--");
  }
  if (!issues.empty()) throw UsageError(format_issues("replay", issues));
  check_report_path(options.report);
  LoadedReplay loaded;
  try {
    loaded = load_replay(config);
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
  if (!preview_file.empty())
    return write_preview(config, loaded, process.line_rate, preview_file, preview_frames);
  const ReplayReport report =
      run_replay(config, loaded, process, options, eal_words(std::move(eal), options.eal));
  std::cout << to_text(report);
  if (!options.report.empty()) write_whole_file(options.report, to_json(report, config));
  if (report.sent.scheduled != report.sent.sent + report.sent.abandoned) return kExitLedger;
  return report.interrupted ? kExitInterrupted : kExitOk;
}

}  // namespace outrider::tg
