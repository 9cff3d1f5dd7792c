#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "tools/lab/report/report_bursts.h"
#include "tools/lab/report/report_series.h"
#include "tools/lab/results/database.h"
#include "tools/lab/summary/answer.h"

namespace outrider::report_parts_test {
using namespace lab;
namespace {

// -- series

TEST(TimeGrid, HasAtMostTheCellsAndNoneNarrowerThanABin) {
  const TimeGrid fine = grid_between(-100, 900, 1, 10);
  EXPECT_EQ(fine.step_ns, 100);
  EXPECT_EQ(fine.cells, 10U);
  EXPECT_EQ(fine.end_ns(), 900);
  const TimeGrid coarse = grid_between(0, 1000, 300, 10);
  EXPECT_EQ(coarse.step_ns, 300);
  EXPECT_EQ(coarse.cells, 4U) << "the last one goes beyond";
}

TEST(AlignedSeries, LaysIterationsOnTopOfEachOther) {
  // Cells [-10, 0), [0, 10), [10, 20) around 100 and 200; bins of 10 begin 4 earlier than cells.
  AlignedSeries s({.from_ns = -10, .step_ns = 10, .cells = 3});
  s.begin_run({100, 200});
  s.add(86, 10, 1);   // 6 of it in the first cell
  s.add(96, 10, 5);   // 4 in the first, 6 in the second
  s.add(106, 10, 0);  // 4 in the second, 6 in the third
  s.add(116, 10, 7);  // 4 in the third
  s.add(186, 40, 3);  // all of the second iteration
  const Band band = s.band();
  // First: (1 x 6 + 5 x 4) / 10 = 2.6, second: (5 x 6 + 0 x 4) / 10 = 3, third: (0 + 7 x 4) / 10.
  ASSERT_EQ(band.mean.size(), 3U);
  EXPECT_DOUBLE_EQ(band.mean[0], (2.6 + 3) / 2);
  EXPECT_DOUBLE_EQ(band.mean[1], 3);
  EXPECT_DOUBLE_EQ(band.mean[2], (2.8 + 3) / 2);
  EXPECT_DOUBLE_EQ(band.low[0], 2.64) << "a tenth of the way from 2.6 to 3";
  EXPECT_DOUBLE_EQ(band.high[0], 2.96);
}

TEST(AlignedSeries, ABinGoesToEveryIterationThatItTouches) {
  AlignedSeries s({.from_ns = 0, .step_ns = 10, .cells = 2});
  s.begin_run({0, 10});  // their grids share [10, 20)
  s.add(10, 10, 4);
  s.begin_run({1000});  // another run, whose clock is unrelated to the first
  s.add(1010, 10, 8);
  const Band band = s.band();
  EXPECT_TRUE(std::isnan(band.mean[0])) << "one of three iterations has it";
  EXPECT_DOUBLE_EQ(band.mean[1], 6) << "(4 + 8) / 2";
}

TEST(AlignedSeries, SaysNothingOfWhatLessThanHalfCover) {
  AlignedSeries s({.from_ns = 0, .step_ns = 10, .cells = 1});
  s.begin_run({0, 100, 200, 300});
  s.add(0, 10, 1);
  EXPECT_TRUE(std::isnan(s.band().mean[0])) << "one of four";
  s.add(100, 4, 1);
  EXPECT_TRUE(std::isnan(s.band().mean[0])) << "the second covers less than half of its cell";
  s.add(104, 1, 4);
  EXPECT_DOUBLE_EQ(s.band().mean[0], (1 + 8.0 / 5) / 2) << "(4 x 1 + 1 x 4) / 5 in the second";
}

// -- bursts

/// The columns of the records below; those of attributed times follow.
constexpr const char* kOfBursts[] = {"case_index",       "run",           "job",
                                     "worker",           "iteration",     "direction",
                                     "due_ns",           "start_sent_ns", "ack_received_ns",
                                     "first_sent_ns",    "delivered_ns",  "rtos",
                                     "queue_first_at_ns"};

/// Adds a line of cells, of which the last may be missing, to a table. @pre the line lives on
void add_line(RowSink& table, std::string_view line, std::size_t columns) {
  std::vector<Cell> cells;
  while (!line.empty()) {
    const auto text = line.substr(0, line.find(','));
    line.remove_prefix(std::min(line.size(), text.size() + 1));
    std::int64_t number = 0;
    if (text.empty()) cells.emplace_back();
    else if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{})
      cells.emplace_back(number);
    else cells.emplace_back(text);
  }
  cells.resize(columns);
  table.row(cells);
}

/// @param records  lines, of which the last columns may be missing
/// @param workers  of each job, by the case's settings
/// @param ahead_ns  of the switch's clock
std::vector<ReportRun> runs_of(const std::string& records, std::int64_t ahead_ns,
                               std::int64_t skip = 0, std::vector<std::size_t> workers = {}) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = testing::TempDir() + "outrider-" + test->name() + ".sqlite";
  std::vector<TableColumn> columns;
  for (const char* name : kOfBursts) columns.push_back({name, CellKind::kAny});
  for (const auto name : kBurstTimeNames)
    columns.push_back({"time_" + std::string(name) + "_ns", CellKind::kInteger});
  Database database(path);
  RowSink& bursts = database.add_table("bursts", "", columns);
  std::istringstream lines(records);
  for (std::string line; std::getline(lines, line);) add_line(bursts, line, columns.size());
  const TableColumn of_runs[]{{"case_index"}, {"run"}, {"switch_ahead_ns"}};
  add_line(database.add_table("runs", "", of_runs), "0,measured," + std::to_string(ahead_ns), 3);
  database.finish();
  std::vector<ReportRun> runs(1);
  runs[0].skip_iterations = skip;
  runs[0].workers = std::move(workers);
  const ResultsReader results(path);
  std::filesystem::remove(path);
  read_bursts(results, runs);
  return runs;
}

