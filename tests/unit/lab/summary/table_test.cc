#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_notes.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/comparison_table.h"
#include "tools/lab/tables/results_answer.h"

namespace outrider::table_test {
using namespace lab;
namespace {

ArmSummary arm(std::string label, std::size_t point, Parameters parameters = {}, double scale = 1) {
  ArmSummary a{.label = std::move(label), .parameters = std::move(parameters), .point = point};
  a.off = a.label == "off";
  a.cases = {0, 0, 0};
  const auto add = [&](const char* name, double value, Estimate change) {
    a.metrics.push_back({name, {.value = value * scale}, change});
  };
  const Estimate change{.value = -0.391 * scale, .low = -0.452 * scale, .high = -0.301 * scale};
  add("start_queue_packets_mean", 31.25, change);
  add("max_queue_packets_mean", 54.5, change);
  add("burst_completion_seconds_median", 0.0853, change);
  add("communication_seconds_median", 0.0888, change);
  add("ddl_throughput_bits_per_second_mean", 93.7e6, change);
  add("burst_sojourn_seconds_mean", 0.00214, change);
  add("background_goodput_bits_per_second", 180.2e6, {});
  add("rtos_per_burst", 0.05, {});
  a.metrics.push_back(
      {"background_lost_fraction", {.value = 0.057, .low = 0.04, .high = 0.07}, {}});
  return a;
}

Summary summary_of(std::string name, std::vector<ArmSummary> arms) {
  Summary s{{.experiment = std::move(name), .arms = std::move(arms)}};
  name_arms(s.arms);
  s.cases.emplace_back();
  s.cases[0].metrics.ledger_balanced = true;
  s.cases[0].metrics.queue.found = true;
  return s;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns the line that begins with `begin`.
std::string line_of(const std::string& text, const std::string& begin) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(begin)) return line;
  return "";
}

TEST(Table, ShowsValuesAndChanges) {
  const std::string text =
      comparison_table(summary_of("mine", {arm("off", 0), arm("on-lead8", 0)}));
  EXPECT_EQ(line_of(text, "off "),
            "off                      31.25       54.50       85.30       88.80       93.70  "
            "     2.140       180.2   0.050");
  EXPECT_TRUE(contains(text,
                       "on-lead8                 -39 %       -39 %       -39 %       -39 %    "
                       "   -39 %       -39 %      -5.7 %\n"
                       "                     [-45,-30]   [-45,-30]   [-45,-30]   [-45,-30]   ["
                       "-45,-30]   [-45,-30] [-7.0,-4.0]\n"))
      << text;
  const auto changes = text.find("Change against off"), tail = text.find("Tail of");
  EXPECT_FALSE(contains(text.substr(changes, tail - changes), "\noff"));
  EXPECT_FALSE(contains(text, "paper")) << "not the paper's experiment";
}

TEST(Table, NamesTheBaselineByItsLabel) {
  ArmSummary first = arm("tail drop", 0);
  first.off = true;
  const std::string text = comparison_table(summary_of("mine", {first, arm("on", 0)}));
  EXPECT_TRUE(contains(text, "Change against tail drop, with")) << text;
  EXPECT_TRUE(contains(text, "Cost to the background against tail drop, per iteration")) << text;
  EXPECT_FALSE(contains(text, "off")) << text;
}

// An arm with another transport is compared with its baseline and with off: see points_of().
TEST(Table, ShowsTheChangeAgainstTheBaselineAndAgainstOff) {
  ArmSummary roce = arm("on-roce", 0);
  roce.against = "off-roce";
  roce.against_off = roce.metrics;
  for (auto& m : roce.against_off) m.change = {.value = -0.8, .low = -0.9, .high = -0.7};
  for (auto& m : roce.against_off)
    if (m.name == "background_lost_fraction") m.value = {.value = 0.25, .low = 0.2, .high = 0.3};
  const std::string text = comparison_table(summary_of("mine", {arm("off", 0), roce}));
  EXPECT_TRUE(contains(text, "Change against off, or first against the baseline after the slash"));
  const auto change = text.find("Change against");
  const std::string changes = text.substr(change, text.find("Tail of") - change);
  EXPECT_TRUE(contains(changes, "on-roce / off-roce ")) << changes;
  EXPECT_NE(line_of(changes, "  / off").find("-80 %"), std::string::npos) << changes;
  EXPECT_NE(line_of(changes, "  / off").find("-25 %"), std::string::npos) << changes;
  EXPECT_TRUE(contains(text, "Cost to the background against the baseline"));
}

TEST(Table, ShowsTiersOfLinksAsMeansOfTheSeeds) {
  ArmSummary off = arm("off", 0);
  off.cases = {0, 1};
  Summary s = summary_of("mine", {off});
  s.cases.push_back(CaseSummary(s.cases.front()));
  EXPECT_FALSE(contains(comparison_table(s), "Links of each tier"));
  for (std::size_t i = 0; i < 2; ++i) {
    TierMetrics& tier = s.cases[i].metrics.links.tiers.emplace_back();
    tier.tier = "leaf to spine";
    tier.utilisation_mean = 0.2 + 0.2 * static_cast<double>(i);
    tier.utilisation_max = 0.5;
    tier.marks = 10 + 20 * i;
    tier.drops = 2;
    tier.worker_start_queue_packets_mean = 4;
  }
  EXPECT_EQ(
      line_of(comparison_table(s), "  leaf to spine"),
      "  leaf to spine          30.00       50.00       20.00       2.000       4.000           -");
}

TEST(Table, ShowsIterationsOfAClosedLoop) {
  const Parameters fixed{{"schedule", std::string("fixed")}};
  EXPECT_FALSE(
      contains(comparison_table(summary_of("mine", {arm("off", 0, fixed)})), "Iterations:"));
  const Parameters closed{{"schedule", std::string("closed_loop")}};
  ArmSummary off = arm("off", 0, closed), p3 = arm("off-p3", 0, closed);
  off.off = true;
  for (auto* a : {&off, &p3}) {
    a->metrics.push_back({"iteration_seconds_median", {.value = 0.5}, {-0.25, -0.5, -0.125}});
    a->metrics.push_back({"first_layer_seconds_median", {.value = 0.004}, {}});
  }
  const std::string text = comparison_table(summary_of("mine", {off, p3}));
  const std::string block = text.substr(text.find("Iterations:"));
  EXPECT_TRUE(
      line_of(block, "off-p3")
          .starts_with(
              "off-p3                   500.0       -25 %   [-50,-12]       4.000           -"))
      << block;
  EXPECT_FALSE(contains(line_of(block, "off "), "%")) << block;
}

TEST(Table, ShowsTheTailWithItsIntervals) {
  ArmSummary off = arm("off", 0);
  off.metrics.push_back({"communication_seconds_p99", {0.25, 0.2, 0.4}, {}});
  off.metrics.push_back({"communication_p99_over_alone_median", {12.5, 11, 15.25}, {}});
  off.metrics.push_back({"first_communication_seconds_median", {.value = 0.3}, {}});
  const std::string text = comparison_table(summary_of("mine", {off}));
  EXPECT_TRUE(line_of(text.substr(text.find("Tail of the communication time")), "off ")
                  .starts_with("off                      250.0   [200,400]       12.50   "
                               "[11,15.2]       300.0"))
      << text;
}

TEST(Table, ShowsCostsThatTheScheduleHas) {
  Summary s = summary_of("mine", {arm("off", 0), arm("on", 0)});
  for (auto& a : s.arms) {
    a.metrics.push_back({"background_bytes_lost_per_burst_byte", {.value = 0.125}, {}});
    a.metrics.push_back({"background_lost_bytes_per_iteration", {.value = 5e3}, {}});
    a.metrics.push_back({"ddl_bytes_gained_per_background_byte_lost", {.value = 0.75}, {}});
  }
  const auto costs = [](const Summary& summary) {
    const std::string text = comparison_table(summary);
    return text.substr(text.find("Cost to the background"));
  };
  s.cases[0].background_cost.basis = CostBasis::kWindows;
  EXPECT_TRUE(line_of(costs(s), "on ")
                  .starts_with("on                       5.700       0.125       5.000"))
      << costs(s);
  s.cases[0].background_cost.basis = CostBasis::kWholeRun;
  EXPECT_TRUE(line_of(costs(s), "on ")
                  .starts_with("on                       5.700       0.125       0.750"))
      << costs(s);
}

TEST(Table, ShowsFlowsBySizeWhereThereAreSome) {
  EXPECT_FALSE(contains(comparison_table(summary_of("mine", {arm("off", 0)})), "by size"));
  ArmSummary off = arm("off", 0);
  off.metrics.push_back({"flows_unfinished", {.value = 2}, {}});
  off.metrics.push_back({"small_flow_completion_seconds_median", {.value = 0.0125}, {}});
  off.metrics.push_back({"large_flow_slowdown_p99", {.value = 31.5}, {}});
  const std::string text = comparison_table(summary_of("mine", {off}));
  const auto block = [&text](const char* heading) { return text.substr(text.find(heading)); };
  EXPECT_TRUE(line_of(block("Completion of background's flows"), "off ")
                  .starts_with("off                      12.50           -"))
      << text;
  EXPECT_TRUE(line_of(block("Their slowdown"), "off ").ends_with("31.50       2.000")) << text;
}

TEST(Table, ExplainsItsDashes) {
  const std::string all = comparison_table(summary_of("mine", {arm("off", 0)}));
  EXPECT_TRUE(contains(all, "\n-: not defined here")) << "costs of this one are missing";
  EXPECT_FALSE(contains(comparison_table(Summary{}), "-: not defined"));
}

TEST(Table, ShowsTheTimeToALossWhereJobsLearn) {
  EXPECT_FALSE(contains(comparison_table(summary_of("mine", {arm("off", 0)})), "Learning:"));
  ArmSummary off = arm("off", 0), turns = arm("off-r2sp", 0);
  off.off = true;
  for (auto* a : {&off, &turns}) {
    a->metrics.push_back({"worker_iteration_seconds_mean", {.value = 0.06}, {}});
    a->metrics.push_back({"update_gap_variation", {.value = 0.375}, {}});
    a->metrics.push_back({"time_to_loss_seconds", {.value = 1.25}, {-0.25, -0.5, -0.125}});
    a->metrics.push_back({"gradients_to_loss", {.value = 137}, {}});
    a->metrics.push_back({"last_loss", {.value = 0.35}, {}});
  }
  const std::string text = comparison_table(summary_of("mine", {off, turns}));
  const std::string block = text.substr(text.find("Learning:"));
  EXPECT_TRUE(line_of(block, "off-r2sp")
                  .starts_with("off-r2sp                 60.00       0.375       1.250       -25 %"
                               "   [-50,-12]       137.0       0.350"))
      << block;
  EXPECT_FALSE(contains(line_of(block, "off "), "%")) << block;
}

TEST(Table, ShowsPacketsOfQueuePairsOverRoceAlone) {
  EXPECT_FALSE(contains(comparison_table(summary_of("mine", {arm("off", 0)})), "RoCEv2"));
  ArmSummary over = arm("off", 0);
  over.metrics.push_back({"roce_queue_pairs", {.value = 4}, {}});
  over.metrics.push_back({"roce_cnps_per_burst", {.value = 107}, {}});
  over.metrics.push_back({"roce_naks_per_burst", {.value = 2.5}, {}});
  over.metrics.push_back({"roce_retransmitted_per_burst", {.value = 40}, {}});
  const std::string text = comparison_table(summary_of("mine", {over, arm("off-tcp", 0)}));
  const std::string block = text.substr(text.find("Bursts over RoCEv2:"));
  EXPECT_EQ(line_of(block, "off "),
            "off                      4.000       107.0       2.500       40.00       0.050"
            "           -           -");
  EXPECT_NE(line_of(block, "off-tcp"), line_of(text, "off-tcp ")) << "not among these rows";
}

TEST(Table, SaysWhereTheTimeWentIfItIsKnown) {
  EXPECT_FALSE(contains(comparison_table(summary_of("mine", {arm("off", 0)})), "Where the"));
  ArmSummary known = arm("known", 0);
  double share = 0;
  for (const auto name : kBurstTimeNames)
    known.metrics.push_back({"time_" + std::string(name) + "_share", {.value = share += 0.01}, {}});
  const std::string text = comparison_table(summary_of("mine", {arm("off", 0), known}));
  const std::string block = text.substr(text.find("Where the communication time of pushes went"));
  EXPECT_EQ(line_of(block, "known"),
            "known                    1.000       3.000       4.000       5.000       6.000  "
            "     7.000       8.000   32.00")
      << "the rest: 2 + 9 + 10 + 11";
  EXPECT_EQ(line_of(block.substr(0, block.find("Tail of")), "off"), "") << "not attributed";
}

TEST(Table, SetsThePapersFiguresBesideItsExperiment) {
  const std::string text = comparison_table(summary_of("pcn-paper", {arm("off", 0), arm("on", 0)}));
  for (const char* part : {"paper, PCN off", "3400", "54.80", "paper, PCN on", "44.10", "-86 %",
                           "-20 %", "-39 %", "+72 %", "-11 %", "-5.7 %", "Sensors 2021"})
    EXPECT_TRUE(contains(text, part)) << part;
}

TEST(Table, SaysHowMuchItRestsOn) {
  Summary s = summary_of("mine", {arm("off", 0)});
  EXPECT_TRUE(contains(comparison_table(s), "3 seeds: a demonstration"));
  s.arms[0].cases.assign(30, 0);
  EXPECT_TRUE(contains(comparison_table(s), "30 seeds\n"));
  s.interrupted = true;
  s.planned_cases = 12;
  EXPECT_TRUE(contains(comparison_table(s), "Incomplete: 1 of 12 cases"));
}

TEST(Table, HeadsPointsWithWhatVaries) {
  const auto at = [](const char* tcp, double lead) {
    return Parameters{
        {"job.announce.lead", lead}, {"tcp", std::string(tcp)}, {"workers", std::int64_t{1}}};
  };
  const std::string text = comparison_table(
      summary_of("mine", {arm("off", 0, at("cubic", 1)), arm("on", 0, at("cubic", 2)),
                          arm("on", 0, at("cubic", 8)), arm("off", 1, at("reno", 1))}));
  EXPECT_TRUE(contains(text, "== tcp=cubic\n"));
  EXPECT_TRUE(contains(text, "== tcp=reno\n"));
  EXPECT_TRUE(contains(text, "\non job.announce.lead=2 ")) << text;
  EXPECT_TRUE(contains(text, "\non job.announce.lead=8 "));
  EXPECT_FALSE(contains(text, "off lead_rtts"));
  const auto with = [](const char* protocol, std::int64_t workers) {
    return Parameters{{"protocol", std::string(protocol)}, {"workers", workers}};
  };
  Summary without_off =
      summary_of("mine", {arm("off", 0, with("roce", 2)), arm("off-tcp", 0, with("tcp", 2)),
                          arm("off-tcp", 1, with("tcp", 3))});
  without_off.arms.back().off = true;
  EXPECT_TRUE(contains(comparison_table(without_off), "== workers=3\n")) << "tcp is the arm's own";
}

TEST(Table, NamesWhatShouldMakeAReaderWary) {
  Summary s = summary_of("mine", {arm("off", 0)});
  EXPECT_FALSE(contains(result_text(s), "! "));
  s.cases[0].metrics.incomplete = 2;
  s.cases[0].metrics.ledger_balanced = false;
  s.cases[0].metrics.background_silent = true;
  s.cases[0].metrics.signals.armed_in_vain = 5;
  s.cases[0].metrics.samples.communication_seconds.add(0, 2.1);
  s.cases[0].network_alone.communication_seconds.add(0, 0.1);
  s.warnings = warnings_of(s);
  const std::string text = result_text(s);
  EXPECT_TRUE(contains(text, "! off: 6 iterations never completed")) << "three cases of two";
  EXPECT_TRUE(contains(text, "! off: 15 times regulation or grants were armed in runs in which"));
  EXPECT_TRUE(contains(text, "! off: 3 runs whose packets do not add up"));
  EXPECT_TRUE(contains(text, "! off: 3 runs whose background delivered nothing")) << text;
  EXPECT_TRUE(contains(text, "! off: 3 runs in which background left the job less than 5 %"));
  s.cases[0].network_alone.communication_seconds = s.cases[0].metrics.samples.communication_seconds;
  s.warnings = warnings_of(s);
  EXPECT_FALSE(contains(result_text(s), "background left"));
}

TEST(Table, FitsATerminal) {
  const Parameters wide{{"model", std::string(200, 'm')}, {"tcp", std::string("a")}};
  const Parameters other{{"model", std::string(200, 'n')}, {"tcp", std::string("b")}};
  Summary s = summary_of(
      "pcn-paper", {arm("off", 0, wide, 1e9), arm("on-" + std::string(300, 'x'), 0, wide, -1e12),
                    arm("on-hold-to-the-end-with-ddl-spared", 1, other, 1e-9),
                    arm("on", 1, other, kNotDefined)});
  s.cases[0].metrics.queue.switch_name = std::string(150, 's');
  std::istringstream in(comparison_table(s));
  for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), kTableColumns) << line;
}

