// Goal: the output of --brief agrees with summary and report. Method: arms made by hand.
#include "tools/lab/tables/brief_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "tools/lab/summary/table_notes.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/results_answer.h"

namespace outrider::brief_text_test {
using namespace lab;
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ArmSummary arm(const std::string& label, Estimate seconds, Estimate change, Estimate lost) {
  ArmSummary a;
  a.label = label;
  a.role = label.starts_with("off") ? ArmRole::kBaseline : ArmRole::kRemedy;
  a.name = label;
  a.off = label == "off";
  a.cases = {0, 1, 2};
  a.metrics = {{"communication_seconds_median", seconds, change},
               {"start_queue_packets_mean", {.value = 24.11}, {}},
               {"background_lost_fraction", lost, {}}};
  return a;
}

Summary summary() {
  Summary s;
  s.experiment = "x";
  s.question = "Which?";
  s.cases.resize(3);
  s.arms = {arm("off", {.value = 0.2456}, {.value = kNan}, {.value = 0}),
            arm("on-window", {.value = 0.05}, {.value = -0.8, .low = -0.82, .high = -0.75},
                {.value = 0.02, .low = 0.01, .high = 0.03}),
            arm("on-pcn", {.value = 0.2}, {.value = -0.1, .low = -0.3, .high = 0.1},
                {.value = 0.004, .low = -0.01, .high = 0.011})};
  return s;
}

TEST(BriefText, HasARowAnArmAndTheReportsSentences) {
  const std::string text = brief_text(summary());
  EXPECT_THAT(text, HasSubstr("Which?"));
  EXPECT_THAT(text, ::testing::ContainsRegex("off +24.11 +245.6 +- +-\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("on-window +24.11 +50.00 +-80 % .-82,-75. "));
  EXPECT_THAT(text, HasSubstr("+2.0 % [+1.0,+3.0]"));
  EXPECT_THAT(text,
              HasSubstr("Communication time falls by 80 % [75, 82] with on-window against off"));
  EXPECT_THAT(text, HasSubstr("Not distinguishable from off: on-pcn."));
  EXPECT_THAT(text, HasSubstr("A demonstration with 3 seeds"));
  EXPECT_THAT(text, Not(HasSubstr("Point")));
}

TEST(BriefText, SaysWhatRegulationBringsWhereSomethingElseIsBest) {
  Summary s = summary();
  EXPECT_THAT(brief_text(s), Not(HasSubstr("With regulation:")));
  s.arms.push_back(arm("off-two-queues", {.value = 0.04},
                       {.value = -0.9, .low = -0.91, .high = -0.89}, {.value = 0.001}));
  const std::string text = brief_text(s);
  EXPECT_THAT(text, HasSubstr("Communication time falls by 90 % [89, 91] with off-two-queues"));
  EXPECT_THAT(text, HasSubstr("The best remedy: communication time falls by 80 % [75, 82]"));
}

// --brief dropped what makes its own figures doubtful.
TEST(BriefText, EndsWithTheAnswerAndItsWarnings) {
  Summary s = summary();
  s.cases[1].metrics.incomplete = 2;
  s.advice = {"on-pcn: its senders obey no CNP"};
  s.interrupted = true;
  s.planned_cases = 12;
  s.warnings = warnings_of(s);
  s.finished_cases = s.cases.size();
  const std::string answer = answer_text(s);
  EXPECT_THAT(answer, HasSubstr("with on-window against off"));
  EXPECT_THAT(answer, HasSubstr("! off: 2 iterations never completed"));
  EXPECT_THAT(answer, HasSubstr("! on-pcn: its senders obey no CNP"));
  EXPECT_THAT(answer, HasSubstr("! incomplete: 3 of 12 cases have results"));
  EXPECT_TRUE(brief_text(s).ends_with("\n\n" + answer));
  EXPECT_TRUE(result_text(s).ends_with("\n\n" + answer)) << "the long output has the same";
  const auto parts = answer_of_results(s);
  for (const auto& sentence : parts.points.at(0).sentences)
    EXPECT_THAT(answer, HasSubstr(sentence.text.substr(0, 60)));
}

TEST(BriefText, OfResultsOfAnEarlierVersion) {
  Summary old = summary();
  old.version = 1;
  EXPECT_THAT(answer_text(old), HasSubstr("! made at version 1 of the results"));
}

// The p99 of short flows is in the results, and was in no sentence.
TEST(BriefText, SaysWhatShortFlowsPay) {
  Summary s = summary();
  s.arms[1].metrics.push_back({"small_flow_completion_seconds_p99",
                               {.value = 0.012},
                               {.value = 0.2, .low = 0.1, .high = 0.31}});
  EXPECT_THAT(answer_text(s), testing::ContainsRegex("short[ \n]flows' p99[ \n]is[ \n]1.20"));
}

TEST(BriefText, ShowsBothChangesOfAnArmWithABaselineOfItsOwn) {
  Summary s = summary();
  ArmSummary roce = arm("on-roce", {.value = 0.02}, {.value = -0.05, .low = -0.06, .high = -0.04},
                        {.value = 0.01});
  roce.against = "off-roce";
  roce.against_off = {{"communication_seconds_median",
                       {.value = 0.02},
                       {.value = -0.92, .low = -0.93, .high = -0.91}}};
  s.arms.push_back(roce);
  const std::string text = brief_text(s);
  EXPECT_THAT(text, ::testing::ContainsRegex("on-roce +24.11 +20.00 +-92 % .-93,-91. "));
  EXPECT_THAT(text, ::testing::ContainsRegex("  against off-roce +-5.0 % .-6.0,-4.0. "));
}

// The answer used to work the differences out once more, in other words than summary.json has.
TEST(BriefText, SaysWhatIsBesideARemedyAsItIsStored) {
  Summary s = summary();
  ArmSummary roce =
      arm("on-roce", {.value = 0.02}, {.value = -0.5, .low = -0.6, .high = -0.4}, {.value = 0.01});
  roce.against = "off-roce";
  roce.beside = {"workers 3 instead of 2"};
  roce.beside_off = {"protocol roce instead of tcp"};
  roce.against_off = {{"communication_seconds_median",
                       {.value = 0.02},
                       {.value = -0.92, .low = -0.93, .high = -0.91}}};
  s.arms = {s.arms.front(), roce};
  std::string text = answer_text(s);
  std::ranges::replace(text, '\n', ' ');
  EXPECT_THAT(text, HasSubstr(". But on-roce differs from off-roce in what is no remedy: workers 3 "
                              "instead of 2. And on-roce differs from off in what is no remedy: "
                              "protocol roce instead of tcp."));
}

TEST(BriefText, FitsATerminalAndSeparatesPoints) {
  Summary s = summary();
  auto more = summary().arms;
  for (auto& a : more) {
    a.point = 1;
    s.arms.push_back(a);
  }
  const std::string text = brief_text(s);
  EXPECT_THAT(text, HasSubstr("Point 1, "));
  EXPECT_THAT(text, HasSubstr("Point 2, "));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kTableColumns) << line;
}

}  // namespace
}  // namespace outrider::brief_text_test
