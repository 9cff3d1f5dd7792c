// Goal: a search over real runs in virtual time finds what holds, spends seeds where intervals are
// wide, and reports those of other seeds. Method: a small experiment of three arms, whose runs are
// handed to each goal round by round.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "common/dpdk/packet/mempool.h"
#include "tests/support/source_path.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/search/run_goal.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::search_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using Json = nlohmann::ordered_json;

/// A search of two families, one of which ends bursts far sooner.
SearchFile file_with(const std::string& search) {
  const std::string path = testing::TempDir() + "search_test.toml";
  std::ofstream(path) << "base = \"" << source_path("conf/experiments/quick.toml") << R"("
name = "small"
[search]
)" << search << R"(
[[search.family]]
label = "windows"
ours = true
arms = ["on"]
[[search.family]]
label = "tail-drop"
switch.marker.kind = "tail_drop"
[[arm]]
label = "off"
[[arm]]
label = "on"
switch.regulation.mode = "window"
)";
  auto file = load_search(path);
  if (!file) throw std::runtime_error(format_issues(path, file.issues));
  return std::move(*file.config);
}

/// Runs a search in this process. @return its rounds
class Searched {
 public:
  explicit Searched(const SearchFile& file) : goal(make_goal(file)) {
    const SearchSettings& s = file.settings;
    SearchRounds plan({.screening = s.screening_seeds,
                       .narrowing = s.searched_seeds(),
                       .verifying = s.verifying_seeds,
                       .narrow_enough = s.narrow_enough},
                      goal->arms().size());
    while (const auto round = plan.next(*goal)) {
      run(file, *round);
      rounds.push_back(*round);
      goal->take(*round, {pointers(screening_), pointers(verifying_)});
      kept_.clear();
    }
    goal->end();
  }

  std::unique_ptr<RunGoal> goal;
  std::vector<SearchRound> rounds{};

 private:
  /// Runs of a phase are in the order of the plan: by arm, then by seed.
  void run(const SearchFile& file, const SearchRound& round) {
    const bool screens = round.phase == SearchPhase::kScreening;
    for (const std::size_t arm : round.arms) {
      auto plan = make_plan(file.experiment, {.first_seed = (screens ? 1U : 1001U) + round.first,
                                              .seeds = round.end - round.first,
                                              .arms = {goal->arms().at(arm)}});
      for (Case& c : plan.config.value()) {
        if (c.label != goal->arms().at(arm)) continue;  // "off" is in any plan
        const Case& kept = cases_.emplace_back(std::move(c));
        const Mempool pool = make_packet_pool({.name = "search-test",
                                               .mbufs = buffers_needed(kept),
                                               .frame_room_bytes = kHeaderRoomBytes});
        CaseRun one{.definition = &kept, .result = run_virtual(kept, *pool, {})};
        one.alone = run_virtual(without_background(kept), *pool, {});
        (screens ? screening_ : verifying_)
            .push_back(digest(one, Runtime::kVirtual, Flagged::kKept));
      }
    }
  }

  std::span<const RunDigest* const> pointers(const std::deque<RunDigest>& runs) {
    auto& all = kept_.emplace_back();
    for (const RunDigest& one : runs) all.push_back(&one);
    return all;
  }

  std::deque<Case> cases_{};
  std::deque<RunDigest> screening_{}, verifying_{};
  std::deque<std::vector<const RunDigest*>> kept_{};
};

TEST(SearchEffect, TheBestIsVerifiedUntilItsIntervalIsNarrow) {
  const Searched search(file_with(R"(
pick = "best"
screening_seeds = 2
verifying_seeds = 10
narrow_enough = 0.1
)"));
  EXPECT_EQ(search.rounds.at(0), (SearchRound{SearchPhase::kScreening, 0, 2, {0, 1, 2}}));
  EXPECT_EQ(search.rounds.at(1).end, kSeedsOfFirstLook);
  const Json found = Json::parse(search.goal->json());
  const auto& arms = found.at("arms");
  ASSERT_EQ(arms.size(), 3U);
  EXPECT_EQ(arms[1].at("label"), "on");
  EXPECT_LT(arms[1].at("objective").at("high"), arms[0].at("objective").at("low"))
      << "held windows end bursts sooner: " << arms;
  EXPECT_EQ(found.at("choice").at("quickest"), "on");
  EXPECT_EQ(arms[1].at("seeds"), kSeedsOfFirstLook) << "its interval is narrow: " << arms[1];
  for (const auto& arm : arms) {
    const auto& time = arm.at("objective");
    const double value = time.at("value"), low = time.at("low"), high = time.at("high");
    const bool saved = arm.at("label") != "off" && arm.at("seeds") < 10;
    EXPECT_TRUE(!saved || std::max(high - value, value - low) <= 0.1 * value) << arm;
  }
}

TEST(SearchEffect, AFrontGivesAllThatArePickedEquallyManySeeds) {
  const Searched search(file_with(R"(
pick = "front"
screening_seeds = 3
verifying_seeds = 6
narrow_enough = 0.000001
reference_time = 20.0
reference_lost = 0.9
)"));
  ASSERT_EQ(search.rounds.size(), 3U) << "no interval is as narrow as that";
  EXPECT_EQ(search.rounds[1].arms, search.rounds[2].arms);
  EXPECT_EQ(search.rounds[2].end, 6U);
  const Json found = Json::parse(search.goal->json());
  EXPECT_EQ(found.at("verified_seeds"), 6);
  for (const auto& one : found.at("objectives").at("median").at("candidates"))
    EXPECT_EQ(one.at("seeds"), 9) << "each is the front of its family";
  const auto& families = found.at("objectives").at("median").at("families");
  EXPECT_GT(families.at(1).at("area_less_best_baseline").at("low"), 0) << families;
}

TEST(SearchEffect, AFrontStopsWhenAllIntervalsAreNarrow) {
  const Searched search(file_with(R"(
pick = "front"
screening_seeds = 2
verifying_seeds = 6
narrow_enough = 0.99
)"));
  ASSERT_EQ(search.rounds.size(), 2U);
  EXPECT_EQ(search.rounds[1].end, kSeedsOfFirstLook);
  EXPECT_EQ(Json::parse(search.goal->json()).at("verified_seeds"), 5);
}

}  // namespace
}  // namespace outrider::search_test
