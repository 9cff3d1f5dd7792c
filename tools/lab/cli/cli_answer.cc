#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_finished.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/brief_text.h"
#include "tools/lab/tables/results_answer.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kKey = "results_key";  ///< in environment.json

std::string content_at(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot be read; name the directory that `run` wrote");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns environment.json of complete results; null if there is none, or it is something else.
Json environment_of(const fs::path& directory) {
  std::ifstream in(directory / "environment.json", std::ios::binary);
  Json environment = in ? Json::parse(in, nullptr, false) : Json();
  return environment.is_object() ? environment : Json();
}

/// Returns a mark of everything that the results of these cases depend on.
std::string key_of(const LabOptions& options, const RunStore& store, const std::string& question,
                   const std::vector<Case>& cases) {
  std::string all = question + '\n' + std::to_string(static_cast<int>(options.references)) +
                    (options.exclude_flagged ? " without flagged\n" : "\n");
  for (const Case& c : cases) {
    all += store.file_of(c, options.runtime) + ' ' + c.against + ' ' + c.off;
    for (const auto& [name, value] : c.point) all += ' ' + name + '=' + text_of(value);
    all += '\n';
  }
  return std::to_string(cases.size()) + ' ' + std::to_string(content_hash(all));
}

}  // namespace

int answer_command(const LabOptions& options) {
  try {
    const Results results = read_results(open_results(options.file));
    std::fputs((wrapped(results.question) + "\n\n" + answer_text(results)).c_str(), stdout);
    return kExitOk;
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: ") + error.what());
    return kExitUsage;
  }
}

bool show_finished(const LabOptions& options, const RunStore& store, const std::string& question,
                   const std::vector<Case>& cases, const fs::path& directory,
                   const PrintedFiles& files) {
  if (options.force || options.fresh) return false;
  const Json environment = environment_of(directory);
  if (!environment.contains(kKey)) return false;
  if (environment.at(kKey) != key_of(options, store, question, cases)) return false;
  std::string text;
  try {
    const ResultsReader results = open_results(directory);
    text = options.brief ? brief_text(read_results(results))
                         : content_at(directory / (options.json ? files.json : files.text));
  } catch (const std::exception&) {
    return false;  // a part of the results is gone
  }
  say("outrider-lab: " + directory.string() +
      " has the results of this file with these seeds, from this program; nothing was run. "
      "--force runs all cases again");
  if (!options.quiet) std::fputs(text.c_str(), stdout);
  return true;
}

void mark_finished(const LabOptions& options, const RunStore& store, const std::string& question,
                   const std::vector<Case>& cases, const fs::path& directory) {
  Json environment = environment_of(directory);
  if (environment.is_null()) return;
  environment[kKey] = key_of(options, store, question, cases);
  write_whole_file(directory / "environment.json",
                   environment.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace outrider::lab
