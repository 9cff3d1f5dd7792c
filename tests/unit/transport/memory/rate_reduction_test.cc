// Goal: while a window is reduced step by step, each acknowledgment lets as much leave as RFC 9937
// says, and no sequence of acknowledgments breaks its bounds.
// Method: the two scenarios of its section 8, computed by hand; then random losses.
#include "trafficgen/transport/memory/rate_reduction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/core/random.h"

namespace outrider::rate_reduction_test {
using namespace tg;
namespace {

constexpr std::uint32_t kMss = 1000;
constexpr std::uint32_t kTarget = 10;  ///< ssthresh [segments]

/// A sender that always has data: whatever the window allows leaves at once. In segments.
struct Sender {
  RateReduction reduction{};
  std::uint32_t pipe = 0;
  std::uint32_t window = 20;

  /// @param delivered segments that leave the pipe as arrived, @param lost as lost
  /// @return the window
  std::uint32_t ack(std::uint32_t delivered, std::uint32_t lost, bool safe) {
    pipe -= delivered + lost;
    const std::uint32_t bytes = reduction.on_ack({.delivered_bytes = delivered * kMss,
                                                  .pipe_bytes = pipe * kMss,
                                                  .target_bytes = kTarget * kMss,
                                                  .mss_bytes = kMss,
                                                  .safe = safe},
                                                 window * kMss);
    window = bytes / kMss;
    return window;
  }
  std::uint32_t fill() {
    const std::uint32_t sent = window > pipe ? window - pipe : 0;
    reduction.on_sent(sent * kMss);
    pipe += sent;
    return sent;
  }
};

struct Row {
  int ack;
  std::uint32_t lost;
  std::uint32_t window, pipe, sent;
};

// 20 segments are in flight, the first is lost, and limited transmit has sent two more. The third
// duplicate reports the loss. From then on, a segment leaves for every second ACK.
TEST(RateReduction, OneLossHalvesTheRate) {
  constexpr Row kRows[] = {
      {3, 1, 19, 18, 1},  // ceil(1 * 10 / 20) = 1: the retransmission
      {4, 0, 18, 18, 0},  // ceil(2 * 10 / 20) - 1 = 0
      {5, 0, 18, 17, 1},  // ceil(3 * 10 / 20) - 1 = 1
      {6, 0, 17, 17, 0},  {7, 0, 17, 16, 1},  {8, 0, 16, 16, 0},  {9, 0, 16, 15, 1},
      {10, 0, 15, 15, 0}, {11, 0, 15, 14, 1}, {12, 0, 14, 14, 0}, {13, 0, 14, 13, 1},
      {14, 0, 13, 13, 0}, {15, 0, 13, 12, 1}, {16, 0, 12, 12, 0}, {17, 0, 12, 11, 1},
      {18, 0, 11, 11, 0}, {19, 0, 10, 10, 0},  // as much is in flight as the reduced window allows
      {20, 0, 10, 9, 1},  {21, 0, 10, 9, 1},
  };
  Sender s{.pipe = 20};
  s.reduction.begin(20 * kMss);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.ack);
    EXPECT_EQ(s.ack(1, row.lost, false), row.window);
    EXPECT_EQ(s.pipe, row.pipe);
    EXPECT_EQ(s.fill(), row.sent);
  }
}

// The first 15 of 20 segments are lost. While the ACKs report no progress, a segment leaves for
// each; then two, until the reduced window is full.
TEST(RateReduction, ManyLossesAreRepairedInSlowStart) {
  Sender s{.pipe = 20};  // 15 and 16 have arrived, 20 and 21 have left
  s.reduction.begin(20 * kMss);
  EXPECT_EQ(s.ack(1, 15, false), 5U) << "17 arrives: 18 to 21 are in flight";
  EXPECT_EQ(s.fill(), 1U);
  for (int ack = 18; ack <= 21; ++ack) {
    EXPECT_EQ(s.ack(1, 0, false), 5U) << ack;
    EXPECT_EQ(s.fill(), 1U);
  }
  constexpr std::uint32_t kWindows[] = {6, 7, 8, 9, 10, 10, 10};  // acknowledged one by one
  for (const std::uint32_t window : kWindows) {
    EXPECT_EQ(s.ack(1, 0, true), window);
    s.fill();
    EXPECT_EQ(s.pipe, window);
  }
}

TEST(RateReduction, OnlyProgressGrowsTheFlight) {
  Sender s{.pipe = 6};
  s.reduction.begin(20 * kMss);
  s.reduction.on_sent(kMss);
  EXPECT_EQ(s.ack(1, 0, false), 6U);
  s.fill();
  EXPECT_EQ(s.ack(1, 0, true), 7U);
}

TEST(RateReduction, TheFirstSegmentAlwaysLeaves) {
  Sender s{.pipe = 19};
  s.reduction.begin(0);  // nothing was in flight: not divided by
  EXPECT_EQ(s.ack(0, 0, false), 20U) << "a timer has found the loss";
  EXPECT_EQ(s.fill(), 1U);
  EXPECT_EQ(s.ack(0, 0, false), 20U) << "nothing has arrived: the window stays";
}

// Bounds: the proportional share while too much is in flight, else what has arrived and a segment
// for each safe ACK; always one segment for the retransmission. Never more in flight than before
// beyond ssthresh, and at the end as much as ssthresh.
TEST(RateReduction, RandomLossesKeepTheBounds) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0, RandomPurpose::kImpairment);
    const auto draw = [&random](std::uint32_t most) {
      return static_cast<std::uint32_t>(random.uniform() * (most + 1));
    };
    const std::uint32_t flight = 11 + draw(60);
    const double loss = random.uniform();
    Sender s{.pipe = flight, .window = flight};
    s.reduction.begin(flight * kMss);
    std::uint32_t delivered = 0, sent = 0, safe_acks = 0;
    for (int i = 0; i < 300 && s.pipe != 0; ++i) {
      const std::uint32_t arrives = 1 + draw(std::min(s.pipe - 1, 3U));
      const std::uint32_t lost = i < 40 && random.uniform() < loss ? draw(s.pipe - arrives) : 0;
      const bool safe = lost == 0 && random.uniform() < 0.5;
      delivered += arrives;
      safe_acks += safe ? 1 : 0;
      const std::uint32_t before = s.pipe - arrives - lost;
      s.ack(arrives, lost, safe);
      const std::uint32_t now = s.fill();
      if (sent != 0) {
        ASSERT_LE(s.pipe, std::max(before + (before > kTarget ? arrives : 0), kTarget));
      }
      sent += now;
      if (before > kTarget) {
        const std::uint32_t share = (delivered * kTarget + flight - 1) / flight;
        ASSERT_TRUE(sent <= std::max(share, 1U) || now == 0);
      }
      ASSERT_LE(sent, delivered + safe_acks + 1);
    }
    // Without losses what is in flight settles at the target.
    for (int i = 0; i < 100; ++i) {
      s.ack(1, 0, true);
      s.fill();
    }
    ASSERT_EQ(s.pipe, kTarget);
    ASSERT_EQ(s.window, kTarget);
  }
}

}  // namespace
}  // namespace outrider::rate_reduction_test
