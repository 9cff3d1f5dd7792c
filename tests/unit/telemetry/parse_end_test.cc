// Goal: a command line's fault shows the beginning of an argument of any size, and help is no
// fault. Method: an option that is not there, and what is printed.
#include "common/telemetry/parse_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace outrider::parse_end_test
