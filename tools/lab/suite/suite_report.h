#pragma once

#include <string>
#include <vector>

#include "tools/lab/suite/suite_outcome.h"

namespace outrider::lab {

/// The program that ran all tests of a suite, and where.
struct SuiteSetup {
  std::string program;  ///< name and version
  Runtime runtime = Runtime::kVirtual;
};

/// Returns a value of a metric as tables show it, with its unit.
std::string shown_in_table(const std::string& metric, double value);

/// Returns what is expected of a figure: "at least 96100 Mbit/s".
std::string rule_of(const JudgedFigure& figure);

/// Returns the outcomes as JSON: suite, setup, and of each test verdict, figures and cause. Numbers
/// are in the units of metrics, and null where they are not defined.
std::string suite_json(const Suite& suite, const SuiteSetup& setup,
                       const std::vector<SuiteOutcome>& outcomes);

/// Returns the outcomes as JUnit XML, in the form that Jenkins and GitLab read: a test that failed
/// has a failure, one that broke an error, one that cannot be run is skipped.
std::string suite_junit(const Suite& suite, const std::vector<SuiteOutcome>& outcomes);

/// Returns the report as one HTML page without scripts, beside the folders of the tests, in the
/// order of the sections of a test report: device under test, configuration, results, anomalies and
/// deviations, repeatability.
std::string suite_html(const Suite& suite, const SuiteSetup& setup,
                       const std::vector<SuiteOutcome>& outcomes);

/// Returns a line for each test, for a terminal.
std::string suite_text(const std::vector<SuiteOutcome>& outcomes);

}  // namespace outrider::lab
