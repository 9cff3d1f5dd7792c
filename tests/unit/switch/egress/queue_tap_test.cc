// Goal: start, maximum and sojourn of a burst cover exactly the burst's own time, nothing
// before or after it. Method: a queue is played by hand, one instant per row.
#include "switch/egress/parts/queue_tap.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

namespace outrider::queue_tap_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr BurstIdentity w0(std::uint32_t iteration) {
  return {.job = 1, .worker = 0, .iteration = iteration};
}
constexpr BurstIdentity w1(std::uint32_t iteration) {
  return {.job = 1, .worker = 1, .iteration = iteration};
}

// The tap behind a queue that behaves like an EgressPort.
class Played {
 public:
  explicit Played(QueueTap::Limits limits = {.bursts = 16, .bins = 16, .bin = 100us})
      : tap_(limits) {}

  void arrive(std::optional<BurstIdentity> id, Time now) {
    QueueState found;
    for (const auto& w : queue_) {
      ++found.packets[w.id ? TrafficClass::kDdl : TrafficClass::kBackground];
      ++found.total_packets;
      found.bytes += 1000;
    }
    tap_.on_arrival(id ? &*id : nullptr, found, now);
    queue_.push_back({id, now});
    tap_.on_occupancy(static_cast<std::uint32_t>(queue_.size()), 40, now);
  }
  void background(std::uint32_t n, Time now) {
    for (std::uint32_t i = 0; i < n; ++i) arrive(std::nullopt, now);
  }
  void depart(std::uint32_t n, Time now) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const Waiting w = queue_.front();
      queue_.pop_front();
      tap_.on_departure({.identity = w.id ? &*w.id : nullptr,
                         .traffic_class = w.id ? TrafficClass::kDdl : TrafficClass::kBackground,
                         .frame_bytes = 1000,
                         .sojourn = now - w.since,
                         .start = now,
                         .finish = now + 8us,
                         .left_packets = static_cast<std::uint32_t>(queue_.size())});
    }
  }
  QueueReport report() const {
    QueueReport r;
    tap_.fill(r);
    return r;
  }

 private:
  struct Waiting {
    std::optional<BurstIdentity> id;
    Time since;
  };
  QueueTap tap_;
  std::deque<Waiting> queue_;
};

