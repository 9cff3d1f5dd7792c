// Goal: every collective's schedule is the one that its source describes, and does what it is for:
// an all-reduce gives everybody each contribution exactly once, all-to-all and the pipeline bring
// every byte where it belongs.
// Method: schedules computed by hand, and schedules played on sets of contributions in random order
// of sending and arrival.
#include "trafficgen/workload/collective/schedule/collective_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/core/random.h"
#include "trafficgen/workload/config/collective_config.h"

namespace outrider::collective_schedule_test {
using namespace tg;
namespace {

using testing::ElementsAre;
using Lines = std::vector<std::string>;

/// Writes a message as "from>to begin+bytes", with "s" for sums and "<" for what it needs.
std::string text_of(const CollectiveMessage& m) {
  std::string text = std::to_string(m.from) + ">" + std::to_string(m.to) + " " +
                     std::to_string(m.begin_bytes) + "+" + std::to_string(m.bytes);
  if (m.sums) text += " s";
  for (const std::uint32_t needed : m.needs) text += " <" + std::to_string(needed);
  return text;
}

Lines text_of(const CollectiveSchedule& s) {
  Lines lines;
  for (const CollectiveMessage& m : s.messages) lines.push_back(text_of(m));
  return lines;
}

/// Returns the messages of one rank without what they need.
Lines sent_by(CollectiveSchedule s, std::uint32_t rank) {
  Lines lines;
  for (CollectiveMessage& m : s.messages) {
    m.needs.clear();
    if (m.from == rank) lines.push_back(text_of(m));
  }
  return lines;
}

/// Whose data are in a cell of the bytes; a multiset, so that a contribution that is added twice
/// shows.
using Sum = std::multiset<std::uint32_t>;

/// The bytes of every rank, cut wherever a message begins or ends.
class Ranks {
 public:
  explicit Ranks(const CollectiveSchedule& s, std::uint64_t bytes) : begins_{0, bytes} {
    for (const CollectiveMessage& m : s.messages)
      begins_.insert({m.begin_bytes, m.begin_bytes + m.bytes});
    begins_.erase(bytes);
    for (std::uint32_t r = 0; r < s.ranks; ++r) {
      at_.emplace_back();
      for (const std::uint64_t begin : begins_) at_.back()[begin] = {r};
    }
  }
  using Cells = std::map<std::uint64_t, Sum>;
  [[nodiscard]] Cells read(const CollectiveMessage& m) const {
    const Cells& cells = at_[m.from];
    return {cells.lower_bound(m.begin_bytes), cells.lower_bound(m.begin_bytes + m.bytes)};
  }
  void write(const CollectiveMessage& m, const Cells& cells) {
    for (const auto& [begin, sum] : cells) {
      Sum& mine = at_[m.to][begin];
      if (m.sums) mine = sum;
      else mine.insert(sum.begin(), sum.end());
    }
  }
  [[nodiscard]] const std::vector<Cells>& all() const { return at_; }

