// Goal: a file that cuts a case is taken as it says, or refused with every fault and its line.
// Method: texts for a small network, made by hand.
#include "tools/lab/world/cut_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace outrider::cut_file_test {
using namespace lab;
namespace {

using testing::ElementsAre;

/// Three switches; a wire without delay joins the last two. Hosts h0 and h1 share traffic and are
/// at leaf_0 and leaf_1, h2 is alone at leaf_1.
CutNodes small_network() {
  return {.names = {"leaf_0", "leaf_1", "spine_0", "h0", "h1", "h2"},
          .switches = 3,
          .group_of_host = {0, 0, 2},
          .unit_of = {0, 2, 2, 1, 1, 3},
          .home_of_unit = {0, 0, 1, 1}};
}

struct Outcome {
  std::vector<std::uint32_t> ranks;
  std::vector<std::string> faults;
};

Outcome outcome_of(std::string_view text, std::uint32_t ranks = 2) {
  ConfigIssues issues;
  const auto made = ranks_by_file(text, small_network(), ranks, issues);
  EXPECT_EQ(made.has_value(), issues.empty());
  Outcome outcome{made.value_or(std::vector<std::uint32_t>{}), {}};
  for (const auto& issue : issues)
    outcome.faults.push_back(issue.key + (issue.key.empty() ? "" : ": ") + issue.problem);
  return outcome;
}

TEST(RanksByFile, AreThoseOfTheLines) {
  const Outcome o = outcome_of("# a comment\nleaf_0 1\n\n  leaf_1\t0 # and here\nspine_0 0\n");
  EXPECT_THAT(o.faults, ElementsAre());
  EXPECT_THAT(o.ranks, ElementsAre(1, 1, 0, 0)) << "hosts follow their first switch";
}

TEST(RanksByFile, OfAHostAreOfAllThatShareItsTraffic) {
  const Outcome o = outcome_of("h1 2\nh2 0\nleaf_0 0\nleaf_1 1\nspine_0 1", 3);
  EXPECT_THAT(o.faults, ElementsAre());
  EXPECT_THAT(o.ranks, ElementsAre(0, 2, 1, 0));
  EXPECT_THAT(outcome_of("h0 1\nh1 1\nleaf_0 0\nleaf_1 1\nspine_0 1").ranks,
              ElementsAre(0, 1, 1, 1))
      << "it may be said twice";
}

TEST(RanksByFile, AreRefusedWithEveryFaultAtOnce) {
  const Outcome o = outcome_of(
      "leaf_0 0\n"
      "laef_1 1\n"  // mistyped
      "leaf_0 1\n"  // twice
      "leaf_1\n"    // no rank
      "h2 3\n"      // no such rank
      "h1 -1\n"     // no number
      "h0 0 0\n"    // too much
      "core 2\n"    // nothing like it
      "spine_0 0\n",
      4);
  EXPECT_THAT(
      o.faults,
      ElementsAre("line 2: \"laef_1\": is no switch and no host of the case; did you mean "
                  "\"leaf_1\"?",
                  "line 3: \"leaf_0\": has its rank in line 1 already",
                  "line 4: must hold a name and a rank", "line 6: rank \"-1\": must be 0 to 3",
                  "line 7: must hold a name and a rank",
                  "line 8: \"core\": is no switch and no host of the case",
                  "switch \"leaf_1\" has no line"));
}

TEST(RanksByFile, AreFromZeroToTheLast) {
  EXPECT_THAT(
      outcome_of("leaf_0 0\nleaf_1 2\nspine_0 0").faults,
      ElementsAre("line 2: rank \"2\": must be 0 to 1", "rank 1 has no switch and no host"));
  EXPECT_THAT(outcome_of("leaf_0 0\nleaf_1 1\nspine_0 0", 1).faults,
              ElementsAre("line 2: rank \"1\": must be 0"));
}

TEST(RanksByFile, LeaveNoRankOut) {
  EXPECT_THAT(outcome_of("leaf_0 3\nleaf_1 1\nspine_0 1", 4).faults,
              ElementsAre("rank 0 has no switch and no host", "rank 2 has no switch and no host"));
}

TEST(RanksByFile, DoNotPartHostsOfAGroup) {
  EXPECT_THAT(
      outcome_of("h0 0\nleaf_0 0\nleaf_1 1\nspine_0 1\nh1 1").faults,
      ElementsAre("line 5: \"h1\": shares traffic with \"h0\", which line 1 puts on rank 0: "
                  "such hosts are on one rank"));
}

TEST(RanksByFile, DoNotCutAWireWithoutDelay) {
  EXPECT_THAT(outcome_of("leaf_0 0\nleaf_1 0\nspine_0 1").faults,
              ElementsAre("line 3: \"spine_0\": is joined by wires without delay to \"leaf_1\", "
                          "which line 2 puts on rank 0: such wires are not cut"));
}

// A case may have a hundred thousand hosts.
TEST(RanksByFile, SayTwentyFaultsAtMost) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  EXPECT_EQ(outcome_of(text).faults.size(), 20U);
}

}  // namespace
}  // namespace outrider::cut_file_test
