// Goal: segments are joined as Linux's tcp_tso_autosize() and tcp_tso_should_defer() join them.
// Method: literal cases of each rule, and a connection whose acknowledgments come two by two.
#include "trafficgen/transport/sender/segment_bursts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/transport/connection/two_ends.h"

namespace outrider::segment_bursts_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// A sender of 1000-byte segments at 81.92 Mbit/s, which are 10 of them in 1/1024 s, on a path that
/// is too long to add to a burst. It may send 6, and the next acknowledgment is near.
SegmentBursts::State state() {
  return {.mss_bytes = 1000,
          .window_bytes = 60'000,
          .room_bytes = 6'000,
          .unsent_bytes = 1'000'000,
          .pace = BitRate{81'920'000},
          .srtt = 20ms,
          .since_last_sent = 100us,
          .oldest_age = 15ms,
          .recovering = false};
}

TEST(SegmentBursts, WaitForAWholeBurst) {
  SegmentBursts::State s = state();
  EXPECT_EQ(SegmentBursts::burst_bytes(s), 10'000U);
  EXPECT_EQ(SegmentBursts::segments(s), 0U);
  s.room_bytes = 9'999;
  EXPECT_EQ(SegmentBursts::segments(s), 0U);
  s.room_bytes = 10'000;
  EXPECT_EQ(SegmentBursts::segments(s), 10U);
  s.room_bytes = 25'000;
  EXPECT_EQ(SegmentBursts::segments(s), 10U) << "the next burst is judged anew";
}

TEST(SegmentBursts, WaitForAThirdOfTheWindowAtMost) {
  SegmentBursts::State s = state();
  s.window_bytes = 18'000;
  EXPECT_EQ(SegmentBursts::segments(s), 6U);
  s.window_bytes = 18'003;
  EXPECT_EQ(SegmentBursts::segments(s), 0U);
}

TEST(SegmentBursts, DoNotWaitForAnAcknowledgmentThatIsFar) {
  SegmentBursts::State s = state();
  s.oldest_age = 10ms - 1ns;
  EXPECT_EQ(SegmentBursts::segments(s), 6U) << "half a round trip";
  s.oldest_age = 10ms;
  EXPECT_EQ(SegmentBursts::segments(s), 0U);
  s.since_last_sent = 1ms;
  EXPECT_EQ(SegmentBursts::segments(s), 0U);
  s.since_last_sent = 1ms + 1ns;
  EXPECT_EQ(SegmentBursts::segments(s), 6U) << "a millisecond";
}

TEST(SegmentBursts, DoNotWaitInARecoveryNorAtTheEnd) {
  SegmentBursts::State s = state();
  s.recovering = true;
  EXPECT_EQ(SegmentBursts::segments(s), 6U);
  s = state();
  s.unsent_bytes = 6'001;
  EXPECT_EQ(SegmentBursts::segments(s), 0U);
  s.unsent_bytes = 6'000;
  EXPECT_EQ(SegmentBursts::segments(s), 6U);
  s.unsent_bytes = 4'000;
  EXPECT_EQ(SegmentBursts::segments(s), 4U) << "what is written later is judged by itself";
  s.unsent_bytes = s.room_bytes = 300;
  EXPECT_EQ(SegmentBursts::segments(s), 1U) << "a last short segment";
}

TEST(SegmentBursts, GrowWithThePaceAndOnShortPaths) {
  SegmentBursts::State s = state();
  s.pace = BitRate{};
  EXPECT_EQ(SegmentBursts::burst_bytes(s), 2'000U) << "two at least";
  s.pace = BitRate{100'000'000'000};
  EXPECT_EQ(SegmentBursts::burst_bytes(s), 65'000U) << "what a NIC takes, in whole segments";
  s.pace = BitRate{};
  s.srtt = 511us;
  EXPECT_EQ(SegmentBursts::burst_bytes(s), 65'000U);
  s.srtt = 1'024us;
  EXPECT_EQ(SegmentBursts::burst_bytes(s), 16'000U) << "a quarter of 64 KiB";
}

TcpConfig twelve_segments(SegmentJoining joining) {
  TcpConfig config = two_ends::datacentre(Controller::kReno);
  config.mss_bytes = 1000;
  config.control.initial_window_segments = 12;
  config.segment_bursts = joining;
  return config;
}

/// A client that has as much as it may in flight at 1 ms.
struct Client {
  explicit Client(SegmentJoining joining, std::uint64_t bytes = 1'000'000)
      : config(twelve_segments(joining)) {
    two_ends::establish(c);
    c.stream().write(bytes);
    EXPECT_EQ(departures(Time{1ms}), std::min<std::uint64_t>(12, bytes / 1000));
  }
  std::size_t departures(Time now) {
    std::size_t n = 0;
    for (; c.has_segment(now); ++n) (void)next_segment(c, now);
    return n;
  }
  /// Returns what leaves once so many bytes are acknowledged.
  std::size_t ack(std::uint32_t bytes, Time now) {
    c.on_segment(
        {.sequence = 2001, .acknowledgment = 1001 + bytes, .flags = kTcpAck, .window = 65535}, now);
    return departures(now);
  }
  TcpConfig config;
  TransportMemory memory{{.flights = 1, .segments = 1024, .disorders = 1}};
  two_ends::Application application;
  TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
};

// In slow start two acknowledged segments allow four. A third of the window is 4.7, then 5.3.
TEST(SegmentBursts, AConnectionSendsAtOnceWhatTwoAcknowledgmentsAllow) {
  Client joined(SegmentJoining::kLinux), alone(SegmentJoining::kOff);
  EXPECT_EQ(joined.ack(2000, Time{1800us}), 0U);
  EXPECT_EQ(alone.ack(2000, Time{1800us}), 4U);
  EXPECT_EQ(joined.ack(4000, Time{1810us}), 8U);
  EXPECT_EQ(alone.ack(4000, Time{1810us}), 4U);
}

// Whoever waits for a larger window needs it: slow start goes on.
TEST(SegmentBursts, AWindowThatIsWaitedForCountsAsFull) {
  for (const auto joining : {SegmentJoining::kLinux, SegmentJoining::kOff}) {
    Client t(joining, 10'000);
    t.c.stream().write(1'000);
    EXPECT_EQ(t.departures(Time{1500us}), 1U) << "the end of what was written does not wait";
    if (joining == SegmentJoining::kLinux) {
      t.c.stream().write(1'000'000);
      EXPECT_EQ(t.departures(Time{1900us}), 0U) << "one segment has room";
    }
    EXPECT_EQ(t.ack(1000, Time{2000us}), 0U);
    EXPECT_EQ(t.c.sender().state().window.bytes(),
              joining == SegmentJoining::kLinux ? 13'000U : 12'000U);
  }
}

}  // namespace
}  // namespace outrider::segment_bursts_test
