// Goal: a command line's fault shows the beginning of an argument of any size, and help is no
// fault. Method: an option that is not there, and what is printed.
#include "common/telemetry/parse_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace outrider::parse_end_test {
namespace {

struct Ended {
  int status;
  std::string out, err;
};

Ended parsed(const std::string& argument) {
  CLI::App app("An app.", "app");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int status = -1;
  try {
    app.parse(std::vector{argument});
  } catch (const CLI::ParseError& error) {
    status = end_of_parsing(app, error);
  }
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(EndOfParsing, AFaultIsToldWhole) {
  const Ended ended = parsed("--such-an-option");
  EXPECT_EQ(ended.status, kExitUsage);
  EXPECT_THAT(ended.err, testing::HasSubstr("--such-an-option\nRun with --help"));
}

TEST(EndOfParsing, OfALongArgumentTheBeginningIsShown) {
  const Ended ended = parsed("--" + std::string(100'000, 'x'));
  EXPECT_EQ(ended.status, kExitUsage);
  EXPECT_THAT(ended.err, testing::HasSubstr("xxx... (100"));
  EXPECT_LT(ended.err.size(), 2 * kShownProblem_bytes);
}

TEST(EndOfParsing, HelpIsNoFault) {
  const Ended ended = parsed("--help");
  EXPECT_EQ(ended.status, kExitOk);
  EXPECT_THAT(ended.out, testing::HasSubstr("An app."));
  EXPECT_EQ(ended.err, "");
}

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
}  // namespace outrider::parse_end_test