TEST(Table, OfNothing) { EXPECT_TRUE(contains(comparison_table(Summary{}), "0 seeds")); }

TEST(TableText, WrapsAtSpaces) {
  const std::string word(60, 'a');
  EXPECT_EQ(wrapped("short\n\n"), "short\n\n");
  EXPECT_EQ(wrapped(word + " " + word + "\nb\n"), word + "\n" + word + "\nb\n");
  EXPECT_EQ(wrapped(std::string(111, 'c') + "\n"), std::string(110, 'c') + "\nc\n");
  EXPECT_EQ(wrapped(std::string(110, 'c')), std::string(110, 'c'));
}

// Cells ended at bytes, so that wide labels pushed them about, and long ones the whole line.
TEST(TableText, CellsEndWhereTheirColumnsDo) {
  const TableCells cells{"24.11", "245.6"};
  const std::string figures = "       24.11       245.6\n";
  EXPECT_EQ(table_line("on", cells), "on" + std::string(16, ' ') + figures);
  EXPECT_EQ(table_line("on-\u6F22\u5B57", cells),
            "on-\u6F22\u5B57" + std::string(11, ' ') + figures);
  const std::string beside = "on-" + std::string(24, 'x'), apart = "on-" + std::string(57, 'x');
  EXPECT_EQ(table_line(beside, cells), beside + " 24.11    245.6\n") << "the next is in its place";
  EXPECT_EQ(table_line(apart, cells), apart + "\n" + std::string(18, ' ') + figures);
  EXPECT_EQ(table_line(apart, {}), apart + "\n");
  EXPECT_EQ(table_line("on-\u05E9", {"1"}), "on-\u05E9\u200E" + std::string(25, ' ') + "1\n");
}

