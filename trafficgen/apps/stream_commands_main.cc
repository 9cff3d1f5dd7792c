// Command lines of ndr, pdr and calibrate.
#include <algorithm>
#include <iostream>

#include "common/config/config_result.h"
#include "common/config/quantities.h"
#include "common/runtime/poll_cli.h"
#include "common/runtime/poll_loop.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/log.h"
#include "common/telemetry/whole_file.h"
#include "trafficgen/apps/stream_commands.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/measure/program_name.h"
#include "trafficgen/streams/search/calibrate_loop.h"
#include "trafficgen/streams/search/device_trials.h"
#include "trafficgen/streams/search/rate_search_loop.h"

namespace outrider::tg {
namespace {

constexpr double kPdrLoss = 0.005;

Duration duration_of(const char* option, const std::string& text) {
  const auto parsed = parse_duration(text);
  if (!parsed.value) throw UsageError(std::string(option) + ' ' + text + ": " + parsed.problem);
  return *parsed.value;
}

double share_of(const char* option, const std::string& text) {
  const auto parsed = parse_percentage(text);
  if (!parsed.value) throw UsageError(std::string(option) + ' ' + text + ": " + parsed.problem);
  return *parsed.value;
}

struct SearchTexts {
  std::string loss, width = "1%", trial = "1s", warm_up = "200ms", achieved = "99.5%";
  std::uint32_t repeats = 1;
  std::string sizes;
};

std::vector<std::uint32_t> sizes_of(const std::string& text) {
  if (text.empty()) return {};
  const auto parsed = parse_frame_sizes(text);
  if (!parsed.value) throw UsageError("--frame-bytes " + text + ": " + parsed.problem);
  return *parsed.value;
}

RateSearchOptions search_options(const SearchTexts& texts, double default_loss) {
  RateSearchOptions options;
  options.search.max_loss = texts.loss.empty() ? default_loss : share_of("--loss", texts.loss);
  options.search.width = share_of("--width", texts.width);
  options.search.repeats = texts.repeats;
  options.search.min_achieved = share_of("--min-achieved", texts.achieved);
  options.trial = duration_of("--trial", texts.trial);
  options.warm_up = duration_of("--warm-up", texts.warm_up);
  if (options.search.max_loss >= 1) throw UsageError("--loss: must be less than 100%");
  if (options.search.width <= 0 || options.search.width >= 1)
    throw UsageError("--width: must be more than 0% and less than 100%");
  if (options.trial <= Duration::zero()) throw UsageError("--trial: must be longer than zero");
  return options;
}

/// Shows a line at once, also where nobody but a log reads it.
void say_line(const std::string& line) { std::cout << line << std::endl; }

void check_searchable(const GeneratorConfig& config) {
  ConfigIssues issues;
  const Checks root(issues);
  if (config.streams.empty()) root.fault("stream", "there must be at least one [[stream]]");
  if (!config.more_lcores.empty())
    root.fault("more_lcores", "a rate search sends from one lcore: leave it out");
  for (std::size_t i = 0; i < config.streams.size(); ++i) {
    const auto at = root.below("stream", i);
    if (config.streams[i].device.empty()) at.fault("device", "is required by a rate search");
    if (config.streams[i].receive_device.empty())
      at.fault("receive_device", "is required by a rate search: it counts what arrives");
  }
  if (!issues.empty()) throw UsageError(format_issues("rate search", issues));
}

/// Searches with frames of each size, on devices that are opened for the longest.
int search_sizes(const GeneratorConfig& config, const RateSearchOptions& wanted,
                 const std::vector<std::uint32_t>& sizes, StreamProcess& process,
                 const std::string& report) {
  for (const std::uint32_t bytes : sizes)
    check_streams_fit(with_frame_bytes(config, bytes), process.devices());
  std::vector<SizedSearch> made;
  DeviceTrials run(process);
  std::uint32_t trials = 0;
  for (const std::uint32_t bytes : sizes) {
    std::cout << bytes << " bytes\n";
    SizedSearch& one = made.emplace_back(SizedSearch{bytes, RateSearch(wanted.search)});
    one.finished =
        run_rate_search(one.search, wanted, with_frame_bytes(config, bytes), run, trials, say_line);
    if (!one.finished) break;
  }
  std::cout << to_text(made);
  if (!report.empty()) write_whole_file(report, to_json(made, wanted, config));
  return made.back().finished ? kExitOk : kExitInterrupted;
}

/// @param sizes  of frames, each searched by itself; empty: as the file has them
int search(const GeneratorConfig& config, const ProgramOptions& options,
           const RateSearchOptions& wanted, const std::vector<std::uint32_t>& sizes,
           std::vector<std::string> eal) {
  check_report_path(options.report);
  check_searchable(config);
  for (const std::uint32_t bytes : sizes)
    if (const auto issues = validate(with_frame_bytes(config, bytes)); !issues.empty())
      throw UsageError(format_issues("frames of " + std::to_string(bytes) + " bytes", issues));
  const GeneratorConfig longest =
      sizes.empty() ? config : with_frame_bytes(config, *std::ranges::max_element(sizes));
  StreamProcess process(longest, options, std::move(eal));
  if (!process.wait_for_links()) return kExitInterrupted;
  if (!sizes.empty()) return search_sizes(config, wanted, sizes, process, options.report);
  RateSearch made(wanted.search);
  DeviceTrials run(process);
  std::uint32_t trials = 0;
  const bool finished = run_rate_search(made, wanted, config, run, trials, say_line);
  std::cout << to_text(made, wanted, finished);
  if (!options.report.empty())
    write_whole_file(options.report, to_json(made, wanted, config, finished));
  return finished ? kExitOk : kExitInterrupted;
}

int start_search(std::string_view command, std::vector<std::string> eal,
                 std::vector<std::string> own) {
  ProgramOptions options;
  SearchTexts texts;
  const bool ndr = command == "ndr";
  CLI::App app(ndr ? "Highest rate without loss of a file's streams."
                   : "Highest rate with at most 0.5 % loss of a file's streams.",
               std::string(kProgram) + ' ' + std::string(command));
  add_common_options(app, options);
  app.add_option("--loss", texts.loss, "Share that may be lost")
      ->default_str(ndr ? "0%" : "0.5%")
      ->type_name("PERCENT");
  app.add_option("--trial", texts.trial, "Length of a trial")->capture_default_str();
  app.add_option("--width", texts.width, "Stop when the answer is known to this share of the rates")
      ->capture_default_str();
  app.add_option("--repeats", texts.repeats, "Trials that must pass at a rate")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--min-achieved", texts.achieved,
                 "A trial sent at less than this share of its rate is run again, 3 times at most")
      ->capture_default_str();
  app.add_option("--warm-up", texts.warm_up, "Run at half the rates first")->capture_default_str();
  app.add_option("--frame-bytes", texts.sizes,
                 "A search for each size, FCS included, instead of the file's: 64,512,1518 or\n"
                 "rfc2544, which is 64,128,256,512,1024,1280,1518")
      ->type_name("SIZES");
  if (const auto status = parse_command_line(app, options, std::move(own))) return *status;
  start_log(kProgram, options.verbose ? LogLevel::kDebug : LogLevel::kInfo);
  const RateSearchOptions wanted = search_options(texts, ndr ? 0 : kPdrLoss);
  const std::vector<std::uint32_t> sizes = sizes_of(texts.sizes);
  auto loaded = load_generator_config(options.config);
  if (!loaded) {
    std::cerr << format_issues(options.config, loaded.issues);
    return kExitUsage;
  }
  if (options.lcore) loaded.config->lcore = *options.lcore;
  return search(*loaded.config, options, wanted, sizes, eal_words(std::move(eal), options.eal));
}

std::vector<std::uint64_t> rates_of(const std::vector<std::string>& texts) {
  std::vector<std::uint64_t> rates;
  for (const auto& text : texts) {
    const auto parsed = parse_packet_rate(text);
    if (!parsed.value || parsed.value->packets_per_second == 0)
      throw UsageError("--rates " + text + ": must be a packet rate from 1pps to 1gpps");
    rates.push_back(parsed.value->packets_per_second);
  }
  return rates;
}

int start_calibrate(std::vector<std::string> eal, std::vector<std::string> own) {
  ProgramOptions options;
  options.config = "none";  // needs no file
  CalibrateOptions wanted;
  std::vector<std::string> rates;
  std::string duration = "1s";
  CLI::App app("Rates and gaps that this machine achieves, over a device of its own.",
               std::string(kProgram) + " calibrate");
  app.add_option("--device", wanted.device, "net_null0, or net_ring0 to receive as well")
      ->capture_default_str();
  app.add_option("--rates", rates, "e.g. 1kpps,10mpps [1kpps to 90 % of the maximum]")
      ->delimiter(',');
  app.add_option("--duration", duration, "Of each rate")->capture_default_str();
  app.add_option("--frame-bytes", wanted.frame_bytes, "FCS included")
      ->capture_default_str()
      ->check(CLI::Range(kMinStreamFrameBytes, std::uint32_t{1518}));
  app.add_option("--flows", wanted.flows, "")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{60'000}));
  app.add_option("--lcore", wanted.lcore, "CPU")->capture_default_str();
  app.add_option("--report", options.report, "Write the figures as JSON")->type_name("FILE.json");
  add_live_option(app, options);
  app.add_option("--eal", options.eal, "More DPDK EAL arguments, in one word");
  app.add_flag("--verbose", options.verbose, "Show DPDK's own log and the EAL arguments");
  app.footer(kExitStatusHelp);
  if (const auto status = parse_command_line(app, options, std::move(own))) return *status;
  start_log(kProgram, options.verbose ? LogLevel::kDebug : LogLevel::kInfo);
  wanted.rates = rates_of(rates);
  wanted.duration = duration_of("--duration", duration);
  if (wanted.duration <= Duration::zero()) throw UsageError("--duration: must be above zero");
  check_report_path(options.report);
  const GeneratorConfig config = calibrate_config(wanted);
  if (const auto issues = validate(config); !issues.empty())
    throw UsageError(format_issues("calibrate", issues));
  StreamProcess process(config, options, eal_words(std::move(eal), options.eal));
  if (!process.wait_for_links()) return kExitInterrupted;
  const Calibration result = run_calibration(wanted, process);
  std::cout << to_text(result);
  if (!options.report.empty()) write_whole_file(options.report, to_json(result, wanted));
  return result.interrupted ? kExitInterrupted : kExitOk;
}

}  // namespace

bool is_stream_command(std::string_view word) {
  return word == "ndr" || word == "pdr" || word == "calibrate" || word == "replay" ||
         word == "benchmark";
}

int run_stream_command(int argc, char** argv) {
  catch_stop_signals();
  const std::string command = argv[1];
  SplitArguments arguments = split_arguments(argc - 1, argv + 1);
  if (command == "replay") return start_replay(std::move(arguments.eal), std::move(arguments.own));
  if (command == "benchmark")
    return start_benchmark(std::move(arguments.eal), std::move(arguments.own));
  if (command == "calibrate")
    return start_calibrate(std::move(arguments.eal), std::move(arguments.own));
  return start_search(command, std::move(arguments.eal), std::move(arguments.own));
}

}  // namespace outrider::tg
