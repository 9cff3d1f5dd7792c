// Goal: a command line's fault shows the beginning of an argument of any size, an empty one is
// refused, a mistyped command is named, and help is no fault. Method: such arguments, and what is
// printed.
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

Ended parsed(const std::vector<std::string>& arguments) {
  CLI::App app("An app.", "app");
  std::string out;
  app.add_option("--out", out);
  app.add_option("FILE", out);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int status = -1;
  try {
    parse_arguments(app, arguments);
  } catch (const CLI::ParseError& error) {
    status = end_of_parsing(app, error);
  }
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(EndOfParsing, AFaultIsToldWhole) {
  const Ended ended = parsed({"--such-an-option"});
  EXPECT_EQ(ended.status, kExitUsage);
  EXPECT_THAT(ended.err, testing::HasSubstr("--such-an-option\nRun with --help"));
}

TEST(EndOfParsing, OfALongArgumentTheBeginningIsShown) {
  const Ended ended = parsed({"--" + std::string(100'000, 'x')});
  EXPECT_EQ(ended.status, kExitUsage);
  EXPECT_THAT(ended.err, testing::HasSubstr("xxx... (100"));
  EXPECT_LT(ended.err.size(), 2 * kShownProblem_bytes);
}

TEST(EndOfParsing, HelpIsNoFault) {
  const Ended ended = parsed({"--help"});
  EXPECT_EQ(ended.status, kExitOk);
  EXPECT_THAT(ended.out, testing::HasSubstr("An app."));
  EXPECT_EQ(ended.err, "");
}

TEST(EndOfParsing, AnEmptyArgumentIsNoValue) {
  const auto fault = [](const std::vector<std::string>& arguments) {
    return parsed(arguments).err;
  };
  EXPECT_THAT(fault({"--out", ""}), testing::StartsWith("--out: must not be empty"));
  EXPECT_THAT(fault({"--out="}), testing::StartsWith("--out: must not be empty"));
  EXPECT_THAT(fault({"--out", "a", ""}), testing::StartsWith("argument 3: must not be empty"));
  EXPECT_EQ(fault({"--out=a="}), "");
}

TEST(EndOfParsing, AMistypedCommandIsNamedWithThoseThatThereAre) {
  for (const bool required : {false, true}) {
    const auto fault = [required](const std::vector<std::string>& arguments) {
      CLI::App app("An app.", "app");
      for (const char* name : {"run", "report"}) app.add_subcommand(name)->add_option("FILE");
      if (required) app.require_subcommand(1);
      testing::internal::CaptureStderr();
      try {
        parse_arguments(app, arguments);
      } catch (const CLI::ParseError& error) {
        EXPECT_EQ(end_of_parsing(app, error), kExitUsage);
      }
      return testing::internal::GetCapturedStderr();
    };
    EXPECT_THAT(fault({"rum", "a.toml", "--quick"}),
                testing::StartsWith("rum is no command of app, which has: run, report\n"));
    EXPECT_THAT(fault({"run", "a.toml", "b.toml"}), testing::HasSubstr("b.toml"));
    EXPECT_THAT(fault({"run", "a.toml", "b.toml"}), testing::Not(testing::HasSubstr("command of")));
    EXPECT_THAT(fault({"--rum"}), testing::Not(testing::HasSubstr("command of")));
    EXPECT_LT(fault({std::string(100'000, 'x')}).size(), 2 * kShownProblem_bytes);
  }
}

}  // namespace
}  // namespace outrider::parse_end_test
