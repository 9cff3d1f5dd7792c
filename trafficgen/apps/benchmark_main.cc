// Command line of benchmark.
#include <algorithm>
#include <iostream>

#include "common/config/config_result.h"
#include "common/runtime/poll_cli.h"
#include "common/telemetry/log.h"
#include "common/telemetry/whole_file.h"
#include "trafficgen/apps/stream_commands.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/measure/program_name.h"
#include "trafficgen/streams/benchmark/benchmark.h"
#include "trafficgen/streams/search/device_trials.h"
#include "trafficgen/streams/search/rate_search_loop.h"

namespace outrider::tg {
namespace {

/// Returns the file with the longest frames that will be sent: devices are opened for them.
GeneratorConfig with_longest_frames(const GeneratorConfig& config) {
  const auto& sizes = config.benchmark.frame_bytes;
  return sizes.empty() ? config : with_frame_bytes(config, *std::ranges::max_element(sizes));
}

int benchmark(const GeneratorConfig& config, const ProgramOptions& options,
              std::vector<std::string> eal) {
  check_report_path(options.report);
  if (const auto issues = benchmark_faults(config); !issues.empty())
    throw UsageError(format_issues(options.config, issues));
  StreamProcess process(with_longest_frames(config), options, std::move(eal));
  if (!process.wait_for_links()) return kExitInterrupted;
  DeviceTrials trials(process);
  const BenchmarkResult result = run_benchmark(
      config, trials, [](const std::string& line) { std::cout << line << std::endl; });
  std::cout << to_text(result);
  if (!options.report.empty()) write_whole_file(options.report, to_json(result));
  return result.finished ? kExitOk : kExitInterrupted;
}

}  // namespace

int start_benchmark(std::vector<std::string> eal, std::vector<std::string> own) {
  ProgramOptions options;
  CLI::App app("Measures what [benchmark] of a file asks, with its streams.",
               std::string(kProgram) + " benchmark");
  add_common_options(app, options);
  if (const auto status = parse_command_line(app, options, std::move(own))) return *status;
  start_log(kProgram, options.verbose ? LogLevel::kDebug : LogLevel::kInfo);
  auto loaded = load_generator_config(options.config);
  if (!loaded) {
    std::cerr << format_issues(options.config, loaded.issues);
    return kExitUsage;
  }
  if (options.lcore) loaded.config->lcore = *options.lcore;
  return benchmark(*loaded.config, options, eal_words(std::move(eal), options.eal));
}

}  // namespace outrider::tg
