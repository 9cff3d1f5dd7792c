// Goal: a receiver whose application reads at a rate offers the room in its buffer. It offers no
// silly windows, never moves the edge back, and opens a closed window by itself.
// Method: literal timelines of one byte per microsecond; then whole transfers.
#include <gtest/gtest.h>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/receiver/receiver.h"

namespace outrider::receiver_window_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

struct Bench {
  explicit Bench(std::uint32_t buffer_bytes) {
    config.receive_buffer_bytes = buffer_bytes;
    config.read_rate = BitRate{8'000'000};
    receiver.emplace(context, false);
    receiver->start({.initial_sequence = 999, .sack = true});
  }
  /// Delivers bytes in order. @return whether they were acceptable
  bool arrive(std::uint16_t bytes, Duration at) {
    const TcpSegment s{
        .sequence = receiver->window().next_sequence(), .flags = kTcpAck, .payload_bytes = bytes};
    if (!receiver->window().acceptable(s)) return false;
    receiver->on_segment(s, Time{at});
    return true;
  }
  /// Returns the window of an ACK that leaves at this time [bytes].
  std::uint32_t window(Duration at) {
    TcpSegment s;
    receiver->fill_pure_ack(s, Time{at});
    return std::uint32_t{s.window} << receiver->window().scale();
  }
  TcpConfig config{};
  TransportMemory memory{TransportMemory::Setup{.flights = 1, .segments = 1, .disorders = 1}};
  TcpContext context{.config = config, .memory = memory};
  std::optional<TcpReceiver> receiver;
};

TEST(ReceiverWindow, FollowsWhatIsReadByWholeSegments) {
  Bench b(10'000);
  b.arrive(1000, 0us);
  b.arrive(1000, 0us);
  EXPECT_EQ(b.window(0us), 8'000U) << "2000 are unread";
  EXPECT_EQ(b.receiver->ack_deadline(), kNever) << "the peer may send: no update";
  b.arrive(1000, 1500us);
  b.arrive(1000, 1500us);
  EXPECT_EQ(b.window(1500us), 7'500U) << "1500 are read: more than a segment";
  b.arrive(1000, 1600us);
  EXPECT_EQ(b.window(1600us), 6'500U) << "100 more are not: the edge stands";
}

TEST(ReceiverWindow, ClosesAndOpensBySegments) {
  Bench b(10'000);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(b.arrive(1250, 0us));
  EXPECT_EQ(b.window(0us), 0U);
  EXPECT_FALSE(b.arrive(1, 0us)) << "beyond the window";
  EXPECT_FALSE(b.receiver->window().contains(b.receiver->window().next_sequence()));
  EXPECT_FALSE(b.receiver->ack_due());
  EXPECT_EQ(b.receiver->ack_deadline(), Time{1449us}) << "a segment of 1448 is read, and rounding";
  b.receiver->on_timer(Time{1449us});
  ASSERT_TRUE(b.receiver->ack_due());
  EXPECT_EQ(b.window(1449us), 1'449U);
  EXPECT_EQ(b.receiver->ack_deadline(), kNever);
  EXPECT_TRUE(b.arrive(1449, 1500us));
  EXPECT_EQ(b.window(1500us), 0U) << "51 more are no segment";
  EXPECT_EQ(b.window(1500us + 1448us), 1'499U);
}

TEST(ReceiverWindow, SmallBuffersOpenByHalves) {
  Bench b(1'500);
  b.arrive(1448, 0us);
  EXPECT_EQ(b.window(0us), 52U) << "less would take back what was offered";
  EXPECT_EQ(b.receiver->ack_deadline(), Time{751us});
  EXPECT_EQ(b.window(700us), 52U);
  EXPECT_EQ(b.window(751us), 803U) << "1500 / 2 more";
}

TEST(ReceiverWindow, AFinNeedsNoUpdates) {
  Bench b(10'000);
  for (int i = 0; i < 7; ++i) b.arrive(1250, 0us);
  b.receiver->on_segment({.sequence = b.receiver->window().next_sequence(),
                          .flags = kTcpAck | kTcpFin,
                          .payload_bytes = 1250},
                         Time{});
  EXPECT_TRUE(b.receiver->fin_received());
  EXPECT_EQ(b.window(0us), 0U);
  EXPECT_EQ(b.receiver->ack_deadline(), kNever);
}

// The window is sent in units of 128 bytes. Rounding moves the edge by less than one unit, and
// never back.
TEST(ReceiverWindow, TheEdgeNeverMovesBack) {
  Bench b(4U << 20);
  ASSERT_EQ(b.receiver->window().scale(), 7);
  std::uint64_t edge = 0, closed = 0;
  RandomStream random(5, 0, RandomPurpose::kTest);
  Duration now{};
  for (int i = 0; i < 20'000; ++i) {
    now += Duration{random.next_u32() % 500'000};
    if (!b.arrive(static_cast<std::uint16_t>(1 + random.next_u32() % 1448), now)) ++closed;
    const std::uint64_t next = b.receiver->delivered_bytes() + b.window(now);
    ASSERT_GE(next, edge);
    edge = next;
  }
  EXPECT_GT(closed, 1000U);
}

// 1 MB at 10 bytes per microsecond through a buffer of 20 kB takes the reader's 100 ms.
TEST(ReceiverWindow, TheReaderSetsThePace) {
  TwoEnds::Options o{.config = datacentre()};
  o.config.receive_buffer_bytes = 20'000;
  o.config.read_rate = BitRate{80'000'000};
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.client().stream().write(1'000'000);
  while (t.client().stream().acked_bytes() < 1'000'000) {
    ASSERT_LE(t.client().sender().state().scoreboard.pipe_bytes(), 20'000U);
    t.run_for(100us);
    ASSERT_LT(t.now(), Time{1s});
  }
  EXPECT_NEAR(seconds(t.now() - Time{}), 0.098, 0.002) << "the last 20 kB are not read yet";
  EXPECT_EQ(t.client().counters().retransmitted, 0U);
  EXPECT_EQ(t.memory(0).events.window_probes, 0U) << "updates come in time";
}

// After a lost update both ends wait until a probe is sent.
TEST(ReceiverWindow, ProbesReplaceLostUpdates) {
  std::uint64_t probes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    TwoEnds::Options o{.config = datacentre(static_cast<Controller>(seed % 3)), .seed = seed};
    o.config.receive_buffer_bytes = seed % 2 == 0 ? 20'000 : 1'460;
    o.config.read_rate = BitRate{80'000'000};
    o.config.pacing = seed % 5 == 0;
    o.wires[0].loss = 0.01;
    o.config.ack_every_segments = 1;
    o.wires[1].loss = 0.2;
    TwoEnds t(std::move(o));
    transfer(t, 300'000, 20'000);
    expect_done(t, 300'000, 20'000);
    probes += t.memory(0).events.window_probes;
  }
  EXPECT_GT(probes, 20U);
}

}  // namespace
}  // namespace outrider::receiver_window_test
