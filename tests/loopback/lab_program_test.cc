// Goal: outrider-lab as its user meets it: results that do not depend on the
// number of processes, results after Ctrl-C, faults that name their cause, and
// the same file between two real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/source_path.h"
#include "tools/lab/results/bundle.h"

namespace outrider::lab_program_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr auto kLabPatience = 2 * kPatience;  // an experiment is many runs

class LabProgram : public testing::Test {
 protected:
  static std::string experiment(const std::string& name) {
    return source_path("conf/experiments/") + name + ".toml";
  }

  ProcessGuard lab(std::vector<std::string> arguments, const std::string& log) const {
    arguments.insert(arguments.begin(), OUTRIDER_LAB_PROGRAM);
    return {arguments, directory_ / log};
  }

  /// @return exit status; the output is in `log`
  int run(std::vector<std::string> arguments, const std::string& log) const {
    ProcessGuard process = lab(std::move(arguments), log);
    return process.wait(kLabPatience).value_or(-1);
  }

  std::string text(const std::string& name) const { return read_whole(directory_ / name); }

  ScratchDirectory directory_;
};

/// Both programs as processes, in real time.
class LabLoopback : public LabProgram {};
class LabLoopbackLong : public LabLoopback {};

TEST_F(LabProgram, ResultsDoNotDependOnTheNumberOfProcesses) {
  const std::string quick = experiment("quick");
  for (const std::string jobs : {"1", "3"})
    ASSERT_EQ(run({"run", quick, "--repeat", "2", "--jobs", jobs, "--out", directory_ / jobs},
                  "log" + jobs),
              kExitOk)
        << text("log" + jobs);
  EXPECT_EQ(text("1/summary.json"), text("3/summary.json"));
  EXPECT_EQ(text("1/bursts.csv"), text("3/bursts.csv"));
  EXPECT_EQ(text("1/table.txt"), text("3/table.txt"));
  EXPECT_THAT(text("1/summary.json"), HasSubstr("schema_version"));
}

TEST_F(LabProgram, WritesWhatIsDoneOnInterrupt) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = "out" + std::to_string(signal);
    ProcessGuard process = lab(
        {"run", experiment("quick"), "--repeat", "200", "--out", directory_ / out}, "log-" + out);
    const std::regex some("[1-9][0-9]+/600 cases");  // not every number is said
    ASSERT_TRUE(process.says(some, kLabPatience)) << process.output();
    process.send(signal);
    EXPECT_EQ(process.wait(kLabPatience), kExitInterrupted);
    EXPECT_THAT(process.output(), HasSubstr("interrupted: "));
    EXPECT_THAT(text(out + "/summary.json"), HasSubstr("\"label\""));
    EXPECT_THAT(text(out + "/table.txt"), HasSubstr("off"));
  }
}

TEST_F(LabProgram, ConvertKeepsLinksAndPermissions) {
  namespace fs = std::filesystem;
  const fs::path file(directory_ / "file.toml"), link(directory_ / "link.toml");
  constexpr fs::perms kMode =
      fs::perms::owner_all | fs::perms::group_all;  // more than a umask lets
  write_whole_file(file, "[parameters]\nregulation = \"mark\"\n");
  fs::permissions(file, kMode);
  fs::create_symlink("file.toml", link);
  EXPECT_EQ(run({"convert", link}, "log"), kExitOk) << text("log");
  EXPECT_EQ(text("file.toml"), "[parameters]\nswitch.regulation.mode = \"mark\"\n");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(file).permissions(), kMode);
}

