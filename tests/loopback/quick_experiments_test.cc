// Goal: every shipped experiment runs to its end as it stands, with every packet accounted
// for. Method: `outrider-lab run --quick` of each file, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/simulation.h"
#include "tests/support/source_path.h"

namespace outrider::quick_experiments_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::vector<std::string> experiments() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("conf/experiments")))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

/// Those that take longer than a quarter of a minute: for OUTRIDER_FULL.
bool is_long(const std::string& name) {
  static constexpr std::array<std::string_view, 7> kLong = {
      "fabric-1024", "front", "grant", "prophet", "roce-settings", "roce-resnet50", "together"};
  return std::ranges::find(kLong, name) != kLong.end();
}

/// A name that a test may have.
std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

class QuickExperiment : public testing::TestWithParam<std::string> {};

TEST_P(QuickExperiment, Runs) {
  if (is_long(GetParam()) && !full_run()) GTEST_SKIP() << "takes long: OUTRIDER_FULL=1";
  const ScratchDirectory directory;
  const std::string file = source_path("conf/experiments/") + GetParam() + ".toml";
  ProcessGuard process({OUTRIDER_LAB_PROGRAM, "run", file, "--quick", "--out", directory / "out"},
                       directory / "log");
  EXPECT_EQ(process.wait(220s), kExitOk) << process.output();
  EXPECT_THAT(read_whole(directory / "out/summary.json"), HasSubstr("\"quick\": true"));
  EXPECT_THAT(read_whole(directory / "out/table.txt"), HasSubstr("quick: two iterations"));
}

INSTANTIATE_TEST_SUITE_P(Shipped, QuickExperiment, testing::ValuesIn(experiments()), test_name);

}  // namespace
}  // namespace outrider::quick_experiments_test
