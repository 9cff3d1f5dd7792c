#include <algorithm>

#include "common/telemetry/markup_text.h"
#include "tools/lab/suite/suite_picture.h"
#include "tools/lab/suite/suite_report.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/collective_table.h"
#include "tools/lab/tables/column_table.h"

namespace outrider::lab {
namespace {

constexpr const char* kStyle =
    ":root{color-scheme:light dark;--text:#1a1a1a;--page:#fff;--rule:#ccc;--head:#f3f3f3;"
    "--good:#0a6b2d;--bad:#b00020;--mute:#666}@media(prefers-color-scheme:dark){:root{"
    "--text:#e7eaed;--page:#101418;--rule:#39424c;--head:#20262c;--good:#3fcba4;--bad:#ff8a80;"
    "--mute:#9aa5b0;--link:#8ab4f8}a{color:var(--link)}}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;"
    "color:var(--text);background:var(--page)}table{border-collapse:collapse;margin:1rem 0;"
    "display:block;overflow-x:auto}th,td{border:1px solid var(--rule);padding:.25rem .6rem;"
    "text-align:left}th{background:var(--head)}.passed{color:var(--good)}"
    ".failed,.broken{color:var(--bad);font-weight:bold}.skipped{color:var(--mute)}"
    "summary{cursor:pointer}li,p{overflow-wrap:anywhere}";

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

/// Returns the pictures of a test's first columns over what is swept.
std::string pictures_in_html(const SuiteOutcome& outcome) {
  constexpr std::size_t kPictures = 2;
  std::string html;
  for (std::size_t i = 0; i < std::min(outcome.test->columns.size(), kPictures); ++i)
    html += sweep_picture(*outcome.results, outcome.test->columns[i]);
  return html.empty() ? "" : "<div class=\"pictures\">\n" + html + "</div>\n";
}

/// Returns the table of a test's columns, their pictures, and what collectives reach.
std::string measured_in_html(const SuiteOutcome& outcome) {
  if (!outcome.results || outcome.test->columns.empty()) return "";
  std::string html =
      column_table(*outcome.results, {.form = TableForm::kHtml, .columns = outcome.test->columns}) +
      pictures_in_html(outcome);
  if (const std::string words = collective_table(*outcome.results, {.form = TableForm::kHtml});
      !words.empty())
    html += element("p", kCollectiveWords) + words;
  return html;
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
  if (outcome.results && !test.streams.empty())
    html +=
        "<p><a href=\"" + test.name + "/benchmark.json\">Every repetition, histograms</a></p>\n";
  else if (outcome.results)
    html += "<p><a href=\"" + test.name + "/report.html\">Figures and distributions</a>, " +
            "<a href=\"" + test.name + "/config/\">configurations</a></p>\n";
  return html;
}

std::string accuracy_in_html(const SuiteSetup& setup) {
  if (setup.accuracy.empty()) return element("p", "It was not measured.");
  std::string html = "<table>\n<tr><th>figure</th><th>value</th><th>unit</th></tr>\n";
  for (const SuiteAccuracy& a : setup.accuracy)
    html += "<tr><td>" + markup_text(a.name) + "</td><td>" + shown(a.value) + "</td><td>" +
            markup_text(a.unit) + "</td></tr>\n";
  return html + "</table>\n";
}

/// Returns a table of facts with a row for each test and fact. Tests that have the same as the test
/// before share its rows.
std::string facts_in_html(const std::vector<SuiteOutcome>& outcomes,
                          SuiteFacts SuiteOutcome::*facts) {
  std::string rows;
  for (std::size_t i = 0; i < outcomes.size();) {
    const SuiteFacts& own = outcomes[i].*facts;
    std::string names = outcomes[i].test->name;
    std::size_t next = i + 1;
    for (; next < outcomes.size() && outcomes[next].*facts == own; ++next)
      names += ", " + outcomes[next].test->name;
    for (std::size_t f = 0; f < own.size(); ++f)
      rows += "<tr>" +
              (f > 0 ? std::string()
                     : "<td rowspan=\"" + std::to_string(own.size()) + "\">" + names + "</td>") +
              "<td>" + markup_text(own[f].first) + "</td><td>" + markup_text(own[f].second) +
              "</td></tr>\n";
    i = next;
  }
  if (rows.empty()) return element("p", "No test was run.");
  return "<table>\n<tr><th>test</th><th>what</th><th>value</th></tr>\n" + rows + "</table>\n";
}

/// Returns the settings of a test by section, folded away.
std::string configuration_in_html(const SuiteOutcome& outcome) {
  std::string rows, before;
  for (const SuiteSetting& s : configuration_of(*outcome.results)) {
    std::string values;
    for (const std::string& value : s.values) values += (values.empty() ? "" : ", ") + value;
    rows += "<tr><td>" + (s.section == before ? "" : s.section) + "</td><td>" +
            markup_text(s.name) + "</td><td>" + markup_text(values) + "</td></tr>\n";
    before = s.section;
  }
  return "<details>\n<summary>" + outcome.test->name +
         "</summary>\n<table>\n<tr><th>section</th><th>setting</th><th>values</th></tr>\n" + rows +
         "</table>\n</details>\n";
}

std::string configuration(const std::vector<SuiteOutcome>& outcomes) {
  std::string html;
  for (const SuiteOutcome& o : outcomes)
    if (o.results) html += configuration_in_html(o);
  return html + element("p",
                        "What a test does not set has the program's default: the resolved "
                        "configurations of switches and hosts are in the folder of each test.");
}

std::string anomalies(const SuiteSetup& setup, const std::vector<SuiteOutcome>& outcomes) {
  std::vector<std::string> items;
  if (!setup.fabric.empty())
    items.push_back("all tests: on the network of " + setup.fabric +
                    ", and not on that of each test. What is expected was written for the latter");
  for (const SuiteOutcome& o : outcomes) {
    for (const std::string& one : o.test->deviations) items.push_back(o.test->name + ": " + one);
    for (const std::string& one : o.notes) items.push_back(o.test->name + ": " + one);
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
  const std::string noun = outcome.test->streams.empty() ? "seed" : "repetition";
  if (!outcome.variation)
    return name + (seeds < 2 ? ": one " + noun + ", so that it was not measured" : ": not defined");
  const std::string& metric = outcome.test->columns.front();
  return name + ": " + metric.substr(0, metric.find(':')) +
         " has a coefficient of variation of at " +
         formatted("most %.1f %%", 100 * *outcome.variation) + " over " + std::to_string(seeds) +
         " " + noun + "s" + (*outcome.variation > kToBeSaid ? ": above 5 %" : "");
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
      "<!DOCTYPE html>\n<html lang=\"en\" data-ready=\"yes\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      markup_text(suite.title) + "</title>\n<style>" + kStyle + kPictureStyle +
      "</style>\n</head>\n<body>\n";
  html += element("h1", suite.title) + overview(outcomes) + element("p", "Source: " + suite.source);
  html += element("h2", "Accuracy of the generator") + accuracy_in_html(setup);
  html += element("h2", "Device under test") + element("p", setup.dut) +
          element("p", "Run by " + setup.program + ", runtime: " + name_of(setup.runtime));
  html += element("h2", "Topology") +
          element("p", setup.fabric.empty() ? "Each test has the network of its experiment."
                                            : "All tests are on the network of " + setup.fabric) +
          facts_in_html(outcomes, &SuiteOutcome::topology);
  html += element("h2", "Configuration") + configuration(outcomes);
  html += element("h2", "Hosts") + facts_in_html(outcomes, &SuiteOutcome::hosts);
  html += element("h2", "Results");
  for (const SuiteOutcome& outcome : outcomes) html += test_in_html(outcome);
  html += element("h2", "Anomalies and deviations") + anomalies(setup, outcomes);
  html += element("h2", "Repeatability") + repeatability(outcomes);
  return html + "</body>\n</html>\n";
}

}  // namespace outrider::lab
