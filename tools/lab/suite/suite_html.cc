#include "common/telemetry/markup_text.h"
#include "tools/lab/suite/suite_report.h"
#include "tools/lab/summary/column_table.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

constexpr const char* kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;"
    "color:#1a1a1a;background:#fff}table{border-collapse:collapse;margin:1rem 0;display:block;"
    "overflow-x:auto}th,td{border:1px solid #ccc;padding:.25rem .6rem;text-align:left}"
    "th{background:#f3f3f3}.passed{color:#0a6b2d}.failed,.broken{color:#b00020;font-weight:bold}"
    ".skipped{color:#666}";

std::string element(const char* name, const std::string& text) {
  return std::string("<") + name + ">" + markup_text(text) + "</" + name + ">\n";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string html = "<ul>\n";
  for (const std::string& item : items) html += element("li", item);
  return html + "</ul>\n";
}

std::string verdict_in_html(SuiteVerdict verdict) {
  return std::string("<span class=\"") + name_of(verdict) + "\">" + name_of(verdict) + "</span>";
}

std::string overview(const std::vector<SuiteOutcome>& outcomes) {
  std::string html =
      "<table>\n<tr><th>test</th><th>asks</th><th>section</th><th>result</th></tr>\n";
  for (const SuiteOutcome& o : outcomes)
    html += "<tr><td><a href=\"#" + o.test->name + "\">" + o.test->name + "</a></td><td>" +
            markup_text(o.test->asks) + "</td><td>" + markup_text(o.test->section) + "</td><td>" +
            verdict_in_html(o.verdict) + "</td></tr>\n";
  return html + "</table>\n";
}

std::string expected_in_html(const SuiteOutcome& outcome) {
  if (outcome.figures.empty()) return "";
  std::string html =
      "<table>\n<tr><th>metric</th><th>of</th><th>expected</th><th>measured</th><th></th></tr>\n";
  for (const JudgedFigure& f : outcome.figures)
    html += "<tr><td>" + f.metric + "</td><td>" +
            markup_text(f.arm + (f.point.empty() ? "" : ", " + f.point)) + "</td><td>" +
            markup_text(rule_of(f)) + "</td><td>" + markup_text(shown_in_table(f.metric, f.value)) +
            "</td><td>" + verdict_in_html(f.holds ? SuiteVerdict::kPassed : SuiteVerdict::kFailed) +
            "</td></tr>\n";
  return html + "</table>\n";
}

/// Returns the table of a test's columns.
std::string measured_in_html(const SuiteOutcome& outcome) {
  if (!outcome.results || outcome.test->columns.empty()) return "";
  return column_table(*outcome.results,
                      {.form = TableForm::kHtml, .columns = outcome.test->columns});
}

std::string test_in_html(const SuiteOutcome& outcome) {
  const SuiteTest& test = *outcome.test;
  std::string html = "<h3 id=\"" + test.name + "\">" + test.name + ": " +
                     verdict_in_html(outcome.verdict) + "</h3>\n" + element("p", test.asks);
  if (!outcome.cause.empty()) html += element("p", outcome.cause);
  html += measured_in_html(outcome) + expected_in_html(outcome);
  if (!test.orientation.empty())
    html += element("p", "Values of the source, for orientation and not as limits:") +
            list_of(test.orientation);
  if (outcome.results)
    html += "<p><a href=\"" + test.name + "/report.html\">Figures and distributions</a>, " +
            "<a href=\"" + test.name + "/config/\">configurations</a></p>\n";
  return html;
}

std::string anomalies(const std::vector<SuiteOutcome>& outcomes) {
  std::vector<std::string> items;
  for (const SuiteOutcome& o : outcomes) {
    for (const std::string& one : o.test->deviations) items.push_back(o.test->name + ": " + one);
    if (!o.results) continue;
    for (const ArmWarning& w : o.results->warnings)
      items.push_back(o.test->name + ", " + w.label + ": " + std::to_string(w.count) + ' ' +
                      w.text);
  }
  return items.empty() ? element("p", "None.") : list_of(items);
}

/// Returns what is known of a test's repeatability. Plans want a variation above 5 % to be said.
std::string repeated(const SuiteOutcome& outcome) {
  constexpr double kToBeSaid = 0.05;
  const std::string name = outcome.test->name;
  const std::size_t seeds = outcome.results->arms.front().cases.size();
  if (!outcome.variation)
    return name + (seeds < 2 ? ": one seed, so that it was not measured" : ": not defined");
  const std::string& metric = outcome.test->columns.front();
  return name + ": " + metric.substr(0, metric.find(':')) +
         " has a coefficient of variation of at " +
         formatted("most %.1f %%", 100 * *outcome.variation) + " over " + std::to_string(seeds) +
         " seeds" + (*outcome.variation > kToBeSaid ? ": above 5 %" : "");
}

std::string repeatability(const std::vector<SuiteOutcome>& outcomes) {
  std::vector<std::string> items;
  for (const SuiteOutcome& o : outcomes)
    if (o.results && !o.results->arms.empty()) items.push_back(repeated(o));
  return items.empty() ? element("p", "No test was run.") : list_of(items);
}

}  // namespace

std::string suite_html(const Suite& suite, const SuiteSetup& setup,
                       const std::vector<SuiteOutcome>& outcomes) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      markup_text(suite.title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n";
  html += element("h1", suite.title) + overview(outcomes);
  html += element("h2", "Device under test") +
          element("p", setup.program + ", " + name_of(setup.runtime) + " time") +
          element("p", "Each test has the network of its experiment.");
  html += element("h2", "Configuration") + element("p", "Source: " + suite.source) +
          element("p",
                  "The resolved configurations of switches and hosts are in the folder of "
                  "each test.");
  html += element("h2", "Results");
  for (const SuiteOutcome& outcome : outcomes) html += test_in_html(outcome);
  html += element("h2", "Anomalies and deviations") + anomalies(outcomes);
  html += element("h2", "Repeatability") + repeatability(outcomes);
  return html + "</body>\n</html>\n";
}

}  // namespace outrider::lab
