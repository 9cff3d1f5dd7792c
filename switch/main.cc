// outrider-switch runs the switches of one configuration file on real devices.
#include <chrono>
#include <iostream>

#include "common/config/quantities.h"
#include "common/runtime/entropy.h"
#include "common/runtime/poll_cli.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/log.h"
#include "common/telemetry/option_checks.h"
#include "switch/config/config_toml.h"
#include "switch/config/program_name.h"
#include "switch/control/capture_cli.h"
#include "switch/control/keygen_cli.h"
#include "switch/control/switch_program.h"

namespace outrider::sw {
namespace {

std::uint64_t now_since_1970_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
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
      kSwitchProgram);
  add_common_options(app, options);
  add_run_options(app, options);
  CaptureArguments captures;
  add_capture_options(app, captures);
  exclude_all(app, "--check", {"--duration", "--report", "--live", "--capture"});
  KeygenArguments keygen;
  add_keygen_command(app, keygen);
  if (const auto status = parse_command_line(app, options, std::move(arguments.own)))
    return *status;
  start_log(kSwitchProgram, options.verbose ? LogLevel::kDebug : LogLevel::kInfo);
  if (keygen.given) {
    for (const CLI::Option* option : app.get_options())
      if (option->count() > 0)
        throw UsageError(option->get_name() + ": is not for keygen: leave it out");
    generate_key_file(keygen.file, keygen.id, std::cout);
    return kExitOk;
  }

  const auto loaded = load_configuration(options, now_since_1970_ns());
  if (!loaded) {
    std::cerr << format_issues(options.config, loaded.issues);
    return kExitUsage;
  }
  const std::optional<Duration> duration = run_time_of(options.duration);
  if (options.check && !options.devices) {
    std::cout << to_toml(*loaded.config);
    std::cerr << format_advice(options.config, advice(*loaded.config));
    return kExitOk;
  }
  for (const auto& issue : advice(*loaded.config)) log_warn(issue.key + ": " + issue.problem);
  ProcessHashKey::set(random_hash_key());
  return run_switch_program(*loaded.config, options, captures_of(captures, *loaded.config),
                            duration, now_since_1970_ns,
                            eal_words(std::move(arguments.eal), options.eal));
}

}  // namespace
}  // namespace outrider::sw

int main(int argc, char** argv) {
  return outrider::run_program([argc, argv] { return outrider::sw::start(argc, argv); });
}
