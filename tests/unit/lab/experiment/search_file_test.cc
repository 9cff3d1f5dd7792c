// Goal: [search] makes an arm of every combination once or takes arms of the file, every fault has
// the key that the user wrote, and the measurements reach the result of a front. Method: a small
// experiment.
#include "tools/lab/experiment/search_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/search/front_result.h"

namespace outrider::search_file_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using testing::ElementsAre;

constexpr const char* kSearched = R"(
[search]
pick = "front"
screening_seeds = 2
narrowing_seeds = 4
reference_time = 6.0
reference_lost = 0.5
[[search.family]]
label = "window"
ours = true
switch.regulation.mode = "window"
switch.regulation.recovery = "burst_end"
switch.regulation.window.rule = ["strict", "complement"]
switch.regulation.window.floor = [0.05, 0.1]
[[search.family]]
label = "red"
switch.marker.kind = "red"
switch.marker.red.pmax = [0.1]
[[search.family]]
label = "tail-drop"
switch.marker.kind = "tail_drop"
)";

std::string file() { return small_experiment(kSearched); }

std::vector<std::string> labels_of(const ExperimentFile& e) {
  std::vector<std::string> labels;
  for (const auto& arm : e.arms) labels.push_back(arm.label);
  return labels;
}

TEST(SearchFile, EveryCombinationIsAnArmForTheOtherCommandsToo) {
  const auto experiment = read_experiment(file());
  ASSERT_TRUE(experiment) << format_issues("text", experiment.issues);
  EXPECT_THAT(labels_of(*experiment.config),
              ElementsAre("off", "off-no-start", "on", "window-rule=strict-floor=0.05",
                          "window-rule=strict-floor=0.1", "window-rule=complement-floor=0.05",
                          "window-rule=complement-floor=0.1", "red-pmax=0.1", "tail-drop"));
  const CaseParameters& p = experiment.config->arms[4].parameters;
  EXPECT_EQ(p.programs().mode(), RegulationMode::kWindow);
  EXPECT_EQ(*find(p.settings, "switch.regulation.window.rule"), ConfigValue(std::string("strict")));
  EXPECT_EQ(*find(p.settings, "switch.regulation.window.floor"), ConfigValue(0.1));
  EXPECT_EQ(plan_of(file(), {.seeds = 1}).size(), 9U);
}

TEST(SearchFile, SettingsAndWhoIsCompared) {
  ConfigIssues issues;
  const SearchTaken taken = take_search(parse_toml(file()).config.value(), issues);
  ASSERT_TRUE(issues.empty()) << format_issues("text", issues);
  EXPECT_EQ(taken.settings.screening_seeds, 2U);
  EXPECT_EQ(taken.settings.searched_seeds(), 4U);
  EXPECT_EQ(taken.settings.reference.time, 6);
  EXPECT_EQ(taken.settings.reference.cost, 0.5);
  const ExperimentFile experiment = read_experiment(file()).config.value();
  const auto candidates = candidates_of({experiment, *experiment.search});
  std::vector<std::string> families;
  families.reserve(candidates.size());
  for (const auto& c : candidates) families.push_back(c.family + (c.ours ? "!" : ""));
  EXPECT_THAT(families, ElementsAre("off", "off-no-start", "on", "window!", "window!", "window!",
                                    "window!", "red", "tail-drop"))
      << "an [[arm]] is a baseline of one setting";
}

TEST(SearchFile, WithoutASearchNothingIsTaken) {
  ConfigIssues issues;
  const ConfigTable plain = parse_toml(small_experiment()).config.value();
  const SearchTaken taken = take_search(plain, issues);
  EXPECT_FALSE(taken.present);
  EXPECT_EQ(taken.file, plain);
}

struct Refused {
  const char* from;
  const char* to;
  const char* key;
  const char* problem;
};

/// Changes a file in each of these ways, and expects the fault of each.
void expect_refused(const std::string& text, std::initializer_list<Refused> changes) {
  for (const auto& c : changes) {
    const auto read = read_experiment(with(text, c.from, c.to));
    const bool found = std::ranges::any_of(read.issues, [&](const ConfigIssue& i) {
      return i.key == c.key && i.problem.find(c.problem) != i.problem.npos;
    });
    EXPECT_TRUE(found) << "expected " << c.key << ": " << c.problem << "\ngot "
                       << format_issues("text", read.issues);
  }
}

