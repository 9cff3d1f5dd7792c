// Goal: [front] makes an arm of every combination once, every fault has the key that the user
// wrote, and the measurements reach the result of the search. Method: a small experiment.
#include "tools/lab/experiment/front_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/front/front_result.h"

namespace outrider::front_file_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using testing::ElementsAre;

constexpr const char* kFront = R"(
[front]
screening_seeds = 2
seeds = 4
reference_time = 6.0
reference_lost = 0.5
[[front.system]]
label = "window"
ours = true
switch.regulation.mode = "window"
switch.regulation.recovery = "burst_end"
switch.regulation.window.rule = ["strict", "complement"]
switch.regulation.window.floor = [0.05, 0.1]
[[front.system]]
label = "red"
switch.marker.kind = "red"
switch.marker.red.pmax = [0.1]
[[front.system]]
label = "tail-drop"
switch.marker.kind = "tail_drop"
)";

std::string file() { return small_experiment(kFront); }

std::vector<std::string> labels_of(const ExperimentFile& e) {
  std::vector<std::string> labels;
  for (const auto& arm : e.arms) labels.push_back(arm.label);
  return labels;
}

TEST(FrontFile, EveryCombinationIsAnArmForTheOtherCommandsToo) {
  const auto experiment = read_experiment(file());
  ASSERT_TRUE(experiment) << format_issues("text", experiment.issues);
  EXPECT_THAT(
      labels_of(*experiment.config),
      ElementsAre("off", "off-no-start", "on", "on-window-rule=strict-floor=0.05",
                  "on-window-rule=strict-floor=0.1", "on-window-rule=complement-floor=0.05",
                  "on-window-rule=complement-floor=0.1", "off-red-pmax=0.1", "off-tail-drop"));
  const CaseParameters& p = experiment.config->arms[4].parameters;
  EXPECT_EQ(p.programs().mode(), RegulationMode::kWindow);
  EXPECT_EQ(*find(p.settings, "switch.regulation.window.rule"), ConfigValue(std::string("strict")));
  EXPECT_EQ(*find(p.settings, "switch.regulation.window.floor"), ConfigValue(0.1));
  EXPECT_EQ(plan_of(file(), {.seeds = 1}).size(), 9U);
}

TEST(FrontFile, SettingsAndWhoIsCompared) {
  ConfigIssues issues;
  const FrontTaken taken = take_front(parse_toml(file()).config.value(), issues);
  ASSERT_TRUE(issues.empty()) << format_issues("text", issues);
  EXPECT_EQ(taken.settings.screening_seeds, 2U);
  EXPECT_EQ(taken.settings.seeds, 4U);
  EXPECT_EQ(taken.settings.reference.time, 6);
  EXPECT_EQ(taken.settings.reference.cost, 0.5);
  const auto candidates = candidates_of({*read_experiment(file()).config, taken.settings});
  std::vector<std::string> systems;
  systems.reserve(candidates.size());
  for (const auto& c : candidates) systems.push_back(c.system + (c.ours ? "!" : ""));
  EXPECT_THAT(systems, ElementsAre("off", "off-no-start", "on", "window!", "window!", "window!",
                                   "window!", "red", "tail-drop"))
      << "an [[arm]] is a baseline of one setting";
}

TEST(FrontFile, WithoutAFrontNothingIsTaken) {
  ConfigIssues issues;
  const ConfigTable plain = parse_toml(small_experiment()).config.value();
  const FrontTaken taken = take_front(plain, issues);
  EXPECT_FALSE(taken.present);
  EXPECT_EQ(taken.file, plain);
}

TEST(FrontFile, EveryFaultByTheKeyThatWasWritten) {
  const struct {
    const char* from;
    const char* to;
    const char* key;
    const char* problem;
  } kFaults[] = {
      {"seeds = 4", "seeds = 1", "front.screening_seeds", "1"},
      {"seeds = 4", "sedes = 4", "front.sedes", "unknown key"},
      {"seeds = 4", "report_seeds = 0", "front.report_seeds", "0"},
      {"reference_time = 6.0", "reference_time = 1.0", "front.reference_time", "above 1"},
      {"reference_lost = 0.5", "reference_lost = 0.0", "front.reference_lost", "0"},
      {"label = \"red\"", "", "front.system[1].label", "is required"},
      {"label = \"red\"", "label = \"window\"", "front.system[1].label", "used twice"},
      {"ours = true", "ours = 1", "front.system[0].ours", "true or false"},
      {"[0.1]", "[]", "front.system[1].switch.marker.red.pmax", "empty"},
      {"red.pmax = [0.1]", "red.pmaxx = [0.1]", "front.system[1].switch.marker.red.pmaxx",
       "did you mean"},
      {"[0.05, 0.1]", "[0.05, \"x\"]", "front.system[0].switch.regulation.window.floor", "must be"},
  };
  for (const auto& f : kFaults) {
    const auto read = read_experiment(with(file(), f.from, f.to));
    EXPECT_FALSE(read) << f.to;
    const bool found = std::ranges::any_of(read.issues, [&](const ConfigIssue& i) {
      return i.key == f.key && i.problem.find(f.problem) != i.problem.npos;
    });
    EXPECT_TRUE(found) << "expected " << f.key << ": " << f.problem << "\ngot "
                       << format_issues("text", read.issues);
  }
}

/// Returns a result of two candidates, searched with four seeds and reported with three others, in
/// which ours takes longer.
FrontResult result() {
  FrontResult r{
      .experiment = "small", .question = "?", .settings = {.seeds = 4, .report_seeds = 3}};
  r.settings.reference = {.time = 5, .cost = 0.5};
  r.rounds = {{2, 2}, {4, 2}};
  const auto sample = [](double seconds, double lost) {
    return FrontSample{{seconds}, 0, lost, 100};
  };
  r.candidates = {
      {.system = "off", .label = "off", .samples = {7, sample(4, 0)}},
      {.system = "we", .label = "on-we,1", .ours = true, .samples = {4, sample(2, 10)}}};
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
}  // namespace outrider::front_file_test