TEST(TableText, WrapsAtColumnsAndNotWithinACharacter) {
  std::string wide;
  for (int i = 0; i < 56; ++i) wide += "\u6F22";
  EXPECT_EQ(wrapped(wide), wide.substr(0, 165) + "\n" + wide.substr(165));
  EXPECT_EQ(wrapped("ab " + wide.substr(0, 162)), "ab\n" + wide.substr(0, 162));
}

TEST(TableText, Numbers) {
  struct Row {
    double value;
    const char* expected;
  };
  for (const auto& row :
       {Row{0.05, "0.050"}, Row{5, "5.000"}, Row{31.25, "31.25"}, Row{180.24, "180.2"},
        Row{3400, "3400"}, Row{-12.5, "-12.50"}, Row{1.5e9, "1.5e+09"}, Row{kNotDefined, "-"}})
    EXPECT_EQ(shown(row.value), row.expected);
  for (const auto& row : {Row{-0.391, "-39 %"}, Row{0.042, "+4.2 %"}, Row{0.0996, "+10 %"},
                          Row{50, ">999 %"}, Row{kNotDefined, "-"}})
    EXPECT_EQ(shown_change(row.value), row.expected);
  EXPECT_EQ(shown_interval({.value = 0, .low = -0.12, .high = 0.034}), "[-12,+3.4]");
  EXPECT_EQ(shown_interval({.value = 1}), "");
}

}  // namespace
}  // namespace outrider::table_test
