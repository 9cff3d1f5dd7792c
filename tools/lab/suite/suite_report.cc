#include "tools/lab/suite/suite_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/telemetry/markup_text.h"
#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(double value) { return std::isnan(value) ? Json(nullptr) : Json(value); }

std::string place_of(const JudgedFigure& figure) {
  return figure.arm + (figure.point.empty() ? "" : ", " + figure.point);
}

/// Returns what does not hold, in a sentence; empty if all does.
std::string failure_text(const SuiteOutcome& outcome) {
  if (outcome.verdict == SuiteVerdict::kBroken || outcome.verdict == SuiteVerdict::kSkipped)
    return outcome.cause;
  std::string text;
  for (const JudgedFigure& f : outcome.figures)
    if (!f.holds)
      text += (text.empty() ? "" : "; ") + f.metric + " of " + place_of(f) + " is " +
              shown_in_table(f.metric, f.value) + ", expected " + rule_of(f);
  return text;
}

Json arms_of(const Results& results) {
  Json arms = Json::array();
  for (const ArmSummary& arm : results.arms) {
    Json one{{"arm", arm.label}, {"point", arm.point}, {"seeds", arm.cases.size()}};
    for (const ArmMetric& metric : arm.metrics)
      if (!std::isnan(metric.value.value))
        one["metrics"][metric.name] = {{"value", metric.value.value},
                                       {"low", number_or_null(metric.value.low)},
                                       {"high", number_or_null(metric.value.high)}};
    arms.push_back(std::move(one));
  }
  return arms;
}

Json json_of(const SuiteOutcome& outcome) {
  const SuiteTest& test = *outcome.test;
  Json one{{"name", test.name},
           {"asks", test.asks},
           {"section", test.section},
           {"verdict", name_of(outcome.verdict)},
           {"cause", failure_text(outcome)},
           {"deviations", test.deviations},
           {"orientation", test.orientation},
           {"variation", number_or_null(outcome.variation.value_or(kNotDefined))},
           {"expected", Json::array()}};
  for (const JudgedFigure& f : outcome.figures)
    one["expected"].push_back({{"metric", f.metric},
                               {"arm", f.arm},
                               {"point", f.point},
                               {"value", number_or_null(f.value)},
                               {"least", number_or_null(f.least.value_or(kNotDefined))},
                               {"most", number_or_null(f.most.value_or(kNotDefined))},
                               {"holds", f.holds}});
  if (outcome.results) one["arms"] = arms_of(*outcome.results);
  return one;
}

}  // namespace

std::string shown_in_table(const std::string& metric, double value) {
  if (std::isnan(value)) return "not defined";
  const Column column = shown_figure(metric).column;
  const std::string unit(column.unit);
  return shown(value * column.scale) + (unit.empty() ? "" : " " + unit);
}

std::string rule_of(const JudgedFigure& figure) {
  if (figure.least == figure.most) return shown_in_table(figure.metric, *figure.least);
  std::string rule;
  if (figure.least) rule = "at least " + shown_in_table(figure.metric, *figure.least);
  if (figure.most)
    rule +=
        (rule.empty() ? "at most " : " and at most ") + shown_in_table(figure.metric, *figure.most);
  return rule;
}

std::string suite_json(const Suite& suite, const SuiteSetup& setup,
                       const std::vector<SuiteOutcome>& outcomes) {
  Json all{{"schema_version", 1},
           {"suite", suite.name},
           {"title", suite.title},
           {"source", suite.source},
           {"program", setup.program},
           {"runtime", name_of(setup.runtime)},
           {"passed", !has_failed(outcomes)},
           {"tests", Json::array()}};
  for (const SuiteOutcome& outcome : outcomes) all["tests"].push_back(json_of(outcome));
  return all.dump(1) + '\n';
}

std::string suite_text(const std::vector<SuiteOutcome>& outcomes) {
  std::string text;
  for (const SuiteOutcome& outcome : outcomes) {
    const std::string cause = failure_text(outcome);
    text += formatted("%-9s %s", name_of(outcome.verdict), outcome.test->name.c_str()) +
            (cause.empty() ? "" : ": " + cause) + '\n';
  }
  return text;
}

std::string suite_junit(const Suite& suite, const std::vector<SuiteOutcome>& outcomes) {
  const auto count = [&](SuiteVerdict verdict) {
    return std::to_string(std::ranges::count(outcomes, verdict, &SuiteOutcome::verdict));
  };
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"" +
      markup_text(suite.name) + "\" tests=\"" + std::to_string(outcomes.size()) + "\" failures=\"" +
      count(SuiteVerdict::kFailed) + "\" errors=\"" + count(SuiteVerdict::kBroken) +
      "\" skipped=\"" + count(SuiteVerdict::kSkipped) + "\">\n";
  for (const SuiteOutcome& outcome : outcomes) {
    xml += "    <testcase classname=\"" + markup_text(suite.name) + "\" name=\"" +
           markup_text(outcome.test->name) + "\"";
    const char* element = outcome.verdict == SuiteVerdict::kFailed    ? "failure"
                          : outcome.verdict == SuiteVerdict::kBroken  ? "error"
                          : outcome.verdict == SuiteVerdict::kSkipped ? "skipped"
                                                                      : nullptr;
    xml += element == nullptr ? "/>\n"
                              : std::string(">\n      <") + element + " message=\"" +
                                    markup_text(failure_text(outcome)) + "\"/>\n    </testcase>\n";
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace outrider::lab
