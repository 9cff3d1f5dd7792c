// Goal: one case on several processes has the summary of one process, byte for byte; a rank that
// dies fails the case by name, and the others go on; what cannot be cut is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/simulation.h"
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

const std::vector<std::string> kTwoArms{"--quick", "--arms", "off-mlt-10-sprayed"};
const std::vector<std::string> kThin{"--quick", "--arms", "off-mlt-10-sprayed", "--least-work",
                                     "0"};

std::vector<std::string> with(std::vector<std::string> these, std::vector<std::string> more) {
  these.insert(these.end(), more.begin(), more.end());
  return these;
}

TEST_F(LabRanks, TheSummaryIsTheSameOnOneToFourAndForThreeCuts) {
  ASSERT_EQ(run(command("whole", kTwoArms), "log"), kExitOk) << text("log");
  const std::string whole = text("whole/summary.json");
  EXPECT_THAT(whole, HasSubstr("off-mlt-10-sprayed"));
  for (const std::string ranks : {"1", "2", "3", "4"}) {
    for (const std::string cut : {"blocks", "turns", "metis"}) {
      const bool chosen = cut == "blocks" ? ranks != "2" : ranks == "2";  // each number, each cut
      if (!chosen && !full_run()) continue;
      const std::string out = cut + ranks;
      ASSERT_EQ(run(command(out, with(kThin, {"--ranks", ranks, "--cut", cut})), "log-" + out),
                kExitOk)
          << text("log-" + out);
      EXPECT_TRUE(text(out + "/summary.json") == whole) << out;
      EXPECT_TRUE(text(out + "/bursts.csv") == text("whole/bursts.csv")) << out;
    }
  }
}

/// Returns what a launcher of MPI needs for a job of two ranks, more than there may be processors.
std::vector<std::string> launched_by(const std::string& mpi, std::vector<std::string> command) {
  std::vector<std::string> all{"/usr/bin/mpirun." + mpi};
  if (mpi == "openmpi") all.insert(all.end(), {"--allow-run-as-root", "--oversubscribe"});
  all.insert(all.end(), {"-n", "2"});
  return with(all, std::move(command));
}

/// Returns why ranks of this MPI cannot be tested; empty: nothing is in the way.
std::string absent(const std::string& mpi) {
  const std::string packages = mpi == "openmpi" ? "tools/setup --mpi" : "tools/setup --mpich";
  const auto programs = std::filesystem::path(OUTRIDER_LAB_PROGRAM).parent_path();
  if (!std::filesystem::exists(programs / ("outrider-lab-" + mpi + ".so")))
    return "built without " + mpi + ": " + packages + ", and build again";
  if (!std::filesystem::exists("/usr/bin/mpirun." + mpi))
    return "no mpirun." + mpi + ": " + packages;
  return {};
}

TEST_F(LabRanks, TheSummaryIsTheSameUnderMpirun) {
  if (const std::string why = absent("openmpi"); !why.empty()) GTEST_SKIP() << why;
  ASSERT_EQ(run(command("whole", kTwoArms), "log"), kExitOk) << text("log");
  ASSERT_EQ(run(launched_by("openmpi", command("mpi", kThin)), "log-mpi"), kExitOk)
      << text("log-mpi");
  EXPECT_TRUE(text("mpi/summary.json") == text("whole/summary.json"));
}

// On one machine, too, ranks may be started from two programs. A byte behind its end makes a copy
// another program that does the same.
TEST_F(LabRanks, RanksOfTwoProgramsAreRefused) {
  if (const std::string why = absent("openmpi"); !why.empty()) GTEST_SKIP() << why;
  const auto programs = std::filesystem::path(OUTRIDER_LAB_PROGRAM).parent_path();
  const std::string other = directory_ / "outrider-lab";
  std::filesystem::copy_file(OUTRIDER_LAB_PROGRAM, other);
  std::filesystem::create_symlink(programs / "outrider-lab-openmpi.so",
                                  directory_ / "outrider-lab-openmpi.so");
  const auto launched = [&](const std::string& second) {
    auto all = launched_by("openmpi", command("out", kThin));
    auto after = command("out", kThin);
    after.front() = second;
    all[all.size() - after.size() - 1] = "1";
    return with(all, with({":", "-n", "1"}, after));
  };
  ASSERT_EQ(run(launched(other), "log"), kExitOk) << text("log");
  std::filesystem::remove_all(directory_ / "out");
  std::ofstream(other, std::ios::app) << '\n';
  EXPECT_EQ(run(launched(other), "log"), kExitUsage) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("outrider-lab: rank 1 on "));
  EXPECT_THAT(text("log"), HasSubstr(" has another program than rank 0 on "));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
}

// Each launcher's ranks load the module of its own MPI: with another, each rank would be alone.
class LabRanksLong : public LabRanks {};

TEST_F(LabRanksLong, AFabricHasTheSameSummaryUnderMpichAndOpenMpi) {
  if (const std::string why = absent("mpich"); !why.empty()) GTEST_SKIP() << why;
  const auto fabric = [this](const std::string& out, std::vector<std::string> more = {}) {
    return with({OUTRIDER_LAB_PROGRAM, "run", source_path("conf/experiments/fabric.toml"),
                 "--quick", "--arms", "off", "--out", directory_ / out},
                std::move(more));
  };
  const std::vector<std::string> ranked{"--least-work", "0", "--profile"};
  ASSERT_EQ(run(fabric("whole"), "log"), kExitOk) << text("log");
  const std::string whole = text("whole/summary.json");
  EXPECT_THAT(whole, HasSubstr("\"label\""));
  ASSERT_EQ(run(launched_by("mpich", fabric("mpich", ranked)), "log-mpich"), kExitOk)
      << text("log-mpich");
  EXPECT_THAT(text("log-mpich"), HasSubstr("rank 1 of 2: "));
  EXPECT_TRUE(text("mpich/summary.json") == whole);
  EXPECT_TRUE(text("mpich/links.csv") == text("whole/links.csv"));
  if (const std::string why = absent("openmpi"); !why.empty()) GTEST_SKIP() << why;
  ASSERT_EQ(run(launched_by("openmpi", fabric("openmpi", ranked)), "log-openmpi"), kExitOk)
      << text("log-openmpi");
  EXPECT_TRUE(text("openmpi/summary.json") == text("mpich/summary.json"));
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
  EXPECT_THAT(text("log"), HasSubstr("--cut: metiss: must be one of blocks|turns|metis"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
}

}  // namespace
}  // namespace outrider::lab_ranks_test
