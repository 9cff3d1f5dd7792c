// Goal: what was measured is written however a run ends. Method: the real program
// over a ring, stopped by each signal once it has something to show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/ring_config.h"
#include "tests/support/source_path.h"
#include "trafficgen/report/report_json.h"

namespace outrider::exit_files_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kFlowsAndStream = R"(
[[flows]]
name = "mice"
from = ["b"]
to = ["a"]
transport = "tcp"
distribution = "@source/conf/distributions/web-search.cdf"
load = "50%"
records = 1000
[[stream]]
name = "probe"
device = "loop"
receive_device = "loop"
rate = "1kpps"
source = "10.9.0.1"
destination = "10.9.1.1"
latency_samples = 100
)";

std::size_t lines_of(const std::string& path) {
  const std::string text = read_whole(path);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string config_text() {
  std::string text = std::string("duration = \"1000s\"\n") + kRingHosts + kFlowsAndStream;
  const std::string mark = "@source";
  return text.replace(text.find(mark), mark.size(), source_path());
}

class ExitFiles : public testing::TestWithParam<int> {
 protected:
  std::string config() const { return directory_.write("c.toml", config_text()); }
  ScratchDirectory directory_;
};

TEST_P(ExitFiles, HoldWhatWasMeasuredUntilTheSignal) {
  const std::string csv = directory_ / "csv";
  ProcessGuard process({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", config(), "--live", "--report",
                        directory_ / "report.json", "--csv", csv},
                       directory_ / "log");
  ASSERT_TRUE(process.says("flows completed", kPatience)) << process.output();
  process.send(GetParam());
  ASSERT_EQ(process.wait(kPatience), kExitInterrupted) << process.output();

  const GeneratorReport r = generator_report_from_json(read_whole(directory_ / "report.json"));
  EXPECT_TRUE(r.ledger_balanced);
  ASSERT_GT(r.bursts.size(), 0U);
  ASSERT_GT(r.iterations.size(), 0U);
  ASSERT_GT(r.flow_groups.at(0).records.size(), 0U);
  EXPECT_EQ(lines_of(csv + "/bursts.csv"), r.bursts.size() + 1);
  EXPECT_EQ(lines_of(csv + "/iterations.csv"), r.iterations.size() + 1);
  EXPECT_EQ(lines_of(csv + "/flows.csv"), r.flows.size() + 1);
  EXPECT_EQ(lines_of(csv + "/flow-records.csv"), r.flow_groups[0].records.size() + 1);
  EXPECT_EQ(lines_of(csv + "/flow-classes.csv"), r.flow_groups[0].classes.size() + 1);
  EXPECT_EQ(lines_of(csv + "/streams.csv"), 2U);
  EXPECT_EQ(lines_of(csv + "/latency-samples.csv"), 101U);
  EXPECT_EQ(lines_of(csv + "/jobs.csv"), 2U);
  for (const auto& entry : std::filesystem::directory_iterator(csv))
    EXPECT_NE(entry.path().extension(), ".partial");
}

INSTANTIATE_TEST_SUITE_P(BothSignals, ExitFiles, testing::Values(SIGINT, SIGTERM));

TEST(ExitFilesRefused, ADirectoryThatCannotBe) {
  ScratchDirectory directory;
  ProcessGuard process({OUTRIDER_TRAFFICGEN_PROGRAM, "--config",
                        directory.write("c.toml", config_text()), "--csv", directory / "no/such"},
                       directory / "log");
  EXPECT_EQ(process.wait(kPatience), kExitUsage);
  EXPECT_THAT(process.output(), HasSubstr("--csv " + (directory / "no/such")));
}

}  // namespace
}  // namespace outrider::exit_files_test