TEST(SearchFile, EveryFaultByTheKeyThatWasWritten) {
  expect_refused(
      file(),
      {
          {"pick = \"front\"", "", "search.pick", "is required"},
          {"pick = \"front\"", "pick = \"worst\"", "search.pick", "front"},
          {"screening_seeds = 2", "screening_seeds = 0", "search.screening_seeds", "0"},
          {"screening_seeds = 2", "screening_seeds = 1001", "search.screening_seeds", "1001"},
          {"narrowing_seeds = 4", "narrowing_seeds = 1", "search.narrowing_seeds", "1"},
          {"narrowing_seeds = 4", "narowing_seeds = 4", "search.narowing_seeds", "unknown key"},
          {"narrowing_seeds = 4", "verifying_seeds = 0", "search.verifying_seeds", "0"},
          {"narrowing_seeds = 4", "narrow_enough = 1.0", "search.narrow_enough", "below 1"},
          {"narrowing_seeds = 4", "cheap = 0.1", "search.cheap", "pick = \"best\" alone"},
          {"pick = \"front\"", "pick = \"best\"", "search.reference_time",
           "pick = \"front\" alone"},
          {"label = \"tail-drop\"", "label = \"t\"\narms = [\"on\"]",
           "search.family[2].switch.marker.kind", "beside arms"},
          {"reference_time = 6.0", "reference_time = 1.0", "search.reference_time", "above 1"},
          {"reference_lost = 0.5", "reference_lost = 0.0", "search.reference_lost", "0"},
          {"label = \"red\"", "", "search.family[1].label", "is required"},
          {"label = \"red\"", "label = \"window\"", "search.family[1].label", "used twice"},
          {"ours = true", "ours = 1", "search.family[0].ours", "true or false"},
          {"[0.1]", "[]", "search.family[1].switch.marker.red.pmax", "empty"},
          {"red.pmax = [0.1]", "red.pmaxx = [0.1]", "search.family[1].switch.marker.red.pmaxx",
           "did you mean"},
          {"[0.05, 0.1]", "[0.05, \"x\"]", "search.family[0].switch.regulation.window.floor",
           "must be"},
          {"switch.marker.kind = \"red\"", "scheduler = \"fifo\"", "search.family[1].scheduler",
           "is switch.scheduler now"},
      });
}

constexpr const char* kBest = R"(
[search]
pick = "best"
narrow_enough = "2%"
[[search.family]]
label = "without"
arms = ["off-no-start"]
[[search.family]]
label = "with"
ours = true
arms = ["on"]
)";

TEST(SearchFile, AFamilyMayNameArmsOfTheFile) {
  const auto read = read_experiment(small_experiment(kBest));
  ASSERT_TRUE(read) << format_issues("text", read.issues);
  EXPECT_THAT(labels_of(*read.config), ElementsAre("off", "off-no-start", "on"));
  const SearchSettings& s = read.config->search.value();
  EXPECT_EQ(s.pick, SearchPick::kBest);
  EXPECT_EQ(s.narrow_enough, 0.02);
  EXPECT_EQ(s.searched_seeds(), 3U) << "one round unless narrowing_seeds says more";
  ASSERT_EQ(s.families.size(), 2U);
  EXPECT_THAT(s.families[0].arms, ElementsAre("off-no-start"));
  EXPECT_TRUE(s.families[1].ours);
}

TEST(SearchFile, RefusesFamiliesThatCannotBeCompared) {
  expect_refused(small_experiment(kBest),
                 {
                     {"[\"on\"]", "[\"on-x\"]", "search.family[1].arms", "\"on-x\": is no arm"},
                     {"[\"on\"]", "[\"off-no-start\"]", "search.family[1].arms", "in two families"},
                     {"[\"on\"]", "[\"off\"]", "search.family[1].arms", "is the baseline"},
                     {"[\"on\"]", "[]", "search.family[1].arms", "must be a list"},
                     {"[\"on\"]", "\"on\"", "search.family[1].arms", "must be a list"},
                     {"[\"on\"]", "[1]", "search.family[1].arms", "must be a label"},
                 });
}

