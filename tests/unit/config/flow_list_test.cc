// Goal: flow lists of HPCC are read as its simulator reads them, those of columns by their names,
// or refused by line.
#include "trafficgen/import/flow_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outrider::flow_list_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

TEST(HpccFlows, ReadsTheSimulatorsList) {
  const auto list = parse_flow_list(
      "3\n2 1 3 100 200000000 2\n0 1 3 100 1 2\n1 3 3 101 5000 2.000001500\n"
      "4 9 3 100 7 1\n\nFirst line: # of flows\nsrc0 dst0 3 dst_port0 size0 start_time0\n",
      4);
  ASSERT_TRUE(list) << format_issues("list", list.issues);
  const auto& flows = *list.config;
  ASSERT_EQ(flows.size(), 3U) << "as many as the first line says; the rest is commentary";
  EXPECT_EQ(flows[0].at, 0s) << "relative to the first";
  EXPECT_EQ(flows[0].from, 2U);
  EXPECT_EQ(flows[0].to, 1U);
  EXPECT_EQ(flows[0].bytes, 200'000'000U);
  EXPECT_EQ(flows[1].at, 0s);
  EXPECT_EQ(flows[2].at, 1500ns);
}

TEST(HpccFlows, RefusalsNameLineAndRule) {
  struct Row {
    const char *text, *key, *rule;
  };
  constexpr Row kRows[] = {
      {"", "", "no number of flows"},
      {"flows\n", "line 1", "must be the number of flows"},
      {"0\n", "line 1", "at least 1"},
      {"1 2\n0 1 3 100 5 2\n", "line 1", "and nothing else"},
      {"2\n0 1 3 100 5 2\n", "line 2", "ends after 1 of 2 flows"},
      {"1\n0 1 3 100 5\n", "line 2", "must hold source"},
      {"1\n0 4 3 100 5 2\n", "line 2", "\"4\": is not one of the 4 hosts, 0 to 3"},
      {"1\n-1 2 3 100 5 2\n", "line 2", "\"-1\": is not one"},
      {"1\n2 2 3 100 5 2\n", "line 2", "must differ"},
      {"1\n0 1 x 100 5 2\n", "line 2", "group and port"},
      {"1\n0 1 3 100 0 2\n", "line 2", "above 0"},
      {"1\n0 1 3 100 5 -2\n", "line 2", "seconds from 0"},
      {"1\n0 1 3 100 5 inf\n", "line 2", "seconds from 0"},
      {"2\n0 1 3 100 5 2\n0 1 3 100 5 1e70\n", "line 3", "seconds from 0"},
      {"2\n0 1 3 100 5 2\n0 1 3 100 5 1.9\n", "line 3", "must not fall"},
  };
  for (const Row& row : kRows) {
    const auto list = parse_flow_list(row.text, 4);
    ASSERT_FALSE(list) << row.text;
    EXPECT_EQ(list.issues[0].key, row.key) << row.text;
    EXPECT_THAT(list.issues[0].problem, ::testing::HasSubstr(row.rule)) << row.text;
  }
}

TEST(HpccFlows, AFaultOfTheFirstLineHidesNoOther) {
  const auto list = parse_flow_list("x\n0 1 3 100 5 2\n0 9 3 100 5 2\n", 4);
  ASSERT_EQ(list.issues.size(), 2U);
  EXPECT_EQ(list.issues[0].key, "line 1");
  EXPECT_EQ(list.issues[1].key, "line 3");
}

TEST(CsvFlows, ColumnsHaveNamesInAnyOrder) {
  const auto list = parse_flow_list(
      "# recorded\n to, bytes ,label,start_seconds, from\n1,1500,a b,3.5,0\r\n0,7,,3.75,2\n", 4);
  ASSERT_TRUE(list) << format_issues("list", list.issues);
  const auto& flows = *list.config;
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].at, 0s);
  EXPECT_EQ(flows[0].from, 0U);
  EXPECT_EQ(flows[0].to, 1U);
  EXPECT_EQ(flows[0].bytes, 1500U);
  EXPECT_EQ(flows[1].at, 250ms);
  EXPECT_EQ(flows[1].from, 2U);
}

TEST(CsvFlows, RefusalsNameLineAndRule) {
  struct Row {
    const char *text, *key, *rule;
  };
  const std::string names = "start_seconds,from,to,bytes\n";
  const Row rows[] = {{"", "", "has no flows"},
                      {"1,0,1\n", "line 2", "must hold 4 fields"},
                      {"1,0,1,5,6\n", "line 2", "must hold 4 fields"},
                      {"1,0,4,5\n", "line 2", "\"4\": is not one of the 4 hosts"},
                      {"1,0,1,5\n\n1,0,1,\n", "line 4", "bytes must be"},
                      {"1,0,1,5\n0.5,0,1,5\n", "line 3", "must not fall"}};
  for (const Row& row : rows) {
    const auto list = parse_flow_list(names + row.text, 4);
    ASSERT_FALSE(list) << row.text;
    EXPECT_EQ(list.issues[0].key, row.key) << row.text;
    EXPECT_THAT(list.issues[0].problem, ::testing::HasSubstr(row.rule)) << row.text;
  }
  const auto list = parse_flow_list("start,from,to,bytes\n1,0,9,5\n", 4);
  ASSERT_FALSE(list);
  EXPECT_EQ(list.issues.size(), 1U) << "nothing is said of lines whose columns have no names";
  EXPECT_THAT(list.issues[0].problem, ::testing::HasSubstr("no column \"start_seconds\""));
}

TEST(HpccFlows, FaultsAreAllToldUpToALimit) {
  std::string text = "100\n";
  for (int i = 0; i < 100; ++i) text += "9 9 3 100 5 2\n";
  EXPECT_GT(parse_flow_list(text, 4).issues.size(), 10U);
  EXPECT_LT(parse_flow_list(text, 4).issues.size(), 30U);
}

}  // namespace
}  // namespace outrider::flow_list_test
