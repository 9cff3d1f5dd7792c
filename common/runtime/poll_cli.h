#pragma once

// Includes CLI11, which is slow to compile: for main.cc alone.

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/poll_program.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/option_checks.h"
#include "common/telemetry/parse_end.h"
#include "common/telemetry/version.h"

namespace outrider {

inline void add_live_option(CLI::App& app, ProgramOptions& options) {
  app.add_flag("--live", options.live, "Show rates and counters once a second, on stderr");
}

/// Adds the options of commands that run a file for a time that the user may give.
inline void add_run_options(CLI::App& app, ProgramOptions& options) {
  app.add_flag("--check", options.check, "Validate, print the resolved TOML, and end");
  app.add_flag("--devices", options.devices,
               "With --check: start on the devices, say what was found there, and end")
      ->needs("--check");
  app.add_option("--duration", options.duration, "Run for so long, e.g. 10s or 500ms");
}

inline void add_common_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("-c,--config", options.config, "TOML file (required)");
  app.add_option("--report", options.report, "Write the report as JSON, on every exit")
      ->type_name("FILE.json");
  add_live_option(app, options);
  app.add_option("--lcore", options.lcore, "CPU of the poll loop, instead of the file's");
  app.add_option("--wait-for-peer", options.wait_for_peer_seconds,
                 "Longest wait for the other end of a device at start [30]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86400.0))
      ->check(usable_number());
  app.add_option("--eal", options.eal,
                 "More DPDK EAL arguments, in one word; also: EAL-ARGS -- ...")
      ->type_name("\"ARGS\"");
  app.add_flag("--verbose", options.verbose, "Show DPDK's own log and the EAL arguments");
  add_version_option(app);
  app.footer(kExitStatusHelp);
}

/// @return nothing if the program shall run, otherwise the exit status
inline std::optional<int> parse_command_line(CLI::App& app, const ProgramOptions& options,
                                             std::vector<std::string> own) {
  try {
    parse_arguments(app, std::move(own));
    if (options.config.empty() && app.get_subcommands().empty())
      throw CLI::RequiredError("--config FILE");
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return end_of_parsing(app, error);
  }
}

}  // namespace outrider
