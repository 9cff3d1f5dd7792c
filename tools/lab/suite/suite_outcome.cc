#include "tools/lab/suite/suite_outcome.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace outrider::lab {
namespace {

bool is_about(const SuiteExpectation& expect, const ArmSummary& arm) {
  if (!expect.arms.empty() && std::ranges::find(expect.arms, arm.label) == expect.arms.end())
    return false;
  return std::ranges::all_of(expect.where, [&](const std::string& one) {
    const std::size_t equals = one.find('=');
    return has_value(arm, one.substr(0, equals), one.substr(equals + 1));
  });
}

JudgedFigure judged(const SuiteExpectation& expect, const ArmSummary& arm,
                    const std::string& point) {
  JudgedFigure figure{expect.metric, arm.name.empty() ? arm.label : arm.name,
                      point,         arm.metric(expect.metric).value.value,
                      expect.least,  expect.most};
  figure.holds = !std::isnan(figure.value) && figure.value >= expect.least.value_or(figure.value) &&
                 figure.value <= expect.most.value_or(figure.value);
  return figure;
}

}  // namespace

const char* name_of(SuiteVerdict verdict) noexcept {
  switch (verdict) {
    case SuiteVerdict::kPassed:
      return "passed";
    case SuiteVerdict::kFailed:
      return "failed";
    case SuiteVerdict::kMeasured:
      return "measured";
    case SuiteVerdict::kSkipped:
      return "skipped";
    case SuiteVerdict::kBroken:
      return "broken";
  }
  return "";
}

SuiteOutcome judge(const SuiteTest& test, Results results) {
  SuiteOutcome outcome{.test = &test};
  std::vector<std::string> points = point_names(results.arms);
  if (points.size() == 1) points.front().clear();
  for (const SuiteExpectation& expect : test.expect) {
    const std::size_t before = outcome.figures.size();
    for (const ArmSummary& arm : results.arms)
      if (is_about(expect, arm))
        outcome.figures.push_back(judged(expect, arm, points.at(arm.point)));
    if (outcome.figures.size() == before)
      outcome.figures.push_back(
          {expect.metric, "no arm", "", kNotDefined, expect.least, expect.most});
  }
  const bool holds = std::ranges::all_of(outcome.figures, &JudgedFigure::holds);
  if (results.interrupted) {
    outcome.verdict = SuiteVerdict::kBroken;
    outcome.cause = "interrupted: " + std::to_string(results.finished_cases) + " of " +
                    std::to_string(results.planned_cases) + " cases are complete";
  } else if (test.expect.empty()) {
    outcome.verdict = SuiteVerdict::kMeasured;
  } else {
    outcome.verdict = holds ? SuiteVerdict::kPassed : SuiteVerdict::kFailed;
  }
  outcome.results = std::move(results);
  return outcome;
}

bool has_failed(const std::vector<SuiteOutcome>& outcomes) {
  return std::ranges::any_of(outcomes, [](const SuiteOutcome& o) {
    return o.verdict == SuiteVerdict::kFailed || o.verdict == SuiteVerdict::kBroken;
  });
}

}  // namespace outrider::lab
