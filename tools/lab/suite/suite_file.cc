#include "tools/lab/suite/suite_file.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/config/checks.h"
#include "common/config/file_kind.h"
#include "common/config/shipped_file.h"
#include "tools/lab/summary/metric.h"
#include "trafficgen/streams/benchmark/benchmark_result.h"

namespace outrider::lab {
namespace {

/// Checks the name of what a test measures.
/// @param streams  whether a benchmark gives it
void check_metric(const Checks& at, const std::string& key, const std::string& name, bool streams) {
  if (streams)
    at.require(tg::find_benchmark_figure(name) != nullptr, key, Checks::quoted(name),
               "is no figure of a benchmark: docs/streams.md lists them");
  else
    at.require(std::ranges::any_of(metrics(), [&](const Metric& m) { return m.name == name; }), key,
               Checks::quoted(name), "is no metric: `outrider-lab metrics` lists them");
}

/// Checks a column, "NAME", "NAME:range" or "NAME:change".
void check_column(const Checks& at, const std::string& column, bool streams) {
  const std::size_t colon = column.find(':');
  check_metric(at, "columns", column.substr(0, colon), streams);
  const std::string part = colon == column.npos ? "range" : column.substr(colon + 1);
  at.require(part == "range" || part == "change", "columns", Checks::quoted(column),
             "must have range or change behind the colon");
}

bool is_plain(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

void check(const Checks& at, const SuiteExpectation& expect, bool streams) {
  check_metric(at, "metric", expect.metric, streams);
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
  if (!test.like.empty()) return;
  if (test.asks.empty()) at.fault("asks", "is required");
  const bool streams = !test.streams.empty();
  const int kinds =
      (test.experiment.empty() ? 0 : 1) + (streams ? 1 : 0) + (test.cannot.empty() ? 0 : 1);
  at.require(kinds == 1, "experiment", Checks::quoted(test.experiment),
             "there must be one of `experiment`, `streams` and `cannot`");
  at.require(streams != test.under_test.empty(), "switch", Checks::quoted(test.under_test),
             "belongs to `streams`, and that needs it");
  at.require(test.virtual_only.empty() || !test.experiment.empty(), "virtual_only",
             Checks::quoted(test.virtual_only), "is about an experiment");
  at.require(test.cannot.empty() || test.expect.empty(), "expect", "[[test.expect]]",
             "needs an experiment");
  for (const std::string& column : test.columns) check_column(at, column, streams);
  for (std::size_t i = 0; i < test.expect.size(); ++i)
    check(at.below("expect", i), test.expect[i], streams);
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
  v.value("like", c.like);
  v.value("asks", c.asks);
  v.value("section", c.section);
  v.value("experiment", c.experiment);
  v.value("streams", c.streams);
  v.value("switch", c.under_test);
  v.value("virtual_only", c.virtual_only);
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

namespace {

/// Returns the test of another suite that is named, with whole paths of its files; nothing, with a
/// fault, if there is none. @param directory  of the suite that names it
std::optional<SuiteTest> named_test(const Checks& at, const std::string& named,
                                    const std::filesystem::path& directory) {
  const std::size_t slash = named.rfind('/');
  const std::string shown = Checks::quoted(named);
  if (!at.require(slash != named.npos, "like", shown, "must be SUITE/TEST")) return std::nullopt;
  const std::filesystem::path path =
      named_file(named.substr(0, slash), "suites", ".toml", directory);
  const auto other = load_config<Suite>(path.string(), FileKind::kSuite);
  if (!at.require(other.config.has_value(), "like", shown, "there is no such suite without fault"))
    return std::nullopt;
  const auto found =
      std::ranges::find(other.config->tests, named.substr(slash + 1), &SuiteTest::name);
  if (!at.require(found != other.config->tests.end(), "like", shown, "there is no such test") ||
      !at.require(found->like.empty(), "like", shown, "is like another itself: name that one"))
    return std::nullopt;
  SuiteTest test = *found;
  for (std::string* file : {&test.experiment, &test.streams, &test.under_test})
    if (!file->empty()) *file = std::filesystem::absolute(path.parent_path() / *file).string();
  return test;
}

/// Gives a test what it does not say itself, of the test that it is like.
void complete(SuiteTest& test, SuiteTest other) {
  const auto take = [](auto& own, auto& theirs) {
    if (own.empty()) own = std::move(theirs);
  };
  test.like.clear();
  take(test.asks, other.asks);
  take(test.section, other.section);
  take(test.experiment, other.experiment);
  take(test.streams, other.streams);
  take(test.under_test, other.under_test);
  take(test.virtual_only, other.virtual_only);
  take(test.cannot, other.cannot);
  take(test.columns, other.columns);
  take(test.deviations, other.deviations);
  take(test.orientation, other.orientation);
  take(test.expect, other.expect);
}

/// Completes all tests that are like others, and judges the suite as a whole.
ConfigIssues completed(Suite& suite, const std::filesystem::path& path) {
  ConfigIssues issues;
  const Checks root(issues);
  for (std::size_t i = 0; i < suite.tests.size(); ++i)
    if (SuiteTest& test = suite.tests[i]; !test.like.empty())
      if (auto other = named_test(root.below("test", i), test.like, path.parent_path()))
        complete(test, std::move(*other));
  return issues.empty() ? validate(suite) : issues;
}

}  // namespace

ConfigResult<Suite> load_suite(const std::filesystem::path& path) {
  auto read = load_config<Suite>(path.string(), FileKind::kSuite);
  if (!read) return read;
  read.issues = completed(*read.config, path);
  for (std::size_t i = 0; i < read.config->tests.size(); ++i) {
    const SuiteTest& test = read.config->tests[i];
    for (const auto& [key, file] : {std::pair{".experiment", test.experiment},
                                    {".streams", test.streams},
                                    {".switch", test.under_test}}) {
      std::error_code none;
      if (!file.empty() && !std::filesystem::exists(path.parent_path() / file, none))
        read.issues.push_back(
            {join_key("", "test", i) + key, Checks::quoted(file) + ": there is no such file"});
    }
  }
  if (!read.issues.empty()) read.config.reset();
  return read;
}

std::filesystem::path suite_path(const std::string& named) {
  return named_file(named, "suites", ".toml", ".");
}

}  // namespace outrider::lab
