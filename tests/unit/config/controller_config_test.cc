// Goal: every rule of a controller's settings names its key, value and reason.
// Method: one fault at a time.
#include "trafficgen/config/controller_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/config/range_checker.h"

namespace outrider::controller_config_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using C = ControllerConfig;

ConfigIssues issues_of(const ControllerConfig& control) {
  ConfigIssues issues;
  check_ranges(Checks(issues), control);
  check(Checks(issues), control);
  return issues;
}

TEST(ControllerConfig, DefaultsAreValid) {
  for (const auto controller : {Controller::kReno, Controller::kCubic, Controller::kDctcp})
    EXPECT_TRUE(issues_of({.controller = controller}).empty());
  EXPECT_TRUE(
      issues_of({.controller = Controller::kUnresponsive, .rate = BitRate{1'000'000}}).empty());
}

TEST(ControllerConfig, EveryRuleNamesItsKey) {
  struct Row {
    std::function<void(C&)> spoil;
    const char *key, *problem;
  };
  const Row rows[] = {
      {[](C& c) { c.dctcp_min_window_segments = 0; }, "dctcp_min_window_segments",
       "0: must be at least 1"},
      {[](C& c) { c.dctcp_min_window_segments = 1001; }, "dctcp_min_window_segments",
       "1001: must be at most 1000"},
      {[](C& c) { c.hystart_min_rtt_threshold = 0ms; }, "hystart_min_rtt_threshold",
       "0s: must be longer"},
      {[](C& c) { c.hystart_min_rtt_threshold = 17ms; }, "hystart_min_rtt_threshold",
       "17ms: must be at most 16ms"},
      {[](C& c) { c.rate = BitRate{1'000'000}; }, "rate",
       "1mbit: is for controller \"unresponsive\" only"},
      {[](C& c) { c.controller = Controller::kUnresponsive; }, "rate",
       "is required with controller \"unresponsive\""},
      {[](C& c) {
         c.controller = Controller::kUnresponsive;
         c.rate = BitRate{0};
       },
       "rate", "0bit: must be more than 0bit"},
      {[](C& c) {
         c.controller = Controller::kUnresponsive;
         c.rate = BitRate{1'000'000};
         c.hystart = HyStartKind::kRfc9406;
       },
       "hystart", "\"rfc9406\": controller \"unresponsive\" has no slow start"},
      {[](C& c) {
         c.controller = Controller::kDctcp;
         c.hystart = HyStartKind::kLinux;
       },
       "hystart", "\"linux\": is a part of Linux's CUBIC"},
  };
  for (const Row& row : rows) {
    ControllerConfig c;
    row.spoil(c);
    const ConfigIssues issues = issues_of(c);
    ASSERT_EQ(issues.size(), 1U) << row.problem;
    EXPECT_EQ(issues[0].key, row.key);
    EXPECT_THAT(issues[0].problem, ::testing::HasSubstr(row.problem));
  }
}

}  // namespace
}  // namespace outrider::controller_config_test
