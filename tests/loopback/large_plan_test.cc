// Goal: `plan` of a network of thousands of hosts says how long its cases take and what memory they
// need, without having that memory itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tests/loopback/process_guard.h"

namespace outrider::large_plan_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr long kMost_kibibytes = 1'000'000'000 / 1024;

constexpr std::string_view kFatTree = R"(
name = "large"
[fabric]
kind = "fat_tree"
k = 16
hosts_per_leaf = 32
host_rate = "100gbit"
uplink_rate = "100gbit"
host_delay = "1us"
uplink_delay = "1us"
[network]
measured = "worst"
[[hosts]]
name = "other"
count = 4000
placement = "spread"
[background]
from = "other"
to = "other"
[[job]]
name = "job"
count = 16
workers = 5
[parameters]
background.load = 0.3
background.sizes = "web-search"
[[arm]]
label = "off"
[[arm]]
label = "on"
switch.regulation.mode = "mark"
)";

TEST(LargePlan, OfAFatTreeOf4096HostsSaysTimeAndMemory) {
  const ScratchDirectory directory;
  const std::string file = directory / "large.toml";
  write_whole_file(file, kFatTree);
  {
    ProcessGuard process({OUTRIDER_LAB_PROGRAM, "plan", file}, directory / "log");
    ASSERT_EQ(process.wait(kPatience), kExitOk) << process.output();
    EXPECT_THAT(process.output(), ContainsRegex("about [0-9.]+ [a-z]+ in virtual time on"));
    EXPECT_THAT(process.output(), ContainsRegex("[0-9.]+ GB of memory each"));
    EXPECT_THAT(process.output(), HasSubstr("a case is too large to be tried"));
  }
  rusage of_children{};
  ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &of_children), 0);
  EXPECT_LT(of_children.ru_maxrss, kMost_kibibytes);
}

}  // namespace
}  // namespace outrider::large_plan_test
