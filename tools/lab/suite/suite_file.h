#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_binding.h"
#include "common/config/config_result.h"

namespace outrider::lab {

/// A limit that a metric has to keep for the test to pass: in each arm at each point, or in those
/// that are named.
struct SuiteExpectation {
  std::string metric{};              ///< by its name in `outrider-lab metrics`
  std::optional<double> least{};     ///< in the unit of the metric
  std::optional<double> most{};      ///< the same; at least one of both is there
  std::vector<std::string> arms{};   ///< labels; empty: all
  std::vector<std::string> where{};  ///< "PARAMETER=VALUE": arms that have all of them
};

/// One test of a suite: an experiment, or a benchmark of streams through a device under test, and
/// what is read from it; or the reason why there is none.
struct SuiteTest {
  std::string name{};  ///< unique; letters, digits and dashes
  /// "SUITE/TEST": a test of another suite, which gives all that this one does not say but the
  /// name.
  std::string like{};
  std::string asks{};        ///< the question, in a sentence
  std::string section{};     ///< where the source has it; empty: nowhere
  std::string experiment{};  ///< path from the suite's file; empty: the next two
  std::string streams{};     ///< file of outrider-trafficgen with [benchmark]; empty: see `cannot`
  std::string under_test{};  ///< file of outrider-switch, the device under test of `streams`
  /// Why an experiment runs in virtual time alone; empty: it runs in every runtime.
  std::string virtual_only{};
  std::string cannot{};                    ///< why this program cannot do it; empty: it can
  std::vector<std::string> columns{};      ///< metrics that the report shows, by name
  std::vector<std::string> deviations{};   ///< in what it differs from the source
  std::vector<std::string> orientation{};  ///< values of the source that are no limits
  std::vector<SuiteExpectation> expect{};  ///< empty: the test has no pass or fail
};

/// A file of conf/suites: a test plan as data.
struct Suite {
  std::string name{};    ///< that of its file
  std::string title{};   ///< one line
  std::string source{};  ///< the plan that it follows, with its version
  std::vector<SuiteTest> tests{};
};

void describe(Settings& v, SuiteExpectation& c);
void describe(Settings& v, SuiteTest& c);
void describe(Settings& v, Suite& c);

/// Returns what is wrong in a suite, metrics that do not exist included, by its keys. Of a test
/// that is like another only the name is judged: load_suite() judges the whole.
ConfigIssues validate(const Suite& suite);

/// Reads a suite. Tests that are like others have got the rest from them, with whole paths of
/// files.
/// @param path  of its file
ConfigResult<Suite> load_suite(const std::filesystem::path& path);

/// Returns the path of a suite that is named as a path, or by the name of a file in conf/suites.
std::filesystem::path suite_path(const std::string& named);

}  // namespace outrider::lab
