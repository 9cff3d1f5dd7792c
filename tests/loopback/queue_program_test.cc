// Goal: a queue's results are those of `outrider-lab run`, whatever becomes of its workers, and
// faults name cause and remedy. Method: real workers that share a directory. They share CPUs too,
// because another test, or a user, may have some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/source_path.h"

namespace outrider::queue_program_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kLabPatience = 2 * kPatience;  // an experiment is many runs

class QueueProgram : public testing::Test {
 protected:
  ProcessGuard lab(std::vector<std::string> arguments, const std::string& log) const {
    arguments.insert(arguments.begin(), OUTRIDER_LAB_PROGRAM);
    return {arguments, directory_ / log};
  }
  /// @return exit status; the output is in `log`
  int run(std::vector<std::string> arguments, const std::string& log = "log") const {
    ProcessGuard process = lab(std::move(arguments), log);
    return process.wait(kLabPatience).value_or(-1);
  }
  int make(const std::string& seeds, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"queue", quick_, "--repeat", seeds, "--queue", queue_});
    return run(more);
  }
  ProcessGuard worker(const std::string& log) const {
    return lab({"worker", "--queue", queue_, "--share-cpus"}, log);
  }
  std::string text(const std::string& name) const { return read_whole(directory_ / name); }

  std::vector<std::string> files_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(queue_ + '/' + folder))
      names.push_back(entry.path().filename());
    return names;
  }
  /// Waits until a folder of the queue has a file. @return whether one has come
  bool fills(const std::string& folder) const {
    for (int i = 0; i < 5000 && files_in(folder).empty(); ++i) std::this_thread::sleep_for(5ms);
    return !files_in(folder).empty();
  }
  /// Compares the results in `queued` with those that `run` makes of so many seeds.
  void expect_as_run(const std::string& seeds) const {
    ASSERT_EQ(run({"run", quick_, "--repeat", seeds, "--out", directory_ / "run"}), kExitOk);
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / "run")) {
      const std::string name = fs::relative(entry.path(), directory_ / "run");
      // Both have the time at which they were written.
      if (entry.is_directory() || name == "environment.json" || name == "report.html") continue;
      EXPECT_EQ(text("queued/" + name) == text("run/" + name), true) << name << " differs";
    }
  }

  ScratchDirectory directory_;
  std::string quick_ = source_path("conf/experiments/quick.toml");
  std::string queue_ = directory_ / "queue";
};

TEST_F(QueueProgram, ResultsOfTwoWorkersAreThoseOfARun) {
  ASSERT_EQ(make("6"), kExitOk) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("queue has 18 cases; `outrider-lab worker --queue "));
  {
    ProcessGuard a = worker("a"), b = worker("b");
    EXPECT_EQ(a.wait(kLabPatience), kExitOk) << a.output();
    EXPECT_EQ(b.wait(kLabPatience), kExitOk) << b.output();
  }
  const std::vector<std::string> collect{"collect", "--queue", queue_, "--out",
                                         directory_ / "queued"};
  ASSERT_EQ(run(collect), kExitOk) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("on-hold-spared")) << "the table";
  expect_as_run("6");
  EXPECT_EQ(run(collect), kExitOk) << "again";
}

// However a worker ends, its case is run by another one, and counts once.
TEST_F(QueueProgram, AKilledWorkerCostsItsCaseAlone) {
  ASSERT_EQ(make("6", {"--lease", "1"}), kExitOk) << text("log");
  std::vector<std::string> left;
  for (int tries = 0; tries < 5 && left.empty(); ++tries) {
    ProcessGuard victim = worker("victim");
    ASSERT_TRUE(fills("running")) << victim.output();
    victim.kill_now();
    left = files_in("running");  // empty if it died between two cases
  }
  ASSERT_FALSE(left.empty());
  ProcessGuard other = worker("other");
  EXPECT_EQ(other.wait(kLabPatience), kExitOk) << other.output();
  EXPECT_THAT(other.output(), HasSubstr("\" is taken from "));
  EXPECT_THAT(other.output(), HasSubstr(", whose lease has expired"));
  ASSERT_EQ(run({"collect", "--queue", queue_, "--out", directory_ / "queued"}), kExitOk)
      << text("log");
  expect_as_run("6");
}

// A worker that is stopped for longer than its lease finds its case taken, and does no harm.
TEST_F(QueueProgram, ALateWorkerDisturbsNobody) {
  ASSERT_EQ(make("6", {"--lease", "1"}), kExitOk) << text("log");
  ProcessGuard late = worker("late");
  ASSERT_TRUE(fills("running")) << late.output();
  late.send(SIGSTOP);
  {
    ProcessGuard other = worker("other");
    EXPECT_EQ(other.wait(kLabPatience), kExitOk) << other.output();
  }
  late.send(SIGCONT);
  EXPECT_EQ(late.wait(kLabPatience), kExitOk) << late.output();
  EXPECT_TRUE(files_in("running").empty() && files_in("todo").empty());
  ASSERT_EQ(run({"collect", "--queue", queue_, "--out", directory_ / "queued"}), kExitOk)
      << text("log");
  expect_as_run("6");
}