// The other name kept the earlier text, and was the file no more.
TEST_F(LabProgram, ConvertRefusesAFileOfTwoNames) {
  const std::filesystem::path file(directory_ / "file.toml"), other(directory_ / "other.toml");
  const std::string earlier = "[parameters]\nregulation = \"mark\"\n";
  write_whole_file(file, earlier);
  std::filesystem::create_hard_link(file, other);
  EXPECT_EQ(run({"convert", file}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("the file has other names (hard links)"));
  EXPECT_EQ(text("file.toml"), earlier);
  EXPECT_EQ(std::filesystem::hard_link_count(file), 2U);
}

// Whatever ends a session: the same command makes what is missing, and the results are
// those of a session that was never interrupted.
TEST_F(LabProgram, GoesOnWhereItWasInterrupted) {
  const std::vector<std::string> command{"run", experiment("quick"), "--repeat", "20", "--out"};
  const auto into = [&](const std::string& out) {
    auto arguments = command;
    arguments.push_back(directory_ / out);
    return arguments;
  };
  ASSERT_EQ(run(into("whole"), "log-whole"), kExitOk) << text("log-whole");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "whole/unfinished"));
  for (const int signal : {SIGINT, SIGKILL}) {
    const std::string out = "resumed" + std::to_string(signal);
    {
      ProcessGuard process = lab(into(out), "log-first-" + out);
      const std::regex enough("(1[2-9]|[2-4][0-9])/60 cases");  // not every number is said
      ASSERT_TRUE(process.says(enough, kLabPatience)) << process.output();
      process.send(signal);
      ASSERT_TRUE(process.wait(kLabPatience).has_value() || signal == SIGKILL);
    }
    ASSERT_EQ(run(into(out), "log-" + out), kExitOk) << text("log-" + out);
    EXPECT_THAT(text("log-" + out), HasSubstr("of 60 cases are there already"));
    for (const std::string file : {"summary.json", "bursts.csv", "queue.csv", "flows.csv"})
      EXPECT_EQ(text(out + '/' + file), text("whole/" + file)) << file;
    EXPECT_FALSE(std::filesystem::exists(directory_ / (out + "/unfinished")));
  }
}

// What a power cut, or a disk, has left of a finished run is not one.
TEST_F(LabProgram, ADamagedRunIsNamedAndRunAgain) {
  const std::string out = directory_ / "out";
  const std::vector<std::string> command{"run", experiment("quick"), "--repeat", "20", "--out",
                                         out};
  {
    ProcessGuard process = lab(command, "log");
    const std::regex enough("(1[2-9]|[2-4][0-9])/60 cases");
    ASSERT_TRUE(process.says(enough, kLabPatience)) << process.output();
    process.send(SIGINT);
    ASSERT_EQ(process.wait(kLabPatience), kExitInterrupted) << process.output();
    EXPECT_THAT(process.output(), HasSubstr("finished runs, "));
  }
  const std::filesystem::path file =
      std::filesystem::directory_iterator(out + "/unfinished")->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  ASSERT_EQ(run(command, "log"), kExitOk) << text("log");
  EXPECT_THAT(text("log"), HasSubstr(file.string() + " is damaged; \"o"));
  EXPECT_THAT(text("log"), HasSubstr(" is run again"));
}

TEST_F(LabProgram, ADirectoryHasOneSession) {
  const std::string out = directory_ / "out";
  ProcessGuard first = lab({"run", experiment("quick"), "--repeat", "200", "--out", out}, "first");
  ASSERT_TRUE(first.says("/600 cases", kLabPatience)) << first.output();
  EXPECT_EQ(run({"run", experiment("demo"), "--out", out}, "log"), kExitEnvironment) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("--out " + out + " is in use by process "));
  EXPECT_THAT(text("log"), HasSubstr("(outrider-lab run " + experiment("quick")));
  first.kill_now();
  EXPECT_EQ(run({"run", experiment("quick"), "--out", out}, "log"), kExitOk) << text("log");
}

TEST_F(LabProgram, ResultsAreReplacedOnlyByAsManyOfTheSame) {
  const std::string out = directory_ / "out";
  const auto quick = [&](const std::string& seeds, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", experiment("quick"), "--repeat", seeds, "--out", out});
    return run(more, "log");
  };
  ASSERT_EQ(quick("2"), kExitOk) << text("log");
  EXPECT_EQ(quick("2"), kExitOk) << text("log");
  EXPECT_EQ(quick("1"), kExitUsage) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("has seed 2, which this run does not make"));
  EXPECT_EQ(run({"run", experiment("demo"), "--repeat", "2", "--out", out}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("has results of the experiment \"quick\"; name another "
                                     "directory, or replace it with --force"));
  EXPECT_EQ(quick("1", {"--force"}), kExitOk) << text("log");
}

