// Goal: a session of any number of runs has few results in memory, and writes what it would write
// if it had all of them. Method: results are counted while a session runs, is resumed and is
// written.
#include "tools/lab/summary/finished_runs.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/telemetry/exit_status.h"
#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/summary/table_notes.h"

namespace outrider::finished_runs_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using namespace lab_test;

constexpr std::size_t kCases = 40;
/// One as it ends, and copies on its way.
constexpr std::size_t kFew = 4;

class FinishedRunsTest : public testing::Test {
 protected:
  FinishedRunsTest() : before_(LiveCount::live()) {
    std::string name = (fs::temp_directory_path() / "outrider-finished-XXXXXX").string();
    directory_ = mkdtemp(name.data());
    for (std::size_t i = 0; i < kCases; ++i) {
      Case& c = cases_.emplace_back(make_case(i % 2 == 0 ? "off" : "on", 1));
      c.seed = 1 + i / 2;
      names_.push_back(c.label + " seed " + std::to_string(c.seed));
      wanted_.push_back(i);
    }
  }
  ~FinishedRunsTest() override { fs::remove_all(directory_); }

  CaseRun run_of(std::size_t i) const {
    CaseRun run{.definition = &cases_[i], .result = make_result(200)};
    const double took = 20 + static_cast<double>(i);
    deliver(run.result, TrafficClass::kBackground, 0, 200, 1'000 - i);
    add_burst(run.result, 0, 0, {.due = 100, .first = 101, .delivered = 101 + took});
    add_queue_burst(run.result, 0, 0, 102, 7, 50);
    run.alone = make_result(200);
    add_burst(*run.alone, 0, 0, {.due = 100, .first = 101, .delivered = 110});
    return run;
  }

  /// Runs what is wanted and not there, the last seed first.
  /// @param complete  else all runs are cut short
  RunOutcome session(const RunStore& store, FinishedRuns& runs, bool complete = true,
                     ReferenceRuns references = ReferenceRuns::kOfAll) {
    const auto run = [&](const RunOrder& order) {
      for (auto it = order.wanted.rbegin(); it != order.wanted.rend(); ++it) {
        most_ = std::max(most_, live());
        CaseRun ended = run_of(*it);
        if (!needs_reference(order.references, cases_[*it])) ended.alone.reset();
        const std::string text = complete ? serialize(ended) : std::string();
        order.on_run(*it, std::move(ended), text);
        ++ran_;
      }
      return RunOutcome{};
    };
    return run_session({"e", cases_, names_, Runtime::kVirtual, store, run, references}, wanted_,
                       runs);
  }

  void write(const FinishedRuns& runs, const std::string& directory) {
    const ReadRun read = reader_of(runs);
    const auto counted = [&](std::size_t i) {
      most_ = std::max(most_, live());
      return read(i);
    };
    write_bundle(directory_ / directory, summarise(experiment_, runs.digests()), counted);
  }

  std::string content(const std::string& path) const {
    std::ifstream in(directory_ / path);
    EXPECT_TRUE(in) << path;
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::size_t live() const { return LiveCount::live() - before_; }

  std::size_t before_;
  fs::path directory_;
  std::vector<Case> cases_{};
  std::vector<std::string> names_{};
  std::vector<std::size_t> wanted_{};
  Experiment experiment_{.name = "e", .runtime = Runtime::kVirtual};
  std::size_t most_ = 0;
  std::size_t ran_ = 0;
};

TEST_F(FinishedRunsTest, ASessionHasFewResultsInMemory) {
  const RunStore store(directory_, "program");
  FinishedRuns runs(Runtime::kVirtual);
  EXPECT_TRUE(session(store, runs).not_kept.empty());
  EXPECT_EQ(ran_, kCases);
  EXPECT_EQ(live(), 0U) << "after the last has ended";
  FinishedRuns resumed(Runtime::kVirtual);
  session(store, resumed);
  EXPECT_EQ(ran_, kCases) << "all of them are there";
  EXPECT_EQ(live(), 0U);
  write(resumed, "bundle");
  EXPECT_LE(most_, kFew);
  EXPECT_EQ(live(), 0U);
}

TEST_F(FinishedRunsTest, ARunThatLacksItsReferenceIsRunAgain) {
  const RunStore store(directory_, "program");
  FinishedRuns without(Runtime::kVirtual);
  session(store, without, true, ReferenceRuns::kNone);
  EXPECT_EQ(ran_, kCases);
  FinishedRuns again(Runtime::kVirtual);
  EXPECT_EQ(session(store, again, true, ReferenceRuns::kNone).loaded, kCases);
  EXPECT_EQ(ran_, kCases) << "none is wanted";
  FinishedRuns whole(Runtime::kVirtual);
  EXPECT_EQ(session(store, whole).loaded, 0U);
  EXPECT_EQ(ran_, 2 * kCases);
  FinishedRuns fewer(Runtime::kVirtual);
  EXPECT_EQ(session(store, fewer, true, ReferenceRuns::kOfOff).loaded, kCases)
      << "one too many does no harm";
}

TEST_F(FinishedRunsTest, FilesAreThoseOfRunsThatAreAllInMemory) {
  const RunStore store(directory_, "program");
  FinishedRuns runs(Runtime::kVirtual);
  session(store, runs);
  write(runs, "read");

  Experiment in_memory = experiment_;
  for (const std::size_t i : wanted_) {
    in_memory.runs.push_back(deserialize(cases_[i], serialize(run_of(i))));
  }
  write_bundle(directory_ / "kept", in_memory, summarise(in_memory));
  for (const char* file : {"summary.json", "table.txt", "bursts.csv", "queue.csv", "flows.csv",
                           "config/001-on-seed1/switch.toml"})
    EXPECT_EQ(content(std::string("read/") + file), content(std::string("kept/") + file)) << file;
  EXPECT_NE(content("read/bursts.csv").find("39,on,20,alone"), std::string::npos);
}

TEST_F(FinishedRunsTest, WhatTheStoreDoesNotHaveStaysInMemory) {
  std::ofstream(directory_ / "unfinished") << "no directory can be made here";
  const RunStore store(directory_, "program");
  FinishedRuns runs(Runtime::kVirtual);
  EXPECT_EQ(session(store, runs).not_kept.size(), kCases);
  write(runs, "bundle");
  EXPECT_NE(content("bundle/bursts.csv").find("39,on,20,alone"), std::string::npos);

  fs::remove(directory_ / "unfinished");
  FinishedRuns cut_short(Runtime::kVirtual);
  EXPECT_TRUE(session(store, cut_short, false).not_kept.empty());
  EXPECT_FALSE(store.load(cases_[0], Runtime::kVirtual).text) << "it is not complete";
  write(cut_short, "cut");
  EXPECT_EQ(content("cut/bursts.csv"), content("bundle/bursts.csv"));
}

TEST_F(FinishedRunsTest, AFileThatIsGoneIsNamedByItsCase) {
  const RunStore store(directory_, "program");
  FinishedRuns runs(Runtime::kVirtual);
  session(store, runs);
  store.clear();
  try {
    write(runs, "bundle");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("\"off\", seed 1"), std::string::npos) << error.what();
  }
}

TEST_F(FinishedRunsTest, AnImbalanceIsNotForgotten) {
  const RunStore store(directory_, "program");
  FinishedRuns runs(Runtime::kVirtual);
  session(store, runs);
  EXPECT_EQ(verdict_of(runs, names_, cases_), kExitOk);
  CaseRun run = run_of(3);
  run.alone->mbufs_leaked = 2;
  runs.add(std::move(run), &store);
  testing::internal::CaptureStderr();
  EXPECT_EQ(verdict_of(runs, names_, cases_), kExitLedger);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "outrider-lab: packets are not accounted for in \"on seed 2\" without background "
            "(switch ok, generator ok, buffers leaked 2)\n");
}

