// Goal: a segment that a correct peer cannot send changes no state, is counted by name, and is
// answered with an ACK that tells a correct peer our state (RFC 5961).
// Method: one literal timeline per rule, against a connection of known state.
#include <gtest/gtest.h>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_refuse_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::Application;
using two_ends::datacentre;
using two_ends::establish;

constexpr std::uint32_t kNext = 2001 + 5000;  ///< the peer's next byte
constexpr std::uint32_t kWindow = 4U << 20;
constexpr std::uint32_t kUna = 1001 + 1448;  ///< our oldest byte in flight, of 2 * 1448
constexpr std::uint32_t kSent = 1001 + 3 * 1448;

/// An established client. 5000 bytes of the peer have arrived, and one of its own three segments
/// is acknowledged. No ACK is due.
struct Established {
  Established() {
    establish(c);
    c.stream().write(3 * 1448);
    c.on_segment({.sequence = 2001,
                  .acknowledgment = 1001,
                  .flags = kTcpAck,
                  .window = 65535,
                  .payload_bytes = 5000},
                 Time{1ms});
    while (c.has_segment(Time{1ms})) (void)next_segment(c, Time{1ms});
    c.on_segment({.sequence = kNext, .acknowledgment = kUna, .flags = kTcpAck, .window = 65535},
                 Time{2ms});
    EXPECT_FALSE(c.has_segment(Time{2ms}));
    EXPECT_EQ(c.stream().next_sequence(), kSent);
    EXPECT_EQ(memory.events.invalid(), 0U);
  }
  /// Returns whether an ACK of the current state is due.
  bool answered(Time now) {
    if (!c.has_segment(now)) return false;
    const TcpSegment s = next_segment(c, now);
    EXPECT_EQ(s.sequence, kSent);
    EXPECT_EQ(s.acknowledgment, kNext);
    EXPECT_EQ(s.flags, kTcpAck);
    EXPECT_EQ(s.payload_bytes, 0U);
    return true;
  }
  TcpConfig config = datacentre();
  TransportMemory memory{{.flights = 1, .segments = 64, .disorders = 1}};
  Application application;
  TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
};

struct Row {
  TcpSegment segment;
  std::uint64_t TcpEvents::*counted;  ///< nullptr: the segment is valid
  bool answered;
  const char* why;
};

TEST(ConnectionRefuse, NamesAndAnswersWhatCannotBe) {
  const auto segment = [](std::uint32_t sequence, std::uint8_t flags, std::uint32_t ack = kUna,
                          std::uint16_t payload = 0) {
    return TcpSegment{.sequence = sequence,
                      .acknowledgment = ack,
                      .flags = flags,
                      .window = 65535,
                      .payload_bytes = payload};
  };
  const Row kRows[] = {
      {segment(kNext + 1, kTcpRst), &TcpEvents::resets_refused, true, "RFC 5961, 3.2"},
      {segment(kNext + kWindow - 1, kTcpRst), &TcpEvents::resets_refused, true, "window's last"},
      {segment(kNext + kWindow, kTcpRst), &TcpEvents::out_of_window, false, "beyond"},
      {segment(kNext - 1, kTcpRst), &TcpEvents::out_of_window, false, "before"},
      {segment(kNext, kTcpSyn), &TcpEvents::syns_refused, true, "RFC 5961, 4.2"},
      {segment(kNext + (1U << 31), kTcpSyn), &TcpEvents::syns_refused, true, "wherever it is"},
      {segment(2000, kTcpSyn | kTcpAck, 1001), nullptr, true, "our handshake's last ACK was lost"},
      {segment(kNext, kTcpAck, kSent), nullptr, false, "acknowledges all: moves una for the rest"},
      {segment(kNext, kTcpAck, kSent + 1), &TcpEvents::acks_of_unsent, true, "RFC 5961, 5.2"},
      {segment(kNext, kTcpAck, kSent - (65535U << 2)), nullptr, false, "old, not too old"},
      {segment(kNext, kTcpAck, kSent - (65535U << 2) - 1), &TcpEvents::acks_too_old, true, "is"},
      {segment(kNext, kTcpAck, kSent + 1, 100), &TcpEvents::acks_of_unsent, true, "and no data"},
      {segment(kNext, kTcpPsh, 0, 100), &TcpEvents::without_ack, false, "RFC 9293: dropped"},
      {segment(kNext + kWindow, kTcpAck, kSent, 1), &TcpEvents::out_of_window, true, "data"},
      {segment(kNext + kWindow + 1, kTcpAck, kSent), &TcpEvents::out_of_window, true, "an ACK"},
      {segment(2000, kTcpAck, kSent, 10), &TcpEvents::out_of_stream, false, "before byte 0"},
  };
  Established t;
  Time now{3ms};
  std::uint64_t invalid = 0;
  for (const Row& row : kRows) {
    const auto counted = [&] { return row.counted ? t.memory.events.*row.counted : 0; };
    const std::uint64_t before = counted();
    t.c.on_segment(row.segment, now);
    EXPECT_EQ(counted(), before + (row.counted ? 1 : 0)) << row.why;
    invalid += row.counted ? 1 : 0;
    EXPECT_EQ(t.memory.events.invalid(), invalid) << row.why;
    EXPECT_EQ(t.answered(now), row.answered) << row.why;
    EXPECT_EQ(t.c.state(), ConnectionState::kEstablished) << row.why;
    EXPECT_EQ(t.c.receiver().delivered_bytes(), 5000U) << row.why;
    now += 1us;
  }
  EXPECT_EQ(t.c.stream().acked_bytes(), 3U * 1448);
  EXPECT_EQ(t.memory.events.old_acks, 1U);
  EXPECT_EQ(t.memory.events.challenge_acks, 8U);
  t.c.on_segment(segment(kNext, kTcpRst), now);
  EXPECT_EQ(t.c.state(), ConnectionState::kReset) << "the exact one";
}

