// Goal: a [[flows]] table is read whole, and every rule names its key.
// Method: one fault at a time against a valid table.
#include "trafficgen/background/flows_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/config/range_checker.h"
#include "common/config/toml_file.h"
#include "tests/support/source_path.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::flows_config_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using C = FlowsConfig;

FlowsConfig drawn() {
  FlowsConfig c;
  c.name = "mice";
  c.from = {"a", "b"};
  c.to = {"c"};
  c.distribution = "sizes.cdf";
  c.load = 0.5;
  c.transport = "t";
  return c;
}

FlowsConfig listed() {
  FlowsConfig c;
  c.name = "list";
  c.list = "flow.txt";
  c.hosts = {"a", "b"};
  c.transport = "t";
  return c;
}

ConfigIssues issues_of(const FlowsConfig& flows) {
  ConfigIssues issues;
  check_ranges(Checks(issues), flows);
  check(Checks(issues), flows);
  return issues;
}

TEST(FlowsConfig, BothKindsAreValid) {
  EXPECT_TRUE(issues_of(drawn()).empty());
  EXPECT_TRUE(issues_of(listed()).empty());
}

TEST(FlowsConfig, AGroupMaySendMoreThanOneLinkCan) {
  FlowsConfig c = drawn();
  c.load.reset();
  c.rate = BitRate{1'000'000'000'000'000};
  EXPECT_TRUE(issues_of(c).empty());
}

TEST(FlowsConfig, EveryRuleNamesItsKey) {
  struct Row {
    FlowsConfig base;
    std::function<void(C&)> spoil;
    const char *key, *problem;
  };
  const Row rows[] = {
      {drawn(), [](C& c) { c.distribution.reset(); }, "distribution",
       "one of distribution and list"},
      {drawn(), [](C& c) { c.list = "x"; }, "distribution", "together with list"},
      {drawn(), [](C& c) { c.from.clear(); }, "from", "at least one host"},
      {drawn(), [](C& c) { c.to.clear(); }, "to", "at least one host"},
      {drawn(), [](C& c) { c.from[1] = "c"; }, "from[1]", "\"c\": has no other host to send to"},
      {drawn(), [](C& c) { c.hosts = {"a"}; }, "hosts", "is for a list"},
      {drawn(), [](C& c) { c.load.reset(); }, "load", "one of load and rate"},
      {drawn(), [](C& c) { c.rate = BitRate{1'000'000}; }, "load", "together with rate"},
      {drawn(), [](C& c) { c.load = 0.0; }, "load", "must be more than"},
      {drawn(), [](C& c) { c.load = -0.1; }, "load", "must be more than"},
      {drawn(), [](C& c) { c.load = 10.5; }, "load", "must be"},
      {drawn(), [](C& c) { c.load.reset(), c.rate = BitRate{1'000'001'000'000'000}; }, "rate",
       "at most 1000000gbit"},
      {drawn(), [](C& c) { c.start = -1s; }, "start", "must"},
      {drawn(), [](C& c) { c.duration = 0s; }, "duration", "must"},
      {drawn(), [](C& c) { c.max_flows = 0; }, "max_flows", "at least 1"},
      {drawn(), [](C& c) { c.max_open = 0; }, "max_open", "at least 1"},
      {drawn(), [](C& c) { c.max_open = 1'000'001; }, "max_open", "at most 1000000"},
      {drawn(), [](C& c) { c.tcp_port = 0; }, "tcp_port", "at least 1"},
      {listed(), [](C& c) { c.hosts.resize(1); }, "hosts", "at least 2"},
      {listed(), [](C& c) { c.from = {"a"}; }, "from", "a list has hosts"},
      {listed(), [](C& c) { c.to = {"a"}; }, "to", "a list has hosts"},
      {listed(), [](C& c) { c.load = 0.5; }, "load", "its own times"},
      {listed(), [](C& c) { c.rate = BitRate{1}; }, "rate", "its own times"},
  };
  for (const Row& row : rows) {
    FlowsConfig c = row.base;
    row.spoil(c);
    const ConfigIssues issues = issues_of(c);
    ASSERT_EQ(issues.size(), 1U) << row.key << ": " << row.problem;
    EXPECT_EQ(issues[0].key, row.key);
    EXPECT_THAT(issues[0].problem, ::testing::HasSubstr(row.problem));
  }
}

constexpr const char* kFile = R"(
duration = "1s"
[[device]]
name = "d"
device = "net_null0"
[[host]]
name = "a"
address = "10.0.0.1"
device = "d"
[[host]]
name = "b"
address = "10.0.0.2"
device = "d"
[[transport]]
name = "t"
[[flows]]
name = "mice"
from = ["a"]
to = ["b"]
distribution = "conf/distributions/web-search.cdf"
load = "30%"
arrivals = "fixed"
transport = "t"
max_flows = 10
max_open = 7
queue_pairs = 3
records = 5
duration = "20ms"
)";

TEST(FlowsConfig, ATableIsReadAndWrittenBack) {
  const auto read = generator_config_from(parse_toml(kFile).config.value(), source_path());
  ASSERT_TRUE(read) << format_issues("file", read.issues);
  const FlowsConfig& c = read.config->flows.at(0);
  EXPECT_DOUBLE_EQ(c.load.value(), 0.3);
  EXPECT_EQ(c.arrivals, ArrivalProcess::kFixed);
  EXPECT_EQ(c.max_flows, 10U);
  EXPECT_EQ(c.max_open, 7U);
  EXPECT_EQ(c.queue_pairs, 3U);
  EXPECT_EQ(c.records, 5U);
  EXPECT_EQ(c.duration, 20ms);
  EXPECT_EQ(c.distribution, source_path("conf/distributions/web-search.cdf"));
  const auto again = generator_config_from(parse_toml(to_toml(*read.config)).config.value(), "");
  ASSERT_TRUE(again) << format_issues("written", again.issues);
  EXPECT_EQ(to_toml(*again.config), to_toml(*read.config));
}

TEST(FlowsConfig, ReferencesAndFilesAreChecked) {
  struct Row {
    const char *from, *to, *key, *problem;
  };
  constexpr Row kRows[] = {
      {"to = [\"b\"]", "to = [\"z\"]", "flows[0].to[0]", "no [[host]] has this name"},
      {"transport = \"t\"", "transport = \"u\"", "flows[0].transport", "no [[transport]]"},
      {"web-search", "nothing", "flows[0].distribution", "cannot be opened: No such file"},
      {"distributions/web-search.cdf", "trafficgen/loopback.toml", "flows[0].distribution",
       "line "},
  };
  for (const Row& row : kRows) {
    std::string text = kFile;
    text.replace(text.find(row.from), std::string_view(row.from).size(), row.to);
    const auto read = generator_config_from(parse_toml(text).config.value(), source_path());
    ASSERT_FALSE(read) << row.to;
    EXPECT_EQ(read.issues[0].key, row.key);
    EXPECT_THAT(read.issues[0].problem, ::testing::HasSubstr(row.problem));
  }
}

}  // namespace
}  // namespace outrider::flows_config_test
