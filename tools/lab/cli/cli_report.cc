#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/report/report.h"

namespace outrider::lab {
namespace {

std::string how_to_get_it() {
  return std::string("`apt install ") + kChartLibraryPackage + "` brings it";
}

}  // namespace

int report_command(const LabOptions& options) {
  const std::filesystem::path directory = options.file;
  const std::filesystem::path library =
      options.chart_library.empty() ? kChartLibraryPath : options.chart_library;
  if (!std::filesystem::is_regular_file(directory / "summary.json")) {
    say("outrider-lab: " + directory.string() +
        " has no summary.json; name a directory that `outrider-lab run` wrote");
    return kExitUsage;
  }
  if (const std::string why = write_report(directory, library); !why.empty()) {
    say("outrider-lab: no report: " + why + "; " + how_to_get_it() +
        ", or --chart-library names one");
    return kExitEnvironment;
  }
  say("outrider-lab: wrote " + (directory / "report.html").string());
  return kExitOk;
}

void write_report_of_run(const std::filesystem::path& directory) {
  try {
    if (const std::string why = write_report(directory); !why.empty())
      say("outrider-lab: no report.html: " + why + "; " + how_to_get_it() +
          ", then `outrider-lab report " + directory.string() + "` writes it");
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: no report.html: ") + error.what());
  }
}

}  // namespace outrider::lab
