#pragma once

#include <filesystem>
#include <optional>

#include "tools/lab/cli/cli.h"
#include "tools/lab/plan/testbed.h"
#include "tools/lab/run/run_benchmark.h"
#include "tools/lab/suite/suite_outcome.h"

namespace outrider::lab {

/// Where the tests of a suite run, and into which directory.
struct SuiteRun {
  const LabOptions& options;
  std::filesystem::path suite;       ///< its file
  std::filesystem::path directory;   ///< of the results
  std::optional<Testbed> testbed{};  ///< of the testbed runtime
};

/// Returns why a test does not run in the runtime; empty: it does.
std::string why_not(const SuiteTest& test, const SuiteRun& run);

/// Runs a benchmark in the runtime, into a folder of the test's name.
/// @throws EnvironmentError, std::runtime_error naming what failed
tg::BenchmarkResult measured(const BenchmarkOrder& order, const SuiteTest& test,
                             const SuiteRun& run);

/// Runs a test's experiment into a folder of its name, as `run` does, or its benchmark, and judges
/// it. After Ctrl-C no other begins.
SuiteOutcome run_test(const SuiteTest& test, const SuiteRun& run);

}  // namespace outrider::lab
