// outrider-trafficgen: emulated hosts, training jobs and background on real devices.
#include <iostream>

#include "common/config/quantities.h"
#include "common/runtime/entropy.h"
#include "common/runtime/poll_cli.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/log.h"
#include "trafficgen/apps/generator_cli.h"
#include "trafficgen/apps/host_program.h"
#include "trafficgen/apps/stream_commands.h"
#include "trafficgen/apps/stream_program.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/measure/program_name.h"

namespace outrider::tg {
namespace {

std::optional<Duration> run_time_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const Parsed<Duration> parsed = parse_duration(text);
  if (!parsed.value) throw UsageError("--duration " + text + ": " + parsed.problem);
  return parsed.value;
}

int start(int argc, char** argv) {
  catch_stop_signals();
  SplitArguments arguments = split_arguments(argc, argv);
  GeneratorArguments given;
  const ProgramOptions& options = given.program;
  CLI::App app("Traffic generator: training jobs and the traffic they compete with.", kProgram);
  add_options(app, given);
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
  if (config.benchmark.kind != BenchmarkKind::kNone && !options.check)
    throw UsageError(options.config + ": has a [benchmark]: `" + kProgram + " benchmark --config " +
                     options.config + "` measures it");
  if (options.lcore) config.lcore = *options.lcore;
  if (given.seed) config.seed = *given.seed;
  if (const auto duration = run_time_of(options.duration)) config.duration = duration;
  if (options.check && !options.devices) {
    std::cout << to_toml(config);
    return kExitOk;
  }
  if (!given.preview.file.empty()) return write_preview(config, given.preview);
  auto eal = eal_words(std::move(arguments.eal), options.eal);
  given.files.report = options.report;
  prepare(given.files, config);
  if (given.stall_seconds && config.hosts.empty())
    throw UsageError("--stall: is about hosts, and there is no [[host]]");
  ProcessHashKey::set(random_hash_key());
  // Files with streams only have a loop of their own, without the cost of hosts.
  if (config.hosts.empty()) return run_stream_program(config, options, given.files, std::move(eal));
  const auto stall =
      given.stall_seconds ? std::optional(from_seconds(*given.stall_seconds)) : std::nullopt;
  return run_host_program(config, options, given.files, std::move(eal), stall);
}

}  // namespace
}  // namespace outrider::tg

int main(int argc, char** argv) {
  if (argc > 1 && outrider::tg::is_stream_command(argv[1]))
    return outrider::run_program(
        [argc, argv] { return outrider::tg::run_stream_command(argc, argv); });
  return outrider::run_program([argc, argv] { return outrider::tg::start(argc, argv); });
}