 private:
  std::set<std::uint64_t> begins_;
  std::vector<Cells> at_;
};

/// Sends and delivers all messages in an order that the schedule permits. Between two ranks
/// messages keep their order. @return false if some can never leave
bool play(const CollectiveSchedule& s, Ranks& ranks, std::uint64_t seed) {
  RandomStream draws(seed, 0, static_cast<RandomPurpose>(1));
  std::vector<bool> sent(s.messages.size()), arrived(s.messages.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::vector<std::pair<std::uint32_t, Ranks::Cells>>>
      flying;
  for (std::size_t done = 0; done < s.messages.size();) {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < s.messages.size(); ++i)
      if (!sent[i] && std::ranges::all_of(s.messages[i].needs, [&](auto n) { return arrived[n]; }))
        ready.push_back(i);
    const std::size_t choices = ready.size() + flying.size();
    if (choices == 0) return false;
    const std::size_t chosen = draws.next_u32() % choices;
    if (chosen < ready.size()) {
      const CollectiveMessage& m = s.messages[ready[chosen]];
      sent[ready[chosen]] = true;
      flying[{m.from, m.to}].emplace_back(ready[chosen], ranks.read(m));
      continue;
    }
    const auto lane = std::next(flying.begin(), static_cast<std::ptrdiff_t>(chosen - ready.size()));
    const auto [message, cells] = lane->second.front();
    ranks.write(s.messages[message], cells);
    arrived[message] = true;
    ++done;
    lane->second.erase(lane->second.begin());
    if (lane->second.empty()) flying.erase(lane);
  }
  return true;
}

/// Expects that every rank ends with the sum of everybody's data.
void expect_all_reduce(const CollectiveSchedule& s, std::uint64_t bytes) {
  Sum everybody;
  for (std::uint32_t r = 0; r < s.ranks; ++r) everybody.insert(r);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Ranks ranks(s, bytes);
    ASSERT_TRUE(play(s, ranks, seed)) << s.ranks;
    for (const auto& cells : ranks.all())
      for (const auto& [begin, sum] : cells)
        ASSERT_EQ(sum, everybody) << s.ranks << " ranks, byte " << begin;
  }
}

std::uint64_t bytes_sent(const CollectiveSchedule& s, std::uint32_t rank) {
  std::uint64_t bytes = 0;
  for (const CollectiveMessage& m : s.messages)
    if (m.from == rank) bytes += m.bytes;
  return bytes;
}

std::uint64_t bytes_sent(const CollectiveSchedule& s) {
  std::uint64_t bytes = 0;
  for (std::uint32_t r = 0; r < s.ranks; ++r) bytes += bytes_sent(s, r);
  return bytes;
}

TEST(RingSchedule, IsTheOneOfTheBook) {
  EXPECT_THAT(text_of(ring_schedule(2, 8, 1)),
              ElementsAre("0>1 0+4", "1>0 4+4", "0>1 4+4 s <1", "1>0 0+4 s <0"));
  EXPECT_THAT(text_of(ring_schedule(3, 7, 1)),
              ElementsAre("0>1 0+3", "1>2 3+2", "2>0 5+2",                 //
                          "0>1 5+2 <2", "1>2 0+3 <0", "2>0 3+2 <1",        //
                          "0>1 3+2 s <5", "1>2 5+2 s <3", "2>0 0+3 s <4",  //
                          "0>1 0+3 s <8", "1>2 3+2 s <6", "2>0 5+2 s <7"));
  EXPECT_THAT(sent_by(ring_schedule(4, 8, 1), 2),
              ElementsAre("2>3 4+2", "2>3 2+2", "2>3 0+2", "2>3 6+2 s", "2>3 4+2 s", "2>3 2+2 s"));
  EXPECT_THAT(sent_by(ring_schedule(8, 8, 1), 5),
              ElementsAre("5>6 5+1", "5>6 4+1", "5>6 3+1", "5>6 2+1", "5>6 1+1", "5>6 0+1",
                          "5>6 7+1", "5>6 6+1 s", "5>6 5+1 s", "5>6 4+1 s", "5>6 3+1 s",
                          "5>6 2+1 s", "5>6 1+1 s", "5>6 0+1 s"));
}

TEST(HalvingDoublingSchedule, IsTheOneOfTheBook) {
  EXPECT_THAT(text_of(halving_doubling_schedule(2, 8, 1)),
              ElementsAre("0>1 4+4", "1>0 0+4", "0>1 0+4 s <1", "1>0 4+4 s <0"));
  EXPECT_THAT(text_of(halving_doubling_schedule(4, 8, 1)),
              ElementsAre("0>2 4+4", "1>3 4+4", "2>0 0+4", "3>1 0+4",                         //
                          "0>1 2+2 <2", "1>0 0+2 <3", "2>3 6+2 <0", "3>2 4+2 <1",             //
                          "0>1 0+2 s <2 <5", "1>0 2+2 s <3 <4", "2>3 4+2 s <0 <7",            //
                          "3>2 6+2 s <1 <6",                                                  //
                          "0>2 0+4 s <2 <5 <9", "1>3 0+4 s <3 <4 <8", "2>0 4+4 s <0 <7 <11",  //
                          "3>1 4+4 s <1 <6 <10"));
  EXPECT_THAT(sent_by(halving_doubling_schedule(8, 8, 1), 5),
              ElementsAre("5>1 0+4", "5>7 6+2", "5>4 4+1", "5>4 5+1 s", "5>7 4+2 s", "5>1 4+4 s"));
}

// Rank 0 takes part through rank 1.
TEST(HalvingDoublingSchedule, FoldsWhatIsNoPowerOfTwo) {
  EXPECT_THAT(text_of(halving_doubling_schedule(3, 8, 1)),
              ElementsAre("0>1 0+8",                          //
                          "1>2 4+4 <0", "2>1 0+4",            //
                          "1>2 0+4 s <0 <2", "2>1 4+4 s <1",  //
                          "1>0 0+8 s <0 <2 <4"));
}

TEST(TreeSchedule, IsTheOneOfTheBook) {
  EXPECT_THAT(text_of(tree_schedule(2, 8)), ElementsAre("1>0 0+8", "0>1 0+8 s <0"));
  EXPECT_THAT(text_of(tree_schedule(3, 8)),
              ElementsAre("1>0 0+8", "2>0 0+8", "0>2 0+8 s <0 <1", "0>1 0+8 s <0 <1 <2"));
  EXPECT_THAT(text_of(tree_schedule(4, 8)),
              ElementsAre("1>0 0+8", "3>2 0+8", "2>0 0+8 <1",  //
                          "0>2 0+8 s <0 <2", "0>1 0+8 s <0 <2 <3", "2>3 0+8 s <1 <3"));
  EXPECT_THAT(text_of(tree_schedule(8, 8)),
              ElementsAre("1>0 0+8", "3>2 0+8", "5>4 0+8", "7>6 0+8",     //
                          "2>0 0+8 <1", "6>4 0+8 <3", "4>0 0+8 <2 <5",    //
                          "0>4 0+8 s <0 <4 <6",                           //
                          "0>2 0+8 s <0 <4 <6 <7", "4>6 0+8 s <2 <5 <7",  //
                          "0>1 0+8 s <0 <4 <6 <8", "2>3 0+8 s <1 <8",     //
                          "4>5 0+8 s <2 <5 <7 <9", "6>7 0+8 s <3 <9"));
}

TEST(AllReduceSchedules, GiveEverybodyEachContributionOnce) {
  for (const std::uint32_t n : {2U, 3U, 4U, 5U, 7U, 8U, 12U}) {
    constexpr std::uint64_t kBytes = 1'003;
    expect_all_reduce(ring_schedule(n, kBytes, 1), kBytes);
    expect_all_reduce(halving_doubling_schedule(n, kBytes, 1), kBytes);
    expect_all_reduce(tree_schedule(n, kBytes), kBytes);
  }
}

TEST(AllReduceSchedules, SendTheBytesOfTheirFormulas) {
  for (const std::uint32_t n : {2U, 4U, 8U, 64U}) {
    const std::uint64_t bytes = std::uint64_t{n} * 1'000;
    for (std::uint32_t r = 0; r < n; ++r) {
      EXPECT_EQ(bytes_sent(ring_schedule(n, bytes, 1), r), 2ULL * (n - 1) * 1'000);
      EXPECT_EQ(bytes_sent(halving_doubling_schedule(n, bytes, 1), r), 2ULL * (n - 1) * 1'000);
    }
  }
  for (const std::uint32_t n : {2U, 3U, 5U, 6U, 8U}) {
    EXPECT_EQ(bytes_sent(ring_schedule(n, 1'003, 1)), 2ULL * (n - 1) * 1'003);
    EXPECT_EQ(bytes_sent(tree_schedule(n, 1'003)), 2ULL * (n - 1) * 1'003);
  }
  // Of 6 ranks 4 halve and double, and 2 hand over everything and get everything back.
  EXPECT_EQ(bytes_sent(halving_doubling_schedule(6, 1'003, 1)), 2ULL * 3 * 1'003 + 4 * 1'003);
}

TEST(AllReduceSchedules, CutNoUnitInTwo) {
  for (const std::uint32_t n : {2U, 3U, 4U, 8U})
    for (const auto& s : {ring_schedule(n, 404, 4), halving_doubling_schedule(n, 404, 4),
                          all_to_all_schedule(n, 404, 4, 1.0)})
      for (const CollectiveMessage& m : s.messages) {
        EXPECT_EQ(m.begin_bytes % 4, 0U);
        EXPECT_EQ(m.bytes % 4, 0U);
      }
}

TEST(AllToAllSchedule, SendsEverybodyAShare) {
  EXPECT_THAT(text_of(all_to_all_schedule(2, 8, 1, 0)), ElementsAre("0>1 4+4", "1>0 0+4"));
  EXPECT_THAT(text_of(all_to_all_schedule(3, 9, 1, 0)),
              ElementsAre("0>1 3+3", "0>2 6+3", "1>2 6+3", "1>0 0+3", "2>0 0+3", "2>1 3+3"));
  EXPECT_THAT(sent_by(all_to_all_schedule(4, 8, 1, 0), 1),
              ElementsAre("1>2 4+2", "1>3 6+2", "1>0 0+2"));
  EXPECT_THAT(
      sent_by(all_to_all_schedule(8, 8, 1, 0), 6),
      ElementsAre("6>7 7+1", "6>0 0+1", "6>1 1+1", "6>2 2+1", "6>3 3+1", "6>4 4+1", "6>5 5+1"));
}

// Of 25 bytes each rank has one; 22 are shared as 1 : 1/2 : 1/3, which is 12, 6 and 4.
TEST(AllToAllSchedule, SkewMovesBytesToTheFirstRanks) {
  EXPECT_THAT(text_of(all_to_all_schedule(3, 25, 1, 1.0)),
              ElementsAre("0>1 13+7", "0>2 20+5", "1>2 20+5", "1>0 0+13", "2>0 0+13", "2>1 13+7"));
  for (const double skew : {0.0, 0.5, 1.0, 2.0, 10.0})
    for (const std::uint32_t n : {2U, 3U, 8U, 33U}) {
      const CollectiveSchedule s = all_to_all_schedule(n, 100'003, 1, skew);
      EXPECT_EQ(bytes_sent(s), (n - 1) * 100'003ULL) << "the skew moves bytes and adds none";
      for (const CollectiveMessage& m : s.messages) EXPECT_GT(m.bytes, 0U);
    }
}

// Everybody has, of each other rank, exactly the bytes of its own share.
TEST(AllToAllSchedule, BringsEveryShareToItsRank) {
  for (const std::uint32_t n : {2U, 3U, 8U}) {
    const CollectiveSchedule s = all_to_all_schedule(n, 1'003, 1, 1.0);
    Ranks ranks(s, 1'003);
    ASSERT_TRUE(play(s, ranks, n));
    std::map<std::uint64_t, int> complete;
    for (std::uint32_t r = 0; r < n; ++r)
      for (const auto& [begin, sum] : ranks.all()[r]) {
        if (sum.size() == 1) continue;
        EXPECT_EQ(sum.size(), n) << "of everybody";
        ++complete[begin];
      }
    EXPECT_EQ(complete.size(), n) << "each share";
    for (const auto& [begin, times] : complete) EXPECT_EQ(times, 1) << "at one rank";
  }
}

TEST(PipelineSchedule, IsOneForwardOneBackward) {
  EXPECT_THAT(text_of(pipeline_schedule(2, 9, 3)),
              ElementsAre("0>1 0+3", "0>1 3+3", "0>1 6+3 <3",  //
                          "1>0 0+3 <0", "1>0 3+3 <1", "1>0 6+3 <2"));
  EXPECT_THAT(text_of(pipeline_schedule(3, 4, 1)),
              ElementsAre("0>1 0+4", "1>2 0+4 <0", "1>0 0+4 <0 <3", "2>1 0+4 <1"));
  // Stage 1 of 4: forward 0 and 1, then forward 2, backward 0, forward 3, backward 1, 2, 3.
  const Lines four = text_of(pipeline_schedule(4, 8, 4));
  EXPECT_THAT(Lines(four.begin() + 4, four.begin() + 8),
              ElementsAre("1>2 0+2 <0", "1>2 2+2 <1", "1>2 4+2 <2", "1>2 6+2 <3 <16"));
  EXPECT_THAT(Lines(four.begin() + 12, four.begin() + 16),
              ElementsAre("1>0 0+2 <2 <16", "1>0 2+2 <3 <17", "1>0 4+2 <3 <18", "1>0 6+2 <3 <19"));
  const Lines eight = text_of(pipeline_schedule(8, 8, 8));
  EXPECT_EQ(eight[7], "0>1 7+1") << "the first of 8 stages is 7 micro-batches ahead";
  EXPECT_EQ(eight[6 * 8 + 2], "6>7 2+1 <42 <104") << "the seventh is one ahead";
  EXPECT_EQ(eight[13 * 8 + 2], "7>6 2+1 <50") << "the last is none ahead";
}

TEST(PipelineSchedule, BringsEveryMicroBatchThroughAllStagesAndBack) {
  for (const std::uint32_t n : {2U, 3U, 4U, 8U})
    for (const std::uint32_t batches : {1U, 2U, 8U, 32U}) {
      const CollectiveSchedule s = pipeline_schedule(n, 1'003, batches);
      EXPECT_EQ(bytes_sent(s), 2ULL * (n - 1) * 1'003);
      Ranks ranks(s, 1'003);
      ASSERT_TRUE(play(s, ranks, n)) << n << " stages, " << batches << " micro-batches";
      for (const auto& [begin, sum] : ranks.all()[0])
        EXPECT_EQ(sum.count(n - 1), 1U) << "the last stage has seen byte " << begin;
    }
}

TEST(CollectiveSchedules, HaveAsManyLanesAsTheConfigurationReserves) {
  for (std::uint32_t n = 2; n <= 33; ++n) {
    const auto lanes = [](const CollectiveSchedule& s) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
      for (const CollectiveMessage& m : s.messages) pairs.insert({m.from, m.to});
      return pairs.size();
    };
    EXPECT_EQ(lanes(ring_schedule(n, 100, 1)), lanes_among(Collective::kRing, n));
    EXPECT_EQ(lanes(halving_doubling_schedule(n, 100, 1)),
              lanes_among(Collective::kHalvingDoubling, n))
        << n;
    EXPECT_EQ(lanes(tree_schedule(n, 100)), lanes_among(Collective::kTree, n));
    EXPECT_EQ(lanes(all_to_all_schedule(n, 100, 1, 0)), lanes_among(Collective::kAllToAll, n));
    EXPECT_EQ(lanes(pipeline_schedule(n, 100, 4)), lanes_among(Collective::kPipeline, n));
  }
}

}  // namespace
}  // namespace outrider::collective_schedule_test