TEST(QueueTap, OneBurstAmongBackground) {
  Played q;
  q.background(50, Time{0us});   // the warm-up peak
  q.depart(45, Time{10us});      // down to 5
  q.arrive(w0(0), Time{20us});   // finds 5
  q.background(6, Time{22us});   // 12 with the burst's
  q.depart(6, Time{30us});       // 5 of background, then the burst's first packet after 10 us
  q.arrive(w0(0), Time{40us});   // finds 6
  q.depart(7, Time{60us});       // its second packet leaves after 20 us
  q.background(50, Time{70us});  // after the burst
  q.depart(50, Time{80us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 1U);
  const QueueBurstRecord& b = r.bursts[0];
  EXPECT_EQ(b.identity, w0(0));
  EXPECT_EQ(b.first_at_ns, 20'000);
  EXPECT_EQ(b.last_at_ns, 60'000) << "departure of its last packet";
  EXPECT_EQ(b.start_packets[TrafficClass::kBackground], 5U);
  EXPECT_EQ(b.start_packets[TrafficClass::kDdl], 0U);
  EXPECT_EQ(b.start_bytes, 5'000U);
  EXPECT_EQ(b.max_packets, 12U) << "neither the 50 before nor the 50 after";
  EXPECT_EQ(b.packets, 2U);
  EXPECT_EQ(b.sojourn_ns, 30'000U);
  EXPECT_EQ(r.burst_sojourn_ns.count(), 2U);
  EXPECT_EQ(r.burst_sojourn_ns.max(), 20'000U);
  EXPECT_EQ(r.interval_sojourn_ns.count(), 13U) << "5 + 1 + 6 + 1 left between its first and last "
                                                   "packet; 45 before and 50 after do not count";
  EXPECT_EQ(r.interval_sojourn_ns.max(), 38'000U) << "background of 22 us that left at 60 us";
  EXPECT_EQ(r.bursts_not_recorded, 0U);
}

TEST(QueueTap, ABurstIntoAnEmptyQueueFindsNothing) {
  Played q;
  q.background(30, Time{0us});
  q.depart(30, Time{10us});
  q.arrive(w0(0), Time{20us});
  q.depart(1, Time{20us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 1U);
  EXPECT_EQ(r.bursts[0].start_bytes, 0U);
  EXPECT_EQ(r.bursts[0].max_packets, 1U);
  EXPECT_EQ(r.bursts[0].sojourn_ns, 0U);
}

TEST(QueueTap, WorkersOfAnIterationHaveARecordEachAndShareTheMaximum) {
  Played q;
  q.background(3, Time{0us});
  q.arrive(w0(0), Time{10us});   // finds 3
  q.background(10, Time{11us});  // 14
  q.depart(12, Time{20us});      // 2
  q.arrive(w1(0), Time{30us});   // finds 2 of background
  q.arrive(w1(0), Time{31us});   // 4
  q.depart(4, Time{40us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 2U);
  EXPECT_EQ(r.bursts[0].identity, w0(0));
  EXPECT_EQ(r.bursts[0].start_packets[TrafficClass::kBackground], 3U);
  EXPECT_EQ(r.bursts[0].max_packets, 14U);
  EXPECT_EQ(r.bursts[0].packets, 1U);
  EXPECT_EQ(r.bursts[1].identity, w1(0));
  EXPECT_EQ(r.bursts[1].first_at_ns, 30'000);
  EXPECT_EQ(r.bursts[1].start_packets[TrafficClass::kBackground], 2U);
  EXPECT_EQ(r.bursts[1].max_packets, 14U)
      << "the iteration's burst is one, its workers parts of it";
  EXPECT_EQ(r.bursts[1].packets, 2U);
}

TEST(QueueTap, ANewIterationStartsAfresh) {
  Played q;
  q.arrive(w0(0), Time{0us});
  q.background(20, Time{1us});
  q.arrive(w0(0), Time{2us});  // 22
  q.depart(20, Time{10us});
  q.background(30, Time{20us});  // 32: between the iterations, but the first is not over yet
  q.depart(30, Time{30us});      // its last packet leaves among them
  q.background(5, Time{40us});
  q.depart(3, Time{50us});      // 4
  q.arrive(w0(1), Time{60us});  // finds 4
  q.depart(5, Time{70us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 2U);
  EXPECT_EQ(r.bursts[0].max_packets, 32U) << "its last packet was still waiting then";
  EXPECT_EQ(r.bursts[1].identity.iteration, 1U);
  EXPECT_EQ(r.bursts[1].start_packets[TrafficClass::kBackground], 4U);
  EXPECT_EQ(r.bursts[1].max_packets, 5U) << "nothing of the first iteration";
}

TEST(QueueTap, LateCopiesOfAnEarlierIterationChangeNothing) {
  Played q;
  q.arrive(w0(3), Time{0us});
  q.depart(1, Time{1us});
  q.arrive(w0(4), Time{10us});
  q.depart(1, Time{11us});
  q.background(9, Time{20us});
  q.arrive(w0(3), Time{21us});  // sent again
  q.depart(10, Time{30us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 2U) << "no third record";
  EXPECT_EQ(r.bursts[0].packets, 1U) << "the old record is closed";
  EXPECT_EQ(r.bursts[0].last_at_ns, 1'000);
  EXPECT_EQ(r.bursts[1].packets, 1U);
  EXPECT_EQ(r.bursts[1].max_packets, 1U) << "a copy does not prolong the new one either";
  EXPECT_EQ(r.bursts_not_recorded, 0U);
}

// Anybody may send a packet that looks like DDL payload of any iteration.
TEST(QueueTap, AnInventedIterationDoesNotEndTheRecords) {
  for (const std::uint32_t invented : {~0U, 1U << 31, 1'000'000U}) {
    Played q;
    q.arrive(w0(5000), Time{1us});
    q.arrive(w0(invented), Time{2us});
    q.arrive(w1(invented), Time{3us});
    q.arrive(w0(5001), Time{4us});
    q.arrive(w1(5001), Time{5us});
    const QueueReport r = q.report();
    ASSERT_EQ(r.bursts.size(), 3U) << invented;
    EXPECT_EQ(r.bursts[1].identity.iteration, 5001U);
    EXPECT_EQ(r.bursts[2].identity.worker, 1U);
  }
}

TEST(QueueTap, AnInventedFirstIterationIsForgotten) {
  Played q{{.bursts = 64, .bins = 16, .bin = 100us}};
  q.arrive(w0(1'000'000), Time{1us});
  for (int i = 0; i < 40; ++i) q.arrive(w0(0), Time{2us});
  q.arrive(w0(1), Time{3us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 3U);
  EXPECT_EQ(r.bursts[1].identity.iteration, 0U);
  EXPECT_EQ(r.bursts[2].identity.iteration, 1U);
}

TEST(QueueTap, IterationsWrapAround) {
  Played q;
  q.arrive(w0(~0U), Time{1us});
  q.arrive(w0(0), Time{2us});
  q.arrive(w0(~0U), Time{3us});  // a late copy
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 2U);
  EXPECT_EQ(r.bursts[1].identity.iteration, 0U);
}

TEST(QueueTap, JobsAndDirectionsAreApart) {
  Played q;
  const BurstIdentity other{.job = 2, .worker = 0, .iteration = 7};
  BurstIdentity pull = w0(0);
  pull.direction = BurstDirection::kPull;
  q.arrive(w0(0), Time{0us});
  q.arrive(pull, Time{1us});
  q.depart(2, Time{2us});
  q.background(20, Time{3us});
  q.arrive(other, Time{4us});  // finds 20
  q.depart(21, Time{5us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 3U);
  EXPECT_EQ(r.bursts[0].max_packets, 2U);
  EXPECT_EQ(r.bursts[1].max_packets, 2U);
  EXPECT_EQ(r.bursts[2].start_packets[TrafficClass::kBackground], 20U);
  EXPECT_EQ(r.bursts[2].max_packets, 21U);
}

TEST(QueueTap, RecordsBeyondTheLimitAreCountedOncePerBurst) {
  Played q({.bursts = 2, .bins = 4, .bin = 100us});
  for (std::uint32_t iteration = 0; iteration < 4; ++iteration) {
    const Time at{iteration * 10us};
    for (int i = 0; i < 3; ++i) {
      q.arrive(w0(iteration), at);
      q.depart(1, at);
    }
  }
  q.arrive(w0(2), Time{50us});  // a late copy of a burst that has no record
  const QueueReport r = q.report();
  ASSERT_EQ(r.bursts.size(), 2U);
  EXPECT_EQ(r.bursts[1].identity.iteration, 1U);
  EXPECT_EQ(r.bursts[1].packets, 3U) << "what follows is not booked to the last record";
  EXPECT_EQ(r.bursts_not_recorded, 2U) << "bursts, not packets";
  EXPECT_EQ(r.burst_sojourn_ns.count(), 12U) << "the histogram goes on";
}

TEST(QueueTap, BinsAreIndexedByTime) {
  Played q({.bursts = 4, .bins = 5, .bin = 100us});
  q.background(3, Time{10us});
  q.depart(2, Time{50us});
  q.arrive(w0(0), Time{99'999ns});
  q.background(4, Time{100us});  // the second bin begins exactly here
  q.depart(1, Time{399us});      // bin 2 is empty
  q.depart(1, Time{499us});
  q.background(9, Time{500us});  // beyond the last bin
  q.depart(9, Time{501us});
  const QueueReport r = q.report();
  ASSERT_EQ(r.bins.size(), 5U);
  EXPECT_EQ(r.bins[0].bytes[TrafficClass::kBackground], 2'000U);
  EXPECT_EQ(r.bins[0].busy_ns, 16'000U);
  EXPECT_EQ(r.bins[0].sojourn_ns, 80'000U) << "two packets of 40 us; the third has not left";
  EXPECT_EQ(r.bins[0].max_packets, 3U);
  EXPECT_EQ(r.bins[0].min_threshold_packets, 40U);
  EXPECT_EQ(r.bins[1].max_packets, 6U);
  EXPECT_EQ(r.bins[1].busy_ns, 0U);
  EXPECT_EQ(r.bins[1].sojourn_ns, 0U);
  EXPECT_EQ(r.bins[2].max_packets, 0U) << "nothing happened";
  EXPECT_EQ(r.bins[2].min_threshold_packets, 0U);
  EXPECT_EQ(r.bins[3].bytes[TrafficClass::kBackground], 1'000U);
  EXPECT_EQ(r.bins[3].sojourn_ns, 389'000U);
  EXPECT_EQ(r.bins[4].bytes[TrafficClass::kDdl], 1'000U);
}

// Between two packets of a burst there are more departures than the tap keeps one by one.
TEST(QueueTap, LongPausesLoseNoSojourn) {
  Played q;
  q.arrive(w0(0), Time{0us});
  q.depart(1, Time{1us});
  for (int i = 0; i < 3'000; ++i) {
    const Time at{2us + i * 1ns};
    q.background(1, at);
    q.depart(1, at + 1ns);
  }
  EXPECT_EQ(q.report().interval_sojourn_ns.count(), 1U) << "not proved to be within the burst yet";
  q.arrive(w0(0), Time{20us});
  q.depart(1, Time{21us});
  EXPECT_EQ(q.report().interval_sojourn_ns.count(), 3'002U);
  q.background(3'000, Time{30us});
  q.depart(3'000, Time{31us});
  q.arrive(w0(1), Time{40us});
  q.depart(1, Time{41us});
  EXPECT_EQ(q.report().interval_sojourn_ns.count(), 3'003U)
      << "the pause between bursts is discarded";
}

}  // namespace
}  // namespace outrider::queue_tap_test