TEST(ReportBursts, AnIterationIsOfItsSlowestWorkerAndEarliestStart) {
  const auto runs = runs_of(
      "0,measured,0,1,0,push,100,90,95,110,400,2,1115\n"
      "0,measured,0,0,0,push,120,80,95,130,300,0,1132\n"
      "0,measured,0,0,0,pull,400,,,410,450,0,\n"
      "0,measured,0,0,1,push,900,,,910,990,0,1912\n"  // the other worker's never came
      "0,alone,0,0,0,push,100,,,110,140,0,\n"
      "0,alone,0,1,0,push,100,,,110,160,0,\n",
      0);
  const auto& iterations = runs[0].iterations;
  ASSERT_EQ(iterations.size(), 2U);
  EXPECT_EQ(iterations[0].due_ns, 100);
  EXPECT_EQ(iterations[0].start_ns, 80);
  EXPECT_EQ(iterations[0].delivered_ns, 400);
  ASSERT_EQ(iterations[0].bursts.size(), 2U);
  EXPECT_EQ(iterations[0].bursts[0].worker, 0) << "by worker, whatever the order of the file";
  EXPECT_EQ(iterations[0].bursts[1].rtos, 2);
  EXPECT_EQ(iterations[1].start_ns, 900) << "due, where there was no START";
  EXPECT_EQ(iterations[1].delivered_ns, std::nullopt);
  EXPECT_EQ(communication_seconds(iterations), std::vector<double>{300 * 1e-9});
  EXPECT_EQ(runs[0].alone_communication_seconds.values(), std::vector<double>{60 * 1e-9});
}

TEST(ReportBursts, ClocksAreAlignedAndSkippedIterationsLeftOut) {
  const auto runs = runs_of(
      "0,measured,0,0,0,push,100,,,110,400,0,5115\n"
      "0,measured,0,0,1,push,500,,,510,800,0,5511\n"
      "0,measured,0,0,2,push,900,,,910,990,0,9910\n",
      5005, 1);
  EXPECT_EQ(runs[0].switch_ahead_ns, 5005);
  ASSERT_EQ(runs[0].iterations.size(), 2U);
  EXPECT_EQ(runs[0].iterations[0].iteration, 1);
}

// As in a job that runs again, which the case's settings do not name.
TEST(ReportBursts, EachJobHasItsOwnWorkersAndTimes) {
  const auto runs = runs_of(
      "0,measured,0,0,0,push,100,,,110,400,0,,1,2,3,4,5,6,7,8,9,10,245\n"
      "0,measured,1,0,0,push,100,,,110,400,0,\n"
      "0,measured,1,1,0,push,100,,,110,500,0,\n"
      "0,measured,1,0,1,push,900,,,910,990,0,\n",
      0);
  const auto& iterations = runs[0].iterations;
  ASSERT_EQ(iterations.size(), 3U);
  EXPECT_EQ(iterations[0].delivered_ns, 400) << "a job of one worker";
  EXPECT_EQ(iterations[1].delivered_ns, 500);
  EXPECT_EQ(iterations[2].delivered_ns, std::nullopt) << "the second worker of job 1 is missing";
  ASSERT_TRUE(iterations[0].bursts[0].times.has_value());
  EXPECT_EQ(iterations[0].bursts[0].times->sum(), 300);
  EXPECT_FALSE(iterations[1].bursts[0].times.has_value());
}

