#include "tools/doctor/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "common/machine/leftovers.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/parse_end.h"
#include "common/telemetry/standard_output.h"
#include "common/telemetry/version.h"
#include "tools/doctor/report.h"

namespace outrider {
namespace {

constexpr const char* kHelp =
    R"(Looks at this machine as outrider-switch, outrider-trafficgen and outrider-lab will
find it: CPUs and clock, memory, NUMA nodes, NICs and their drivers, DPDK, what the
kernel offers, and what dead processes left behind. Changes nothing and needs no
privilege; what is said of rights is said of the user who runs it.

  [ok]    as it should be
  [note]  worth knowing; what does not need it is not affected
  [warn]  results in real time can be wrong, or a runtime cannot be used
  [fail]  a program, or a device prepared for one, cannot start)";

constexpr const char* kStatus =
    "Exit status: 0 nothing worse than a note, 1 a warning or a failure, 2 command line\n"
    "refused.\n\n"
    "Examples:\n"
    "  outrider-doctor && outrider-lab run conf/experiments/quick.toml --runtime loopback\n"
    "  outrider-doctor --json | jq -r '.findings[] | select(.severity != \"ok\") | .check'";

void print_lines(const std::vector<std::string>& lines) {
  for (const auto& line : lines) std::printf("%s\n", line.c_str());
}

}  // namespace

ParsedDoctorLine parse_doctor_command_line(int argc, const char* const* argv) {
  ParsedDoctorLine parsed;
  CLI::App app(kHelp, "outrider-doctor");
  add_version_option(app);
  app.footer(kStatus);
  app.add_flag("--json", parsed.options.json, "Print the findings as JSON");
  app.add_flag("--leftovers", parsed.options.leftovers,
               "Print only the paths that dead processes left behind, one a line")
      ->excludes("--json");
  app.add_option("--root", parsed.options.root, "Directory that holds proc, sys, dev, tmp")
      ->check(CLI::ExistingDirectory)
      ->group("");  // hidden in the help, as it is for tests
  try {
    parse_arguments(app, {argv + 1, argv + argc});
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = end_of_parsing(app, error);
  }
  return parsed;
}

int run_doctor(const DoctorOptions& options, Machine machine) {
  machine.root = options.root;
  if (options.leftovers) {
    const Leftovers left = find_leftovers(machine);
    print_lines(left.directories);
    print_lines(left.sockets);
    flush_standard_output();
    return kExitOk;
  }
  const Findings findings = check_machine(machine);
  const std::string text =
      options.json ? findings_json(findings) : findings_text(findings, isatty(STDOUT_FILENO) == 1);
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_standard_output();  // throws what has failed
  return exit_status_of(findings);
}

}  // namespace outrider
