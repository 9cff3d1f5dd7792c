// Goal: merged parts are the results of one `outrider-lab run`, whatever ends a part in between;
// gaps, duplicates and directories that do not belong together are refused by name. Virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/source_path.h"

namespace outrider::parts_program_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kLabPatience = 2 * kPatience;  // an experiment is many runs
using Words = std::vector<std::string>;

Words with(Words these, const Words& more) {
  these.insert(these.end(), more.begin(), more.end());
  return these;
}

class LabParts : public testing::Test {
 protected:
  ProcessGuard lab(const Words& arguments) const {
    return {with({OUTRIDER_LAB_PROGRAM}, arguments), directory_ / "log"};
  }
  /// @return exit status; the output is in `log`
  int run(const Words& arguments) const { return lab(arguments).wait(kLabPatience).value_or(-1); }
  /// @param part  such as "1/3". @param out  in the test's directory
  Words part(const std::string& part, const std::string& out, const Words& more = {}) const {
    return with({"run", quick_, "--case", part, "--out", directory_ / out}, more);
  }
  int merge(const Words& parts, const Words& more = {}) const {
    Words words{"merge", "--out", directory_ / "merged"};
    for (const auto& name : parts) words.push_back(directory_ / name);
    return run(with(std::move(words), more));
  }
  std::string log() const { return read_whole(directory_ / "log"); }

  /// Returns the files of results, without the two that have the time at which they were written.
  std::set<std::string> files_of(const std::string& results) const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / results))
      if (entry.is_regular_file()) names.insert(fs::relative(entry, directory_ / results));
    EXPECT_EQ(names.erase("environment.json"), 1U);
    names.erase("report.html");
    return names;
  }
  /// Compares the results in `merged` with those of one run.
  void expect_as_run(const Words& options) const {
    ASSERT_EQ(run(with({"run", quick_, "--out", directory_ / "run"}, options)), kExitOk) << log();
    const auto names = files_of("run");
    EXPECT_GT(names.size(), 4U);
    EXPECT_EQ(files_of("merged"), names);
    for (const auto& name : names)
      EXPECT_TRUE(read_whole(directory_ / ("merged/" + name)) ==
                  read_whole(directory_ / ("run/" + name)))
          << name << " differs";
  }
  std::size_t finished_in(const std::string& out) const {
    std::size_t n = 0;
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(directory_ / (out + "/unfinished"), none_yet))
      n += entry.path().extension() == ".run" ? 1 : 0;
    return n;
  }

  ScratchDirectory directory_;
  std::string quick_ = source_path("conf/experiments/quick.toml");
};

TEST_F(LabParts, ThreePartsMergedAreOneRun) {
  const Words seeds{"--repeat", "4", "--seed", "5"};
  ASSERT_EQ(run(with({"run", quick_, "--list-cases"}, seeds)), kExitOk);
  EXPECT_EQ(log(), "12\n");
  ASSERT_EQ(run(part("1/3", "a", with(seeds, {"--jobs", "1"}))), kExitOk) << log();
  EXPECT_THAT(log(), HasSubstr("part 1/3 is finished: 4 of 4 cases are in "));
  EXPECT_FALSE(fs::exists(directory_ / "a/summary.json")) << "a part alone says nothing of arms";
  ASSERT_EQ(run(part("2/3", "b", with(seeds, {"--jobs", "3"}))), kExitOk) << log();
  ASSERT_EQ(run(part("3/3", "c", with(seeds, {"--ranks", "2", "--least-work", "0"}))), kExitOk)
      << log();
  ASSERT_EQ(merge({"c", "a", "b"}), kExitOk) << log();
  EXPECT_THAT(log(), HasSubstr("on-hold-spared")) << "the table";
  expect_as_run(seeds);
  EXPECT_EQ(merge({"a", "b", "c"}), kExitOk) << "again: " << log();
}

