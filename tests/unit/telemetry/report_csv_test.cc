// Goal: tables hold what the report holds, under names with units, and stay tables
// whatever a name contains. Method: records by hand against literal text.
#include "trafficgen/report/report_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "common/telemetry/csv_text.h"

namespace outrider::report_csv_test {
using namespace tg;
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string text_of(const GeneratorReport& report, const std::string& name) {
  const auto files = csv_files(report);
  const auto file = std::ranges::find(files, name, &CsvFile::name);
  return file == files.end() ? "absent" : file->text;
}

/// Cell of a line (0: the names) by the name of its column. @pre no quoted cells
std::string cell(const std::string& text, std::size_t line, const std::string& column) {
  std::vector<std::vector<std::string>> cells;
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) {
    auto& row = cells.emplace_back();
    std::istringstream in(one + ",");
    for (std::string value; std::getline(in, value, ',');) row.push_back(value);
  }
  if (line >= cells.size() || cells[line].size() != cells[0].size()) return "not a table";
  const auto at = std::ranges::find(cells[0], column) - cells[0].begin();
  return cells[line].at(static_cast<std::size_t>(at));
}

TEST(ReportCsv, AnEmptyReportHasNoTables) { EXPECT_THAT(csv_files({}), IsEmpty()); }

TEST(ReportCsv, BurstsHaveTheirIdentityAndEmptyCellsForWhatNeverWas) {
  GeneratorReport r;
  BurstRecord burst;
  burst.identity = {1, 2, 3, BurstDirection::kPull};
  burst.bytes = 1000;
  burst.due_ns = 5;
  burst.first_sent_ns = 0;  // an instant like any other
  burst.ack_timed_out = true;
  burst.delivered_bytes = 900;
  burst.lost_bytes = 20;
  burst.unsent_bytes = 30;
  r.bursts = {burst};
  EXPECT_THAT(text_of(r, "bursts.csv"),
              HasSubstr("job,worker,iteration,direction,bytes,"
                        "due_ns,start_sent_ns,ack_received_ns,released_ns,first_sent_ns,"
                        "delivered_ns,rtos,retransmitted,ack_timed_out,"
                        "delivered_bytes,lost_bytes,unsent_bytes,times_signal_ns"));
  EXPECT_THAT(text_of(r, "bursts.csv"), HasSubstr("\n1,2,3,pull,1000,5,,,,0,,0,0,1,900,20,30,,"));
}

TEST(ReportCsv, AttributedTimesAreColumns) {
  GeneratorReport r;
  BurstRecord burst;
  r.bursts = {burst, burst};
  r.bursts[1].times.emplace();
  for (std::size_t i = 0; i < kBurstTimes; ++i)
    r.bursts[1].times->ns[i] = static_cast<std::int64_t>(10 + i);
  const std::string text = text_of(r, "bursts.csv");
  for (std::size_t i = 0; i < kBurstTimes; ++i) {
    const std::string column = "times_" + std::string(kBurstTimeNames[i]) + "_ns";
    EXPECT_EQ(cell(text, 1, column), "") << column;
    EXPECT_EQ(cell(text, 2, column), std::to_string(10 + i)) << column;
  }
}

TEST(ReportCsv, HistogramsAreColumnsWithTheirUnitLast) {
  GeneratorReport r;
  r.requests.resize(2);
  r.requests[0].name = "ask";
  for (const std::uint64_t ns : {10U, 20U, 60U}) r.requests[0].latency_ns.record(ns);
  const std::string text = text_of(r, "requests.csv");
  EXPECT_EQ(cell(text, 1, "name"), "ask");
  EXPECT_EQ(cell(text, 1, "latency_ns_count"), "3");
  EXPECT_EQ(cell(text, 1, "latency_mean_ns"), "30");
  EXPECT_EQ(cell(text, 1, "latency_min_ns"), "10");
  EXPECT_EQ(cell(text, 1, "latency_p50_ns"), "20");
  EXPECT_EQ(cell(text, 1, "latency_p99.9999_ns"), "60");
  EXPECT_EQ(cell(text, 1, "latency_max_ns"), "60");
  EXPECT_EQ(cell(text, 2, "latency_ns_count"), "0");
  EXPECT_EQ(cell(text, 2, "latency_p50_ns"), "") << "a quantile of nothing";
}

TEST(ReportCsv, RawLatenciesOfRequestsAreATable) {
  GeneratorReport r;
  r.requests.resize(2);
  EXPECT_EQ(text_of(r, "request-samples.csv"), "absent") << "nobody asked for them";
  r.requests[1].name = "ask";
  r.requests[1].samples = {{7, 3}};
  EXPECT_EQ(text_of(r, "request-samples.csv"), "name,answered_ns,latency_ns\nask,7,3\n");
}

TEST(ReportCsv, BinsCarryTheTimeThatTheyCover) {
  GeneratorReport r;
  r.bin_ns = 500;
  r.bins.resize(2);
  r.bins[1].delivered_bytes[TrafficClass::kDdl] = 77;
  const std::string text = text_of(r, "goodput.csv");
  EXPECT_EQ(cell(text, 2, "begin_ns"), "500");
  EXPECT_EQ(cell(text, 2, "length_ns"), "500");
  EXPECT_EQ(cell(text, 2, "delivered_ddl_bytes"), "77");
}

TEST(ReportCsv, NamesMayHoldWhatSeparates) {
  GeneratorReport r;
  FlowReport flow;
  flow.name = "a,\"b\"\nc";
  r.flows = {flow};
  EXPECT_THAT(text_of(r, "flows.csv"), HasSubstr("\n\"a,\"\"b\"\"\nc\",background,0,"));
}

TEST(ReportCsv, ClassesOfAllGroupsAreOneTable) {
  GeneratorReport r;
  r.flow_groups.resize(2);
  r.flow_groups[0].name = "one";
  r.flow_groups[1].name = "two";
  for (auto& g : r.flow_groups) g.classes.resize(2);
  r.flow_groups[1].classes[1].up_to_bytes = 9;
  r.flow_groups[1].classes[1].slowdown_milli.record(1500);
  const std::string text = text_of(r, "flow-classes.csv");
  EXPECT_EQ(cell(text, 1, "group"), "one");
  EXPECT_EQ(cell(text, 4, "group"), "two");
  EXPECT_EQ(cell(text, 4, "up_to_bytes"), "9");
  EXPECT_EQ(cell(text, 4, "slowdown_max_milli"), "1500");
  EXPECT_EQ(text_of(r, "flow-records.csv"), "absent") << "nobody asked for records";
}

}  // namespace
}  // namespace outrider::report_csv_test
