// Goal: ranks that differ in what they must have in common are refused, by rank and with the cause.
// Method: a thread for each rank.
#include "tools/lab/ranks/same_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tools/lab/ranks/shared_lanes.h"
#include "tools/lab/ranks/shared_peers.h"

namespace outrider::lab {
namespace {

using testing::Each;
using testing::ElementsAre;
using Answers = std::vector<std::optional<std::string>>;

const RankIdentity kFirst{"a", "program", "cases", "cut", ""};

/// Returns difference() of each rank.
Answers compare(const std::vector<RankIdentity>& ranks) {
  const auto size = static_cast<std::uint32_t>(ranks.size());
  Answers answers(size);
  SharedLanes lanes(size);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      SharedPeers peers(rank, lanes, 0);
      answers[rank] = difference(peers, ranks[rank]);
      lanes.end(rank);
    });
  for (auto& thread : threads) thread.join();
  return answers;
}

RankIdentity with(std::string RankIdentity::*field, const std::string& value) {
  RankIdentity changed = kFirst;
  changed.machine = "b";
  changed.*field = value;
  return changed;
}

TEST(SameRun, RanksThatDifferInNothingButTheMachineRun) {
  EXPECT_THAT(compare({kFirst, with(&RankIdentity::machine, "c"), kFirst}), Each(std::nullopt));
}

TEST(SameRun, EachRankThatDiffersIsNamedAtRankZeroAndNoneRuns) {
  EXPECT_THAT(
      compare({kFirst, with(&RankIdentity::program, "x"), kFirst, with(&RankIdentity::cases, "x"),
               with(&RankIdentity::cut, "x"), with(&RankIdentity::fault, "no file")}),
      ElementsAre("rank 1 on b has another program than rank 0 on a: copy the directory of "
                  "outrider-lab to both\n"
                  "rank 3 on b has another experiment than rank 0 on a: copy the file, and the "
                  "files that it names, to the same place on both\n"
                  "rank 4 on b has another cut than rank 0 on a: give all the same --cut, "
                  "and install the same METIS\n"
                  "rank 5 on b: no file\n",
                  "", "", "", "", ""));
}

// Rank 0 says its own.
TEST(SameRun, AFaultThatAllHaveIsNotRepeated) {
  const std::string fault = "2 faults\n  one\n  and another";
  EXPECT_THAT(compare({with(&RankIdentity::fault, fault), with(&RankIdentity::fault, fault)}),
              ElementsAre("", ""));
  EXPECT_THAT(compare({with(&RankIdentity::fault, fault), kFirst}), ElementsAre("", ""));
  EXPECT_THAT(compare({kFirst, with(&RankIdentity::fault, fault)}),
              ElementsAre("rank 1 on b: " + fault + '\n', ""));
}

}  // namespace
}  // namespace outrider::lab