// The third worker of job 0 never sent; job 1 is not in the settings.
TEST(ReportBursts, AWorkerThatNeverSentLeavesTheIterationIncomplete) {
  const auto runs = runs_of(
      "0,measured,0,0,0,push,100,,,110,400,0,\n"
      "0,measured,0,1,0,push,100,,,110,500,0,\n"
      "0,measured,1,0,0,push,100,,,110,300,0,\n"
      "0,alone,0,0,0,push,100,,,110,140,0,\n"
      "0,alone,0,1,0,push,100,,,110,160,0,\n",
      0, 0, {3});
  const auto& iterations = runs[0].iterations;
  ASSERT_EQ(iterations.size(), 2U);
  EXPECT_EQ(iterations[0].delivered_ns, std::nullopt);
  EXPECT_EQ(iterations[1].delivered_ns, 300);
  EXPECT_TRUE(runs[0].alone_communication_seconds.empty());
}

TEST(ReportBursts, RefusesACaseThatTheSummaryDoesNotHave) {
  EXPECT_THROW(runs_of("1,measured,0,0,0,push,1,,,1,1,0,\n", 0), std::runtime_error);
}

// -- sentences

AnswerArm arm(std::string name, Estimate change, Estimate lost) {
  return {.name = std::move(name), .change = change, .lost = lost};
}

std::string text_of(const std::vector<AnswerSentence>& all) {
  std::string text;
  for (const auto& s : all) text += s.kind + ": " + s.text + "\n";
  return text;
}

TEST(Answer, NamesTheLargestGainTheCheapOneAndWhoCannotBeTold) {
  const auto answer = answer_of({arm("on", {-0.28, -0.32, 0.065}, {0.004, -0.005, 0.011}),
                                 arm("on-lead", {-0.331, -0.42, -0.28}, {0.0086, 0.004, 0.013}),
                                 arm("on-hold", {-0.75, -0.76, -0.71}, {0.109, 0.095, 0.13}),
                                 arm("off-pie", {-0.01, -0.03, 0.02}, {-0.02, -0.03, -0.01}),
                                 arm("off-red", {0.2, 0.1, 0.3}, {0, 0, 0})},
                                "off", 30);
  EXPECT_EQ(text_of(answer),
            "gain: Communication time falls by 75 % [71, 76] with on-hold against off; background "
            "loses 11 % [9.5, 13].\n"
            "cheap: At a loss to the background of at most 1.0 %, communication time falls by 33 % "
            "[28, 42] with on-lead against off; background loses 0.9 % [0.4, 1.3].\n"
            "same: Not distinguishable from off: on and off-pie.\n"
            "worse: Longer than with off: off-red.\n");
}

TEST(Answer, FewSeedsAreFlaggedAndOneProvesNothing) {
  const Estimate none;
  EXPECT_EQ(text_of(answer_of({arm("on", {-0.5, -0.6, -0.4}, {-0.02, -0.03, -0.01})}, "off", 3)),
            "gain: Communication time falls by 50 % [40, 60] with on against off; background gains "
            "2.0 % [1.0, 3.0].\n"
            "warning: A demonstration with 3 seeds: claims rest on 30 or more.\n");
  EXPECT_EQ(text_of(answer_of({arm("on", {.value = -0.5}, {.value = 0.02})}, "off", 1)),
            "same: In one seed, communication time falls by 50 % with on against off; background "
            "loses 2.0 %. One seed has no confidence interval: this may be chance.\n"
            "warning: A demonstration with 1 seed: claims rest on 30 or more.\n");
  for (const std::size_t seeds : {1U, 30U}) {
    EXPECT_EQ(answer_of({arm("on", none, none)}, "off", seeds)[0].text,
              "No communication time can be compared here: no other arm has one.");
    EXPECT_EQ(answer_of({}, "off", seeds)[0].text,
              "No communication time can be compared here: no other arm has one.");
  }
  EXPECT_EQ(
      text_of(answer_of({arm("on", {0, -0.1, 0.1}, none), arm("on-b", none, none)}, "off", 30)),
      "same: No arm's communication time is distinguishably shorter than that of off.\n"
      "same: Not distinguishable from off: on.\n"
      "same: No communication time to compare: on-b.\n");
}

