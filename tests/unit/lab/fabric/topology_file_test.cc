// Goal: topologies of HPCC's simulator and of networkx become the same fabric, and the message for
// a faulty file names the line or key.
#include "tools/lab/fabric/topology_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/config_result.h"

namespace outrider::topology_file_test {
using namespace lab;
using namespace std::chrono_literals;
using testing::HasSubstr;
namespace {

// Hosts 0 and 1 at switch 2, host 3 at switch 4.
constexpr const char* kHpcc = R"(5 2 4
2 4
0 2 100Gbps 1000ns 0
1 2 100Gbps 1us 0.000000
2 4 400Gbps 2us 0
3 4 25Gbps 500ns 0
comment after the links
)";

constexpr const char* kNodeLink = R"({"directed": false, "nodes": [{"id": 2}, {"id": 4},
  {"id": 0}, {"id": 1}, {"id": 3}], "links": [
  {"source": 0, "target": 2, "rate": "100Gbps", "delay": "1us"},
  {"source": 2, "target": 1, "rate": "100gbit", "delay": "1us"},
  {"source": 2, "target": 4, "rate": "400gbit", "delay": "2us"},
  {"source": 4, "target": 3, "rate": "25gbit", "delay": "500ns"}]})";

void expect_the_same(const std::optional<Fabric>& f) {
  ASSERT_TRUE(f);
  ASSERT_EQ(f->switches.size(), 2U);
  EXPECT_EQ(f->switches[0].name, "switch_2");
  ASSERT_EQ(f->trunks.size(), 1U);
  EXPECT_EQ(f->trunks[0].rate.bits_per_second, 400'000'000'000U);
  ASSERT_EQ(f->slots.size(), 3U);
  EXPECT_EQ(f->slots[1].at_switch, 0U);
  EXPECT_EQ(f->slots[2].at_switch, 1U);
  EXPECT_EQ(f->slots[2].rate.bits_per_second, 25'000'000'000U);
  EXPECT_EQ(f->slots[2].delay, 500ns);
  EXPECT_EQ(longest_rtt(*f), 7us);
}

TEST(TopologyFile, BothFormsGiveTheSameFabric) {
  ConfigIssues issues;
  expect_the_same(parse_hpcc_topology(kHpcc, issues));
  expect_the_same(parse_node_link(kNodeLink, issues));
  EXPECT_TRUE(issues.empty()) << format_issues("", issues);
}

std::string edited(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TopologyFile, HpccFaultsNameTheLine) {
  struct Row {
    std::string text, problem;
  };
  const Row rows[] = {
      {"", "is empty"},
      {edited(kHpcc, "5 2 4", "5 2"), "line 1: must hold three numbers: of nodes"},
      {edited(kHpcc, "5 2 4", "5 2 9"), "must hold two nodes, rate, delay and error rate"},
      {edited(kHpcc, "2 4\n0", "2 7\n0"), "line 2: \"7\": is no node, 0 to 4"},
      {edited(kHpcc, "100Gbps 1000ns", "100Gb 1000ns"), "line 3: rate \"100Gb\""},
      {edited(kHpcc, "1us 0.000000", "1us -0.01"),
       "line 4: error rate \"-0.01\": must be a share from 0 to 1"},
      {edited(kHpcc, "400Gbps", "0Gbps"), "line 5: has a rate of 0"},
      {edited(kHpcc, "1us 0.000000", "1us 2"), "line 4: error rate \"2\": must be a share"},
      {edited(kHpcc, "400Gbps", "0.5"), "line 5: rate \"0.5\": must be from 1 to 1e15 bit/s"},
      {edited(kHpcc, "3 4 25", "1 4 25"), "host 3 has no link"},
      {edited(kHpcc, "3 4 25", "3 0 25"), "joins two hosts"},
      {edited(kHpcc, "1 2 100", "2 2 100"), "joins a node to itself"},
      {edited(kHpcc, "5 2 4", "6 2 4"), "host 5 has no link"},
  };
  for (const Row& row : rows) {
    ConfigIssues issues;
    EXPECT_FALSE(parse_hpcc_topology(row.text, issues)) << row.problem;
    EXPECT_THAT(format_issues("", issues), HasSubstr(row.problem));
  }
}

// The PowerTCP examples of ns-3: the number of switches with hosts, and rates in bit/s.
TEST(TopologyFile, FourNumbersAndPlainRatesAreRead) {
  std::string text = edited(kHpcc, "5 2 4", "5 2 2 4");
  text = edited(edited(text, "0 2 100Gbps", "0 2 100000000000.0"), "25Gbps", "25000000000");
  ConfigIssues issues;
  expect_the_same(parse_hpcc_topology(text, issues));
  EXPECT_TRUE(issues.empty()) << format_issues("", issues);
}

TEST(TopologyFile, ErrorRatesAreLosses) {
  std::string text = edited(kHpcc, "400Gbps 2us 0", "400Gbps 2us 0.01");
  ConfigIssues issues;
  const auto f = parse_hpcc_topology(edited(text, "25Gbps 500ns 0", "25Gbps 500ns 0.5"), issues);
  ASSERT_TRUE(f) << format_issues("", issues);
  EXPECT_EQ(f->trunks[0].loss, 0.01);
  EXPECT_EQ(f->slots[0].loss, 0);
  EXPECT_EQ(f->slots[2].loss, 0.5);
  EXPECT_EQ(f->slots[2].node, 3U);
}

TEST(TopologyFile, EachLinkOfAHostIsANic) {
  ConfigIssues issues;
  const auto f = parse_hpcc_topology(
      edited(edited(kHpcc, "5 2 4", "5 2 5"), "3 4 25", "0 4 50Gbps 3us 0\n3 4 25"), issues);
  ASSERT_TRUE(f) << format_issues("", issues);
  ASSERT_EQ(f->slots.size(), 4U);
  EXPECT_EQ(f->slots[0].node, 0U);
  EXPECT_EQ(f->slots[0].nic, 0U);
  EXPECT_EQ(f->slots[2].node, 0U);
  EXPECT_EQ(f->slots[2].nic, 1U);
  EXPECT_EQ(f->slots[2].at_switch, 1U);
  EXPECT_EQ(f->slots[2].delay, 3us);
}

TEST(TopologyFile, AHostHasSixteenNicsAtMost) {
  std::string links;
  for (int i = 0; i < 16; ++i) links += "0 2 100Gbps 1us 0\n";
  const std::string text = edited(edited(kHpcc, "5 2 4", "5 2 20"), "1 2 100", links + "1 2 100");
  ConfigIssues issues;
  EXPECT_FALSE(parse_hpcc_topology(text, issues));
  EXPECT_THAT(format_issues("", issues), HasSubstr("line 19: host 0 has more than 16 links"));
}

TEST(TopologyFile, TwoSwitchesMayHaveSeveralLinks) {
  std::string text = edited(kHpcc, "5 2 4", "5 2 6");
  text = edited(text, "3 4 25Gbps", "4 2 400Gbps 2us 0\n2 4 100Gbps 2us 0\n3 4 25Gbps");
  ConfigIssues issues;
  const auto f = parse_hpcc_topology(text, issues);
  ASSERT_TRUE(f) << format_issues("", issues);
  ASSERT_EQ(f->trunks.size(), 3U);
  EXPECT_EQ(f->trunks[0].port_of_a(), "switch_2.to_switch_4");
  EXPECT_EQ(f->trunks[1].port_of_a(), "switch_4.to_switch_2#2");
  EXPECT_EQ(f->trunks[2].port_of_b(), "switch_4.to_switch_2#3");
  EXPECT_EQ(link_with_port(f->trunks, "switch_2.to_switch_4#2"), 1U);
}

// It is told once, with what stands there, and the faults of the links too.
TEST(TopologyFile, AFaultOfTheFirstLineHidesNoOther) {
  for (const char* counts : {"5 2 1 4 1", "5 2 3 4", "5", "x", "99999999 2 4", "5 9 4"}) {
    ConfigIssues issues;
    std::string text = edited(kHpcc, "5 2 4", counts);
    text = edited(text, "100Gbps 1000ns", "25000000000.0G 1000ns");
    EXPECT_FALSE(parse_hpcc_topology(edited(text, "25Gbps 500ns", "25Gbps 5"), issues));
    ASSERT_EQ(issues.size(), 3U) << format_issues(counts, issues);
    EXPECT_EQ(issues[0].key, "line 1");
    EXPECT_THAT(issues[0].problem, HasSubstr("it holds \"" + std::string(counts) + '"'));
    EXPECT_EQ(issues[1].key, "line 3");
    EXPECT_EQ(issues[2].key, "line 6");
  }
}

// Also of one line that has hundreds of thousands of words, and of nodes.
TEST(TopologyFile, OfManyFaultsTwentyAreKept) {
  std::string words = "1000 500 10\n", nodes = "{\"nodes\": [0";
  for (int i = 0; i < 300'000; ++i) words += "x" + std::to_string(i) + ' ';
  for (int i = 0; i < 80'000; ++i) nodes += ",0";
  ConfigIssues of_words, of_nodes;
  EXPECT_FALSE(parse_hpcc_topology(words, of_words));
  EXPECT_FALSE(parse_node_link(nodes + "], \"links\": []}", of_nodes));
  EXPECT_EQ(of_words.size(), 20U);
  EXPECT_TRUE(of_words.has_more());
  EXPECT_EQ(of_nodes.size(), 20U);
  EXPECT_TRUE(of_nodes.has_more());
}

TEST(TopologyFile, NodeLinkFaultsNameTheKey) {
  struct Row {
    std::string text, problem;
  };
  const Row rows[] = {
      {"{", "must be JSON with the lists"},
      {"{\"nodes\": []}", "must be JSON with the lists"},
      {edited(kNodeLink, "{\"id\": 3}", "{}"), "nodes[4]: needs \"id\""},
      {edited(kNodeLink, "{\"id\": 3}", "{\"id\": 0}"), "nodes[4]: \"0\" is used twice"},
      {edited(kNodeLink, "\"target\": 3", "\"target\": 9"), "links[3]: \"target\" must be the id"},
      {edited(kNodeLink, "\"500ns\"", "7"), "links[3]: needs \"delay\" as a text"},
      {edited(kNodeLink, "25gbit", "fast"), "links[3]: rate: "},
  };
  for (const Row& row : rows) {
    ConfigIssues issues;
    EXPECT_FALSE(parse_node_link(row.text, issues)) << row.problem;
    EXPECT_THAT(format_issues("", issues), HasSubstr(row.problem));
  }
}

}  // namespace
}  // namespace outrider::topology_file_test
