// Goal: RACK decides as in RFC 8985, 6.2. Method: a literal timeline; then its incremental
// search for losses is compared with the RFC's own, which looks at every segment each time.
#include "trafficgen/transport/memory/rack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "common/core/random.h"
#include "trafficgen/transport/sender/scoreboard.h"

namespace outrider::rack_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

SentSegment segment(std::uint64_t offset, Duration sent, bool resent = false) {
  return {.offset = offset,
          .sent_ns = sent.count(),
          .length = 1000,
          .sacked = false,
          .lost = false,
          .resent = false,
          .ever_resent = resent};
}

TEST(Rack, AnOvertakenSegmentIsLostAfterTheWindow) {
  Rack rack;
  ReorderMemory memory;
  rack.begin_ack(Time{103us}, 0);
  rack.on_arrived(segment(3000, 3us), Rack::Arrival::kCumulative);
  EXPECT_EQ(rack.rtt(), 100us);
  EXPECT_TRUE(rack.overtaken(segment(0, 0us)));
  EXPECT_TRUE(rack.overtaken(segment(2000, 3us))) << "as old, but below it";
  EXPECT_FALSE(rack.overtaken(segment(4000, 3us)));
  EXPECT_FALSE(rack.overtaken(segment(0, 4us, true))) << "resent since";
  const Duration window = rack.reorder_window(memory, false, 1, 200us);
  EXPECT_EQ(window, 25us);
  EXPECT_EQ(rack.lost_at(segment(0, 0us), window), Time{125us});
  EXPECT_EQ(rack.last_lost_at(window), Time{128us});
}

TEST(Rack, TheWindowFollowsReorderingAndDuplicates) {
  struct Row {
    bool seen, recovering;
    std::uint32_t sacked;
    std::uint8_t quarters;
    Duration srtt, window;
    const char* why;
  };
  const Row kRows[] = {
      {false, false, 2, 1, 200us, 25us, "a quarter of the minimum"},
      {false, false, 3, 1, 200us, 0us, "no reordering known, and three above (DupThresh)"},
      {false, true, 1, 1, 200us, 0us, "no reordering known, in recovery"},
      {true, true, 9, 1, 200us, 25us, "reordering is known: it always has time"},
      {true, false, 0, 3, 200us, 75us, "three quarters after two D-SACKs"},
      {true, false, 0, 9, 200us, 200us, "at most SRTT"},
  };
  Rack rack;
  rack.begin_ack(Time{100us}, 0);
  rack.on_arrived(segment(0, 0us), Rack::Arrival::kCumulative);
  for (const Row& row : kRows) {
    ReorderMemory memory;
    memory.seen = row.seen;
    memory.quarters = row.quarters;
    EXPECT_EQ(rack.reorder_window(memory, row.recovering, row.sacked, row.srtt), row.window)
        << row.why;
  }
}

TEST(Rack, DuplicatesWidenOncePerRoundAndForSixteenRecoveries) {
  Rack rack;
  ReorderMemory memory;
  rack.on_duplicate_reported(1000, 5000, memory);
  EXPECT_EQ(memory.quarters, 2);
  rack.on_duplicate_reported(4999, 9000, memory);
  EXPECT_EQ(memory.quarters, 2) << "the same round";
  rack.on_duplicate_reported(5000, 9000, memory);
  EXPECT_EQ(memory.quarters, 3);
  for (int i = 0; i < 15; ++i) Rack::on_recovery_end(memory);
  EXPECT_EQ(memory.quarters, 3);
  Rack::on_recovery_end(memory);
  EXPECT_EQ(memory.quarters, 1);
}

TEST(Rack, SeesReorderingOnlyOfWhatWasSentOnce) {
  Rack rack;
  rack.begin_ack(Time{100us}, 0);
  rack.on_arrived(segment(5000, 5us), Rack::Arrival::kCumulative);
  rack.on_arrived(segment(0, 50us, true), Rack::Arrival::kCumulative);
  EXPECT_FALSE(rack.reordered());
  rack.on_arrived(segment(2000, 2us), Rack::Arrival::kCumulative);
  EXPECT_TRUE(rack.reordered());
}

// 6.2, step 2: such an acknowledgment is for the previous transmission.
TEST(Rack, AnAnswerThatCannotBeOfTheRetransmissionIsNot) {
  Rack rack;
  rack.begin_ack(Time{100us}, 0);
  rack.on_arrived(segment(0, 0us), Rack::Arrival::kCumulative);
  rack.begin_ack(Time{300us}, 0);
  rack.on_arrived(segment(1000, 250us, true), Rack::Arrival::kCumulative);
  EXPECT_EQ(rack.rtt(), 100us) << "50 us is less than any round trip";
  rack.begin_ack(Time{9ms}, TimestampClock::at(Time{3ms}));
  rack.on_arrived(segment(2000, 5ms, true), Rack::Arrival::kCumulative);
  EXPECT_EQ(rack.rtt(), 100us) << "the echo is older than the retransmission";
  rack.begin_ack(Time{9ms}, TimestampClock::at(Time{6ms}));
  rack.on_arrived(segment(2000, 5ms, true), Rack::Arrival::kCumulative);
  EXPECT_EQ(rack.rtt(), 4ms);
}