// What a sentence says of off must be true of off.
TEST(Answer, ArmsOfOtherBaselinesAreToldApart) {
  AnswerArm same = arm("on-roce", {0, -0.1, 0.1}, {});
  AnswerArm worse = arm("off-cubic", {0.3, 0.2, 0.4}, {});
  same.against = "off-roce";
  worse.against = "off-reno";
  same.against_off = worse.against_off = {-0.8, -0.9, -0.7};
  EXPECT_EQ(text_of(answer_of(
                {arm("on", {0, -0.1, 0.1}, {}), same, arm("off-red", {0.2, 0.1, 0.3}, {}), worse},
                "off", 30)),
            "same: No arm's communication time is distinguishably shorter than that of its "
            "baseline.\n"
            "same: Not distinguishable from off: on; from off-roce: on-roce.\n"
            "worse: Longer than with off: off-red; than with off-reno: off-cubic.\n");
}

TEST(Answer, ACheapArmIsCheapAgainstOffToo) {
  AnswerArm dear = arm("on-reno", {-0.2, -0.3, -0.1}, {0.001, -0.001, 0.002});
  dear.against = "off-reno";
  dear.against_off = {-0.5, -0.6, -0.4};
  dear.lost_against_off = {0.6, 0.5, 0.7};
  EXPECT_THAT(text_of(answer_of({dear}, "off", 30)),
              testing::HasSubstr("cheap: No arm that is distinguishable from its baseline"));
}

TEST(Answer, AnArmOfTwoBaselinesIsJudgedAgainstOff) {
  AnswerArm here = arm("on", {0, -0.1, 0.1}, {});
  here.against = "off-roce";
  here.against_off = {-0.8, -0.9, -0.7};
  EXPECT_EQ(text_of(answer_over(
                {{"a", {here}, "off"}, {"b", {arm("on", {-0.3, -0.4, -0.2}, {})}, "off"}})),
            "gain: on shortens communication time at 2 of 2 points, by 30 to 80 %.\n");
}

TEST(Answer, AZeroInTheIntervalIsNoGain) {
  const auto touching = answer_of({arm("on", {-0.5, -0.6, 0}, {})}, "off", 30);
  EXPECT_EQ(text_of(touching),
            "same: No arm's communication time is distinguishably shorter than that of off.\n"
            "same: Not distinguishable from off: on.\n");
}

// A regulator must not be credited with what its transport brings.
TEST(Answer, NamesTheBaselineAndWhatDiffersBesideTheRemedy) {
  AnswerArm roce = arm("off-roce", {-0.89, -0.9, -0.88}, {0.2, 0.19, 0.21});
  roce.beside = {"protocol roce instead of tcp", "a 1 instead of 0", "b 1 instead of 0",
                 "c 1 instead of 0", "d 1 instead of 0"};
  AnswerArm mark = arm("on-mark-roce", {-0.05, -0.06, -0.04}, {0.02, 0.01, 0.03});
  mark.against = "off-roce";
  mark.against_off = {-0.9, -0.91, -0.89};
  mark.lost_against_off = {0.3, 0.2, 0.4};
  mark.beside_off = {"protocol roce instead of tcp"};
  AnswerArm pace = arm("on-pace-roce", {0.0, -0.01, 0.01}, {0.02, 0.01, 0.03});
  pace.against = "off-roce";
  pace.against_off = {-0.89, -0.9, -0.88};
  EXPECT_EQ(text_of(answer_of({roce, mark, pace}, "off", 30)),
            "gain: Communication time falls by 5.0 % [4.0, 6.0] with on-mark-roce against "
            "off-roce; background loses 2.0 % [1.0, 3.0]. Against off, it falls by 90 % [89, 91]; "
            "background loses 30 % [20, 40]. But on-mark-roce differs from off in what is no "
            "remedy: protocol roce instead of tcp.\n"
            "cheap: No arm that is distinguishable from its baseline costs the background less "
            "than 1.0 % against it and off.\n"
            "same: Not distinguishable from off-roce: on-pace-roce.\n");
  EXPECT_EQ(text_of(answer_of({roce}, "off", 30)),
            "gain: Communication time falls by 89 % [88, 90] with off-roce against off; background "
            "loses 20 % [19, 21]. But off-roce differs from off in what is no remedy: protocol "
            "roce instead of tcp, a 1 instead of 0, b 1 instead of 0 and 2 more settings.\n"
            "cheap: No arm that is distinguishable from off costs the background less than 1.0 "
            "%.\n");
  roce.change = {.value = -0.89};
  EXPECT_THAT(text_of(answer_of({roce, arm("on", {.value = -0.3}, {})}, "off", 2)),
              testing::StartsWith("same: In two seeds, communication time falls by 89 % with "
                                  "off-roce against off"));
}

