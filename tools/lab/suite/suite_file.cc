#include "tools/lab/suite/suite_file.h"

#include <algorithm>
#include <string>

#include "common/config/checks.h"
#include "common/config/file_kind.h"
#include "common/config/shipped_file.h"
#include "tools/lab/summary/metric.h"

namespace outrider::lab {
namespace {

bool is_metric(const std::string& name) {
  return std::ranges::any_of(metrics(), [&](const Metric& m) { return m.name == name; });
}

void check_metric(const Checks& at, const std::string& key, const std::string& name) {
  at.require(is_metric(name), key, Checks::quoted(name),
             "is no metric: `outrider-lab metrics` lists them");
}

/// Checks a column, "NAME", "NAME:range" or "NAME:change".
void check_column(const Checks& at, const std::string& column) {
  const std::size_t colon = column.find(':');
  check_metric(at, "columns", column.substr(0, colon));
  const std::string part = colon == column.npos ? "range" : column.substr(colon + 1);
  at.require(part == "range" || part == "change", "columns", Checks::quoted(column),
             "must have range or change behind the colon");
}

bool is_plain(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

void check(const Checks& at, const SuiteExpectation& expect) {
  check_metric(at, "metric", expect.metric);
  if (!expect.least && !expect.most) at.fault("least", "is missing, and so is `most`");
  at.require(!expect.least || !expect.most || *expect.least <= *expect.most, "least",
             display(ConfigValue(expect.least.value_or(0))),
             "must be at most `most`, " + display(ConfigValue(expect.most.value_or(0))));
  for (const std::string& one : expect.where)
    at.require(one.find('=') != one.npos, "where", Checks::quoted(one), "must be PARAMETER=VALUE");
}

void check(const Checks& at, const SuiteTest& test) {
  at.require(is_plain(test.name), "name", Checks::quoted(test.name),
             "must have small letters, digits and dashes alone: it names a folder");
  at.require(test.experiment.empty() != test.cannot.empty(), "experiment",
             Checks::quoted(test.experiment), "must be there, or `cannot`, and not both");
  at.require(test.cannot.empty() || test.expect.empty(), "expect", "[[test.expect]]",
             "needs an experiment");
  for (const std::string& column : test.columns) check_column(at, column);
  for (std::size_t i = 0; i < test.expect.size(); ++i) check(at.below("expect", i), test.expect[i]);
}

}  // namespace

void describe(Settings& v, SuiteExpectation& c) {
  v.value("metric", c.metric, {.required = true});
  v.value("least", c.least);
  v.value("most", c.most);
  v.value("arms", c.arms);
  v.value("where", c.where);
}

void describe(Settings& v, SuiteTest& c) {
  v.value("name", c.name, {.required = true});
  v.value("asks", c.asks, {.required = true});
  v.value("section", c.section);
  v.value("experiment", c.experiment);
  v.value("cannot", c.cannot);
  v.value("columns", c.columns);
  v.value("deviations", c.deviations);
  v.value("orientation", c.orientation);
  v.tables("expect", c.expect, SuiteExpectation{});
}

void describe(Settings& v, Suite& c) {
  v.value("name", c.name, {.required = true});
  v.value("title", c.title, {.required = true});
  v.value("source", c.source, {.required = true});
  v.tables("test", c.tests, SuiteTest{});
}

ConfigIssues validate(const Suite& suite) {
  ConfigIssues issues;
  const Checks root(issues);
  root.require(is_plain(suite.name), "name", Checks::quoted(suite.name),
               "must have small letters, digits and dashes alone: it names a folder");
  if (suite.tests.empty()) root.fault("test", "there must be at least one [[test]]");
  UniqueValues<std::string> names;
  for (std::size_t i = 0; i < suite.tests.size(); ++i) {
    const Checks at = root.below("test", i);
    names.add(at, "name", suite.tests[i].name, Checks::quoted(suite.tests[i].name),
              join_key("", "test", i));
    check(at, suite.tests[i]);
  }
  return issues;
}

ConfigResult<Suite> load_suite(const std::filesystem::path& path) {
  auto read = load_config<Suite>(path.string(), FileKind::kSuite);
  if (!read) return read;
  for (std::size_t i = 0; i < read.config->tests.size(); ++i) {
    const std::string& experiment = read.config->tests[i].experiment;
    std::error_code none;
    if (!experiment.empty() && !std::filesystem::exists(path.parent_path() / experiment, none))
      read.issues.push_back({join_key("", "test", i) + ".experiment",
                             Checks::quoted(experiment) + ": there is no such file"});
  }
  if (!read.issues.empty()) read.config.reset();
  return read;
}

std::filesystem::path suite_path(const std::string& named) {
  return named_file(named, "suites", ".toml", ".");
}

}  // namespace outrider::lab
