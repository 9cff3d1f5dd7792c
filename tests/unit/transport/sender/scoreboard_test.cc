#include "trafficgen/transport/sender/scoreboard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

#include "common/core/random.h"

namespace outrider::scoreboard_test {
using namespace tg;
namespace {

// The simplest form of RFC 6675, which counts everything again each time.
struct NaiveScoreboard {
  struct Segment {
    std::uint64_t offset;
    std::uint32_t length;
    bool sacked = false, lost = false, resent = false;
  };
  std::deque<Segment> segments;

  void acknowledge(std::uint64_t una) {
    while (!segments.empty() && segments.front().offset + segments.front().length <= una) {
      segments.pop_front();
    }
    if (!segments.empty() && segments.front().offset < una) {
      segments.front().length -= static_cast<std::uint32_t>(una - segments.front().offset);
      segments.front().offset = una;
    }
  }
  void sack(std::uint64_t begin, std::uint64_t end) {
    for (auto& s : segments) {
      if (s.offset >= begin && s.offset + s.length <= end) {
        s.sacked = true;
        s.lost = s.resent = false;
      }
    }
  }
  void detect() {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      int above = 0;
      for (std::size_t j = i + 1; j < segments.size(); ++j) above += segments[j].sacked;
      if (above >= 3 && !segments[i].sacked) segments[i].lost = true;
    }
  }
  void time_out() {
    for (auto& s : segments) {
      s.lost = !s.sacked;
      s.resent = false;
    }
  }
  Segment* first_lost() {
    for (auto& s : segments) {
      if (s.lost && !s.resent) return &s;
    }
    return nullptr;
  }
  [[nodiscard]] std::uint32_t pipe() const {
    std::uint32_t bytes = 0;
    for (const auto& s : segments) bytes += !s.sacked && (!s.lost || s.resent) ? s.length : 0;
    return bytes;
  }
  [[nodiscard]] std::uint32_t lost_pending() const {
    std::uint32_t n = 0;
    for (const auto& s : segments) n += s.lost && !s.resent;
    return n;
  }
};

TEST(Scoreboard, AgreesWithTheNaiveOne) {
  std::map<std::string_view, std::uint64_t> reached;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    TransportMemory memory({.flights = 1, .segments = 128, .disorders = 1});
    Scoreboard board;
    NaiveScoreboard naive;
    std::uint64_t una = 0, nxt = 0;
    for (int step = 0; step < 2000; ++step) {
      const std::uint32_t draw = random.next_u32() % 100;
      if (draw < 45) {
        if (board.segments().room(memory, 64) != SegmentRing::Room::kYes) continue;
        const std::uint32_t length = 1 + random.next_u32() % 100;
        board.push(memory, nxt, length, Time{Duration{step}});
        naive.segments.push_back({.offset = nxt, .length = length});
        nxt += length;
      } else if (draw < 75 && nxt > una + 1) {  // SACK of whole segments, often a grown block
        const std::size_t n = naive.segments.size();
        const std::size_t first = 1 + random.next_u32() % n;
        if (first >= n) continue;
        const std::size_t last = std::min<std::size_t>(n - 1, first + random.next_u32() % 6);
        const std::uint64_t begin = naive.segments[first].offset;
        std::uint64_t end = naive.segments[last].offset + naive.segments[last].length;
        if (random.next_u32() % 8 == 0) end -= 1;  // ends within a segment
        if (begin >= end) continue;
        const std::uint32_t added = board.sack(begin, end);
        reached["sack"] += added;
        naive.sack(begin, end);
        if (random.next_u32() % 4 != 0) {
          board.detect_losses();
          naive.detect();
        }
      } else if (draw < 85 && nxt > una) {
        std::uint64_t to = una + 1 + random.next_u32() % std::min<std::uint64_t>(nxt - una, 300);
        // A cumulative ACK covers SACKed data behind it.
        for (const auto& s : naive.segments) {
          if (s.sacked && s.offset <= to) to = std::max(to, s.offset + s.length);
        }
        reached["ack"] += board.acknowledge(to).bytes;
        naive.acknowledge(to);
        una = to;
      } else if (draw < 98) {
        if (auto* lost = naive.first_lost()) {
          ASSERT_GT(board.lost_pending(), 0U);
          const SentSegment& s = board.resend(Time{Duration{step}});
          ASSERT_EQ(s.offset, lost->offset);
          lost->resent = true;
          ++reached["resent"];
        }
      } else {
        board.mark_all_lost();
        naive.time_out();
        ++reached["timeout"];
      }
      board.detect_losses();
      naive.detect();
      ASSERT_EQ(board.segments().size(), naive.segments.size())
          << "seed " << seed << " step " << step;
      ASSERT_EQ(board.pipe_bytes(), naive.pipe()) << "seed " << seed << " step " << step;
      ASSERT_EQ(board.lost_pending(), naive.lost_pending()) << "seed " << seed << " step " << step;
    }
  }
  for (const char* what : {"sack", "ack", "resent", "timeout"}) EXPECT_GT(reached[what], 100U);
}

TEST(Scoreboard, ThreeSegmentsAboveMakeALoss) {
  TransportMemory memory({.flights = 1, .segments = 16, .disorders = 1});
  Scoreboard board;
  for (std::uint64_t i = 0; i < 8; ++i) board.push(memory, i * 1000, 1000, Time{});
  board.sack(1000, 3000);
  board.detect_losses();
  EXPECT_EQ(board.lost_pending(), 0U) << "two are reordering (DupThresh)";
  EXPECT_EQ(board.pipe_bytes(), 6000U);
  board.sack(5000, 6000);
  board.detect_losses();
  EXPECT_EQ(board.lost_pending(), 1U) << "only what lies below all three";
  EXPECT_EQ(board.pipe_bytes(), 4000U);
  EXPECT_TRUE(board.head_lost());
  board.resend(Time{});
  EXPECT_EQ(board.pipe_bytes(), 5000U);
}

TEST(Scoreboard, SamplesOnlyWhatWasSentOnce) {
  TransportMemory memory({.flights = 1, .segments = 16, .disorders = 1});
  Scoreboard board;
  for (std::uint64_t i = 0; i < 6; ++i) {
    board.push(memory, i * 1000, 1000, Time{Duration{static_cast<std::int64_t>(i)}});
  }
  EXPECT_EQ(board.acknowledge(2000).sent_at, Time{Duration{0}}) << "the oldest";
  board.sack(3000, 6000);
  board.detect_losses();
  board.resend(Time{Duration{100}});
  const auto acked = board.acknowledge(6000);
  EXPECT_EQ(acked.bytes, 1000U) << "the rest was reported before";
  EXPECT_FALSE(acked.sent_at) << "Karn";
  EXPECT_TRUE(board.empty());
}

TEST(Scoreboard, ForgetsSackOfAPeerThatReneges) {
  TransportMemory memory({.flights = 1, .segments = 16, .disorders = 1});
  Scoreboard board;
  for (std::uint64_t i = 0; i < 6; ++i) board.push(memory, i * 1000, 1000, Time{});
  board.sack(1000, 6000);
  board.acknowledge(1000);  // stops below SACKed data
  board.mark_all_lost();
  EXPECT_EQ(board.lost_pending(), 5U);
  EXPECT_EQ(board.sack(1000, 6000), 5000U);
}

}  // namespace
}  // namespace outrider::scoreboard_test
