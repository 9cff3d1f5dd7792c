#include "tools/lab/cli/suite_tests.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/suite/suite_benchmark.h"
#include "tools/lab/suite/suite_repeats.h"

namespace outrider::lab {
namespace {

SuiteOutcome broken(const SuiteTest& test, std::string cause) {
  return {.test = &test, .verdict = SuiteVerdict::kBroken, .cause = std::move(cause)};
}

/// Returns the name of the metric that a column shows.
std::string metric_of(const std::string& column) { return column.substr(0, column.find(':')); }

/// Notes topology and hosts of a test. On the network of --fabric it also notes why the test cannot
/// be run there. @return false if it cannot
bool looked_at(const LabOptions& options, SuiteOutcome& outcome) {
  auto file = load_experiment(options.file, options.other_fabric.get());
  if (file) {
    outcome.topology = topology_of(*file.config);
    outcome.hosts = hosts_of(*file.config);
  }
  if (options.other_fabric == nullptr) return true;  // `run` says what is wrong with it
  ConfigIssues issues = std::move(file.issues);
  if (file) issues = make_plan(*file.config, plan_options(options)).issues;
  if (issues.empty()) return true;
  const ConfigIssue& first = *issues.begin();
  outcome.cause =
      "does not fit the network of " + options.fabric + ": " + first.key + ": " + first.problem;
  return false;
}

SuiteOutcome run_experiment(const SuiteTest& test, const SuiteRun& run) {
  LabOptions options = run.options;
  options.file = (run.suite.parent_path() / test.experiment).string();
  options.out = (run.directory / test.name).string();
  options.quiet = true;
  SuiteOutcome looked{.test = &test};
  if (!looked_at(options, looked)) return looked;
  if (const int status = run_command(options); status != kExitOk) {
    looked.verdict = SuiteVerdict::kBroken;
    looked.cause = "its run ended with status " + std::to_string(status);
    return looked;
  }
  const ResultsReader results = open_results(options.out);
  SuiteOutcome outcome = judge(test, read_results(results));
  outcome.topology = std::move(looked.topology);
  outcome.hosts = std::move(looked.hosts);
  if (!test.columns.empty())
    outcome.variation = largest_variation(results, metric_of(test.columns.front()));
  return outcome;
}

/// @throws std::runtime_error if the testbed lacks a device of the streams
void require_devices(const BenchmarkOrder& order, const Testbed& testbed) {
  for (const auto& device : order.traffic.devices)
    if (std::ranges::find(testbed.devices, device.name, &TestbedDevice::name) ==
        testbed.devices.end())
      throw std::runtime_error("the testbed has no [[device]] named \"" + device.name +
                               "\", which the streams use");
}

SuiteOutcome run_streams(const SuiteTest& test, const SuiteRun& run) {
  auto order = load_benchmark(test, run.suite.parent_path());
  if (!order) return broken(test, format_issues(test.streams, order.issues));
  if (run.options.seeds) order.config->traffic.benchmark.repeats = *run.options.seeds;
  const tg::BenchmarkResult result = measured(*order.config, test, run);
  std::filesystem::create_directories(run.directory / test.name);
  write_whole_file(run.directory / test.name / "benchmark.json", to_json(result));
  SuiteOutcome outcome = judge(test, results_of(result, test.name, run.options.runtime));
  outcome.notes = result.notes;
  if (!test.columns.empty())
    outcome.variation = variation_of(result, metric_of(test.columns.front()));
  return outcome;
}

}  // namespace

tg::BenchmarkResult measured(const BenchmarkOrder& order, const SuiteTest& test,
                             const SuiteRun& run) {
  const std::filesystem::path directory = run.directory / test.name;
  switch (run.options.runtime) {
    case Runtime::kLoopback:
      return run_benchmark_loopback(order, directory);
    case Runtime::kTestbed:
      require_devices(order, *run.testbed);
      return run_benchmark_testbed(order, directory, *run.testbed);
    case Runtime::kVirtual:
      break;
  }
  return run_benchmark_virtual(order,
                               run.options.jobs != 0 ? run.options.jobs : usable_cpus().size());
}

std::string why_not(const SuiteTest& test, const SuiteRun& run) {
  if (!test.cannot.empty()) return test.cannot;
  if (!test.streams.empty() && run.options.other_fabric != nullptr)
    return "its streams have ports of their own, and not those of " + run.options.fabric;
  if (run.options.runtime == Runtime::kVirtual || test.experiment.empty()) return "";
  if (!test.virtual_only.empty()) return "in virtual time alone: " + test.virtual_only;
  if (run.testbed && !has_switch(*run.testbed))
    return "an experiment runs outrider-switch, and the testbed has another device under test";
  return "";
}

SuiteOutcome run_test(const SuiteTest& test, const SuiteRun& run) {
  if (std::string reason = why_not(test, run); !reason.empty())
    return {.test = &test, .cause = std::move(reason)};
  if (stop_requested()) return broken(test, "interrupted before it began");
  say("outrider-lab: " + test.name + ": " + test.asks);
  try {
    return test.streams.empty() ? run_experiment(test, run) : run_streams(test, run);
  } catch (const std::exception& error) {
    return broken(test, error.what());
  }
}

}  // namespace outrider::lab
