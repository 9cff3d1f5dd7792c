#pragma once

#include <string>
#include <vector>

#include "tools/lab/suite/suite_outcome.h"

namespace outrider::lab {

/// A figure of what the generator itself reaches in a runtime, which bounds what tests can say.
struct SuiteAccuracy {
  std::string name{};
  double value = kNotDefined;
  std::string unit{};
};

/// The program that ran all tests of a suite, and where.
struct SuiteSetup {
  std::string program;  ///< name and version
  Runtime runtime = Runtime::kVirtual;
  std::string fabric{};  ///< file of the network of all tests; empty: each test has its own
  std::string begun{};   ///< "2026-11-30T12:00:00", UTC
  std::string dut{};     ///< switches under test: their program, or the name that the user gave
  std::vector<SuiteAccuracy> accuracy{};  ///< empty: not measured
};

/// Returns a value of a metric as tables show it, with its unit.
std::string shown_in_table(const std::string& metric, double value);

/// Returns what is expected of a figure: "at least 96100 Mbit/s".
std::string rule_of(const JudgedFigure& figure);

/// Returns the outcomes as JSON: suite, setup, and of each test verdict, figures and cause. Numbers
/// are in the units of metrics, and null where they are not defined.
std::string suite_json(const Suite& suite, const SuiteSetup& setup,
                       const std::vector<SuiteOutcome>& outcomes);

/// Returns the outcomes as JUnit XML, as docs/junit.xsd has it, which Jenkins, GitLab and those
/// that read the reports of Ant take: a test that failed has a failure, one that broke an error,
/// one that cannot be run is skipped.
std::string suite_junit(const Suite& suite, const SuiteSetup& setup,
                        const std::vector<SuiteOutcome>& outcomes);

/// Returns the report as one HTML page without scripts, beside the folders of the tests, in the
/// order of the sections of a test report: the generator's accuracy, device under test, topology,
/// configuration, hosts, results, anomalies and deviations, repeatability.
std::string suite_html(const Suite& suite, const SuiteSetup& setup,
                       const std::vector<SuiteOutcome>& outcomes);

/// Returns the generator's accuracy in lines for a terminal, which are printed before the tests.
std::string accuracy_text(const SuiteSetup& setup);

/// Returns a line for each test, for a terminal.
std::string suite_text(const std::vector<SuiteOutcome>& outcomes);

}  // namespace outrider::lab
