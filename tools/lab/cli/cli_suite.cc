#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/suite/suite_repeats.h"
#include "tools/lab/suite/suite_report.h"
#include "tools/lab/summary/column_table.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// Returns a line for each test: its name, what it asks, and why it cannot be run.
std::string listed(const Suite& suite) {
  std::string text = suite.title + "\nSource: " + suite.source + "\n\n";
  for (const SuiteTest& test : suite.tests)
    text += test.name + ": " + test.asks +
            (test.cannot.empty() ? "" : " Cannot be run: " + test.cannot) + '\n';
  return text;
}

/// Returns the tests that the options name, or all; nothing, after a message, if one is unknown.
std::vector<const SuiteTest*> chosen_tests(const Suite& suite, const LabOptions& options) {
  std::vector<const SuiteTest*> tests;
  for (const std::string& name : options.tests)
    if (std::ranges::find(suite.tests, name, &SuiteTest::name) == suite.tests.end()) {
      say("outrider-lab: --tests: \"" + name + "\": " + suite.name +
          " has no such test; `outrider-lab suite " + options.file + " --list` lists them");
      return {};
    }
  for (const SuiteTest& test : suite.tests)
    if (options.tests.empty() || std::ranges::find(options.tests, test.name) != options.tests.end())
      tests.push_back(&test);
  return tests;
}

/// Runs a test's experiment into a folder of its name, as `run` does, and judges it. After Ctrl-C
/// no other begins.
SuiteOutcome run_test(const SuiteTest& test, const LabOptions& given, const fs::path& suite,
                      const fs::path& directory) {
  if (!test.cannot.empty()) return {.test = &test, .cause = test.cannot};
  if (stop_requested())
    return {
        .test = &test, .verdict = SuiteVerdict::kBroken, .cause = "interrupted before it began"};
  LabOptions options = given;
  options.file = (suite.parent_path() / test.experiment).string();
  options.out = (directory / test.name).string();
  options.quiet = true;
  say("outrider-lab: " + test.name + ": " + test.asks);
  if (const int status = run_command(options); status != kExitOk) {
    return {.test = &test,
            .verdict = SuiteVerdict::kBroken,
            .cause = "its run ended with status " + std::to_string(status)};
  }
  const ResultsReader results = open_results(options.out);
  SuiteOutcome outcome = judge(test, read_results(results));
  if (!test.columns.empty()) {
    const std::string& first = test.columns.front();
    outcome.variation = largest_variation(results, first.substr(0, first.find(':')));
  }
  if (!test.columns.empty())
    std::printf("%s\n%s\n", test.asks.c_str(),
                column_table(*outcome.results, {.columns = test.columns}).c_str());
  std::fflush(stdout);
  return outcome;
}

int run_suite(const LabOptions& options, const Suite& suite, const fs::path& path) {
  const auto tests = chosen_tests(suite, options);
  if (tests.empty()) return kExitUsage;
  const fs::path directory =
      options.out.empty() ? fs::path("results") / ("suite-" + suite.name) : fs::path(options.out);
  std::vector<SuiteOutcome> outcomes;
  outcomes.reserve(tests.size());
  for (const SuiteTest* test : tests) outcomes.push_back(run_test(*test, options, path, directory));
  fs::create_directories(directory);
  const SuiteSetup setup{"outrider-lab " OUTRIDER_VERSION, options.runtime};
  write_whole_file(directory / "suite.json", suite_json(suite, setup, outcomes));
  write_whole_file(directory / "junit.xml", suite_junit(suite, outcomes));
  write_whole_file(directory / "suite.html", suite_html(suite, setup, outcomes));
  std::fputs(suite_text(outcomes).c_str(), stdout);
  say("outrider-lab: suite.html, suite.json and junit.xml are in " + directory.string());
  if (stop_requested()) return kExitInterrupted;
  return has_failed(outcomes) ? kExitFailure : kExitOk;
}

}  // namespace

int suite_command(const LabOptions& options) {
  try {
    const fs::path path = suite_path(options.file);
    const auto suite = load_suite(path);
    if (!suite) {
      std::fputs(format_issues(path.string(), suite.issues).c_str(), stderr);
      return kExitUsage;
    }
    if (options.list_cases) return std::fputs(listed(*suite.config).c_str(), stdout), kExitOk;
    return run_suite(options, *suite.config, path);
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: ") + error.what());
    return kExitFailure;
  }
}

}  // namespace outrider::lab
