// Goal: --quick runs each arm of a file once and says that its figures mean nothing.
// Method: plans of small files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/tables/comparison_table.h"

namespace outrider::quick_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using testing::HasSubstr;

TEST(Quick, IsOneSeedOfEachArmAtTheFirstPoint) {
  const std::string text =
      with(small_experiment("[[sweep]]\njob.burst_bytes = [\"9MB\"]\narms = [\"off\", \"on\"]\n"),
           "job.iterations = 2", "job.iterations = 9\nskip_iterations = 4");
  const auto cases = plan_of(text, {.seeds = 5, .quick = true});
  ASSERT_EQ(cases.size(), 3U) << "the arms";
  for (const auto& c : cases) {
    EXPECT_EQ(c.seed, 1U);
    EXPECT_EQ(c.traffic.jobs.at(0).iterations, 3U);
    EXPECT_EQ(c.skip_iterations, 1U);
    EXPECT_EQ(c.traffic.jobs[0].burst_bytes, 100'000U);
  }
}

TEST(Quick, LeavesShortExperimentsAsTheyAre) {
  const auto cases = plan_of(with(small_experiment(), "job.iterations = 2", "job.iterations = 1"),
                             {.quick = true});
  EXPECT_EQ(cases.at(0).traffic.jobs[0].iterations, 1U);
}

TEST(Quick, IsMarkedInSummaryAndTable) {
  const Summary quick = summarise({.name = "e", .quick = true});
  EXPECT_EQ(nlohmann::ordered_json::parse(to_json(quick)).at("quick"), true);
  EXPECT_THAT(comparison_table(quick), HasSubstr("quick: two measured iterations"));
}

}  // namespace
}  // namespace outrider::quick_test