TEST(ConnectionRefuse, CountsEachImpossibleSackBlock) {
  Established t;
  TcpSegment s{.sequence = kNext, .acknowledgment = kUna, .flags = kTcpAck, .window = 65535};
  s.sack_blocks = 3;
  s.sack[0] = {kUna + 1448, kSent + 1};
  s.sack[1] = {kUna + 1448, kUna + 1448};
  s.sack[2] = {kUna + 1448, kSent};
  t.c.on_segment(s, Time{3ms});
  EXPECT_EQ(t.memory.events.sacks_out_of_window, 2U);
  EXPECT_EQ(t.c.sender().state().scoreboard.pipe_bytes(), 1448U) << "the third one is right";
}

// A half-open peer has forgotten us. We answer its SYN with our state, and it sends an exact
// reset (RFC 9293, 3.5.1, figure 9).
// google/packetdrill, ts_recent/invalid_ack.pkt. A TS.Recent of the far future would have all that
// follows refused (PAWS).
TEST(ConnectionRefuse, AnImpossibleAckLeavesTheTimestamp) {
  for (const bool future : {true, false}) {
    TcpConfig config = datacentre();
    config.timestamps = true;
    TransportMemory memory{{.flights = 1, .segments = 64, .disorders = 1}};
    Application application;
    TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
    c.open(Time{});
    (void)next_segment(c, Time{});
    TcpSegment s{.sequence = 2000,
                 .acknowledgment = 1001,
                 .flags = kTcpSyn | kTcpAck,
                 .window = 65535,
                 .window_scale = 2,
                 .has_timestamps = true,
                 .ts_value = 200};
    c.on_segment(s, Time{1ms});
    (void)next_segment(c, Time{1ms});
    s = {.sequence = 2001,
         .acknowledgment = future ? 1001 + 5000U : 1001 - (8U << 20),
         .flags = kTcpAck | kTcpFin,
         .window = 65535,
         .has_timestamps = true,
         .ts_value = 200'000};
    c.on_segment(s, Time{2ms});
    ASSERT_TRUE(c.has_segment(Time{2ms}));
    EXPECT_EQ(next_segment(c, Time{2ms}).ts_echo, 200U) << "of the challenge";
    s.acknowledgment = 1001;
    s.flags = kTcpAck;
    s.ts_value = 201;
    s.payload_bytes = 1000;
    c.on_segment(s, Time{3ms});
    EXPECT_EQ(c.receiver().delivered_bytes(), 1000U);
    c.on_timer(Time{5ms});
    ASSERT_TRUE(c.has_segment(Time{5ms}));
    EXPECT_EQ(next_segment(c, Time{5ms}).ts_echo, 201U);
  }
}

TEST(ConnectionRefuse, AHalfOpenPeerFindsItsWay) {
  Established t;
  t.c.on_segment({.sequence = 77'777, .flags = kTcpSyn, .window = 1000}, Time{3ms});
  ASSERT_TRUE(t.c.has_segment(Time{3ms}));
  const TcpSegment answer = next_segment(t.c, Time{3ms});
  t.c.on_segment({.sequence = answer.acknowledgment, .flags = kTcpRst}, Time{4ms});
  EXPECT_EQ(t.c.state(), ConnectionState::kReset);
}

TEST(ConnectionRefuse, ChallengesAreFew) {
  Established t;
  const TcpSegment rst{.sequence = kNext + 1, .flags = kTcpRst};
  std::uint32_t answers = 0;
  const auto flood = [&](Time now, int n) {
    for (int i = 0; i < n; ++i) {
      t.c.on_segment(rst, now);
      answers += t.answered(now) ? 1 : 0;
    }
  };
  flood(Time{3ms}, 5000);
  EXPECT_EQ(answers, ChallengeAcks::kPerSecond);
  EXPECT_EQ(t.memory.events.challenge_acks_withheld, 5000 - ChallengeAcks::kPerSecond);
  flood(Time{999'999us}, 10);
  EXPECT_EQ(answers, ChallengeAcks::kPerSecond) << "the second began at 0";
  flood(Time{1s}, 10);
  EXPECT_EQ(answers, ChallengeAcks::kPerSecond + 10);
}

TEST(ConnectionRefuse, SynReceivedIsResetByTheExactOneOnly) {
  TcpConfig config = datacentre();
  TransportMemory memory{{.flights = 1, .segments = 64, .disorders = 1}};
  Application application;
  TcpConnection c{config,
                  {.flow = {}, .role = TcpConnection::Role::kServer, .initial_sequence = 1000},
                  memory,
                  application};
  c.on_segment({.sequence = 2000, .flags = kTcpSyn, .window = 1000}, Time{});
  (void)next_segment(c, Time{});
  c.on_segment({.sequence = 2002, .flags = kTcpRst}, Time{1us});
  EXPECT_FALSE(is_over(c.state()));
  EXPECT_EQ(memory.events.resets_refused, 1U);
  c.on_segment({.sequence = 2001, .flags = kTcpRst}, Time{2us});
  EXPECT_EQ(c.state(), ConnectionState::kReset);
}

}  // namespace
}  // namespace outrider::connection_refuse_test
