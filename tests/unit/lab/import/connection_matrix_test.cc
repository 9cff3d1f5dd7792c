// Goal: a connection matrix of htsim becomes flows in the order of their starts, and each fault of
// one names its line.
#include "tools/lab/import/connection_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outrider::connection_matrix_test {
using namespace lab;
using namespace std::chrono_literals;
using testing::HasSubstr;
namespace {

constexpr const char* kMatrix = R"(# made by hand
Nodes 4
Connections 4
Triggers 1
Failures 1
0->1 id 1 start 2000000 size 500 send_done_trigger 1
2->3 id 2 msg start 1500000 size 70000 prio 3
3->0 id 3 msg 7 start 0 size 1
1->2 id 4 trigger 1 size 9000
trigger id 1 oneshot
failure switch_type TOR switch_id 0 link_id 1
)";

std::string edited(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ConnectionMatrix, FlowsAreInTheOrderOfTheirStarts) {
  const auto matrix = parse_connection_matrix(kMatrix);
  ASSERT_TRUE(matrix) << format_issues("", matrix.issues);
  EXPECT_EQ(matrix.config->nodes, 4U);
  EXPECT_EQ(matrix.config->waiting, 1U);
  EXPECT_EQ(matrix.config->failures, 1U);
  ASSERT_EQ(matrix.config->flows.size(), 3U);
  EXPECT_EQ(matrix.config->flows[0].at, 0ns);
  EXPECT_EQ(matrix.config->flows[2].at, 2us);
  const auto& [at, from, to, bytes] = matrix.config->flows[1];
  EXPECT_EQ(at, 1500ns);
  EXPECT_EQ(from, 2U);
  EXPECT_EQ(to, 3U);
  EXPECT_EQ(bytes, 70'000U);
}

TEST(ConnectionMatrix, FaultsNameTheLine) {
  struct Row {
    std::string text, problem;
  };
  const Row rows[] = {
      {"", "has no line \"Nodes N\""},
      {edited(kMatrix, "Nodes 4", "Nodes many"), "line 2: must be \"Nodes\" and a whole number"},
      {edited(kMatrix, "Nodes 4", "Nodes 1"), "line 2: Nodes 1: must be from 2 to"},
      {edited(kMatrix, "Connections 4", "Connections 5"), "has 4 flows, and says Connections 5"},
      {edited(kMatrix, "0->1", "0->4"), "line 6: \"4\": is no node, 0 to 3"},
      {edited(kMatrix, "0->1", "1->1"), "line 6: source and destination must differ"},
      {edited(kMatrix, "size 500", "size 0"), "line 6: size must be a whole number above 0"},
      {edited(kMatrix, "start 2000000", "start -1"), "line 6: start must be a number of"},
      {edited(kMatrix, "prio 3", "colour 3"), "line 7: \"colour\": is no word of a flow"},
      {edited(kMatrix, "trigger id", "tigger id"), "line 10: \"tigger\": must be Nodes"},
      {"Nodes 2\nConnections 1\n0->1 id 1 trigger 1 size 5\n", "all wait for triggers"},
  };
  for (const Row& row : rows) {
    const auto matrix = parse_connection_matrix(row.text);
    EXPECT_FALSE(matrix) << row.problem;
    EXPECT_THAT(format_issues("", matrix.issues), HasSubstr(row.problem));
  }
}

TEST(ConnectionMatrix, OfManyFaultsTwentyAreKept) {
  std::string text = "Nodes 2\nConnections 1000\n";
  for (int i = 0; i < 1000; ++i) text += "0->9 start 0 size 1\n";
  const auto matrix = parse_connection_matrix(text);
  EXPECT_FALSE(matrix);
  EXPECT_EQ(matrix.issues.size(), 20U);
}

}  // namespace
}  // namespace outrider::connection_matrix_test
