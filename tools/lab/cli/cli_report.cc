#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/report/report.h"

namespace outrider::lab {
int report_command(const LabOptions& options) {
  const std::filesystem::path directory = options.file;
  try {
    write_report(directory);
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: ") + error.what());
    return kExitUsage;
  }
  say("outrider-lab: wrote " + (directory / "report.html").string());
  return kExitOk;
}

void write_report_of_run(const std::filesystem::path& directory) {
  try {
    write_report(directory);
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: no report.html: ") + error.what());
  }
}

}  // namespace outrider::lab
