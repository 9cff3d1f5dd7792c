// Goal: whatever is answered, what is written is an experiment of at most fifteen lines with no
// fault and nothing to advise; a wrong answer is refused with its rule.
#include "tools/lab/editing/new_experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/config/config_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::new_experiment_test {
using namespace lab;
namespace {

using testing::HasSubstr;

/// @return what is wrong with the answer to an option
std::string take(NewExperiment& into, std::string_view option, const std::string& answer) {
  const auto all = new_questions();
  const auto it = std::ranges::find(all, option, &NewQuestion::option);
  return it == all.end() ? "no such question" : it->take(into, answer);
}

ExperimentFile read(const NewExperiment& made) {
  const std::string text = new_experiment_text(made);
  EXPECT_LE(std::ranges::count(text, '\n'), 15) << text;
  auto file = experiment_from(parse_toml("name = \"x\"\n" + text).config.value(),
                              source_path("conf/experiments"));
  EXPECT_TRUE(file) << format_issues(text, file.issues);
  if (!file) return {};
  auto plan = make_plan(*file.config, {.seeds = 1});
  EXPECT_TRUE(plan) << format_issues(text, plan.issues);
  EXPECT_EQ(format_advice("f", advice(*file.config)), "") << text;
  return *file.config;
}

TEST(NewExperiment, WithoutAnswersIsThePreset) {
  NewExperiment usual;
  for (const NewQuestion& q : new_questions()) EXPECT_EQ(q.take(usual, std::string(q.usual)), "");
  EXPECT_EQ(new_experiment_text(usual), new_experiment_text({}));
  const auto preset = load_experiment(source_path("conf/experiments/one-queue.toml"));
  ASSERT_TRUE(preset) << format_issues("one-queue", preset.issues);
  const ExperimentFile made = read({});
  EXPECT_EQ(format_advice("f", advice(make_plan(made, {.seeds = 1}).config.value())), "");
  EXPECT_EQ(made.network.rtt, preset.config->network.rtt);
  EXPECT_EQ(made.trunks.at(0).rate, preset.config->trunks.at(0).rate);
  EXPECT_EQ(made.parameters.h_packets, preset.config->parameters.h_packets);
  EXPECT_EQ(made.parameters.programs().job.burst_bytes,
            preset.config->parameters.programs().job.burst_bytes);
  EXPECT_EQ(*to_table(made.parameters.programs()).get("switch"),
            *to_table(preset.config->parameters.programs()).get("switch"));
}

TEST(NewExperiment, EveryKindOfAnswerIsAnExperiment) {
  for (const char* rate : {"100mbit", "100gbit"})
    for (const char* rtt : {"5us", "20ms"})
      for (const char* buffer : {"100kB", "16MB"})
        for (const char* burst : {"8x200kB", "2xresnet50"})
          for (const char* background : {"1", "30%"}) {
            NewExperiment made;
            EXPECT_EQ(take(made, "--rate", rate), "");
            EXPECT_EQ(take(made, "--rtt", rtt), "");
            EXPECT_EQ(take(made, "--buffer", buffer), "");
            EXPECT_EQ(take(made, "--burst", burst), "");
            EXPECT_EQ(take(made, "--background", background), "");
            (void)read(made);
          }
}

TEST(NewExperiment, WrongAnswersAreRefused) {
  NewExperiment made;
  EXPECT_THAT(take(made, "--rate", "fast"), HasSubstr("must"));
  EXPECT_THAT(take(made, "--rtt", "1ns"), HasSubstr("must be at least 1us"));
  EXPECT_THAT(take(made, "--buffer", "1kB"), HasSubstr("must hold at least 20 full frames"));
  for (const char* wrong : {"4xnothing", "1MB", "0x1MB", "257x1MB", "4x", "4x0B", "x1MB"})
    EXPECT_THAT(take(made, "--burst", wrong), HasSubstr("must be as 4x1MB")) << wrong;
  for (const char* wrong : {"0", "257", "0%", "130%", "many", "-1"})
    EXPECT_THAT(take(made, "--background", wrong), HasSubstr("must be")) << wrong;
  EXPECT_EQ(new_experiment_text(made), new_experiment_text({})) << "nothing is taken";
}

}  // namespace
}  // namespace outrider::new_experiment_test
