// Goal: slow start ends as in Linux 6.1. Method: ACKs with literal times and round trips, segments
// of 1000 bytes.
#include "trafficgen/transport/control/classic_hystart.h"

#include <gtest/gtest.h>

#include <vector>

#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::classic_hystart_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMss = 1000;

ControllerConfig settings() {
  return {.controller = Controller::kCubic, .hystart = HyStartKind::kLinux};
}

struct Acks {
  std::uint64_t una = 0;
  Time now{};
  /// Acknowledges a segment `gap` after the last. SND.NXT is `ahead` segments ahead.
  AckEvent next(Duration gap, Duration rtt, std::uint32_t ahead = 100) {
    una += kMss;
    now += gap;
    return {.now = now,
            .acked_bytes = kMss,
            .srtt = rtt,
            .rtt = rtt,
            .snd_una = una,
            .snd_nxt = una + ahead * kMss,
            .cwnd_limited = true};
  }
};

constexpr std::uint32_t kWindow = 100 * kMss;
constexpr std::uint32_t kNoThreshold = kMaxCongestionWindow;

/// Returns after how many ACKs of one round slow start ends, 0: it does not within 90.
int ends_after(Duration gap, Duration rtt, std::uint32_t window = kWindow, bool paced = false,
               std::uint32_t ssthresh = kNoThreshold) {
  const ControllerConfig c = settings();
  ClassicHyStart h;
  Acks acks;
  for (int i = 1; i <= 90; ++i) {
    AckEvent ack = acks.next(gap, rtt);
    ack.paced = paced;
    if (h.on_ack(ack, {window, ssthresh, kMss}, c)) return i;
  }
  return 0;
}

// The train may last (min_rtt + offload) / 2, with offload = min(1 ms, 4 * 64 KiB / pacing rate)
// and a pacing rate of twice the window per round trip.
TEST(ClassicHyStart, ALongTrainOfAcksEndsSlowStart) {
  // 20 ms; 262,144 B / (2 * 100,000 B / 20 ms) = 26 ms, at most 1 ms: 10.5 ms.
  EXPECT_EQ(ends_after(1ms, 20ms), 12) << "11 ms after the first";
  // 1 ms and 1 ms: 1 ms; the train begins with the first ACK.
  EXPECT_EQ(ends_after(100us, 1ms), 12) << "1.1 ms, not 1.0";
  // 100 us; 262,144 / 200,000 * 100 us = 131 us: 115 us.
  EXPECT_EQ(ends_after(10us, 100us), 13) << "120 us";
  EXPECT_EQ(ends_after(10us, 100us, kWindow, true), 25) << "231 us if the window is paced";
  EXPECT_EQ(ends_after(10us, 100us, kWindow, false, kWindow + 1), 17)
      << "1.2 times the window per round trip above half of ssthresh: 218 us, 159 us";
}

TEST(ClassicHyStart, AGapEndsTheTrain) {
  EXPECT_EQ(ends_after(2ms, 20ms), 7) << "2 ms apart are still a train: 12 ms";
  EXPECT_EQ(ends_after(2001us, 20ms), 0);
}

TEST(ClassicHyStart, ASmallWindowIsLeftAlone) {
  EXPECT_EQ(ends_after(1ms, 20ms, 16 * kMss - 1), 0);
  EXPECT_NE(ends_after(1ms, 20ms, 16 * kMss), 0);
}

// From ten segments on, an ACK for two of them every 100 ms: the acknowledgments of packetdrill's
// cubic-bulk-166k-idle-restart.pkt. Its 48 segments are those of Linux 5.16 to 6.13, whose first
// round began at 16; before and since, and in 6.1 from 6.1.129 on, a round begins below it too.
TEST(ClassicHyStart, RoundsBeginBelowSixteenSegmentsToo) {
  ControllerConfig c = settings();
  c.initial_window_segments = 10;
  ControllerSlot cubic(c, kMss);
  std::vector<Time> sent(10);
  std::size_t una = 0;
  for (int k = 1; k <= 20 && cubic->ssthresh_bytes() == kMaxCongestionWindow; ++k) {
    const Time now = Time{k * 100ms};
    const Duration rtt = now - sent[una + 1];
    una += 2;
    cubic->on_ack({.now = now,
                   .acked_bytes = 2 * kMss,
                   .srtt = rtt,
                   .rtt = rtt,
                   .snd_una = una * kMss,
                   .snd_nxt = sent.size() * kMss,
                   .cwnd_limited = true});
    sent.resize(una + cubic->cwnd_bytes() / kMss, now);
  }
  EXPECT_EQ(cubic->ssthresh_bytes(), 36 * kMss);
}

