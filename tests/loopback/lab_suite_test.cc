// Goal: outrider-lab suite as its user meets it: a report for people, one for CI, an exit status
// that says whether all passed, and faults that name their cause. Method: the program, with a suite
// that passes and one whose limit cannot hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/source_path.h"

namespace outrider::lab_suite_test {
namespace {

using testing::HasSubstr;

class LabSuite : public testing::Test {
 protected:
  /// @return exit status; the output is in `log`
  int run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {OUTRIDER_LAB_PROGRAM, "suite"});
    ProcessGuard process(arguments, directory_ / "log");
    return process.wait(2 * kPatience).value_or(-1);
  }

  /// Writes a suite whose one test is a shipped experiment with a limit for drops.
  std::string suite_with(const std::string& limit) const {
    const std::string path = directory_ / "mine.toml";
    write_whole_file(path,
                     "name = \"mine\"\ntitle = \"Mine\"\nsource = \"a test\"\n"
                     "[[test]]\nname = \"pauses\"\nasks = \"Is anything dropped?\"\n"
                     "experiment = \"" +
                         source_path("conf/suites/incast/pfc.toml") +
                         "\"\ncolumns = [\"burst_packets_dropped_per_burst\"]\n"
                         "[[test.expect]]\nmetric = \"burst_packets_dropped_per_burst\"\n" +
                         limit);
    return path;
  }

  std::string text(const std::string& name) const { return read_whole(directory_ / name); }

  ScratchDirectory directory_;
};

TEST_F(LabSuite, SaysWhatPassedInEachForm) {
  ASSERT_EQ(run({suite_with("most = 0\n"), "--out", directory_ / "out"}), kExitOk) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("passed    pauses"));
  EXPECT_THAT(text("out/junit.xml"), HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_THAT(text("out/suite.html"), HasSubstr("<h2>Results</h2>"));
  EXPECT_THAT(text("out/suite.json"), HasSubstr("\"passed\": true"));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "out/pauses/results.sqlite"));
}

TEST_F(LabSuite, AFailedLimitIsTheExitStatus) {
  EXPECT_EQ(run({suite_with("least = 1\n"), "--out", directory_ / "out"}), kExitFailure);
  EXPECT_THAT(text("log"), HasSubstr("failed    pauses: burst_packets_dropped_per_burst of off"));
  EXPECT_THAT(text("out/junit.xml"), HasSubstr("<failure message="));
}

TEST_F(LabSuite, MarksAreJudgedInVirtualTimeAndBetweenProcesses) {
  for (const char* runtime : {"virtual", "loopback"}) {
    ASSERT_EQ(run({"sonic-ecn", "--tests", "step-enqueue,step-dequeue", "--runtime", runtime,
                   "--out", directory_ / runtime}),
              kExitOk)
        << text("log");
    EXPECT_THAT(text("log"), HasSubstr("passed    step-dequeue"));
    EXPECT_THAT(text(std::string(runtime) + "/step-dequeue/benchmark.json"),
                HasSubstr("\"kind\":\"ecn_marking\""));
  }
}

// A second switch in the place of the one that the law is about.
TEST_F(LabSuite, ASwitchThatMarksElsewhereFails) {
  const std::string path = directory_ / "other.toml";
  write_whole_file(path,
                   "name = \"other\"\ntitle = \"Other\"\nsource = \"a test\"\n"
                   "[[test]]\nname = \"marks\"\nasks = \"Where?\"\nstreams = \"" +
                       source_path("conf/suites/sonic-ecn/step-enqueue.toml") + "\"\nswitch = \"" +
                       source_path("conf/suites/sonic-ecn/step-dequeue-switch.toml") +
                       "\"\n[[test.expect]]\nmetric = \"unmarked_above_kmax\"\nmost = 0\n");
  EXPECT_EQ(run({path, "--out", directory_ / "out"}), kExitFailure) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("failed    marks: unmarked_above_kmax"));
}

TEST_F(LabSuite, AnInterruptNamesWhatDidNotBegin) {
  ProcessGuard process({OUTRIDER_LAB_PROGRAM, "suite", "collectives", "--out", directory_ / "out"},
                       directory_ / "log");
  ASSERT_TRUE(process.says(std::regex("ring-all-reduce: "), kPatience)) << process.output();
  process.send(SIGINT);
  EXPECT_EQ(process.wait(2 * kPatience), kExitInterrupted);
  EXPECT_THAT(text("log"), HasSubstr("broken    job: interrupted before it began"));
  EXPECT_THAT(text("out/junit.xml"), HasSubstr("tests=\"6\" failures=\"0\" errors=\"5\""));
}

// Streams have no run_command() that would catch it, and two programs to end.
TEST_F(LabSuite, AnInterruptEndsTheProgramsOfStreams) {
  ProcessGuard process({OUTRIDER_LAB_PROGRAM, "suite", "sonic-ecn", "--runtime", "loopback",
                        "--out", directory_ / "out"},
                       directory_ / "log");
  ASSERT_TRUE(process.says(std::regex("enqueue: "), kPatience)) << process.output();
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(2 * kPatience), kExitInterrupted) << process.output();
  EXPECT_THAT(text("log"), HasSubstr("broken    dequeue: interrupted before it began"));
}

TEST_F(LabSuite, NamesWhatIsWrong) {
  EXPECT_EQ(run({"nowhere"}), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("nowhere"));
  EXPECT_EQ(run({"incast", "--tests", "nothing"}), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("has no such test"));
  EXPECT_EQ(run({source_path("conf/experiments/quick.toml")}), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("is an experiment for outrider-lab run"));
  EXPECT_EQ(run({suite_with("most = \"none\"\n")}), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("test[0].expect[0].most"));
  EXPECT_EQ(run({"sonic-ecn", "--runtime", "testbed"}), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("--testbed FILE belongs to --runtime testbed"));
}

}  // namespace
}  // namespace outrider::lab_suite_test
