// Goal: CoDel is that of RFC 8289. Method: a literal timeline, a second implementation
// that loops over a queue as the RFC words it, and greedy flows, whose standing queue
// must settle at the target.
#include "switch/aqm/codel_marker.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "tests/unit/aqm/overload.h"

namespace outrider::codel_marker_test {
namespace {

using namespace std::chrono_literals;

constexpr CodelMarker::Params kRfc{.target = 5ms, .interval = 100ms, .mtu_bytes = 1500};

struct Row {
  Duration at, sojourn;
  std::uint64_t left_bytes;
  bool mark;
  const char* why;
};

constexpr Row kTimeline[] = {
    {0ms, 4999us, 9000, false, "below the target"},
    {1ms, 5ms, 9000, false, "the target itself counts as above: the interval starts"},
    {100ms, 50ms, 9000, false, "1 ms short of an interval"},
    {101ms, 50ms, 9000, true, "above for a whole interval: first mark"},
    {102ms, 50ms, 9000, false, "the next is due an interval later"},
    {200ms, 50ms, 9000, false, "at 201 ms, that is"},
    {201ms, 50ms, 9000, true, "interval / sqrt(1)"},
    {271ms, 50ms, 9000, false, "interval / sqrt(2) is 70.711 ms"},
    {272ms, 50ms, 9000, true, "past 271.711"},
    {329ms, 50ms, 9000, false, "interval / sqrt(3) is 57.735 ms, from when it was due"},
    {330ms, 50ms, 9000, true, "past 329.446"},
    {331ms, 4ms, 9000, false, "below the target: the episode ends, at a count of 4"},
    {332ms, 50ms, 9000, false, "must stand for an interval again"},
    {431ms, 50ms, 9000, false, "1 ms short"},
    {432ms, 50ms, 9000, true, "a new episode, soon after: it takes up a count of 3"},
    {489ms, 50ms, 9000, false, "so the next is due after interval / sqrt(3)"},
    {490ms, 50ms, 9000, true, "57.735 ms after 432"},
    {540ms, 50ms, 1500, false, "due, but one MTU is left behind: no standing queue"},
    {541ms, 50ms, 1501, false, "interval starts"},
    {641ms, 50ms, 1501, true, "one byte over an MTU does count"},
};

TEST(CodelMarker, FollowsTheTimeline) {
  for (const Duration shift : {Duration{0}, Duration{1ns}, Duration{365 * 24h}}) {
    CodelMarker codel(kRfc);
    for (const Row& row : kTimeline)
      EXPECT_EQ(codel.on_dequeue(row.sojourn, row.left_bytes, Time{shift + row.at}),
                row.mark ? MarkVerdict::kMark : MarkVerdict::kPass)
          << row.why << ", shifted by " << shift.count();
  }
}

TEST(CodelMarker, AnEpisodeLongAfterTheLastStartsSlowly) {
  CodelMarker codel(kRfc);
  Time now{};
  for (; now < Time{2s}; now += 1ms) (void)codel.on_dequeue(50ms, 9000, now);
  EXPECT_GT(codel.count(), 50U);
  (void)codel.on_dequeue(1ms, 9000, now);
  now += 16 * 100ms;
  (void)codel.on_dequeue(50ms, 9000, now);
  EXPECT_EQ(codel.on_dequeue(50ms, 9000, now + 100ms), MarkVerdict::kMark);
  EXPECT_EQ(codel.count(), 1U);
}

/// The RFC's own form (sections 5.4 and 5.5): a loop that drops from the queue until one
/// packet may leave. Says which packets those are.
class ReferenceCodel {
 public:
  struct Packet {
    int number;
    Time enqueued_at;
    std::uint64_t bytes;
  };
  explicit ReferenceCodel(const CodelMarker::Params& p) : p_(p) {}

  /// @return number of the packet that leaves, -1 if none does
  int dequeue(std::deque<Packet>& queue, Time now) {
    Head head = take(queue, now);
    if (dropping_) {
      if (!head.ok_to_drop) dropping_ = false;
      while (dropping_ && now >= drop_next_) {
        ++count_;
        head = take(queue, now);
        if (head.ok_to_drop) drop_next_ = control_law(drop_next_);
        else dropping_ = false;
      }
    } else if (head.ok_to_drop) {
      head = take(queue, now);
      dropping_ = true;
      const std::uint32_t delta = count_ - last_count_;
      count_ = 1;
      if (delta > 1 && now - drop_next_ < 16 * p_.interval) count_ = delta;
      drop_next_ = control_law(now);
      last_count_ = count_;
      ++episodes;
    }
    return head.number;
  }
  int episodes = 0;

