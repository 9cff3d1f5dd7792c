// Goal: the output of --brief agrees with summary and report. Method: arms made by hand.
#include "tools/lab/report/brief_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "tools/lab/summary/table_text.h"

namespace outrider::brief_text_test {
using namespace lab;
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ArmSummary arm(const std::string& label, Estimate seconds, Estimate change, Estimate lost) {
  ArmSummary a;
  a.label = label;
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
  EXPECT_THAT(text, HasSubstr("Communication time falls by 80 % [75, 82] with on-window"));
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
  EXPECT_THAT(text, HasSubstr("With regulation: Communication time falls by 80 % [75, 82]"));
}

TEST(BriefText, FitsATerminalAndSeparatesPoints) {
  Summary s = summary();
  auto more = summary().arms;
  for (auto& a : more) {
    a.point = 1;
    s.arms.push_back(a);
  }
  const std::string text = brief_text(s);
  EXPECT_THAT(text, HasSubstr("Point 1, as in table.txt"));
  EXPECT_THAT(text, HasSubstr("Point 2, as in table.txt"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kTableColumns) << line;
}

}  // namespace
}  // namespace outrider::brief_text_test