// The same file with the same seeds and the same program gives the same figures: it is not run
// again without a word, and what results say can be had of results that are there.
TEST_F(LabProgram, FinishedResultsArePrintedAndNotMadeAgain) {
  const std::string out = directory_ / "out";
  const auto quick = [&](const std::string& log, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", experiment("quick"), "--repeat", "3", "--out", out});
    return run(more, log);
  };
  const std::string there =
      "has the results of this file with these seeds, from this program; "
      "nothing was run. --force runs all cases again";
  ASSERT_EQ(quick("first"), kExitOk) << text("first");
  EXPECT_THAT(text("first"), Not(HasSubstr(there)));
  const std::string summary = text("out/summary.json");
  EXPECT_EQ(quick("again"), kExitOk) << text("again");
  EXPECT_THAT(text("again"), HasSubstr(there));
  EXPECT_THAT(text("again"), HasSubstr(text("out/table.txt")));
  EXPECT_EQ(quick("brief", {"--brief"}), kExitOk) << text("brief");
  EXPECT_THAT(text("brief"), HasSubstr(there));
  ASSERT_EQ(run({"answer", out}, "answer"), kExitOk) << text("answer");
  const std::string answer = text("answer").substr(text("answer").find("Communication time"));
  EXPECT_THAT(answer, HasSubstr(" against off"));
  EXPECT_THAT(answer, HasSubstr("A demonstration with 3 seeds"));
  EXPECT_TRUE(text("brief").ends_with(answer)) << text("brief");
  EXPECT_TRUE(text("out/table.txt").ends_with(answer)) << text("out/table.txt");
  EXPECT_EQ(quick("force", {"--force"}), kExitOk) << text("force");
  EXPECT_THAT(text("force"), Not(HasSubstr(there)));
  EXPECT_EQ(text("out/summary.json"), summary);
  EXPECT_EQ(run({"run", experiment("quick"), "--repeat", "4", "--out", out}, "more"), kExitOk);
  EXPECT_THAT(text("more"), Not(HasSubstr(there))) << "other seeds";
  EXPECT_EQ(run({"answer", directory_ / "nowhere"}, "none"), kExitUsage);
  EXPECT_THAT(text("none"), HasSubstr("name a directory that `outrider-lab run` wrote"));
}

// The runs are in memory: a full disk costs what it cannot hold, not the session.
TEST_F(LabProgram, AFullDiskIsNamedAndTheTableIsPrinted) {
  const std::string out = directory_ / "full";
  std::filesystem::create_directory(out);
  const auto within = [&](const std::string& command) {
    ProcessGuard shell({"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                        "mount -t tmpfs -o size=8k none " + out + " && " + command},
                       directory_ / "log");
    return shell.wait(kLabPatience).value_or(-1);
  };
  if (within("true") != 0) GTEST_SKIP() << "no tmpfs may be mounted: " << text("log");
  const std::string command =
      std::string(OUTRIDER_LAB_PROGRAM) + " run " + experiment("quick") + " --out " + out;
  EXPECT_EQ(within(command), kExitFailure) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("finished runs could not be kept"));
  EXPECT_THAT(text("log"), HasSubstr("No space left on device (errno 28)"));
  EXPECT_THAT(text("log"), HasSubstr("unfinished/"));
  EXPECT_THAT(text("log"), HasSubstr("the results are not complete: cannot write " + out));
  EXPECT_THAT(text("log"), HasSubstr("on-hold-spared")) << "the table";
}

