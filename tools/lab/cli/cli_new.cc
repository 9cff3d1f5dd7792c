#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include "common/config/config_file.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/editing/new_experiment.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider::lab {
namespace {

/// Asks until an answer is right. @return false at the end of the input
bool ask(const NewQuestion& question, NewExperiment& into) {
  for (std::string answer;;) {
    std::fprintf(stderr, "%s [%s]: ", std::string(question.asks).c_str(),
                 std::string(question.usual).c_str());
    if (!std::getline(std::cin, answer)) return false;
    if (answer.empty()) return true;
    const std::string problem = question.take(into, answer);
    if (problem.empty()) return true;
    say(answer + ": " + problem);
  }
}

/// Returns why the experiment would not run, which no single answer says.
ConfigIssues faults_of(const std::string& text, const std::string& file) {
  ConfigTable table = parse_toml(text).config.value();
  const std::filesystem::path path(file.empty() ? "new.toml" : file);
  table["name"] = ConfigValue(path.stem().string());
  const auto read = experiment_from(table, path.parent_path());
  return read ? make_plan(*read.config, {.seeds = 1}).issues : read.issues;
}

}  // namespace

int new_command(const LabOptions& options) {
  if (std::filesystem::exists(options.file)) {
    say("outrider-lab: " + options.file + " is there: give another name");
    return kExitUsage;
  }
  NewExperiment experiment;
  const auto questions = new_questions();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const NewQuestion& question = questions[i];
    const std::string& answer = options.answers.at(i);
    const std::string problem = answer.empty() ? "" : question.take(experiment, answer);
    if (!problem.empty()) {
      say("outrider-lab: " + std::string(question.option) + " " + answer + ": " + problem);
      return kExitUsage;
    }
    if (answer.empty() && isatty(STDIN_FILENO) == 1 && !ask(question, experiment)) {
      say("\noutrider-lab: the input ended; nothing is written");
      return kExitUsage;
    }
  }
  const std::string text = new_experiment_text(experiment);
  if (const ConfigIssues issues = faults_of(text, options.file); !issues.empty()) {
    std::fputs(format_issues("new", issues).c_str(), stderr);
    return kExitUsage;
  }
  if (options.file.empty()) {
    std::fputs(text.c_str(), stdout);
    return kExitOk;
  }
  write_whole_file(options.file, text);
  say("outrider-lab: " + options.file + " is written; `outrider-lab run " + options.file +
      "` answers it");
  return kExitOk;
}

}  // namespace outrider::lab
