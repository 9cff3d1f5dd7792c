#include <filesystem>
#include <stdexcept>
#include <string>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/trace.h"

namespace outrider::lab {

int trace_command(const LabOptions& options) {
  const std::filesystem::path directory = options.file;
  const std::filesystem::path file =
      options.out.empty() ? directory / "trace.json" : std::filesystem::path(options.out);
  try {
    write_trace(open_results(directory), options.case_index, file);
  } catch (const std::runtime_error& error) {
    say(std::string("outrider-lab: ") + error.what());
    return kExitUsage;
  }
  say("outrider-lab: wrote " + file.string() + "; open it in https://ui.perfetto.dev");
  return kExitOk;
}

}  // namespace outrider::lab
