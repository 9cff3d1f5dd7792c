// Goal: a recording says what the job's bursts were, bounded, and in a form that the
// generator reads. Method: bursts at literal instants.
#include "tools/hostagent/job_profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/config/config_result.h"
#include "tests/support/file_size_limit.h"
#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/burst_csv.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::job_profile_test {
using namespace tg;
namespace {

using namespace agent;

using namespace std::chrono_literals;

Time at(Duration t) { return Time{t}; }

RecordedBurst burst(std::size_t flow, bool pull, Duration begun, Duration ended,
                    std::uint64_t bytes) {
  return {.flow = flow, .pull = pull, .begun = at(begun), .ended = at(ended), .bytes = bytes};
}

/// Two servers: pushes on flows 0 and 1, pulls on 2 and 3; computes for 30 ms after the
/// last pull's end, at 60 ms. @param n iterations, 100 ms each @param longer later iterations
/// compute so much longer each
JobProfile recorded(std::uint32_t n, Duration longer = {}) {
  JobProfile profile;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Duration t = i * 100ms + i * longer;
    profile.add(burst(0, false, t, t + 10ms, 3000));
    profile.add(burst(1, false, t + 1ms, t + 20ms, 1000 + i));
    profile.add(burst(2, true, t + 30ms, t + 70ms, 3000));
    profile.add(burst(3, true, t + 30ms, t + 60ms, 1000));
  }
  return profile;
}

TEST(JobProfile, IsOfMedians) {
  const auto result = recorded(4).result();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->push_bytes, (std::vector<std::uint64_t>{3000, 1002}));
  EXPECT_EQ(result->pull_bytes, 4000U);
  EXPECT_EQ(result->compute, 30ms) << "from the end of the last pull to the first push";
  EXPECT_EQ(result->computes, (std::vector<Duration>{30ms, 30ms, 30ms}));
}

TEST(JobProfile, KeepsTheOrderOfComputingTimes) {
  JobProfile profile;
  for (std::size_t i = 0; i < JobProfile::kKept + 3; ++i) {
    const Duration t = i * 10ms;
    profile.add(burst(0, false, t + i * 1us, t + 5ms + i * 1us, 1));
    profile.add(burst(1, true, t + 5ms, t + 6ms, 5));
  }
  const auto result = profile.result();
  ASSERT_TRUE(result);
  ASSERT_EQ(result->computes.size(), JobProfile::kKept);
  EXPECT_EQ(result->computes.front(), 4ms + 3us) << "the two before it were overwritten";
  EXPECT_EQ(result->computes.back(), 4ms + (JobProfile::kKept + 2) * 1us);
}

TEST(JobProfile, NeedsAPushAfterAPull) {
  EXPECT_FALSE(recorded(1).result());
  EXPECT_FALSE(JobProfile{}.result());
}

TEST(JobProfile, ForgetsTheOldest) {
  JobProfile profile;
  for (std::size_t i = 0; i < 2 * JobProfile::kKept; ++i) {
    const Duration t = i * 10ms;
    profile.add(burst(0, false, t, t + 1ms, i < JobProfile::kKept ? 1 : 2));
    profile.add(burst(1, true, t + 2ms, t + 3ms, 5));
  }
  const auto result = profile.result();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->push_bytes, std::vector<std::uint64_t>{2});
  EXPECT_EQ(result->computes.size(), JobProfile::kKept);
}

TEST(JobProfile, LeavesOutAFlowThatWasForgotten) {
  JobProfile profile = recorded(4);
  profile.forget(0);
  profile.forget(3);
  const auto result = profile.result();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->push_bytes, std::vector<std::uint64_t>{1002});
  EXPECT_EQ(result->pull_bytes, 3000U);
}

TEST(JobProfile, IsAModelThatTheGeneratorReads) {
  const auto path = std::filesystem::path(testing::TempDir()) / "recorded-profile.toml";
  std::ofstream(path) << profile_toml(*recorded(12, 1ms).result(), "recorded");
  const auto model = load_model_profile(path.string());
  std::filesystem::remove(path);
  ASSERT_TRUE(model) << format_issues("profile", model.issues);
  EXPECT_EQ(model.config->total_bytes, 4006U);
  EXPECT_EQ(model.config->tensors.size(), 2U);
  EXPECT_EQ(model.config->compute(), 31ms);
  EXPECT_EQ(model.config->compute_measured.sequence, std::vector<Duration>(11, 31ms));
  EXPECT_EQ(model.config->compute_source, ComputeSource::kRecorded);
}

TEST(BurstCsv, AForgottenFlowHasNoGap) {
  const auto path = std::filesystem::path(testing::TempDir()) / "forgotten-bursts.csv";
  BurstCsv csv(path.string(), 2);
  csv.add(burst(0, false, 100ms, 110ms, 7));
  csv.forget(0);
  csv.add(burst(0, false, 130ms, 140ms, 9));
  csv.close();
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text,
            "flow,direction,begun_ns,ended_ns,bytes,gap_ns\n"
            "0,push,0,10000000,7,\n"
            "0,push,30000000,40000000,9,\n");
  std::filesystem::remove(path);
}

TEST(BurstCsv, IsBounded) {
  const auto path = std::filesystem::path(testing::TempDir()) / "recorded-bursts.csv";
  BurstCsv csv(path.string(), 2);
  csv.add(burst(0, false, 100ms, 110ms, 7));
  csv.add(burst(0, true, 115ms, 120ms, 8));
  csv.add(burst(0, false, 130ms, 140ms, 9));
  csv.close();
  EXPECT_EQ(csv.rows(), 2U);
  EXPECT_EQ(csv.left_out(), 1U);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text,
            "flow,direction,begun_ns,ended_ns,bytes,gap_ns\n"
            "0,push,0,10000000,7,\n"
            "0,pull,15000000,20000000,8,5000000\n");
  std::filesystem::remove(path);
}

TEST(BurstCsv, HasItsNameOnlyIfItIsWhole) {
  const auto path = std::filesystem::path(testing::TempDir()) / "full-bursts.csv";
  const std::string partial = path.string() + ".partial";
  std::filesystem::remove(path);
  {
    const FileSizeLimit limit(10'000);
    BurstCsv csv(path.string(), 100'000);
    for (std::size_t i = 0; i < 10'000; ++i) csv.add(burst(i, false, 100ms, 110ms, 7));
    errno = 0;
    try {
      csv.close();
      ADD_FAILURE() << "10,000 rows in 10 kB";
    } catch (const AgentError& error) {
      EXPECT_EQ(error.what(), path.string() +
                                  ": cannot be written: File too large (errno 27); what fitted "
                                  "is in " +
                                  partial);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(std::filesystem::file_size(partial), 10'000U);
  std::filesystem::remove(partial);
}

TEST(ReportFile, IsEmptyIfTheReportDoesNotFit) {
  const auto path = std::filesystem::path(testing::TempDir()) / "full-agent-report.json";
  ReportFile file(path.string());
  {
    const FileSizeLimit limit(10);
    try {
      file.write({{"payload_packets", 12345}});
      ADD_FAILURE() << "in 10 bytes";
    } catch (const AgentError& error) {
      EXPECT_EQ(error.what(), path.string() + ": cannot be written: File too large (errno 27)");
    }
  }
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace outrider::job_profile_test
