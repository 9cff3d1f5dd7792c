#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/trace.h"

namespace outrider::lab {
namespace {

/// Says whether a file is there that this command did not write.
bool is_other_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  constexpr std::string_view kBegin = "[\n{\"ph\"";
  std::string begin(kBegin.size(), ' ');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return std::filesystem::exists(file) && begin != kBegin;
}

}  // namespace

int trace_command(const LabOptions& options) {
  namespace fs = std::filesystem;
  const fs::path results = options.file;
  const fs::path directory = fs::is_directory(results) ? results : results.parent_path();
  const fs::path file = options.out.empty() ? directory / "trace.json" : fs::path(options.out);
  if (is_other_file(file)) {
    say("outrider-lab: --out " + file.string() + " is there, and no timeline: name another file");
    return kExitUsage;
  }
  try {
    write_trace(open_results(results), options.case_index, file);
  } catch (const std::runtime_error& error) {
    say(std::string("outrider-lab: ") + error.what());
    return kExitUsage;
  }
  say("outrider-lab: wrote " + file.string() + "; open it in https://ui.perfetto.dev");
  return kExitOk;
}

}  // namespace outrider::lab