// A run whose background was cut must not pass for one with the background that was asked for.
TEST_F(FinishedRunsTest, FlowsThatWereNotOfferedFailTheCase) {
  const RunStore store(directory_, "program");
  FinishedRuns runs(Runtime::kVirtual);
  session(store, runs);
  CaseRun run = run_of(3);
  auto& group = run.result.traffic.flow_groups.emplace_back();
  group.name = "list";
  group.arrivals = 9;
  group.refused = 5;
  group.refused_no_port = 2;
  group.first_refused_ns = 1'500'000;
  group.completed = 4;
  runs.add(std::move(run), &store);
  testing::internal::CaptureStderr();
  const int verdict = verdict_of(runs, names_, cases_);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "outrider-lab: \"on seed 2\" had less background than was asked for, so do not use it: "
            "5 flows of \"list\" were not offered, the first at 0.0015 s: 3 found as many open as "
            "may be (max_open, queue_pairs), 2 found every port to their receiver in use\n");
  EXPECT_EQ(verdict, kExitFailure);
  EXPECT_EQ(status_of({}, verdict), kExitFailure);
  const Summary summary = summarise(experiment_, runs.digests());
  const auto warnings = warnings_of(summary);
  const auto told = std::ranges::find_if(
      warnings, [](const ArmWarning& w) { return w.text.find("never offered") != w.text.npos; });
  ASSERT_NE(told, warnings.end());
  EXPECT_EQ(told->label, "on");
  EXPECT_EQ(told->count, 5U);
}

}  // namespace
}  // namespace outrider::finished_runs_test
