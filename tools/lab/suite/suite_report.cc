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

constexpr const char* kNoTime = "1970-01-01T00:00:00";

std::string attribute(const std::string& name, const std::string& value) {
  return ' ' + name + "=\"" + markup_text(value) + '"';
}

std::string junit_case(const Suite& suite, const SuiteOutcome& outcome) {
  const std::string begin = "    <testcase" + attribute("classname", suite.name) +
                            attribute("name", outcome.test->name) +
                            attribute("time", formatted("%.3f", outcome.seconds));
  const std::string message = attribute("message", failure_text(outcome));
  const auto with = [&begin](const std::string& element) {
    return begin + ">\n      <" + element + "/>\n    </testcase>\n";
  };
  switch (outcome.verdict) {
    case SuiteVerdict::kFailed:
      return with("failure" + message + attribute("type", "expectation"));
    case SuiteVerdict::kBroken:
      return with("error" + message + attribute("type", "run"));
    case SuiteVerdict::kSkipped:
      return with("skipped" + message);
    case SuiteVerdict::kPassed:
    case SuiteVerdict::kMeasured:
      break;
  }
  return begin + "/>\n";
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
    for (const CollectiveSummary& c : arm.collectives)
      one["collectives"].push_back(
          {{"job", c.job},
           {"collective", c.collective},
           {"ranks", c.ranks},
           {"size_bytes", number_or_null(c.size_bytes)},
           {"seconds", number_or_null(c.seconds)},
           {"algbw_bits_per_second", number_or_null(c.algbw_bits_per_second)},
           {"busbw_bits_per_second", number_or_null(c.busbw_bits_per_second)}});
    arms.push_back(std::move(one));
  }
  return arms;
}

void add_facts(const char* key, const SuiteFacts& facts, Json& out) {
  out[key] = Json::object();
  for (const auto& [name, value] : facts) out[key][name] = value;
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
           {"notes", outcome.notes},
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
  add_facts("topology", outcome.topology, one);
  add_facts("hosts", outcome.hosts, one);
  if (!outcome.results) return one;
  one["configuration"] = Json::object();
  for (const SuiteSetting& s : configuration_of(*outcome.results))
    one["configuration"][s.section][s.name] = s.values;
  one["arms"] = arms_of(*outcome.results);
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
  Json all{{"schema_version", 1},       {"suite", suite.name},
           {"title", suite.title},      {"source", suite.source},
           {"program", setup.program},  {"runtime", name_of(setup.runtime)},
           {"fabric", setup.fabric},    {"device_under_test", setup.dut},
           {"accuracy", Json::array()}, {"passed", !has_failed(outcomes)},
           {"tests", Json::array()}};
  for (const SuiteAccuracy& a : setup.accuracy)
    all["accuracy"].push_back(
        {{"name", a.name}, {"value", number_or_null(a.value)}, {"unit", a.unit}});
  for (const SuiteOutcome& outcome : outcomes) all["tests"].push_back(json_of(outcome));
  return all.dump(1) + '\n';
}

std::string accuracy_text(const SuiteSetup& setup) {
  std::string text;
  for (const SuiteAccuracy& a : setup.accuracy)
    text +=
        "accuracy  " + a.name + ": " + shown(a.value) + (a.unit.empty() ? "" : ' ' + a.unit) + '\n';
  if (setup.accuracy.empty()) text += "accuracy  of the generator was not measured\n";
  return text;
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

std::string suite_junit(const Suite& suite, const SuiteSetup& setup,
                        const std::vector<SuiteOutcome>& outcomes) {
  const auto count = [&](SuiteVerdict verdict) {
    return std::to_string(std::ranges::count(outcomes, verdict, &SuiteOutcome::verdict));
  };
  double seconds = 0;
  for (const SuiteOutcome& outcome : outcomes) seconds += outcome.seconds;
  // Ant's schema requires package, id, timestamp, hostname, time, properties, and both outputs.
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite" +
      attribute("name", suite.name) + attribute("package", "outrider-lab.suite") +
      attribute("id", "0") + attribute("timestamp", setup.begun.empty() ? kNoTime : setup.begun) +
      attribute("hostname", "localhost") + attribute("tests", std::to_string(outcomes.size())) +
      attribute("failures", count(SuiteVerdict::kFailed)) +
      attribute("errors", count(SuiteVerdict::kBroken)) +
      attribute("skipped", count(SuiteVerdict::kSkipped)) +
      attribute("time", formatted("%.3f", seconds)) + ">\n    <properties>\n";
  const SuiteFacts properties{
      {"program", setup.program}, {"runtime", name_of(setup.runtime)}, {"fabric", setup.fabric}};
  for (const auto& [name, value] : properties)
    xml += "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  xml += "    </properties>\n";
  for (const SuiteOutcome& outcome : outcomes) xml += junit_case(suite, outcome);
  return xml + "    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace outrider::lab
