// Goal: whatever arrives, what docs/attacks.md promises holds. Method: seeded scenarios of
// attacks and bad luck in a small simulation, whose judges look on all the while. A failure prints
// the scenario in its smallest form; OUTRIDER_ADVERSARY="seed 7; forge ..." plays it again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/adversary/scenario.h"
#include "tests/support/adversary/shrink.h"
#include "tests/support/adversary/simulation.h"
#include "tests/support/simulation.h"

namespace outrider::adversary_test {
namespace {

constexpr std::uint32_t kMbufs = 4096;

// Every group has to be attacked in every way that is counted: 80 scenarios are, 10 were not.
constexpr std::uint32_t kFewSeeds = kSanitized ? 80 : 3'200;
constexpr std::uint32_t kGroups = kSanitized ? 2 : 16;

/// Seeds are dealt to the groups in turn. OUTRIDER_ADVERSARY_SEEDS="FIRST COUNT" chooses others.
struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = seeds(kFewSeeds, 100'000);
};

Seeds chosen_seeds() {
  Seeds chosen;
  if (const char* text = std::getenv("OUTRIDER_ADVERSARY_SEEDS")) {
    char* end = nullptr;
    chosen.first = std::strtoull(text, &end, 10);
    chosen.count = std::strtoull(end, nullptr, 10);
  }
  return chosen;
}

std::string report_of(const Scenario& scenario, rte_mempool& pool) {
  const auto fails = [&pool](const Scenario& s) { return violation_of(s, pool).has_value(); };
  const Scenario smallest = shrink(scenario, fails);
  return violation_of(smallest, pool).value_or("not again") + "\nOUTRIDER_ADVERSARY=\"" +
         to_text(smallest) + "\"";
}

class Adversary : public testing::TestWithParam<std::uint32_t> {
 protected:
  Mempool pool_ = make_test_pool(kMbufs);
};

TEST_P(Adversary, BreaksNoPromise) {
  const Seeds chosen = chosen_seeds();
  AdversarySimulation::Seen all;
  for (std::uint64_t n = GetParam(); n < chosen.count; n += kGroups) {
    const Scenario scenario = draw_scenario(chosen.first + n);
    std::optional<std::string> violation;
    {
      AdversarySimulation simulation(scenario, *pool_);
      violation = simulation.run();
      all.injected += simulation.seen().injected;
      all.windows_lowered += simulation.seen().windows_lowered;
      all.starts_judged += simulation.seen().starts_judged;
      all.armed += simulation.seen().armed;
      all.forged_judged += simulation.seen().forged_judged;
      all.signed_judged += simulation.seen().signed_judged;
      all.answers_held += simulation.seen().answers_held;
      all.most_steps = std::max(all.most_steps, simulation.seen().most_steps);
    }
    ASSERT_FALSE(violation) << "seed " << scenario.seed << ": " << *violation << '\n'
                            << report_of(scenario, *pool_);
  }
  EXPECT_GT(all.injected, 0U);
  EXPECT_GT(all.windows_lowered, 0U);
  EXPECT_GT(all.starts_judged, 0U);
  EXPECT_GT(all.armed, 0U);
  EXPECT_GT(all.forged_judged, 0U);
  EXPECT_GT(all.signed_judged, 0U);
  EXPECT_GT(all.most_steps, 0U);
  EXPECT_GT(all.answers_held, 0U);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Adversary, testing::Range(0U, kGroups));

// -- The shrinker, with artificial judges

std::uint32_t acts_of(const Scenario& s, Harm kind) {
  return static_cast<std::uint32_t>(std::ranges::count(s.acts, kind, &HarmfulAct::kind));
}

TEST(Shrink, KeepsTheTwoActsThatTogetherFail) {
  Scenario scenario{.seed = 7, .acts = {}};
  for (std::uint32_t i = 0; i < 40; ++i)
    scenario.acts.push_back({.kind = Harm::kLoss, .at_us = i, .count = 9, .gap_us = 900});
  scenario.acts[11].kind = Harm::kForge;
  scenario.acts[30].kind = Harm::kRestart;
  std::uint32_t plays = 0;
  const auto fails = [&plays](const Scenario& s) {
    ++plays;
    return acts_of(s, Harm::kForge) == 1 && acts_of(s, Harm::kRestart) == 1 &&
           s.acts.front().count >= 5;
  };
  const Scenario smallest = shrink(scenario, fails);
  const std::vector<HarmfulAct> expected{
      {.kind = Harm::kForge, .at_us = 11, .count = 9, .gap_us = 1},
      {.kind = Harm::kRestart, .at_us = 30, .count = 1, .gap_us = 1}};
  EXPECT_EQ(smallest.acts, expected) << to_text(smallest);
  EXPECT_LE(plays, 300U);
}

TEST(Shrink, AsksNoMoreThanItMay) {
  const Scenario scenario = draw_scenario(3);
  std::uint32_t plays = 0;
  const auto fails = [&plays](const Scenario&) {
    ++plays;
    return plays % 3 == 0;
  };
  static_cast<void>(shrink(scenario, fails, 20));
  EXPECT_LE(plays, 20U);
}

TEST(Scenario, IsReadBackFromItsText) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Scenario scenario = draw_scenario(seed);
    EXPECT_EQ(scenario_from(to_text(scenario)), scenario) << to_text(scenario);
  }
  for (const char* text : {"seed", "seed 1; fogre 1 2 3 4 5", "seed 1; forge 1 2 3 4"})
    EXPECT_THROW(static_cast<void>(scenario_from(text)), std::invalid_argument) << text;
}

TEST(Scenario, WorldsAreValid) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const DrawnNetwork simulation = draw_network(seed);
    const auto of_switches = validate(simulation.switches);
    EXPECT_TRUE(of_switches.empty())
        << seed << ": " << of_switches.front().key << ": " << of_switches.front().problem;
    const auto of_traffic = validate(simulation.traffic);
    EXPECT_TRUE(of_traffic.empty())
        << seed << ": " << of_traffic.front().key << ": " << of_traffic.front().problem;
  }
}

TEST(AdversaryReplay, PlaysWhatTheEnvironmentSays) {
  const char* text = std::getenv("OUTRIDER_ADVERSARY");
  if (text == nullptr) GTEST_SKIP() << "OUTRIDER_ADVERSARY is not set";
  const Mempool pool = make_test_pool(kMbufs);
  EXPECT_EQ(violation_of(scenario_from(text), *pool), std::nullopt);
}

}  // namespace
}  // namespace outrider::adversary_test