// Round trips count after eight of a round: 3 ms apart, so that no train forms.
TEST(ClassicHyStart, ARiseOfTheRoundTripEndsSlowStart) {
  struct Row {
    Duration base, rise;
    bool ends;
    const char* why;
  };
  const Row rows[] = {
      {40ms, 5ms, false, "an eighth of 40 ms, not more"},
      {40ms, 5001us, true, "more than an eighth"},
      {100us, 4ms, false, "at least 4 ms"},
      {100us, 4001us, true, "more than 4 ms"},
      {400ms, 16ms, false, "at most 16 ms"},
      {400ms, 16001us, true, "more than 16 ms"},
  };
  for (const Row& row : rows) {
    const ControllerConfig c = settings();
    ClassicHyStart h;
    Acks acks;
    EXPECT_FALSE(h.on_ack(acks.next(3ms, row.base, 1), {kWindow, kNoThreshold, kMss}, c));
    acks.next(3ms, row.base);
    int at = 0;
    for (int i = 1; i <= 20 && at == 0; ++i)
      if (h.on_ack(acks.next(3ms, row.base + row.rise), {kWindow, kNoThreshold, kMss}, c)) at = i;
    EXPECT_EQ(at, row.ends ? 9 : 0) << row.why;
  }
}

TEST(ClassicHyStart, CubicLeavesSlowStartAtItsWindow) {
  const ControllerConfig c = settings();
  ControllerSlot cubic(c, kMss);
  Acks acks;
  // A window of 10, doubled in one round, without the limit of two segments an ACK.
  AckEvent many = acks.next(20ms, 20ms);
  many.acked_bytes = 10 * kMss;
  cubic->on_ack(many);
  EXPECT_EQ(cubic->cwnd_bytes(), 20 * kMss);
  for (int i = 0; i < 10; ++i) cubic->on_ack(acks.next(1ms, 20ms));
  EXPECT_EQ(cubic->ssthresh_bytes(), kMaxCongestionWindow);
  EXPECT_EQ(cubic->cwnd_bytes(), 30 * kMss);
  cubic->on_ack(acks.next(1ms, 20ms));
  EXPECT_EQ(cubic->ssthresh_bytes(), 30 * kMss);
  // From here by a twentieth per round trip, until something reduces the window.
  std::uint32_t before = cubic->cwnd_bytes();
  for (int i = 0; i < 30; ++i) cubic->on_ack(acks.next(1us, 100us));
  EXPECT_NEAR(cubic->cwnd_bytes() - before, 30.0 * kMss / 20, 10);
  cubic->on_congestion(CongestionControl::Congestion::kLoss, cubic->cwnd_bytes(), acks.now);
  before = cubic->cwnd_bytes();
  for (int i = 0; i < 22; ++i) cubic->on_ack(acks.next(1us, 100us));
  EXPECT_LT(cubic->cwnd_bytes() - before, kMss * 6 / 10) << "Reno's pace: alpha, 0.53 segments";
  // After a time-out slow start looks for its end again.
  cubic->on_timeout(30 * kMss, acks.now);
  for (int i = 0; i < 200; ++i) cubic->on_ack(acks.next(i < 20 ? 1us : 500us, 20ms));
  EXPECT_EQ(cubic->ssthresh_bytes(), 21 * kMss) << "0.7 of 30 comes first";
}

}  // namespace
}  // namespace outrider::classic_hystart_test
