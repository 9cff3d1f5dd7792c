// Goal: a table has the columns and lines that are asked for, in three forms, and refuses what is
// not there.
#include "tools/lab/tables/column_table.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tools/lab/tables/collective_table.h"

namespace outrider::column_table_test {
using namespace lab;
namespace {

constexpr const char* kMedian = "burst_completion_seconds_median";

Estimate estimate(double value, double low, double high) { return {value, low, high}; }

/// Returns an arm with one metric: a median of so many seconds, and its change.
ArmSummary arm(const char* label, std::int64_t workers, double seconds, double change) {
  ArmSummary a{.label = label,
               .parameters = {{"transport.controller", std::string("cubic")},
                              {"workers", workers},
                              {"recovery", std::string(label)}}};
  a.metrics = {{kMedian, estimate(seconds, seconds / 2, seconds * 2),
                estimate(change, change - 0.1, change + 0.1)}};
  return a;
}

Results of(std::vector<ArmSummary> arms) { return {.arms = std::move(arms)}; }

Results summary() { return of({arm("off", 1, 0.04, 0), arm("on", 1, 0.02, -0.5)}); }

Results sweep() {
  return of({arm("off", 1, 0.04, 0), arm("on", 1, 0.02, -0.5), arm("off", 4, 0.1, 0),
             arm("on", 4, 0.1, 0)});
}

TEST(ColumnTable, HasTheColumnsThatAreAskedFor) {
  EXPECT_EQ(column_table(summary(), {.columns = {kMedian, "last_loss"}}),
            "     burst  last loss\n"
            "        ms       nats\n"
            "off  40.00          -\n"
            "on   20.00          -\n");
  EXPECT_EQ(column_table(summary(), {.form = TableForm::kCsv, .columns = {kMedian, "last_loss"}}),
            "arm,burst_completion_seconds_median,last_loss\n"
            "off,0.04,\n"
            "on,0.02,\n");
  EXPECT_NE(column_table(summary(), {}).find("RTOs"), std::string::npos) << "those of compare";
}

TEST(ColumnTable, ShowsIntervalsAndChanges) {
  EXPECT_EQ(column_table(summary(), {.form = TableForm::kMarkdown,
                                     .columns = {std::string(kMedian) + ":range",
                                                 std::string(kMedian) + ":change"}}),
            "| arm | burst [ms] | burst, change |\n"
            "|---|---|---|\n"
            "| `off` | 40.00 [20,80] | +0.0 % [-10,+10] |\n"
            "| `on` | 20.00 [10,40] | -50 % [-60,-40] |\n");
  EXPECT_EQ(column_table(summary(), {.form = TableForm::kHtml, .columns = {kMedian}}),
            "<table>\n<tr><th>arm</th><th>burst [ms]</th></tr>\n"
            "<tr><td>off</td><td>40.00</td></tr>\n<tr><td>on</td><td>20.00</td></tr>\n</table>\n");
}

TEST(ColumnTable, HtmlEscapesWhatUsersWrote) {
  EXPECT_NE(column_table(of({arm("a<b & \"c\"", 1, 0.04, 0)}),
                         {.form = TableForm::kHtml, .columns = {kMedian}})
                .find("<td>a&lt;b &amp; &quot;c&quot;</td>"),
            std::string::npos);
}

TEST(ColumnTable, NamesWhatAChangeIsAgainst) {
  Results all = of({arm("tail drop", 1, 0.04, 0), arm("on", 1, 0.02, -0.5)});
  all.arms[0].off = true;
  all.arms[1].against = "reno";
  all.arms[1].against_off = {{kMedian, {}, estimate(-0.2, -0.3, -0.1)}};
  EXPECT_NE(column_table(all, {.columns = {std::string(kMedian) + ":change"}})
                .find("-50 % [-60,-40] / reno, -20 % / tail drop\n"),
            std::string::npos);
}

// Two columns of one name with the same plain value stood in their place.
TEST(ColumnTable, AsCsvBoundsAndChangesAreColumns) {
  EXPECT_EQ(
      column_table(summary(), {.form = TableForm::kCsv,
                               .columns = {std::string(kMedian) + ":range",
                                           std::string(kMedian) + ":change"}}),
      "arm,burst_completion_seconds_median,burst_completion_seconds_median_low,"
      "burst_completion_seconds_median_high,burst_completion_seconds_median_change,"
      "burst_completion_seconds_median_change_low,burst_completion_seconds_median_change_high\n"
      "off,0.04,0.02,0.08,0,-0.1,0.1\n"
      "on,0.02,0.01,0.04,-0.5,-0.6,-0.4\n");
}

TEST(ColumnTable, ALineSaysWhatItsLabelLeavesOpen) {
  EXPECT_EQ(column_table(sweep(), {.form = TableForm::kCsv, .columns = {kMedian}}),
            "arm,burst_completion_seconds_median\n"
            "off workers=1,0.04\non workers=1,0.02\noff workers=4,0.1\non workers=4,0.1\n");
  EXPECT_EQ(column_table(sweep(), {.form = TableForm::kMarkdown, .columns = {kMedian}}),
            "| arm | `workers` | burst [ms] |\n"
            "|---|---|---|\n"
            "| `off` | 1 | 40.00 |\n"
            "| `on` | 1 | 20.00 |\n"
            "| `off` | 4 | 100.0 |\n"
            "| `on` | 4 | 100.0 |\n");
}

TEST(ColumnTable, HasTheLinesThatAreAskedFor) {
  const TableRequest four{.form = TableForm::kMarkdown,
                          .columns = {kMedian},
                          .arms = {"on", "off"},
                          .where = {{"workers", "4"}, {"transport.controller", "cubic"}}};
  EXPECT_EQ(column_table(sweep(), four),
            "| arm | burst [ms] |\n"
            "|---|---|\n"
            "| `on` | 100.0 |\n"
            "| `off` | 100.0 |\n")
      << "what does not vary among these lines has no column";
}

// Pages and summary.json write another text of a number, and of none, than tables do.
TEST(ColumnTable, AValueIsTheSameWhoeverWroteIt) {
  Results all = sweep();
  for (auto& one : all.arms)
    one.parameters.insert(one.parameters.end(), {{"gain", 6.0}, {"flows", std::monostate{}}});
  const auto with = [&all](const char* gain, const char* flows) {
    return column_table(all, {.form = TableForm::kCsv,
                              .columns = {kMedian},
                              .where = {{"gain", gain}, {"flows", flows}, {"workers", "1.0"}}});
  };
  EXPECT_EQ(with("6.0", "null"), with("6", "absent"));
  EXPECT_THROW((void)with("6.5", "null"), std::runtime_error);
  EXPECT_THROW((void)with("6.0", "0"), std::runtime_error);
}

TEST(ColumnTable, RefusesWhatIsNotThere) {
  EXPECT_THROW((void)column_table(summary(), {.columns = {"burst"}}), std::out_of_range);
  EXPECT_THROW((void)column_table(summary(), {.columns = {std::string(kMedian) + ":p99"}}),
               std::out_of_range);
  EXPECT_THROW((void)column_table(summary(), {.arms = {"on", "no"}}), std::runtime_error);
  EXPECT_THROW((void)column_table(summary(), {.where = {{"workers", "3"}}}), std::runtime_error);
  EXPECT_THROW((void)column_table(summary(), {.where = {{"worker", "1"}}}), std::runtime_error);
}

/// Returns two arms of which one has a job more, which never completed an iteration.
Results collectives() {
  Results all = of({arm("off", 1, 0.04, 0), arm("off", 4, 0.1, 0)});
  all.arms[0].collectives = {{"a", "ring", 8, 64e6, 9.187e-3, 55.73e9, 97.53e9}};
  all.arms[1].collectives = all.arms[0].collectives;
  all.arms[1].collectives.push_back({.job = "b", .collective = "tree", .ranks = 2});
  return all;
}

TEST(CollectiveTable, HasAJobInALineInTheWordsOfNcclTests) {
  EXPECT_EQ(collective_table(collectives(), {}),
            "               job  collective  ranks      size  time  algbw  busbw   busbw\n"
            "                                              B    us   GB/s   GB/s  Mbit/s\n"
            "off workers=1  a    ring            8  64000000  9187  6.966  12.19   97530\n"
            "off workers=4  a    ring            8  64000000  9187  6.966  12.19   97530\n"
            "off workers=4  b    tree            2         -     -      -      -       -\n");
  EXPECT_EQ(collective_table(collectives(), {.form = TableForm::kCsv, .where = {{"workers", "4"}}}),
            "arm,job,collective,ranks,size_bytes,communication_seconds_median,"
            "algbw_bits_per_second_median,busbw_bits_per_second_median\n"
            "off,a,ring,8,64000000,0.009187,5.573e+10,9.753e+10\n"
            "off,b,tree,2,,,,\n");
  EXPECT_NE(collective_table(collectives(), {.form = TableForm::kMarkdown})
                .find("| `off` | 4 | a | ring | 8 | 64000000 |"),
            std::string::npos);
}

TEST(CollectiveTable, IsNotThereWithoutCollectivesAndShortIfAsked) {
  EXPECT_EQ(collective_table(summary(), {}), "");
  EXPECT_TRUE(collective_table(collectives(), {}, 1).ends_with("97530\nand 2 more\n"));
}

}  // namespace
}  // namespace outrider::column_table_test
