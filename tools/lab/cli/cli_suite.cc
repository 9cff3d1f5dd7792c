#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
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
#include "tools/lab/cli/suite_accuracy.h"
#include "tools/lab/cli/suite_tests.h"
#include "tools/lab/plan/testbed.h"
#include "tools/lab/suite/suite_report.h"
#include "tools/lab/tables/column_table.h"

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
  for (const std::string& note : outcome.notes) std::printf("%s\n", note.c_str());
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

/// Returns an instant as "2026-11-30T12:00:00", UTC.
std::string utc_text(std::chrono::system_clock::time_point at) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts)};
}

/// Returns the folder of the results, which are of the suite, the network and the runtime.
fs::path folder_of(const LabOptions& options, const Suite& suite) {
  if (!options.out.empty()) return options.out;
  const std::string network = fs::path(options.fabric).stem().string();
  std::string name = "suite-" + suite.name + (network.empty() ? "" : '-' + network);
  if (options.runtime != Runtime::kVirtual) name += std::string("-") + name_of(options.runtime);
  return fs::path("results") / name;
}

/// Reads the network of --fabric. @return false, after a message, on a fault
bool use_other_fabric(LabOptions& options) {
  if (options.fabric.empty()) return true;
  auto read = load_other_fabric(options.fabric);
  if (!read) return std::fputs(format_issues(options.fabric, read.issues).c_str(), stderr), false;
  options.other_fabric = std::make_shared<const OtherFabric>(std::move(*read.config));
  return true;
}

/// Returns what is said of the device under test.
std::string under_test(const SuiteRun& run) {
  if (run.testbed && !has_switch(*run.testbed))
    return "another than outrider-switch, between the ports of " + run.options.testbed;
  const std::string ours = "outrider-switch " OUTRIDER_VERSION;
  if (run.options.runtime == Runtime::kVirtual)
    return ours + ", virtual switches joined by modelled links";
  return ours + (run.testbed ? ", on the devices of " + run.options.testbed
                             : ", a process joined by vhost and virtio-user");
}

/// Runs the tests one after another, and notes how long each takes.
std::vector<SuiteOutcome> run_tests(const std::vector<const SuiteTest*>& tests,
                                    const SuiteRun& run) {
  std::vector<SuiteOutcome> outcomes;
  outcomes.reserve(tests.size());
  for (const SuiteTest* test : tests) {
    const auto from = std::chrono::steady_clock::now();
    outcomes.push_back(run_test(*test, run));
    outcomes.back().seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    print_table(outcomes.back());
  }
  return outcomes;
}

int run_suite(const LabOptions& given, const Suite& suite, const fs::path& path) {
  LabOptions options = given;
  const auto tests = chosen_tests(suite, options);
  if (tests.empty() || !use_other_fabric(options)) return kExitUsage;
  auto testbed = testbed_of(options);
  if (!testbed) return kExitUsage;
  catch_stop_signals();
  const SuiteRun run{options, path, folder_of(options, suite), std::move(*testbed)};
  SuiteSetup setup{.program = "outrider-lab " OUTRIDER_VERSION,
                   .runtime = options.runtime,
                   .fabric = options.fabric,
                   .begun = utc_text(std::chrono::system_clock::now()),
                   .dut = under_test(run),
                   .accuracy = measured_accuracy(run)};
  std::fputs(accuracy_text(setup).c_str(), stdout);
  const std::vector<SuiteOutcome> outcomes = run_tests(tests, run);
  fs::create_directories(run.directory);
  write_whole_file(run.directory / "suite.json", suite_json(suite, setup, outcomes));
  write_whole_file(run.directory / "junit.xml", suite_junit(suite, setup, outcomes));
  write_whole_file(run.directory / "suite.html", suite_html(suite, setup, outcomes));
  std::fputs(suite_text(outcomes).c_str(), stdout);
  say("outrider-lab: suite.html, suite.json and junit.xml are in " + run.directory.string());
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
