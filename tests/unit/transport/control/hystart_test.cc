// Goal: slow start ends as in RFC 9406. Method: rounds of ten ACKs with literal round
// trips; segments of 1000 bytes.
#include "trafficgen/transport/control/hystart.h"

#include <gtest/gtest.h>

#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::hystart_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMss = 1000;

ControllerConfig settings(Controller controller = Controller::kCubic) {
  return {.controller = controller, .hystart = HyStartKind::kRfc9406};
}

/// Makes ACKs of one segment each, ten per round.
class Rounds {
 public:
  /// Acknowledges the next segment; SND.NXT is always ten segments ahead.
  AckEvent ack(Duration rtt) {
    una_ += kMss;
    return {.now = Time{} + 1ms * (una_ / kMss),
            .acked_bytes = kMss,
            .srtt = rtt,
            .rtt = rtt,
            .snd_una = una_,
            .snd_nxt = una_ + 10 * kMss,
            .cwnd_limited = true};
  }
  /// ACKs per round. The connection's first ACK ends the empty round with SND.NXT beyond it. A
  /// round then ends with the ACK of the byte after its end, so it has 11.
  static constexpr int kAcks = 11;

 private:
  std::uint64_t una_ = 0;
};

void round_of(HyStart& h, Rounds& r, Duration rtt, const ControllerConfig& c,
              int acks = Rounds::kAcks) {
  for (int i = 0; i < acks; ++i) h.on_ack(r.ack(rtt), c);
}

