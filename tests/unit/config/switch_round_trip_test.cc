// Goal: a resolved configuration of the switch reads back as it was written.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/unit/config/full_switch.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider::switch_round_trip_test {
namespace {

TEST(SwitchConfig, AFullConfigurationIsValid) {
  const auto issues = validate(full_config());
  EXPECT_TRUE(issues.empty()) << format_issues("full", issues);
}

TEST(SwitchConfig, NoScalarOfTheRoundTripHasItsDefault) {
  const auto c = full_config();
  expect_all_differ(fields(c.switches[0].ports[0]), fields(SwitchPortConfig{}));
  expect_all_differ(fields(c.switches[0]), fields(SwitchConfig{}));
  expect_all_differ(fields(c.devices[0]), fields(DeviceConfig{}));
  expect_all_differ(fields(c.links[0]), fields(SwitchLinkConfig{}));
  expect_all_differ(fields(c), fields(SwitchProcessConfig{}));
}

TEST(SwitchConfig, WhatIsWrittenReadsBack) {
  const auto c = full_config();
  const auto text = to_toml(c);
  const auto result = switch_config_from(parse_toml(text).config.value());
  ASSERT_TRUE(result) << format_issues("text", result.issues) << text;
  const auto& again = *result.config;
  EXPECT_EQ(fields(again), fields(c));
  EXPECT_EQ(fields(again.devices[0]), fields(c.devices[0]));
  EXPECT_EQ(fields(again.links[0]), fields(c.links[0]));
  for (std::size_t s = 0; s < c.switches.size(); ++s) {
    EXPECT_EQ(fields(again.switches[s]), fields(c.switches[s]));
    for (std::size_t i = 0; i < c.switches[s].ports.size(); ++i)
      EXPECT_EQ(fields(again.switches[s].ports[i]), fields(c.switches[s].ports[i]));
    for (std::size_t p = 0; p < c.switches[s].ports.size(); ++p)
      for (std::size_t q = 0; q < c.switches[s].ports[p].queues.size(); ++q)
        EXPECT_EQ(fields(again.switches[s].ports[p].queues[q]),
                  fields(c.switches[s].ports[p].queues[q]));
    for (std::size_t i = 0; i < c.switches[s].routes.size(); ++i)
      EXPECT_EQ(fields(again.switches[s].routes[i]), fields(c.switches[s].routes[i]));
    for (std::size_t i = 0; i < c.switches[s].mac_routes.size(); ++i)
      EXPECT_EQ(fields(again.switches[s].mac_routes[i]), fields(c.switches[s].mac_routes[i]));
  }
  EXPECT_EQ(to_toml(again), text);
}

}  // namespace
}  // namespace outrider::switch_round_trip_test
