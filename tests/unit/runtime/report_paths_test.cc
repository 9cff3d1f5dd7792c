// Goal: what a program cannot write, or would write over itself, is refused before it starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/runtime/poll_program.h"

namespace outrider::report_paths_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string refusal(const std::vector<OutputPath>& outputs) {
  try {
    check_report_paths(outputs);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(ReportPaths, OfTwoOptionsAreNotOneFile) {
  const std::string here = fs::path(testing::TempDir()) / "r.json";
  EXPECT_EQ(refusal({{"--report", here}, {"--samples", here + ".csv"}, {"--hops", ""}}), "");
  EXPECT_THAT(refusal({{"--report", here}, {"--samples", here}}),
              HasSubstr("--samples " + here + ": is the file of --report already"));
  const std::string same = fs::path(testing::TempDir()) / "." / "r.json";
  EXPECT_THAT(refusal({{"--report", here}, {"--samples", same}}), HasSubstr("--report already"));
}

// As root, a program would put a file in the place of /dev/null.
TEST(ReportPaths, AreNoDevicesAndNoPipes) {
  EXPECT_THAT(refusal({{"--report", "/dev/null"}}), HasSubstr("is a device or a pipe"));
  const std::string pipe = fs::path(testing::TempDir()) / ("pipe" + std::to_string(getpid()));
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal({{"--report", pipe}}), HasSubstr("is a device or a pipe"));
  fs::remove(pipe);
}

}  // namespace
}  // namespace outrider::report_paths_test
