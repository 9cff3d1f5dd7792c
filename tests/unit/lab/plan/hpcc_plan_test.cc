// Goal: an experiment with HPCC has every switch write telemetry, and is refused or warned of where
// its windows could not follow the path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::hpcc_plan_test {
using namespace lab;
namespace {

const std::string kHpcc = "transport.roce.controller = \"hpcc\"\n";

/// A job over RoCEv2 and background as the parameters say.
std::string over_roce(const std::string& parameters) {
  return with(
      small_experiment(), "[parameters]\n",
      "[parameters]\nddl.transport.protocol = \"roce\"\njob.announce.signal_form = \"udp\"\n" +
          parameters);
}

TEST(HpccPlan, AllSwitchesWriteTelemetry) {
  const auto all_write = [](const std::string& parameters) {
    std::size_t switches = 0, writing = 0;
    for (const Case& c : plan_of(over_roce(parameters)))
      for (const auto& sw : c.switches.switches) {
        ++switches;
        writing += sw.hop_records.roce;
      }
    EXPECT_TRUE(writing == 0 || writing == switches);
    return writing != 0;
  };
  EXPECT_FALSE(all_write("background.protocol = \"roce\"\n"));
  EXPECT_TRUE(all_write("ddl." + kHpcc));
  EXPECT_TRUE(all_write("background.protocol = \"roce\"\nbackground." + kHpcc));
  EXPECT_TRUE(all_write("background.protocol = \"both\"\nbackground." + kHpcc));
}

TEST(HpccPlan, SwitchesOfOthersAreRefused) {
  const auto fault = [](const std::string& parameters) {
    const auto file =
        read_experiment(with(over_roce("ddl." + kHpcc + parameters), "[[switch]]\nname = \"a\"\n",
                             "[[switch]]\nname = \"a\"\noutside = true\n"));
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_issues("f", make_plan(*file.config).issues) : "";
  };
  EXPECT_THAT(fault(""), testing::HasSubstr("transport.roce.controller: \"hpcc\": needs telemetry "
                                            "of every switch, and \"a\" is somebody else's"));
  EXPECT_EQ(fault("outside = \"ours\"\n"), "");
}

TEST(HpccPlan, WarnsOfABaseRoundTripThatIsTooShort) {
  const auto told = [](const std::string& base_rtt) {
    return format_advice(
        "f", advice(plan_of(over_roce("ddl." + kHpcc + "ddl.transport.roce.hpcc.base_rtt = \"" +
                                      base_rtt + "\"\n"))));
  };
  EXPECT_THAT(told("1us"), testing::HasSubstr("roce.hpcc.base_rtt: 1us is below the round trip of "
                                              "an empty path, 2ms"));
  EXPECT_THAT(told("2ms"), testing::Not(testing::HasSubstr("base_rtt")));
}

}  // namespace
}  // namespace outrider::hpcc_plan_test
