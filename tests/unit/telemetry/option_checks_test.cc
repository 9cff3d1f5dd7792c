// Goal: numbers of options obey the rules of settings, and no option is ignored beside another.
#include "common/telemetry/option_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace outrider::option_checks_test {
namespace {

TEST(Options, TakeWholeNumbersAsTheyStand) {
  const CLI::Validator some = whole_number(2, 1000);
  for (const std::string good : {"2", "3", "1000"}) EXPECT_EQ(some(good), "") << good;
  for (const std::string bad : {"", "1", "1001", "-1", "-18446744073709551613", "+3", "3.0", "3k",
                                "nan", "18446744073709551619", " 3"})
    EXPECT_EQ(some(bad), bad + ": must be a whole number from 2 to 1000");
}

TEST(Options, TakeNumbersThatSettingsTake) {
  const CLI::Validator number = usable_number();
  for (const std::string good : {"0", "-1.5", "1e-12", "1e15"}) EXPECT_EQ(number(good), "") << good;
  for (const std::string bad : {"nan", "-nan", "inf", "1e-320", "-1e-13", "1e16"})
    EXPECT_THAT(number(bad), testing::StartsWith(bad + ": must be ")) << bad;
}

TEST(Options, ThatWouldBeIgnoredAreRefusedByName) {
  const auto fault = [](std::vector<std::string> words) {
    CLI::App app("An app.", "app");
    std::string a, b;
    bool c = false;
    app.add_option("--preview", a);
    app.add_option("--report", b);
    app.add_flag("--live", c);
    exclude_all(app, "--preview", {"--report", "--live"});
    std::ranges::reverse(words);
    try {
      app.parse(words);
    } catch (const CLI::ParseError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(fault({"--preview", "x"}), "");
  EXPECT_EQ(fault({"--report", "x", "--live"}), "");
  EXPECT_EQ(fault({"--preview", "x", "--report", "y"}), "--preview excludes --report");
  EXPECT_EQ(fault({"--live", "--preview", "x"}), "--preview excludes --live");
}

}  // namespace
}  // namespace outrider::option_checks_test