// Short flows may pay for a burst where the background as a whole loses nothing.
TEST(Answer, SaysWhatShortFlowsPay) {
  AnswerArm on = arm("on", {-0.5, -0.6, -0.4}, {0.0002, 0.0001, 0.0003});
  on.short_flows = {0.2, 0.1, 0.31};
  EXPECT_THAT(text_of(answer_of({on}, "off", 30)),
              testing::StartsWith("gain: Communication time falls by 50 % [40, 60] with on against "
                                  "off; background loses nothing that shows; short flows' p99 is "
                                  "1.20 [1.10, 1.31] times that of off.\n"));
  on.short_flows = {0.2, -0.1, 0.31};
  EXPECT_THAT(text_of(answer_of({on}, "off", 30)), testing::Not(testing::HasSubstr("short flows")))
      << "it may be none";
  on.against = "off-roce";
  on.against_off = {-0.9, -0.91, -0.89};
  on.short_flows = {-0.1, -0.2, -0.05};
  on.short_flows_against_off = {0.5, 0.4, 0.6};
  const std::string text = text_of(answer_of({on}, "off", 30));
  EXPECT_THAT(text, testing::HasSubstr("p99 is 0.90 [0.80, 0.95] times that of off-roce. Against"));
  EXPECT_THAT(text, testing::HasSubstr("p99 is 1.50 [1.40, 1.60] times that of off."));
  EXPECT_EQ(short_flows_text({.value = 1.05}, "today's"), "short flows' p99 is 1.05 times today's");
}

TEST(Answer, AChangeBelowATenthOfAPercentIsNone) {
  EXPECT_FALSE(is_change({-0.0009, -0.00095, -0.00085}));
  EXPECT_TRUE(is_change({-0.0011, -0.0012, -0.001}));
  EXPECT_FALSE(is_change({.value = -0.5})) << "it has no interval";
  EXPECT_EQ(text_of(answer_of({arm("on", {-0.0005, -0.0006, -0.0004}, {0.0002, 0.0001, 0.0003})},
                              "off", 30)),
            "same: No arm's communication time is distinguishably shorter than that of off.\n"
            "same: Not distinguishable from off: on.\n");
  EXPECT_THAT(text_of(answer_of({arm("on", {.value = -0.0005}, {})}, "off", 1)),
              testing::StartsWith("same: In one seed, no communication time is shorter than that "
                                  "of off by 0.1 %."));
  EXPECT_THAT(
      text_of(answer_of({arm("on", {-0.5, -0.6, -0.4}, {0.0002, 0.0001, 0.0003})}, "off", 30)),
      testing::HasSubstr("; background loses nothing that shows."));
}

TEST(Answer, OverPointsCountsWhereAnArmHelps) {
  const Estimate falls{-0.3, -0.4, -0.2}, falls_more{-0.6, -0.7, -0.5}, same{-0.1, -0.2, 0.1},
      rises{0.3, 0.2, 0.4};
  std::vector<PointAnswer> points{
      {"a", {arm("on", falls, {}), arm("once", falls, {})}, "tail drop"},
      {"b", {arm("on", falls_more, {})}, "tail drop"},
      {"c", {arm("on", same, {}), arm("bad", rises, {})}, "tail drop"},
      {"d", {arm("on", rises, {}), arm("bad", same, {})}, "tail drop"}};
  const auto answer = answer_over(points);
  EXPECT_EQ(text_of(answer),
            "gain: on shortens communication time at 2 of 4 points, by 30 to 60 %; it lengthens it "
            "at 1; not distinguishable from tail drop at 1.\n"
            "same: bad shortens communication time at 0 of 2 points; it lengthens it at 1; not "
            "distinguishable from tail drop at 1.\n");
  points.back().off = "off";
  EXPECT_THAT(text_of(answer_over(points)),
              testing::HasSubstr("not distinguishable from the baseline at 1"));
  EXPECT_EQ(text_of(answer_over({{"a", {arm("on", {.value = -0.5}, {})}, "off"},
                                 {"b", {arm("on", {.value = -0.5}, {})}, "off"}})),
            "same: No change has a confidence interval, as with fewer than three seeds: none is "
            "counted.\n");
}

}  // namespace
}  // namespace outrider::report_parts_test
