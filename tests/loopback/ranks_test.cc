// Goal: one case on several processes has the summary of one process, byte for byte; a rank that
// dies fails the case by name, and the others go on; what cannot be cut is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/source_path.h"

namespace outrider::lab_ranks_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class LabRanks : public testing::Test {
 protected:
  /// @param out  of the results
  std::vector<std::string> command(const std::string& out, std::vector<std::string> more) const {
    std::vector<std::string> all{OUTRIDER_LAB_PROGRAM, "run",
                                 source_path("conf/experiments/dlcp-spine.toml"), "--out",
                                 directory_ / out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// @return exit status
  int run(const std::vector<std::string>& arguments, const std::string& log) const {
    ProcessGuard process(arguments, directory_ / log);
    return process.wait(2 * kPatience).value_or(-1);
  }
  std::string text(const std::string& name) const { return read_whole(directory_ / name); }

  ScratchDirectory directory_;
};

const std::vector<std::string> kTwoArms{"--quick", "--arms", "off-mlt-1-sprayed"};
const std::vector<std::string> kThin{"--quick", "--arms", "off-mlt-1-sprayed", "--least-work", "0"};

std::vector<std::string> with(std::vector<std::string> these, std::vector<std::string> more) {
  these.insert(these.end(), more.begin(), more.end());
  return these;
}

TEST_F(LabRanks, TheSummaryIsTheSameOnOneToFourAndForThreeCuts) {
  ASSERT_EQ(run(command("whole", kTwoArms), "log"), kExitOk) << text("log");
  const std::string whole = text("whole/summary.json");
  EXPECT_THAT(whole, HasSubstr("off-mlt-1-sprayed"));
  for (const std::string ranks : {"1", "2", "3", "4"}) {
    for (const std::string cut : {"blocks", "turns", "metis"}) {
      const std::string out = cut + ranks;
      ASSERT_EQ(run(command(out, with(kThin, {"--ranks", ranks, "--cut", cut})), "log-" + out),
                kExitOk)
          << text("log-" + out);
      EXPECT_TRUE(text(out + "/summary.json") == whole) << out;
      EXPECT_TRUE(text(out + "/bursts.csv") == text("whole/bursts.csv")) << out;
    }
  }
}

// With MPI of this system, whichever it is.
TEST_F(LabRanks, TheSummaryIsTheSameUnderMpirun) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "ranks that take turns on two cores take minutes with the sanitizer";
#endif
  const auto module =
      std::filesystem::path(OUTRIDER_LAB_PROGRAM).parent_path() / "outrider-lab-mpi.so";
  if (!std::filesystem::exists(module)) GTEST_SKIP() << "built without MPI: tools/setup --mpi";
  ASSERT_EQ(run(command("whole", kTwoArms), "log"), kExitOk) << text("log");
  ASSERT_EQ(run(with({"/usr/bin/mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"},
                     command("mpi", kThin)),
                "log-mpi"),
            kExitOk)
      << text("log-mpi");
  EXPECT_TRUE(text("mpi/summary.json") == text("whole/summary.json"));
}

/// Returns the process of a rank that has `mark` in its command line; 0: there is none.
pid_t find_rank(const std::string& mark, const std::string& rank) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read_whole(entry.path() / "comm") == rank + "\n" &&
        read_whole(entry.path() / "cmdline").find(mark) != std::string::npos)
      return std::stoi(name);
  }
  return 0;
}

TEST_F(LabRanks, ARankThatDiesFailsItsCaseByName) {
  ProcessGuard process(command("out", with(kThin, {"--ranks", "2", "--jobs", "1"})),
                       directory_ / "log");
  pid_t rank = 0;
  for (int tries = 0; rank == 0 && tries < 5000; ++tries) {
    rank = find_rank(directory_ / "out", "rank 1");
    if (rank == 0) std::this_thread::sleep_for(1ms);
  }
  ASSERT_NE(rank, 0) << process.output();
  ASSERT_EQ(kill(rank, SIGKILL), 0);
  EXPECT_EQ(process.wait(2 * kPatience), kExitFailure);
  EXPECT_THAT(process.output(), HasSubstr("seed 1\": rank 1 of 2 was killed by signal 9 (Killed)"));
  EXPECT_THAT(text("out/summary.json"), HasSubstr("\"label\"")) << "the other cases go on";
}

TEST_F(LabRanks, AFileSaysTheRanksOrIsRefusedWithAllFaults) {
  const std::string good = directory_.write("good", "leaf_a 0\nleaf_b 1\nspine_0 1\nspine_1 0\n");
  const std::string bad = directory_.write("bad", "leaf_a 0\nleef_b 1\nspine_0 2\n");
  const auto cut = [&](const char* out, const std::string& file) {
    return command(out, with(kThin, {"--ranks", "2", "--cut", file}));
  };
  EXPECT_EQ(run(cut("out", bad), "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("\" cannot be cut: " + bad +
                                     ": 4 invalid settings\n  line 2: "
                                     "\"leef_b\": is no switch"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
  ASSERT_EQ(run(command("whole", kTwoArms), "log"), kExitOk) << text("log");
  ASSERT_EQ(run(cut("cut", good), "log"), kExitOk) << text("log");
  EXPECT_TRUE(text("cut/summary.json") == text("whole/summary.json"));
}

TEST_F(LabRanks, WhatCannotBeCutIsRefusedBeforeAnythingRuns) {
  EXPECT_EQ(run(command("out", with(kThin, {"--ranks", "9"})), "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("9 ranks, but the case has 5 parts"));
  EXPECT_EQ(run(command("out", with(kTwoArms, {"--ranks", "2", "--least-work", "100000"})), "log"),
            kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("packets in a window of 10052 ns"));
  EXPECT_EQ(run(command("out", with(kThin, {"--ranks", "2", "--runtime", "loopback"})), "log"),
            kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("--ranks is for virtual time alone"));
  EXPECT_EQ(run(command("out", with(kThin, {"--ranks", "2", "--cut", "metiss"})), "log"),
            kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("--cut metiss: is none of blocks, turns and metis, and as a "
                                     "file it cannot be opened: No such file or directory"));
  EXPECT_THAT(text("log"), HasSubstr("did you mean \"metis\"?"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
}

}  // namespace
}  // namespace outrider::lab_ranks_test
