#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/editing/convert.h"

namespace outrider::lab {
namespace {

/// @return whether nothing is left for a person
bool convert(const std::string& path) {
  namespace fs = std::filesystem;
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !fs::is_regular_file(path)) {
    say("outrider-lab: cannot read " + path + ": it is no file that can be read");
    return false;
  }
  const Converted now = convert_experiment(text.str());
  for (const std::string& line : now.left_alone) say(path + ": " + line);
  if (now.changes > 0) {
    const fs::path file = fs::canonical(path);  // a link stays one
    if (fs::hard_link_count(file) > 1) {
      say("outrider-lab: cannot rewrite " + path +
          ": the file has other names (hard links), which would keep the earlier text; make a "
          "copy, "
          "and convert that");
      return false;
    }
    const fs::perms mode = fs::status(file).permissions();
    write_whole_file(file, now.text, static_cast<mode_t>(mode));
    fs::permissions(file, mode);  // with what the umask has taken
  }
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