TEST(HyStart, ARiseOfTheRoundTripBeginsConservativeSlowStart) {
  const ControllerConfig c = settings();
  HyStart h;
  Rounds r;
  round_of(h, r, 40ms, c);
  EXPECT_EQ(h.growth(20'000, kMss), 8000U) << "L = 8 segments an ACK";
  round_of(h, r, 40ms + 4999us, c);
  EXPECT_FALSE(h.conservative()) << "an eighth of 40 ms is 5 ms";
  round_of(h, r, 44999us + 5624us, c);
  EXPECT_FALSE(h.conservative()) << "1 us short of an eighth of 44.999 ms, against the last round";
  round_of(h, r, 50623us + 6328us, c, 7);
  EXPECT_FALSE(h.conservative()) << "seven samples are not enough";
  round_of(h, r, 50623us + 6328us, c, 1);
  EXPECT_TRUE(h.conservative());
  EXPECT_EQ(h.growth(1000, kMss), 250U) << "a quarter";
  EXPECT_EQ(h.growth(20'000, kMss), 2000U);
}

TEST(HyStart, ThresholdsAreBoundedBothWays) {
  struct Row {
    Duration base, rise;
    bool css;
    const char* why;
  };
  const Row rows[] = {
      {8ms, 3999us, false, "at least 4 ms"},
      {8ms, 4ms, true, "4 ms, not 1"},
      {400ms, 15999us, false, "at most 16 ms"},
      {400ms, 16ms, true, "16 ms, not 50"},
      {100us, 3ms, false, "30 times the base: data centres need a smaller threshold"},
  };
  for (const Row& row : rows) {
    const ControllerConfig c = settings();
    HyStart h;
    Rounds r;
    round_of(h, r, row.base, c);
    round_of(h, r, row.base + row.rise, c, 8);
    EXPECT_EQ(h.conservative(), row.css) << row.why;
  }
  ControllerConfig c = settings();
  c.hystart_min_rtt_threshold = 10us;
  HyStart h;
  Rounds r;
  round_of(h, r, 100us, c);
  round_of(h, r, 113us, c, 8);
  EXPECT_TRUE(h.conservative()) << "an eighth of 100 us is 12.5 us";
}

TEST(HyStart, TheSmallestRoundTripOfARoundCounts) {
  const ControllerConfig c = settings();
  HyStart h;
  Rounds r;
  round_of(h, r, 40ms, c);
  h.on_ack(r.ack(41ms), c);
  round_of(h, r, 90ms, c, 10);
  EXPECT_FALSE(h.conservative());
}

TEST(HyStart, FiveRoundsEndIt) {
  const ControllerConfig c = settings();
  HyStart h;
  Rounds r;
  round_of(h, r, 40ms, c);
  round_of(h, r, 50ms, c);
  ASSERT_TRUE(h.conservative());
  for (int round = 1; round < 5; ++round) {
    EXPECT_FALSE(h.finished()) << "round " << round << ", the first a partial one";
    round_of(h, r, 50ms, c);
  }
  EXPECT_FALSE(h.finished());
  h.on_ack(r.ack(50ms), c);
  EXPECT_TRUE(h.finished());
}

TEST(HyStart, AFallBelowTheBaselineResumesSlowStart) {
  const ControllerConfig c = settings();
  HyStart h;
  Rounds r;
  round_of(h, r, 40ms, c);
  round_of(h, r, 50ms, c);
  ASSERT_TRUE(h.conservative());
  round_of(h, r, 50ms, c);
  EXPECT_TRUE(h.conservative()) << "not below";
  round_of(h, r, 49ms, c, 7);
  EXPECT_TRUE(h.conservative());
  round_of(h, r, 49ms, c, 1);
  EXPECT_FALSE(h.conservative());
  EXPECT_FALSE(h.finished());
  round_of(h, r, 49ms, c, 3);
  for (int round = 0; round < 8; ++round) round_of(h, r, 49ms, c);
  EXPECT_FALSE(h.finished()) << "nothing rose again";
}

TEST(HyStart, AcksWithoutASampleCountForRoundsOnly) {
  const ControllerConfig c = settings();
  HyStart h;
  Rounds r;
  round_of(h, r, 40ms, c);
  for (int i = 0; i < 100; ++i) h.on_ack(r.ack(Duration{}), c);
  round_of(h, r, 90ms, c);
  EXPECT_FALSE(h.conservative()) << "the round before this one has no round trip";
}

TEST(HyStart, EndsTheFirstSlowStartOfCubicAndReno) {
  for (const auto controller : {Controller::kReno, Controller::kCubic, Controller::kDctcp}) {
    const ControllerConfig c = settings(controller);
    ControllerSlot slot(c, kMss);
    Rounds r;
    const auto round = [&](Duration rtt) {
      for (int i = 0; i < Rounds::kAcks; ++i) slot->on_ack(r.ack(rtt));
    };
    round(40ms);
    EXPECT_EQ(slot->cwnd_bytes(), 21'000U);
    round(50ms);
    // eight ACKs complete the samples; from the eighth on the window grows by quarters
    EXPECT_EQ(slot->cwnd_bytes(), 21'000U + 7000U + 4 * 250U);
    EXPECT_EQ(slot->ssthresh_bytes(), kMaxCongestionWindow);
    for (int i = 0; i < 4; ++i) round(50ms);
    const std::uint32_t end = 29'000 + 44 * 250;
    EXPECT_EQ(slot->cwnd_bytes(), end);
    slot->on_ack(r.ack(50ms));
    EXPECT_EQ(slot->ssthresh_bytes(), end);
    round(50ms);
    EXPECT_LT(slot->cwnd_bytes(), end + kMss) << "congestion avoidance";
  }
}

// RFC 9406, 4.3: HyStart++ applies only to the first slow start, not after a loss.
TEST(HyStart, LaterSlowStartsAreConventional) {
  for (const auto controller : {Controller::kReno, Controller::kCubic}) {
    const ControllerConfig with = settings(controller);
    ControllerConfig without = with;
    without.hystart = HyStartKind::kOff;
    ControllerSlot a(with, kMss), b(without, kMss);
    a->on_timeout(200'000, Time{});
    b->on_timeout(200'000, Time{});
    Rounds r;
    for (int i = 0; i < 60; ++i) {
      const AckEvent e = r.ack(i < 20 ? 40ms : 90ms);
      a->on_ack(e);
      b->on_ack(e);
      ASSERT_EQ(a->cwnd_bytes(), b->cwnd_bytes()) << i;
    }
    EXPECT_EQ(a->cwnd_bytes(), 61'000U);
  }
}

}  // namespace
}  // namespace outrider::hystart_test
