#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/config_file.h"
#include "common/config/text_file.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/import/import_experiment.h"
#include "tools/lab/plan/plan.h"
#include "trafficgen/import/step_list.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

std::optional<ForeignFile> read_foreign(const std::string& path, ConfigIssues& issues) {
  auto text = read_text_file(path, tg::kMaxImportMib);
  for (const ConfigIssue& issue : text.issues) issues.push_back({path, issue.problem});
  if (!text) return std::nullopt;
  return ForeignFile{path, std::move(*text.config)};
}

/// Reads a file, and of a trace of Chakra, NAME.0.et, the ranks that follow it.
void read_all(const std::string& path, std::vector<ForeignFile>& files, ConfigIssues& issues) {
  constexpr std::string_view kFirstRank = ".0.et";
  auto file = read_foreign(path, issues);
  if (!file) return;
  files.push_back(std::move(*file));
  if (!path.ends_with(kFirstRank)) return;
  const std::string stem = path.substr(0, path.size() - kFirstRank.size());
  for (std::size_t rank = 1; rank <= tg::kMostStepRanks; ++rank) {
    const std::string next = stem + "." + std::to_string(rank) + ".et";
    if (!fs::exists(next)) return;
    if (auto read = read_foreign(next, issues)) files.push_back(std::move(*read));
  }
}

int refused(const ConfigIssues& issues) {
  const bool one = issues.size() == 1 && !issues.has_more();  // whose key is the file
  std::fputs((one ? format_issues(issues[0].key, {{"", issues[0].problem}})
                  : format_issues("outrider-lab import", issues))
                 .c_str(),
             stderr);
  return kExitUsage;
}

void print_lines(const char* heading, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("  %s: %s\n", heading, line.c_str());
}

/// Writes the files, the experiment last. @return why it would not run; nothing is left then
ConfigIssues write_import(const ImportedExperiment& made, const fs::path& out) {
  std::vector<fs::path> written;
  for (const auto& [name, text] : made.files) {
    written.push_back(out.parent_path() / name);
    write_whole_file(written.back(), text);
  }
  written.push_back(out);
  write_whole_file(out, made.text);
  const auto read = load_experiment(out);
  ConfigIssues issues = read ? make_plan(*read.config, {.seeds = 1}).issues : read.issues;
  if (!issues.empty())
    for (const fs::path& path : written) fs::remove(path);
  return issues;
}

}  // namespace

int import_command(const LabOptions& options) {
  ConfigIssues issues;
  std::vector<ForeignFile> files;
  for (const std::string& path : options.files) read_all(path, files, issues);
  const auto topology =
      options.topology.empty() ? std::nullopt : read_foreign(options.topology, issues);
  if (!issues.empty()) return refused(issues);
  const std::string& first = options.files.front();
  const fs::path out =
      options.out.empty() ? fs::path(first).replace_extension(".toml") : fs::path(options.out);
  const auto made = import_experiment(files, topology ? &*topology : nullptr, out.stem().string(),
                                      out.parent_path());
  if (!made) return refused(made.issues);
  std::vector<fs::path> wanted{out};
  for (const auto& [name, text] : made.config->files) wanted.push_back(out.parent_path() / name);
  for (const fs::path& path : wanted)
    if (fs::exists(path)) issues.push_back({path.string(), "is there: give another name by --out"});
  if (!issues.empty()) return refused(issues);
  if (issues = write_import(*made.config, out); !issues.empty()) return refused(issues);
  std::printf("%s is %s\n", first.c_str(), made.config->what.c_str());
  print_lines("understood", made.config->understood);
  print_lines("left out", made.config->left_out);
  std::printf("%s is written; `outrider-lab run %s` runs it\n", out.c_str(), out.c_str());
  return kExitOk;
}

}  // namespace outrider::lab