/// Returns the faults with which a file is no search.
std::string faults_of_search(const std::string& text) {
  const std::string path = testing::TempDir() + "search_file_test.toml";
  std::ofstream(path) << text;
  return format_issues("text", load_search(path).issues);
}

TEST(SearchFile, ASearchHasOnePointAndABaseline) {
  EXPECT_EQ(faults_of_search(small_experiment(kBest)), "");
  EXPECT_THAT(faults_of_search(small_experiment()), testing::HasSubstr("search: is required"));
  EXPECT_THAT(faults_of_search(small_experiment(std::string(kBest) + R"(
[[sweep]]
job.burst_bytes = ["10kB"]
arms = ["off", "on"]
)")),
              testing::HasSubstr("a search has one point"));
}

TEST(SearchFile, RivalsLendTheirFamiliesKeyByKey) {
  const std::filesystem::path directory = testing::TempDir();
  std::ofstream(directory / "lent-arms.toml") << R"(
[search]
pick = "best"
screening_seeds = 2
[[search.family]]
label = "lent"
arms = ["off-lent"]
[[arm]]
label = "off-lent"
switch.marker.kind = "tail_drop"
)";
  // Behind the tables of the fixture, so that a key of the root comes first.
  const auto lent = [&](const std::string& more) {
    return experiment_from(
        parse_toml("rivals = \"lent-arms.toml\"\n" + small_experiment(more)).config.value(),
        directory);
  };
  const auto read = lent("");
  ASSERT_TRUE(read) << format_issues("text", read.issues);
  ASSERT_TRUE(read.config->search);
  EXPECT_EQ(read.config->search->screening_seeds, 2U);
  EXPECT_THAT(read.config->search->families.at(0).arms, ElementsAre("off-lent"));
  const auto own = lent("[search]\nscreening_seeds = 7\n");
  ASSERT_TRUE(own) << format_issues("text", own.issues);
  EXPECT_EQ(own.config->search->screening_seeds, 7U) << "a key of the file's own stays";
  EXPECT_EQ(own.config->search->families.size(), 1U);
}

/// Returns a result of two candidates, searched with four seeds and reported with three others, in
/// which ours takes longer.
FrontResult result() {
  FrontResult r{.experiment = "small",
                .question = "?",
                .settings = {.baseline = "off", .narrowing_seeds = 4}};
  r.settings.reference = {.time = 5, .cost = 0.5};
  r.rounds = {{2, 2}, {4, 2}};
  const auto sample = [](double seconds, double lost) {
    return FrontSample{{seconds}, 0, lost, 100};
  };
  r.candidates = {
      {.family = "off", .label = "off", .samples = {7, sample(4, 0)}},
      {.family = "we", .label = "on-we,1", .ours = true, .samples = {4, sample(2, 10)}}};
  r.candidates[1].samples.resize(7, sample(3, 10));
  r.alone = std::vector<FrontSample>(7, {{1.0}});
  pick(r);
  report(r);
  return r;
}

TEST(FrontResult, TableJsonAndCsvSayTheSame) {
  const FrontResult r = result();
  EXPECT_TRUE(on_front(r.verdicts[0], 0));
  EXPECT_TRUE(on_any_front(r, 1));
  const std::string table = front_table(r);
  EXPECT_NE(table.find("2 with 2 seeds, then 2 with 4 seeds"), table.npos) << table;
  EXPECT_NE(table.find("we (ours): area   0.800 [ 0.800,  0.800], 1 setting\n"), table.npos)
      << table;
  EXPECT_NE(table.find("we less the best tuned baseline:   0.300"), table.npos) << table;
  const std::string json = to_json(r);
  EXPECT_NE(json.find("\"area_less_best_baseline\""), json.npos);
  EXPECT_EQ(json, to_json(result()));
  std::ostringstream csv;
  write_front_csv(csv, r);
  EXPECT_NE(csv.str().find("\nmedian,off,off,0,3,1,4,4,4,0,0,0\n"), csv.str().npos) << csv.str();
  EXPECT_NE(csv.str().find("\np99,we,\"on-we,1\",1,3,1,3,3,3,0.1,0.1,0.1\n"), csv.str().npos);
}

}  // namespace
}  // namespace outrider::search_file_test