// RFC 7323, 4.3: the echo is that of the last segment in order, which left before the probe did.
TEST(Rack, AProbeThatArrivesAboveAHoleCounts) {
  Rack rack;
  rack.begin_ack(Time{100us}, 0);
  rack.on_arrived(segment(0, 0us), Rack::Arrival::kCumulative);
  rack.begin_ack(Time{9ms}, TimestampClock::at(Time{3ms}));
  rack.on_arrived(segment(2000, 5ms, true), Rack::Arrival::kSelective);
  EXPECT_EQ(rack.rtt(), 4ms);
}

/// Does RACK_detect_loss() of RFC 8985 over all segments in flight.
struct NaiveSearch {
  std::vector<SentSegment> segments;
  void detect(const Rack& rack, Time now, Duration window) {
    for (SentSegment& s : segments) {
      if (s.sacked || (s.lost && !s.resent) || !rack.overtaken(s)) continue;
      if (rack.lost_at(s, window) > now) continue;
      s.lost = true;
      s.resent = false;
    }
  }
};

/// Runs both on one random walk. @param[out] reached how often each interesting event happened
void walk(std::uint64_t seed, std::map<std::string_view, int>& reached) {
  RandomStream random(seed, 0, RandomPurpose::kTest);
  TransportMemory memory({.flights = 1, .segments = 256, .disorders = 1});
  Scoreboard board;
  NaiveSearch naive;
  std::uint64_t una = 0, nxt = 0;
  Time now{};
  for (int step = 0; step < 1500; ++step) {
    now += Duration{random.next_u32() % 20'000};
    const std::uint32_t draw = random.next_u32() % 100;
    if (draw < 40 || nxt == una) {
      if (board.segments().room(memory, 64) != SegmentRing::Room::kYes) continue;
      board.push(memory, nxt, 100, now);
      board.flight()->by_time = true;
      naive.segments.push_back(segment(nxt, now.time_since_epoch()));
      naive.segments.back().length = 100;
      nxt += 100;
      continue;
    }
    board.flight()->rack.begin_ack(now, 0);
    if (draw < 65) {
      const std::uint64_t begin = una + 100 + 100 * (random.next_u32() % 12);
      const std::uint64_t end = begin + 100 + 100 * (random.next_u32() % 3);
      if (end > nxt) continue;
      board.sack(begin, end);
      for (SentSegment& s : naive.segments) {
        if (s.offset < begin || s.offset + s.length > end) continue;
        s.sacked = true;
        s.lost = s.resent = false;
      }
      ++reached["sack"];
    } else if (draw < 72) {
      const std::uint64_t to = una + 100;
      board.acknowledge(to);
      std::erase_if(naive.segments, [to](const SentSegment& s) { return s.offset < to; });
      una = to;
    } else if (draw < 90) {
      const auto lost = std::ranges::find_if(
          naive.segments, [](const SentSegment& s) { return s.lost && !s.resent; });
      if (lost == naive.segments.end()) continue;
      ASSERT_EQ(board.resend(now).offset, lost->offset) << "the oldest";
      lost->resent = lost->ever_resent = true;
      lost->sent_ns = now.time_since_epoch().count();
      ++reached["resent"];
    } else if (draw < 92 && !board.empty() && !naive.segments.back().sacked) {
      board.resend_last(now);
      naive.segments.back().ever_resent = true;
      naive.segments.back().sent_ns = now.time_since_epoch().count();
    }
    if (board.empty()) continue;
    const Duration window{random.next_u32() % 2 * 30'000};
    for (const SentSegment& s : naive.segments)
      reached["lost again"] += s.resent && board.flight()->rack.overtaken(s) &&
                               board.flight()->rack.lost_at(s, window) <= now;
    board.detect_losses_by_time(now, window);
    naive.detect(board.flight()->rack, now, window);
    std::uint32_t pipe = 0, pending = 0, sacked = 0;
    for (const SentSegment& s : naive.segments) {
      pipe += !s.sacked && (!s.lost || s.resent) ? s.length : 0;
      pending += s.lost && !s.resent;
      sacked += s.sacked;
    }
    ASSERT_EQ(board.pipe_bytes(), pipe) << "seed " << seed << " step " << step;
    ASSERT_EQ(board.lost_pending(), pending) << "seed " << seed << " step " << step;
    ASSERT_EQ(board.sacked(), sacked) << "seed " << seed << " step " << step;
  }
}

TEST(Rack, TheSearchAgreesWithTheRfcs) {
  std::map<std::string_view, int> reached;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    walk(seed, reached);
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (const char* what : {"sack", "resent", "lost again"}) EXPECT_GT(reached[what], 500) << what;
}

}  // namespace
}  // namespace outrider::rack_test
