#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/cli/suite_tests.h"
#include "tools/lab/plan/testbed.h"
#include "tools/lab/suite/suite_report.h"
#include "tools/lab/summary/column_table.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

/// Returns a line for each test: its name, what it asks, how long an experiment takes, and why the
/// runtime cannot run it.
std::string listed(const Suite& suite, const LabOptions& options, const fs::path& path) {
  const SuiteRun run{options, {}, {}, {}};
  std::string text = suite.title + "\nSource: " + suite.source + "\n\n";
  for (const SuiteTest& test : suite.tests) {
    const std::string reason = why_not(test, run);
    text += test.name + ": " + test.asks;
    if (!reason.empty()) text += " Cannot be run: " + reason;
    else if (options.runtime == Runtime::kVirtual && !test.experiment.empty())
      text += in_brackets(
          time_needed((path.parent_path() / test.experiment).string(), plan_options(options)));
    text += '\n';
  }
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

/// Shows what a test has measured, if it has.
void print_table(const SuiteOutcome& outcome) {
  if (outcome.results && !outcome.test->columns.empty() && !outcome.results->arms.empty())
    std::printf("%s\n%s\n", outcome.test->asks.c_str(),
                column_table(*outcome.results, {.columns = outcome.test->columns}).c_str());
  if (outcome.results)
    for (const std::string& note : outcome.results->advice) std::printf("%s\n", note.c_str());
  std::fflush(stdout);
}

/// Reads the testbed of the testbed runtime. @return nothing, after a message, if it is faulty
std::optional<std::optional<Testbed>> testbed_of(const LabOptions& options) {
  std::optional<Testbed> none;
  if ((options.runtime == Runtime::kTestbed) != !options.testbed.empty()) {
    say("outrider-lab: --testbed FILE belongs to --runtime testbed, and that to it");
    return std::nullopt;
  }
  if (options.testbed.empty()) return none;
  auto loaded = load_testbed(options.testbed);
  if (loaded) return std::move(loaded.config);
  std::fputs(format_issues(options.testbed, loaded.issues).c_str(), stderr);
  return std::nullopt;
}

std::string default_name(const Suite& suite, Runtime runtime) {
  return "suite-" + suite.name +
         (runtime == Runtime::kVirtual ? "" : std::string("-") + name_of(runtime));
}

int run_suite(const LabOptions& options, const Suite& suite, const fs::path& path) {
  const auto tests = chosen_tests(suite, options);
  if (tests.empty()) return kExitUsage;
  auto testbed = testbed_of(options);
  if (!testbed) return kExitUsage;
  const fs::path directory = options.out.empty()
                                 ? fs::path("results") / default_name(suite, options.runtime)
                                 : fs::path(options.out);
  const SuiteRun run{options, path, directory, std::move(*testbed)};
  std::vector<SuiteOutcome> outcomes;
  outcomes.reserve(tests.size());
  for (const SuiteTest* test : tests) {
    outcomes.push_back(run_test(*test, run));
    print_table(outcomes.back());
  }
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
    if (options.list_cases)
      return std::fputs(listed(*suite.config, options, path).c_str(), stdout), kExitOk;
    return run_suite(options, *suite.config, path);
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: ") + error.what());
    return kExitFailure;
  }
}

}  // namespace outrider::lab
