#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/suite/suite_facts.h"
#include "tools/lab/suite/suite_file.h"
#include "tools/lab/summary/results.h"

namespace outrider::lab {

/// How a test ended.
enum class SuiteVerdict : std::uint8_t {
  kPassed,    ///< all that was expected holds
  kFailed,    ///< something that was expected does not, or is not defined
  kMeasured,  ///< nothing was expected
  kSkipped,   ///< it cannot be run, see `cause`
  kBroken,    ///< its run failed or was interrupted, see `cause`
};

const char* name_of(SuiteVerdict verdict) noexcept;

/// One figure that an expectation is about.
struct JudgedFigure {
  std::string metric;
  std::string arm;                        ///< its name in tables
  std::string point;                      ///< what tells its point from others; empty: there is one
  double value = kNotDefined;             ///< in the unit of the metric
  std::optional<double> least{}, most{};  ///< likewise; one of both is there
  bool holds = false;
};

struct SuiteOutcome {
  const SuiteTest* test = nullptr;  ///< never null, outlives the outcome
  SuiteVerdict verdict = SuiteVerdict::kSkipped;
  std::string cause{};
  std::vector<std::string> notes{};  ///< why figures are as they are, a sentence each
  std::vector<JudgedFigure> figures{};
  std::optional<Results> results{};  ///< absent: it was not run
  /// The first column's over seeds, see largest_variation(); absent: one seed, or no column.
  std::optional<double> variation{};
  double seconds = 0;              ///< that it took on this machine
  SuiteFacts topology{}, hosts{};  ///< of its experiment; empty: it could not be read
};

/// Judges a test by its results. A figure that is not defined does not hold; an expectation that is
/// about no arm does not either. Pure.
SuiteOutcome judge(const SuiteTest& test, Results results);

/// Returns whether any test failed or broke.
bool has_failed(const std::vector<SuiteOutcome>& outcomes);

}  // namespace outrider::lab