 private:
  struct Head {
    int number = -1;
    bool ok_to_drop = false;
  };
  Head take(std::deque<Packet>& queue, Time now) {
    if (queue.empty()) {
      first_above_.reset();
      return {};
    }
    const Packet packet = queue.front();
    queue.pop_front();
    std::uint64_t left = 0;
    for (const Packet& p : queue) left += p.bytes;
    if (now - packet.enqueued_at < p_.target || left <= p_.mtu_bytes) {
      first_above_.reset();
    } else if (!first_above_) {
      first_above_ = now + p_.interval;
    } else if (now >= *first_above_) {
      return {packet.number, true};
    }
    return {packet.number, false};
  }
  [[nodiscard]] Time control_law(Time t) const {
    return t + Duration{std::llround(static_cast<double>(p_.interval.count()) /
                                     std::sqrt(static_cast<double>(count_)))};
  }
  CodelMarker::Params p_;
  std::optional<Time> first_above_;
  Time drop_next_{};
  std::uint32_t count_ = 0, last_count_ = 0;
  bool dropping_ = false;
};

TEST(CodelMarker, LetsTheSamePacketsLeaveAsTheRfcsLoop) {
  int episodes = 0, dropped = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    CodelMarker codel(kRfc);
    ReferenceCodel reference(kRfc);
    std::deque<ReferenceCodel::Packet> ours, theirs;
    Time now{};
    for (int i = 0; i < 20'000; ++i) {
      now += Duration{random.next_u32() % 2'000'000};
      if (random.next_u32() % 16 < (i / 2000 % 2 == 0 ? 9U : 6U) && ours.size() < 80) {
        ours.push_back({i, now, 64 + random.next_u32() % 1450});
        theirs.push_back(ours.back());
        continue;
      }
      int leaves = -1;
      while (leaves < 0 && !ours.empty()) {
        const auto packet = ours.front();
        ours.pop_front();
        std::uint64_t left = 0;
        for (const auto& p : ours) left += p.bytes;
        if (codel.on_dequeue(now - packet.enqueued_at, left, now) == MarkVerdict::kPass)
          leaves = packet.number;
        else ++dropped;
      }
      ASSERT_EQ(leaves, reference.dequeue(theirs, now)) << "seed " << seed << " step " << i;
      ASSERT_EQ(ours.size(), theirs.size());
    }
    episodes += reference.episodes;
  }
  EXPECT_GT(episodes, 100);
  EXPECT_GT(dropped, 1000);
}

// Section 3 and 4: flows that react keep the standing queue, the lowest sojourn of an
// interval, at the target. Few flows on a long path cannot fill the queue at all.
TEST(CodelMarker, StandingQueueSettlesAtTheTarget) {
  struct Case {
    std::uint32_t flows;
    Duration rtt;
  };
  for (const Case c : {Case{4, 20ms}, {8, 50ms}, {32, 100ms}}) {
    CodelMarker codel(kRfc);
    GreedyFlows flows(c.flows, 200us, c.rtt);
    flows.judge_departure = [&](Duration sojourn, std::uint64_t left, Time now) {
      return codel.on_dequeue(sojourn, left, now);
    };
    flows.run(200s, 100ms);
    auto lowest = flows.lowest_sojourn;
    ASSERT_GT(lowest.size(), 1900U);
    lowest.erase(lowest.begin(), lowest.begin() + 1000);
    std::sort(lowest.begin(), lowest.end());
    EXPECT_NEAR(seconds(lowest[lowest.size() / 2]), 0.005, 0.25 * 0.005) << c.flows;
    EXPECT_GT(flows.marked, 100U);
  }
}

// Traffic that heeds nothing: the marks within t are (t / 2 interval)^2, by the control
// law (d count / dt = sqrt(count) / interval).
TEST(CodelMarker, MarksGrowWithTheSquareOfTheTime) {
  for (const int multiple : {20, 100, 400}) {
    CodelMarker codel(kRfc);
    int marks = 0;
    for (Time t{}; t <= Time{multiple * 100ms + 100ms}; t += 50us)
      marks += codel.on_dequeue(50ms, 9000, t) == MarkVerdict::kMark;
    EXPECT_NEAR(marks, multiple * multiple / 4.0, multiple * multiple / 4.0 * 0.05 + multiple)
        << multiple;
  }
}

TEST(CodelMarker, LeavesAnUnderloadedLinkAlone) {
  CodelMarker codel(kRfc);
  Overload overload;
  overload.judge_departure = [&](Duration sojourn, std::uint64_t left, Time now) {
    return codel.on_dequeue(sojourn, left, now);
  };
  overload.run({.packet_time = 100us, .load = 0.8}, 30s);
  EXPECT_GT(overload.offered, 200'000U);
  EXPECT_EQ(overload.dropped, 0U);
}

}  // namespace
}  // namespace outrider::codel_marker_test
