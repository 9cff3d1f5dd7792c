// Goal: a resolved configuration of the switch reads back as it was written. Each row by
// itself is in rows_test.cc.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/unit/config/full_switch.h"

namespace outrider::switch_round_trip_test {
using namespace sw;
namespace {

TEST(SwitchConfig, AFullConfigurationIsValid) {
  const auto issues = validate(full_config());
  EXPECT_TRUE(issues.empty()) << format_issues("full", issues);
}

TEST(SwitchConfig, WhatIsWrittenReadsBack) {
  const auto text = to_toml(full_config());
  const auto result = switch_config_from(parse_toml(text).config.value());
  ASSERT_TRUE(result) << format_issues("text", result.issues) << text;
  EXPECT_EQ(to_toml(*result.config), text);
  const auto& port = result.config->switches.at(0).ports.at(0);
  EXPECT_EQ(port.regulation.hold, 3ms);
  EXPECT_EQ(port.queues.at(1).queue.limit_bytes, 50'000U);
}

}  // namespace
}  // namespace outrider::switch_round_trip_test