TEST_F(LabParts, AKilledPartGoesOnWithWhatIsFinished) {
  const Words seeds{"--repeat", "8"};
  const Words first = part("1/2", "a", with(seeds, {"--jobs", "1"}));
  std::size_t finished = 0;
  {
    ProcessGuard victim = lab(first);
    for (int i = 0; i < 10'000 && finished_in("a") < 2; ++i) std::this_thread::sleep_for(5ms);
    victim.kill_now();
    finished = finished_in("a");
  }
  ASSERT_GE(finished, 2U) << log();
  ASSERT_LT(finished, 12U) << "it was killed too late";
  ASSERT_EQ(run(part("2/2", "b", seeds)), kExitOk) << log();
  EXPECT_EQ(merge({"a", "b"}), kExitFailure);
  EXPECT_THAT(log(), HasSubstr("a, part 1/2, lacks " + std::to_string(12 - finished) + " case"));
  EXPECT_FALSE(fs::exists(directory_ / "merged"));
  ASSERT_EQ(run(first), kExitOk) << log();
  EXPECT_THAT(log(), HasSubstr(std::to_string(finished) + " of 12 cases are there already"));
  ASSERT_EQ(merge({"a", "b"}), kExitOk) << log();
  expect_as_run(seeds);
}

TEST_F(LabParts, GapsAndDuplicatesAreNamed) {
  ASSERT_EQ(run(part("1/3", "a")), kExitOk) << log();
  ASSERT_EQ(run(part("3/3", "c")), kExitOk) << log();
  EXPECT_EQ(merge({"a", "c"}), kExitFailure);
  EXPECT_THAT(log(), HasSubstr("part 2/3 is in none of the directories: 1 case: \"on seed 1\""));
  EXPECT_THAT(log(), HasSubstr("nothing is merged"));
  fs::copy(directory_ / "a", directory_ / "again", fs::copy_options::recursive);
  EXPECT_EQ(merge({"a", "c", "again"}), kExitUsage);
  EXPECT_THAT(log(), HasSubstr(directory_ / "a and " + (directory_ / "again") +
                               " are both part 1/3, and have the same 1 case: \"off seed 1\""));
  EXPECT_EQ(merge({"a", "c", "a"}), kExitUsage);
  EXPECT_FALSE(fs::exists(directory_ / "merged"));
  EXPECT_EQ(merge({"a", "c"}, {"--partial"}), kExitFailure);
  EXPECT_THAT(read_whole(directory_ / "merged/summary.json"), HasSubstr("\"off\""));
}

TEST_F(LabParts, ADamagedRunIsNamedAndRunAgain) {
  for (const std::string number : {"1", "2", "3"})
    ASSERT_EQ(run(part(number + "/3", number)), kExitOk) << log();
  const fs::path file = *fs::directory_iterator(directory_ / "2/unfinished");
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_EQ(merge({"1", "2", "3"}), kExitFailure);
  EXPECT_THAT(log(), HasSubstr(file.string() + ", of \"on seed 1\", is damaged"));
  ASSERT_EQ(run(part("2/3", "2")), kExitOk) << log();
  ASSERT_EQ(merge({"1", "2", "3"}), kExitOk) << log();
  expect_as_run({});
}

TEST_F(LabParts, DirectoriesThatDoNotBelongTogetherAreRefused) {
  ASSERT_EQ(run(part("1/3", "a")), kExitOk) << log();
  ASSERT_EQ(run(part("2/2", "half")), kExitOk) << log();
  EXPECT_EQ(merge({"a", "half"}), kExitUsage);
  EXPECT_THAT(log(), HasSubstr(directory_ / "half is one of 2 parts instead of 3, beside "));
  ASSERT_EQ(run(part("2/3", "seed", {"--seed", "2"})), kExitOk) << log();
  EXPECT_EQ(merge({"a", "seed"}), kExitUsage);
  EXPECT_THAT(log(), HasSubstr("seed was run with another --seed, --repeat"));
  fs::create_directory(directory_ / "empty");
  EXPECT_EQ(merge({"a", "empty"}), kExitUsage);
  EXPECT_THAT(log(), HasSubstr(directory_ / "empty: it has no part.json, so it is no part"));

  // Another part, a run of all cases and a merge keep their hands off a part's directory.
  EXPECT_EQ(run(part("2/3", "a")), kExitUsage);
  EXPECT_THAT(log(), HasSubstr("--out " + (directory_ / "a has part 1/3; name another directory")));
  EXPECT_EQ(run({"run", quick_, "--out", directory_ / "a"}), kExitUsage);
  EXPECT_THAT(log(), HasSubstr("a has a part of the cases of an experiment; name another"));
  EXPECT_EQ(finished_in("a"), 1U);
  EXPECT_EQ(run(part("2/3", "a", {"--force"})), kExitOk) << log();
  EXPECT_EQ(finished_in("a"), 1U) << "that of the first part is deleted";
}

TEST_F(LabParts, AnEditedExperimentIsRefused) {
  const std::string text = read_whole(quick_);
  ASSERT_FALSE(text.empty());
  // Beside the original, so that the files that it names are there.
  fs::copy(fs::path(quick_).parent_path().parent_path(), directory_ / "conf",
           fs::copy_options::recursive);
  quick_ = directory_ / "conf/experiments/quick.toml";
  ASSERT_EQ(run(part("1/1", "a")), kExitOk) << log();
  ASSERT_EQ(merge({"a"}), kExitOk) << log();
  std::string edited = text;
  edited.replace(edited.find("iterations = 3"), 14, "iterations = 2");
  directory_.write("conf/experiments/quick.toml", edited);
  EXPECT_EQ(merge({"a"}, {"--force"}), kExitUsage);
  EXPECT_THAT(log(), HasSubstr("quick.toml, or a file that it names, was changed since "));
  fs::remove(quick_);
  EXPECT_EQ(merge({"a"}, {"--force"}), kExitUsage);
  EXPECT_THAT(log(), HasSubstr("; merge in that directory"));
}

TEST_F(LabParts, WhatMakesNoSenseIsRefusedBeforeAnythingRuns) {
  const auto refusal = [this](const Words& words) {
    EXPECT_EQ(run(words), kExitUsage) << log();
    EXPECT_FALSE(fs::exists(directory_ / "out"));
    return log();
  };
  EXPECT_THAT(refusal(part("4/3", "out")), HasSubstr("--case: 4/3: I must be from 1 to N"));
  EXPECT_THAT(refusal(part("one", "out")), HasSubstr("--case: one: must be I/N"));
  EXPECT_THAT(refusal(part("1/4", "out")),
              HasSubstr("--case 1/4: N must be at most the number of cases, which is 3"));
  EXPECT_THAT(refusal({"run", quick_, "--case", "1/3"}), HasSubstr("--case 1/3 needs --out DIR"));
  EXPECT_THAT(refusal(part("1/3", "out", {"--json"})), HasSubstr("a part prints no results"));
  EXPECT_THAT(refusal(part("1/3", "out", {"--runtime", "loopback"})),
              HasSubstr("--case 1/3 is for virtual time alone"));
  EXPECT_THAT(refusal(part("1/3", "out", {"--list-cases"})), HasSubstr("--list-cases"));
}

}  // namespace
}  // namespace outrider::parts_program_test
