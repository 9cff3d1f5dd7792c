// Goal: timestamps are offered, echoed and used as in RFC 7323.
#include "trafficgen/transport/base/timestamps.h"

#include <gtest/gtest.h>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::timestamps_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

TcpConfig with_timestamps() {
  TcpConfig c = datacentre();
  c.timestamps = true;
  return c;
}

TEST(TimestampClock, TicksEveryMillisecond) {
  EXPECT_EQ(TimestampClock::at(Time{}), 1U);
  EXPECT_EQ(TimestampClock::at(Time{999'999ns}), 1U);
  EXPECT_EQ(TimestampClock::at(Time{1ms}), 2U);
  EXPECT_EQ(TimestampClock::since(2, Time{3'400us}), 2'400us) << "from the tick's beginning";
  EXPECT_EQ(TimestampClock::since(9, Time{3'400us}), -4'600us);
  EXPECT_TRUE(TimestampClock::before(0xFFFFFFF0, 5)) << "the clock wraps";
  EXPECT_FALSE(TimestampClock::before(5, 0xFFFFFFF0));
}

// RFC 7323, 4.3: TS.Recent follows the segment that the last ACK waits for, so that a
// delayed ACK echoes the earliest. 5.3, R1: older segments are dropped.
TEST(Timestamps, FollowsTheRuleOfTsRecentAndPaws) {
  struct Row {
    std::uint64_t offset;
    std::uint32_t value;
    bool timely;
    std::uint32_t echo;
    bool ack_leaves;
    const char* why;
  };
  constexpr Row kRows[] = {
      {0, 100, true, 100, false, "in order: taken"},
      {100, 101, true, 100, true, "beyond Last.ACK.sent: the earliest unacknowledged stays"},
      {200, 102, true, 102, true, "after the ACK it is the next"},
      {400, 103, true, 102, true, "out of order: not taken"},
      {300, 102, true, 102, true, "fills the hole, equal is not older"},
      {500, 101, false, 102, true, "PAWS: older than TS.Recent"},
      {500, 104, true, 104, true, ""},
      {600, 104 + 0x7FFFFFFFU, true, 104 + 0x7FFFFFFFU, true, "as far ahead as counts as newer"},
      {700, 102, true, 102, true, "half a turn further: the clock has wrapped"},
  };
  TcpConfig config;
  TransportMemory memory({.flights = 1, .segments = 1, .disorders = 1});
  TcpContext context{.config = config, .memory = memory};
  TcpReceiver receiver(context, false);
  receiver.start({.initial_sequence = 999, .sack = true, .timestamp = 99});
  for (const Row& row : kRows) {
    const TcpSegment s{.sequence = 1000 + static_cast<std::uint32_t>(row.offset),
                       .flags = kTcpAck,
                       .payload_bytes = 100,
                       .has_timestamps = true,
                       .ts_value = row.value};
    ASSERT_EQ(receiver.timely(s), row.timely) << row.why;
    if (row.timely) {
      receiver.note_timestamp(s);
      receiver.on_segment(s, Time{});
    }
    TcpSegment ack;
    if (row.ack_leaves) receiver.fill_pure_ack(ack, Time{});
    receiver.stamp(ack, Time{7ms});
    EXPECT_EQ(ack.ts_echo, row.echo) << row.why;
    EXPECT_EQ(ack.ts_value, 8U);
  }
  EXPECT_EQ(context.memory.events.paws_rejected, 1U);
  EXPECT_FALSE(receiver.timely({.flags = kTcpAck})) << "every segment must have the option (3.2)";
  EXPECT_TRUE(receiver.timely({.flags = kTcpRst})) << "but for RST";
}

TEST(Timestamps, AreOnEverySegmentOnceBothOffer) {
  for (const bool server_offers : {true, false}) {
    const TcpConfig on = with_timestamps();
    TwoEnds::Options o{.config = on};
    std::uint64_t with = 0, without = 0;
    std::uint32_t longest = 0;
    o.wires[0].drop = [&](TcpSegment& s, std::uint64_t n) {
      if (n == 0 && !server_offers) s.has_timestamps = false;  // a peer that offers none
      ++(s.has_timestamps ? with : without);
      longest = std::max<std::uint32_t>(longest, s.payload_bytes);
      return n == 30;
    };
    o.wires[0].loss = 0.01;
    o.wires[1].drop = [](TcpSegment& s, std::uint64_t) {
      EXPECT_LE(s.sack_blocks, s.has_timestamps ? 3 : 4);
      return false;
    };
    TwoEnds t(std::move(o));
    transfer(t, 500'000);
    expect_done(t, 500'000);
    EXPECT_EQ(longest, server_offers ? 1436U : 1448U) << "the option takes its room";
    if (server_offers) EXPECT_EQ(without, 0U);
    else EXPECT_EQ(with, 0U);
    EXPECT_EQ(t.memory(0).events.invalid(), 0U);
    EXPECT_EQ(t.memory(0).events.paws_rejected + t.memory(1).events.paws_rejected, 0U);
  }
}

// Karn's rule gives no sample of a segment that was sent twice; its echo does.
TEST(Timestamps, GiveASampleOfWhatWasSentAgain) {
  const auto srtt_after_loss = [](bool timestamps) {
    TcpConfig config = datacentre();
    config.timestamps = timestamps;
    TwoEnds::Options o{.config = config};
    o.wires[0].delay = o.wires[1].delay = 20ms;
    o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n == 1; };  // the only data
    TwoEnds t(std::move(o));
    t.client().open(t.now());
    t.client().stream().write(1000);
    t.run_for(1s);
    EXPECT_EQ(t.server().receiver().delivered_bytes(), 1000U);
    EXPECT_EQ(t.client().counters().retransmitted, 1U);
    return t.client().sender().state().timer.srtt();
  };
  EXPECT_EQ(srtt_after_loss(false), 40ms) << "the handshake's";
  const Duration sampled = srtt_after_loss(true);
  EXPECT_GT(sampled, 40ms) << "and the delayed ACK of the lone segment";
  EXPECT_LE(sampled, 40ms + 2000us / 8) << "1 ms of delay, and less than a tick";
}

TEST(Timestamps, AnOldDuplicateMovesNothing) {
  TwoEnds t({.config = with_timestamps()});
  t.client().open(t.now());
  t.client().stream().write(100'000);
  t.run_for(100ms);
  const std::uint64_t delivered = t.server().receiver().delivered_bytes();
  const TcpSegment old{.sequence = t.client().stream().next_sequence(),
                       .acknowledgment = t.server().stream().next_sequence(),
                       .flags = kTcpAck,
                       .payload_bytes = 100,
                       .has_timestamps = true,
                       .ts_value = 0};
  t.server().on_segment(old, t.now());
  EXPECT_EQ(t.server().receiver().delivered_bytes(), delivered);
  EXPECT_EQ(t.memory(1).events.paws_rejected, 1U);
  EXPECT_TRUE(t.server().has_segment(t.now())) << "an ACK tells the peer where we are";
}

}  // namespace
}  // namespace outrider::timestamps_test
