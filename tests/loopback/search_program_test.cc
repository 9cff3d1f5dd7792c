// Goal: a search as its user meets it: what it verifies are the best of each family with other
// seeds, it goes on after Ctrl-C with the same results, and its results answer `best`. Method: a
// small experiment in virtual time, by the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tests/loopback/process_guard.h"
#include "tests/support/source_path.h"

namespace outrider::search_program_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr auto kSearchPatience = 2 * kPatience;  // a search is many runs

class SearchProgram : public testing::Test {
 protected:
  void SetUp() override {
    write_whole_file(directory_ / "small.toml", "base = \"" +
                                                    source_path("conf/experiments/quick.toml") +
                                                    R"("
name = "small"
[search]
pick = "best"
screening_seeds = 2
verifying_seeds = 20
narrow_enough = 0.1
[[search.family]]
label = "red"
switch.marker.kind = "red"
switch.marker.red.pmax = [0.02, 0.1, 0.5]
[[search.family]]
label = "windows"
ours = true
arms = ["on"]
[[arm]]
label = "off"
[[arm]]
label = "on"
switch.regulation.mode = "window"
)");
  }

  ProcessGuard lab(std::vector<std::string> arguments, const std::string& log) const {
    arguments.insert(arguments.begin(), OUTRIDER_LAB_PROGRAM);
    return {arguments, directory_ / log};
  }
  /// @return exit status; the output is in `log`
  int run(std::vector<std::string> arguments, const std::string& log) const {
    ProcessGuard process = lab(std::move(arguments), log);
    return process.wait(kSearchPatience).value_or(-1);
  }
  std::vector<std::string> search_into(const std::string& out, const std::string& jobs) const {
    return {"search", directory_ / "small.toml", "--jobs", jobs, "--out", directory_ / out};
  }
  std::string text(const std::string& name) const { return read_whole(directory_ / name); }

  ScratchDirectory directory_;
};

std::set<std::uint64_t> seeds_in(const std::string& summary) {
  const Json parsed = Json::parse(summary);
  std::set<std::uint64_t> seeds;
  for (const auto& one : parsed.at("cases")) seeds.insert(one.at("seed").get<std::uint64_t>());
  return seeds;
}

TEST_F(SearchProgram, VerifiesTheBestOfEachFamilyWithOtherSeedsAndGoesOn) {
  ASSERT_EQ(run(search_into("whole", "2"), "log-whole"), kExitOk) << text("log-whole");
  EXPECT_EQ(seeds_in(text("whole/screening/summary.json")), (std::set<std::uint64_t>{1, 2}));
  const auto verified = seeds_in(text("whole/summary.json"));
  EXPECT_EQ(*verified.begin(), 1001U);
  const Json found = Json::parse(text("whole/search.json"));
  EXPECT_EQ(found.at("screened").size(), 5U);
  const auto& arms = found.at("arms");
  EXPECT_EQ(arms.at(0).at("label"), "off");
  std::set<std::string> families;
  for (const auto& arm : arms) {
    families.insert(arm.at("family"));
    if (arm.at("family") == "windows") {
      const auto& time = arm.at("objective");
      EXPECT_LT(time.at("value"), arms.at(0).at("objective").at("value"))
          << "held windows end bursts sooner";
      EXPECT_EQ(arm.at("seeds"), 5) << "its interval is narrow after the first look: " << time;
    }
  }
  EXPECT_EQ(families, (std::set<std::string>{"", "red", "windows"}));
  {
    ProcessGuard process = lab(search_into("resumed", "1"), "log-first");
    ASSERT_TRUE(process.says(std::regex("seeds 1001 to 1005"), kSearchPatience))
        << process.output();
    process.send(SIGINT);
    ASSERT_EQ(process.wait(kSearchPatience), kExitInterrupted) << process.output();
    EXPECT_THAT(process.output(), HasSubstr("the same command goes on"));
  }
  ASSERT_EQ(run(search_into("resumed", "1"), "log-resumed"), kExitOk) << text("log-resumed");
  EXPECT_THAT(text("log-resumed"), HasSubstr("10 of 10 cases are there already"));
  for (const std::string file : {"search.json", "search.csv", "summary.json"})
    EXPECT_EQ(text("resumed/" + file), text("whole/" + file)) << file;
  ASSERT_EQ(run(search_into("whole", "2"), "log-again"), kExitOk);
  EXPECT_THAT(text("log-again"), HasSubstr("nothing was run")) << "complete results are printed";
  EXPECT_THAT(text("log-again"), HasSubstr("best that costs little"));
  ASSERT_EQ(
      run({"best", directory_ / "whole", directory_ / "whole/screening", "--markdown"}, "log-best"),
      kExitOk);
  EXPECT_THAT(text("log-best"), HasSubstr("| `whole` | "));
  EXPECT_THAT(text("log-best"), HasSubstr("| regime | red | windows |"));
}

TEST_F(SearchProgram, NamesWhatIsWrong) {
  EXPECT_EQ(run({"search", source_path("conf/experiments/quick.toml")}, "log"), kExitUsage);
  EXPECT_THAT(text("log"), HasSubstr("search: is required"));
  std::string small = text("small.toml");
  small.replace(small.find("screening_seeds"), 0, "objective = \"speed\"\n");
  write_whole_file(directory_ / "small.toml", small);
  EXPECT_EQ(run(search_into("out", "1"), "log-objective"), kExitUsage);
  EXPECT_THAT(text("log-objective"), HasSubstr("search.objective: \"speed\": is no metric"));
  std::filesystem::create_directories(directory_ / "out");
  write_whole_file(directory_ / "out/summary.json",
                   R"({"experiment": "small", "runtime": "virtual", "cases": [{"seed": 1}]})");
  SetUp();
  EXPECT_EQ(run(search_into("out", "1"), "log-lost"), kExitUsage);
  EXPECT_THAT(text("log-lost"), HasSubstr("replace it with --force")) << "those of a run";
  EXPECT_EQ(run({"best", directory_ / "nowhere"}, "log-best"), kExitUsage);
  EXPECT_THAT(text("log-best"), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace outrider::search_program_test