TEST_F(LabProgram, ComparesResults) {
  for (const std::string out : {"a", "b"})
    ASSERT_EQ(run({"run", experiment("quick"), "--repeat", "6", "--out", directory_ / out}, "log"),
              kExitOk);
  EXPECT_EQ(run({"compare", directory_ / "a", directory_ / "b/results.sqlite", "--fail-on-change"},
                "log"),
            kExitOk);
  EXPECT_THAT(text("log"), HasSubstr("0 of "));
  EXPECT_THAT(text("log"), HasSubstr("6 seeds, paired"));
  EXPECT_EQ(run({"compare", directory_ / "a", directory_ / "none"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("none"));
  EXPECT_EQ(run({"compare", directory_ / "a", directory_ / "b/summary.json"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("b/summary.json is no results.sqlite of outrider-lab"));
}

TEST_F(LabProgram, ATimelineTakesThePlaceOfNoOtherFile) {
  const std::string out = directory_ / "o", database = out + "/results.sqlite";
  ASSERT_EQ(run({"run", experiment("quick"), "--quick", "--out", out}, "log"), kExitOk);
  const std::string before = read_whole(database);
  EXPECT_EQ(run({"trace", out, "--out", database}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("results.sqlite is there, and no timeline"));
  EXPECT_EQ(read_whole(database), before);
  EXPECT_EQ(run({"trace", out, "--case", "-1"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("--case: Value -1 not in range"));
  EXPECT_EQ(run({"trace", database}, "log"), kExitOk) << "beside it";
  EXPECT_EQ(run({"trace", out}, "log"), kExitOk) << "again: " << text("log");
}

TEST_F(LabProgram, PrintsTheSummaryAlone) {
  ASSERT_EQ(
      run({"run", experiment("quick"), "--json", "--filter", "spared", "--out", directory_ / "o"},
          "log"),
      kExitOk);
  // stderr is in the same file: the object stands between its lines.
  EXPECT_THAT(text("log"), HasSubstr(text("o/summary.json")));
}

// Without background, and in a closed loop, the run is its own reference.
TEST_F(LabProgram, RunsTheReferenceWithoutBackgroundWhereThereIsSome) {
  const std::string base = "base = \"" + experiment("quick") + "\"\nquestion = \"?\"\n";
  const std::string arm = "[[arm]]\nlabel = \"off\"\n";
  directory_.write("busy.toml", base + "name = \"busy\"\n" + arm);
  directory_.write("calm.toml",
                   base +
                       "name = \"calm\"\n[parameters]\njob.schedule = \"closed_loop\"\n"
                       "job.compute = \"10ms\"\nbackground.flows_per_pair = 0\n" +
                       arm);
  const auto alone_over_own = [&](const std::string& name) {
    EXPECT_EQ(run({"run", directory_ / (name + ".toml"), "--out", directory_ / name}, "log"),
              kExitOk)
        << text("log");
    const auto results = lab::open_results(std::string(directory_ / name));
    auto row = results.query(
        "SELECT alone_seconds / value FROM cases JOIN case_metrics USING (case_index) "
        "WHERE metric = 'burst_completion_seconds_median'");
    EXPECT_TRUE(row.next());
    return row.number(0);
  };
  EXPECT_LT(alone_over_own("busy"), 0.9);
  EXPECT_EQ(alone_over_own("calm"), 1);
}

TEST_F(LabProgram, NamesWhatIsWrong) {
  EXPECT_EQ(run({"run", directory_ / "none.toml"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("none.toml"));
  const std::string faulty = directory_.write("faulty.toml", "name = \"x\"\nquestoin = \"?\"\n");
  EXPECT_EQ(run({"check", faulty}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("questoin: unknown key; did you mean \"question\"?"));
  EXPECT_EQ(run({"run", experiment("quick"), "--filter", "nothing"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("no case's name holds \"nothing\""));
  EXPECT_EQ(run({"run", experiment("quick"), "--runtime", "cloud"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("--runtime"));
  EXPECT_EQ(run({"run", experiment("r2sp"), "--runtime", "loopback"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("learner: is for virtual time alone"));
  const std::string file = directory_.write("file", "");
  EXPECT_EQ(run({"run", experiment("quick"), "--out", file}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("--out " + file));
}

TEST_F(LabProgram, OptionsWithoutEffectAreRefused) {
  const auto refused = [this](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", experiment("quick")});
    EXPECT_EQ(run(options, "log"), kExitUsage);
    return text("log");
  };
  EXPECT_THAT(refused({"--exclude-flagged"}), HasSubstr("--exclude-flagged is for real time"));
  EXPECT_THAT(refused({"--runtime", "loopback", "--jobs", "2"}),
              HasSubstr("--jobs is for virtual time alone"));
  EXPECT_THAT(refused({"--cut", "turns"}), HasSubstr("--cut needs --ranks above 1"));
  EXPECT_THAT(refused({"--least-work", "1"}), HasSubstr("--least-work needs --ranks above 1"));
  EXPECT_THAT(refused({"--profile"}), HasSubstr("--profile needs --ranks above 1"));
  EXPECT_THAT(refused({"--list-cases", "--json"}), HasSubstr("--list-cases excludes --json"));
  EXPECT_THAT(refused({"--out", ""}), HasSubstr("--out: must not be empty"));
}

/// A link on which six arms may be tried, which takes seconds.
constexpr const char* kSmallCluster = R"([network]
rate = "50mbit"
rtt = "2ms"
background_hosts = 2
[change]
switches = "settings"
second_queue = false
[parameters]
switch.queue.limit_bytes = "90kB"
workers = 2
job.burst_bytes = "100kB"
job.period = "100ms"
[[background]]
name = "long"
from = "sender"
to = "receiver"
)";

/// The same with long flows.
std::string small_cluster() { return std::string(kSmallCluster) + "long_flows = 2\n"; }

TEST_F(LabProgram, AdvisesOnACluster) {
  const std::string file = directory_ / "cluster.toml", out = directory_ / "advice";
  write_whole_file(file, small_cluster());
  ASSERT_EQ(run({"advise", file, "--minutes", "0.5", "--out", out}, "log"), kExitOk) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("best of each kind"));
  EXPECT_THAT(text("log"), HasSubstr("twice the buffer"));
  EXPECT_THAT(text("log"), HasSubstr(text("advice/advice.txt")));
  EXPECT_THAT(text("log"), Not(HasSubstr("nan"))) << "off alone has run without background";
  EXPECT_THAT(text("advice/outrider-switch.toml"), HasSubstr("[[switch]]"));
  EXPECT_THAT(text("advice/verify/summary.json"), HasSubstr("\"seed\": 1001"));
  EXPECT_THAT(text("log"), HasSubstr("Assumed, as the file does not say: job.iterations = 8"));
  EXPECT_THAT(text("advice/verify/report.html"), HasSubstr("\"advice\":\"Do nothing: "))
      << "the report begins with it";

  write_whole_file(file, small_cluster() + "both_ways = true\n");
  EXPECT_EQ(run({"advise", file, "--out", out}, "other"), kExitUsage);
  EXPECT_THAT(text("other"), HasSubstr("advice for another file"));
  write_whole_file(file, small_cluster() + "lod = 0.3\n");
  EXPECT_EQ(run({"advise", file, "--out", directory_ / "faulty"}, "fault"), kExitUsage);
  EXPECT_THAT(text("fault"), HasSubstr("background[0].lod"));
  EXPECT_EQ(run({"advise", "--new", file}, "there"), kExitUsage) << "it is somebody's work";
  EXPECT_EQ(run({"advise", "--new", directory_ / "new.toml"}, "new"), kExitOk);
  EXPECT_THAT(text("new.toml"), HasSubstr("[network]"));
  EXPECT_EQ(run({"advise"}, "none"), kExitUsage);
  EXPECT_THAT(text("none"), HasSubstr("advise --new"));
}

TEST_F(LabProgram, ChecksWhatAdviseReadsAndRefusesWhatTakesTooLong) {
  const std::string file = directory_.write("cluster.toml", small_cluster());
  EXPECT_EQ(run({"check", file}, "check"), kExitOk);
  EXPECT_THAT(text("check"), HasSubstr("a file for `outrider-lab advise " + file + "`"));
  std::string cluster = small_cluster();
  cluster.replace(cluster.find("workers"), 0, "job.iterations = 5000\n");
  const std::string slow = directory_.write("slow.toml", cluster);
  EXPECT_EQ(run({"advise", slow, "--minutes", "0.1", "--out", directory_ / "o"}, "brief"),
            kExitUsage);
  EXPECT_THAT(text("brief"), HasSubstr("or more. Give --minutes "));

  const auto refused = [&](const std::string& faulty) {
    EXPECT_EQ(run({"check", directory_.write("faulty.toml", faulty)}, "fault"), kExitUsage);
    return text("fault");
  };
  EXPECT_THAT(refused(cluster + "lod = 0.3\n"), HasSubstr("background[0].lod"));
  const std::string limit = "switch.queue.limit_bytes = \"90kB\"\n";
  cluster.erase(cluster.find(limit), limit.size());
  EXPECT_THAT(refused(cluster), HasSubstr("parameters.switch.queue.limit_bytes: is required"));
}

TEST_F(LabProgram, AdvisesWithWhatIsKnownOnInterruptInTheSearch) {
  std::string cluster = small_cluster();  // with cases of seconds, so that each is told
  cluster.replace(cluster.find("100kB"), 5, "10MB").replace(cluster.find("100ms"), 5, "10s");
  const std::string file = directory_.write("cluster.toml", cluster);
  ProcessGuard process =
      lab({"advise", file, "--jobs", "1", "--out", directory_ / "advice"}, "log-interrupt");
  ASSERT_TRUE(process.says("advise-screen: 3/12", kLabPatience)) << process.output();
  process.send(SIGINT);
  EXPECT_EQ(process.wait(kLabPatience), kExitInterrupted);
  EXPECT_THAT(process.output(), HasSubstr("best of each kind"));
  EXPECT_THAT(process.output(), HasSubstr("of the search alone, not verified"));
  EXPECT_THAT(process.output(), HasSubstr("! not finished: "));
}

TEST_F(LabLoopbackLong, ConfirmsAdviceBetweenProcesses) {
  const std::string file = directory_ / "cluster.toml", out = directory_ / "advice";
  write_whole_file(file, small_cluster());
  ASSERT_EQ(run({"advise", file, "--minutes", "0.5", "--confirm", "loopback", "--out", out}, "log"),
            kExitOk)
      << text("log");
  EXPECT_THAT(text("log"), HasSubstr("Real processes"));
  EXPECT_THAT(text("advice/confirm/virtual/summary.json"), HasSubstr("\"runtime\": \"virtual\""));
  EXPECT_THAT(text("advice/confirm/loopback/summary.json"), HasSubstr("\"runtime\": \"loopback\""));

  write_whole_file(file, std::string(kSmallCluster) + "list = \"flows.csv\"\n");  // no long flows
  write_whole_file(directory_ / "flows.csv", "start_seconds,from,to,bytes\n0,0,2,1000\n");
  EXPECT_EQ(run({"advise", file, "--confirm", "loopback", "--out", directory_ / "l"}, "list"),
            kExitUsage);
  EXPECT_THAT(text("list"), HasSubstr("cannot be had here"));
}

TEST_F(LabProgram, HelpAndPlanNeedNothing) {
  EXPECT_EQ(run({"--help"}, "log"), kExitOk);
  EXPECT_THAT(text("log"), HasSubstr("Exit status"));
  EXPECT_EQ(run({"run", "--help"}, "log"), kExitOk);
  EXPECT_THAT(text("log"), HasSubstr("summary.json"));
  EXPECT_EQ(run({"plan", experiment("quick"), "--repeat", "3"}, "log"), kExitOk);
  EXPECT_THAT(text("log"), HasSubstr("on-hold-spared seed 3"));
  EXPECT_THAT(text("log"), HasSubstr("9 cases"));
  EXPECT_THAT(text("log"), HasSubstr("in virtual time on"));
  EXPECT_EQ(run({"check", experiment("quick")}, "log"), kExitOk);
  EXPECT_THAT(text("log"), HasSubstr("no fault; 3 cases of 3 arms"));
}

TEST_F(LabLoopback, RunsTheSameFileBetweenTwoProcesses) {
  const std::string out = directory_ / "out";
  ASSERT_EQ(run({"run", experiment("quick"), "--runtime", "loopback", "--filter", "on seed",
                 "--out", out},
                "log"),
            kExitOk)
      << text("log");
  EXPECT_THAT(text("out/summary.json"), HasSubstr("\"runtime\": \"loopback\""));
  EXPECT_THAT(text("out/loopback/0-on-seed1/switch.toml"), HasSubstr("net_vhost0"));
  EXPECT_TRUE(std::filesystem::exists(out + "/loopback/0-on-seed1/alone/trafficgen.json"));
}

/// The process that runs `program` and has `mark` among its arguments; 0 if there is none.
pid_t process_of(const std::string& program, const std::string& mark) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string words = read_whole(entry.path() / "cmdline");
    const std::string first = words.substr(0, words.find('\0'));
    if (first.ends_with(program) && words.find(mark) != std::string::npos) return std::stoi(name);
  }
  return 0;
}

// Either of the two programs may die: the case is lost and says whose death it was, the
// others are run.
TEST_F(LabLoopback, ACrashOfEitherProgramIsNamedAndCostsItsCaseAlone) {
  for (const std::string program : {"outrider-switch", "outrider-trafficgen"}) {
    const std::string out = directory_ / program;
    ProcessGuard process =
        lab({"run", experiment("quick"), "--runtime", "loopback", "--filter", "on", "--out", out},
            "log-" + program);
    ASSERT_TRUE(process.says("0/2 cases", kLabPatience)) << process.output();
    pid_t victim = 0;
    for (int i = 0; i < 2000 && victim == 0; ++i) {
      std::this_thread::sleep_for(5ms);
      victim = process_of(program, out + "/loopback/0-");
    }
    ASSERT_GT(victim, 0) << process.output();
    ASSERT_EQ(kill(victim, SIGKILL), 0);
    EXPECT_EQ(process.wait(kLabPatience), kExitFailure) << process.output();
    EXPECT_THAT(process.output(), HasSubstr(program + " was killed by signal 9"));
    EXPECT_THAT(process.output(), HasSubstr("\"on seed 1\""));
    const std::string summary = read_whole(out + "/summary.json");
    EXPECT_THAT(summary, HasSubstr("\"label\": \"on-hold-spared\""));
    EXPECT_THAT(summary, testing::Not(HasSubstr("\"label\": \"on\"")));
  }
}

/// A testbed of vhost devices, both programs on "far": a shell that stands for ssh.
class LabTestbed : public LabProgram {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory_ / "far home");
    const std::string shell =
        directory_.write("shell", "#!/bin/sh\n[ \"$1\" = far ] || exit 255\ncd '" +
                                      (directory_ / "far home") + "' && exec sh -c \"$2\"\n");
    std::filesystem::permissions(shell, std::filesystem::perms::owner_all);
    const auto site = [&](const std::string& table, const std::string& program, int lcore) {
      return "[" + table + "]\nhost = \"far\"\nprogram = \"" + program +
             "\"\nlcore = " + std::to_string(lcore) + "\n";
    };
    std::string text = "remote_shell = \"" + shell + "\"\n" +
                       site("switch", OUTRIDER_SWITCH_PROGRAM, 0) +
                       site("trafficgen", OUTRIDER_TRAFFICGEN_PROGRAM, 1);
    for (const std::string i : {"0", "1"}) {
      const std::string socket = directory_ / (i + ".sock");
      text += "[[device]]\nname = \"leaf_" + std::string(i == "0" ? "a" : "b") +
              "\"\nswitch = \"net_vhost" + i + ",iface=" + socket +
              ",client=1\"\ntrafficgen = \"net_virtio_user" + i + ",path=" + socket +
              ",server=1\"\n";
    }
    testbed_ = directory_.write("testbed.toml", text);
  }

  std::vector<std::string> command(const std::string& file) const {
    return {"run", experiment("quick"), "--runtime", "testbed", "--testbed",
            file,  "--filter",          "on seed",   "--out",   directory_ / "out"};
  }

  std::string testbed_;
};

/// Nothing arrives, so that no time counts but that of waiting.
class LabTestbedSilent : public LabTestbed {};

TEST_F(LabTestbed, RunsBothProgramsThroughARemoteShell) {
  ASSERT_EQ(run(command(testbed_), "log"), kExitOk) << text("log");
  EXPECT_THAT(text("out/summary.json"), HasSubstr("\"runtime\": \"testbed\""));
  EXPECT_THAT(text("far home/outrider-testbed/switch.toml"), HasSubstr("net_vhost1"));
  EXPECT_EQ(text("far home/outrider-testbed/trafficgen.json"),
            text("out/testbed/0-on-seed1/alone/trafficgen.json"));
}

// A generator that begins before the switch of a slow machine takes packets would give up.
TEST_F(LabTestbed, TheGeneratorStartsOnceTheSwitchForwards) {
  const std::string late =
      directory_.write("late-switch", "#!/bin/sh\nsleep 1\nexec " +
                                          std::string(OUTRIDER_SWITCH_PROGRAM) + " \"$@\"\n");
  const std::string log = directory_ / "out/testbed/0-on-seed1/switch.log";
  const std::string watcher = directory_.write(
      "watcher", "#!/bin/sh\ngrep -q 'forwarding on' '" + log + "' || touch early\nexec " +
                     std::string(OUTRIDER_TRAFFICGEN_PROGRAM) + " \"$@\"\n");
  std::string changed = read_whole(testbed_);
  for (const auto& [program, instead] : {std::pair{std::string(OUTRIDER_SWITCH_PROGRAM), late},
                                         {std::string(OUTRIDER_TRAFFICGEN_PROGRAM), watcher}}) {
    std::filesystem::permissions(instead, std::filesystem::perms::owner_all);
    changed.replace(changed.find(program), program.size(), instead);
  }
  ASSERT_EQ(run(command(directory_.write("late.toml", changed)), "log"), kExitOk) << text("log");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "far home/outrider-testbed/early"));
}

// The switch is given ports that lose all but one packet in a million. Its case ends after 10 s
// instead of ten minutes.
TEST_F(LabTestbedSilent, ARunInWhichNothingArrivesEndsAndNamesTheSide) {
  const std::string deaf = directory_.write(
      "deaf-switch", "#!/bin/sh\nsed -i 's/^loss = .*/loss = 0.999999/' \"$2\"\nexec " +
                         std::string(OUTRIDER_SWITCH_PROGRAM) + " \"$@\"\n");
  std::filesystem::permissions(deaf, std::filesystem::perms::owner_all);
  std::string changed = read_whole(testbed_);
  const std::string program = OUTRIDER_SWITCH_PROGRAM;
  changed.replace(changed.find(program), program.size(), deaf);
  ASSERT_EQ(run(command(directory_.write("deaf.toml", changed)), "log"), kExitFailure)
      << text("log");
  EXPECT_THAT(text("log"), HasSubstr("no progress: "));
  EXPECT_THAT(text("log"), HasSubstr("received nothing, on one device or on all, for 10 s"));
  EXPECT_THAT(text("log"), HasSubstr("The switch forwards too little"));
  EXPECT_THAT(text("log"), HasSubstr("injected_loss"));
}

// Nothing comes back from one cable, whose driver says that it is up, while the other one lives:
// the switch is given ports that lose all but one packet in a million to leaf_a. The second case
// would meet the same, and is not tried.
TEST_F(LabTestbedSilent, ADeadCableIsNamedAndEndsTheSession) {
  const std::string half_deaf = directory_.write(
      "half-deaf-switch",
      "#!/bin/sh\nsed -i '/^device = \"leaf_a\"/,/^loss = /s/^loss = .*/loss = 0.999999/' \"$2\"\n"
      "exec " +
          std::string(OUTRIDER_SWITCH_PROGRAM) + " \"$@\"\n");
  std::filesystem::permissions(half_deaf, std::filesystem::perms::owner_all);
  std::string changed = read_whole(testbed_);
  const std::string program = OUTRIDER_SWITCH_PROGRAM;
  changed.replace(changed.find(program), program.size(), half_deaf);
  auto both = command(directory_.write("dead.toml", changed));
  *std::ranges::find(both, "on seed") = "on";
  ASSERT_EQ(run(both, "log"), kExitFailure) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("no progress: "));
  EXPECT_THAT(text("log"), HasSubstr("packets to device leaf_a and received 0 from it for 10."));
  EXPECT_THAT(text("log"), HasSubstr("1 further cases were not tried"));
}

// Status 3 is how a program says that a device, or its peer, is missing.
TEST_F(LabTestbed, AMissingDeviceEndsTheSession) {
  const std::string lost = directory_.write("lost", "#!/bin/sh\necho no peer came\nexit 3\n");
  std::filesystem::permissions(lost, std::filesystem::perms::owner_all);
  std::string changed = read_whole(testbed_);
  const std::string program = OUTRIDER_SWITCH_PROGRAM;
  changed.replace(changed.find(program), program.size(), lost);
  auto both = command(directory_.write("lost.toml", changed));
  *std::ranges::find(both, "on seed") = "on";
  ASSERT_EQ(run(both, "log"), kExitFailure) << text("log");
  EXPECT_THAT(text("log"), HasSubstr("no peer came"));
  EXPECT_THAT(text("log"), HasSubstr("1 further cases were not tried"));
}

TEST_F(LabTestbed, WhatIsFarEndsWithTheLab) {
  ProcessGuard process = lab(command(testbed_), "log");
  pid_t far = 0;
  for (int i = 0; i < 2000 && far == 0; ++i) {
    std::this_thread::sleep_for(5ms);
    if (std::filesystem::exists(directory_ / "far home/outrider-testbed/trafficgen.toml"))
      far = process_of("outrider-trafficgen", "trafficgen.toml");
  }
  ASSERT_GT(far, 0) << process.output();
  process.kill_now();
  for (int i = 0; i < 2000 && kill(far, 0) == 0; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_NE(kill(far, 0), 0) << "still runs";
}

TEST_F(LabTestbed, FaultsAreNamed) {
  const std::string whole = read_whole(testbed_);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    return directory_.write("faulty.toml", changed);
  };
  EXPECT_EQ(run(command(with("host = \"far\"", "host = \"away\"")), "log"), kExitFailure);
  EXPECT_THAT(text("log"), HasSubstr("shell away: cannot write switch.toml, status 255"));
  EXPECT_EQ(run(command(with("outrider-switch\"", "no-program\"")), "log"), kExitFailure);
  EXPECT_THAT(text("log"), HasSubstr("outrider-switch on far ended with status 127"));
  EXPECT_EQ(run(command(with("leaf_a", "leaf_x")), "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("device: there is none named \"leaf_a\""));
  EXPECT_EQ(run(command(with("lcore = 1", "lcore = 0")), "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("trafficgen.lcore: 0: must not be switch.lcore"));
  EXPECT_EQ(run({"run", experiment("quick"), "--runtime", "testbed"}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("--testbed FILE belongs to --runtime testbed"));
}

TEST_F(LabLoopback, IsInterruptedToo) {
  ProcessGuard process = lab({"run", experiment("quick"), "--runtime", "loopback", "--repeat", "50",
                              "--out", directory_ / "out"},
                             "log");
  ASSERT_TRUE(process.says("0/150 cases", kLabPatience)) << process.output();
  process.send(SIGINT);
  EXPECT_EQ(process.wait(kLabPatience), kExitInterrupted) << process.output();
  EXPECT_THAT(text("out/summary.json"), HasSubstr("schema_version"));
}

}  // namespace
}  // namespace outrider::lab_program_test
