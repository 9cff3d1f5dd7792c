#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/experiment/convert.h"

namespace outrider::lab {
namespace {

/// @return whether nothing is left for a person
bool convert(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !std::filesystem::is_regular_file(path)) {
    say("outrider-lab: cannot read " + path + ": it is no file that can be read");
    return false;
  }
  const Converted now = convert_experiment(text.str());
  for (const std::string& line : now.left_alone) say(path + ": " + line);
  if (now.changes > 0) write_whole_file(path, now.text);
  say(path + ": " + std::to_string(now.changes) + " lines rewritten");
  return now.left_alone.empty();
}

}  // namespace

int convert_command(const LabOptions& options) {
  bool whole = true;
  for (const std::string& path : options.files) whole = convert(path) && whole;
  return whole ? kExitOk : kExitUsage;
}

}  // namespace outrider::lab