TEST_F(QueueProgram, CtrlCGivesCasesBack) {
  ASSERT_EQ(make("100"), kExitOk) << text("log");
  for (const int signal : {SIGINT, SIGTERM}) {
    ProcessGuard process = worker("worker");
    ASSERT_TRUE(fills("done") && fills("running")) << process.output();
    process.send(signal);
    EXPECT_EQ(process.wait(kLabPatience), kExitInterrupted) << process.output();
    EXPECT_THAT(process.output(), HasSubstr("interrupted: "));
    EXPECT_TRUE(files_in("running").empty());
    for (const auto& name : files_in("todo")) EXPECT_THAT(name, testing::EndsWith("-taken0"));
  }
  const std::string out = directory_ / "queued";
  EXPECT_EQ(run({"collect", "--queue", queue_, "--out", out}), kExitFailure);
  EXPECT_THAT(text("log"), HasSubstr("of 300 cases are done, 0 are running, "));
  EXPECT_THAT(text("log"), HasSubstr("--partial"));
  EXPECT_FALSE(fs::exists(out));
  EXPECT_EQ(run({"collect", "--queue", queue_, "--out", out, "--partial"}), kExitInterrupted);
  EXPECT_THAT(text("queued/summary.json"), HasSubstr("\"interrupted\": true"));
}

// The case that fails is named by workers and in the results; the others are not lost.
TEST_F(QueueProgram, WhatFailedIsNamed) {
  ASSERT_EQ(make("2"), kExitOk) << text("log");
  fs::rename(queue_ + "/todo/00002-taken0", queue_ + "/failed/00002-taken3");
  std::ofstream(queue_ + "/failed/00002-taken3", std::ios::app)
      << "the lease of h-1-0 has expired\n";
  EXPECT_EQ(run({"worker", "--queue", queue_, "--share-cpus"}), kExitFailure);
  EXPECT_THAT(text("log"), HasSubstr("\"on seed 1\" failed:\nthe lease of h-1-0 has expired"));
  EXPECT_EQ(run({"collect", "--queue", queue_, "--out", directory_ / "queued"}), kExitFailure);
  EXPECT_THAT(text("log"), HasSubstr("\"on seed 1\": the lease of h-1-0 has expired"));
  EXPECT_THAT(text("queued/summary.json"), HasSubstr("\"on-hold-spared\""));
}

// A disk has lost a finished run: its case waits again.
TEST_F(QueueProgram, ADamagedRunIsRunAgain) {
  ASSERT_EQ(make("1"), kExitOk) << text("log");
  ASSERT_EQ(run({"worker", "--queue", queue_, "--share-cpus"}), kExitOk) << text("log");
  const std::string done = queue_ + "/done/" + files_in("done").front();
  fs::resize_file(done, fs::file_size(done) / 2);
  const std::vector<std::string> collect{"collect", "--queue", queue_, "--out",
                                         directory_ / "queued"};
  EXPECT_EQ(run(collect), kExitFailure);
  EXPECT_THAT(text("log"), HasSubstr(done + " is damaged"));
  ASSERT_EQ(run({"worker", "--queue", queue_, "--share-cpus"}), kExitOk) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("ran 1 of 3 cases"));
  EXPECT_EQ(run(collect), kExitOk) << text("log");
}

TEST_F(QueueProgram, NamesWhatIsWrong) {
  const std::vector<std::string> work{"worker", "--queue", queue_, "--share-cpus"};
  EXPECT_EQ(run(work), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("no such directory; `outrider-lab queue FILE"));
  ASSERT_EQ(make("1"), kExitOk) << text("log");
  EXPECT_EQ(make("1"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("has a queue already; start workers with"));
  std::ofstream(queue_ + "/todo/notes") << "mine";
  EXPECT_EQ(run(work), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("todo/notes is no file of this queue; move it away"));
  fs::remove(queue_ + "/todo/notes");

  const std::string manifest = text("queue/queue.json");
  std::string other = manifest;
  other.replace(other.find("\"program\": \"") + 12, 1, "x");
  std::ofstream(queue_ + "/queue.json") << other;
  EXPECT_EQ(run(work), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("was made by another build of outrider-lab"));
  std::ofstream(queue_ + "/queue.json") << manifest;

  for (const auto& entry : fs::recursive_directory_iterator(queue_ + "/files"))
    if (entry.path().filename() == "quick.toml")
      std::ofstream(entry.path(), std::ios::app) << "\nlabel = \"other\"\n";
  EXPECT_NE(run(work), kExitOk) << "an edited file";
}

TEST_F(QueueProgram, WorkersDoNotShareCpus) {
  ASSERT_EQ(make("100"), kExitOk) << text("log");
  ProcessGuard first = lab(
      {"worker", "--queue", queue_, "--cpus", std::to_string(std::thread::hardware_concurrency())},
      "first");
  if (!fills("running")) GTEST_SKIP() << "somebody has CPUs: " << first.output();
  EXPECT_EQ(run({"worker", "--queue", queue_}), kExitEnvironment) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("0 have no worker; start fewer workers"));
}

// The worker ends, because its next result would not be stored either; it gives its case back.
TEST_F(QueueProgram, AFullDiskIsNamed) {
  fs::create_directory(directory_ / "full");
  const std::string queue = directory_ / "full/queue";
  const std::string program = OUTRIDER_LAB_PROGRAM;
  const auto within = [&](const std::string& command) {
    ProcessGuard shell(
        {"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
         "mount -t tmpfs -o size=64k none " + (directory_ / "full") + " && " + command},
        directory_ / "log");
    return shell.wait(kLabPatience).value_or(-1);
  };
  if (within("true") != 0) GTEST_SKIP() << "no tmpfs may be mounted: " << text("log");
  EXPECT_EQ(
      within(program + " queue " + quick_ + " --queue " + queue + " && " + program +
             " worker --share-cpus --queue " + queue + "; s=$?; ls " + queue + "/todo; exit $s"),
      kExitFailure)
      << text("log");
  EXPECT_THAT(text("log"), HasSubstr("/done/"));
  EXPECT_THAT(text("log"), HasSubstr("No space left on device (errno 28)"));
  EXPECT_THAT(text("log"), HasSubstr("-taken0"));
}

}  // namespace
}  // namespace outrider::queue_program_test
