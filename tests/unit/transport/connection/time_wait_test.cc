// Goal: an end that closed first gives the right answers, and its flow may begin again at the
// right time.
#include "trafficgen/transport/connection/time_wait.h"

#include <gtest/gtest.h>

#include "tests/unit/transport/connection/two_ends.h"

namespace outrider::time_wait_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::TwoEnds;
using Verdict = TimeWait::Verdict;

TcpSegment segment(std::uint32_t sequence, std::uint8_t flags, std::uint16_t payload = 0) {
  return {.sequence = sequence, .flags = flags, .payload_bytes = payload};
}

TEST(TimeWait, JudgesByRfc9293) {
  const TimeWait old{.sequence = 700, .expected = 5000, .window = 1000};
  struct Row {
    TcpSegment segment;
    Verdict verdict;
    const char* why;
  };
  const Row kRows[] = {
      {segment(4999, kTcpFin | kTcpAck), Verdict::kAcknowledge, "our last ACK was lost"},
      {segment(3000, kTcpAck, 1000), Verdict::kAcknowledge, "old data"},
      {segment(5000, kTcpAck), Verdict::kIgnore, "nothing to say"},
      {segment(5000, kTcpRst), Verdict::kForget, "exact"},
      {segment(5001, kTcpRst), Verdict::kIgnore, "not exact (RFC 5961)"},
      {segment(5001, kTcpSyn), Verdict::kReuse, "beyond the old one's end"},
      {segment(5000, kTcpSyn), Verdict::kAcknowledge, "may be an old duplicate"},
      {segment(4000, kTcpSyn), Verdict::kAcknowledge, "as well"},
      {segment(5001, kTcpSyn | kTcpAck), Verdict::kAcknowledge, "begins nothing"},
  };
  for (const Row& row : kRows) EXPECT_EQ(old.judge(row.segment), row.verdict) << row.why;
  const TcpSegment ack = old.acknowledgment(Time{1s});
  EXPECT_EQ(ack.sequence, 700U);
  EXPECT_EQ(ack.acknowledgment, 5000U);
  EXPECT_EQ(ack.flags, kTcpAck);
  EXPECT_EQ(ack.window, 1000U);
  EXPECT_FALSE(ack.has_timestamps);
}

TEST(TimeWait, TimestampsDecideBeforeSequenceNumbers) {
  const TimeWait old{
      .sequence = 700, .expected = 5000, .ts_recent = 0xFFFFFFFF, .timestamps = true};
  const auto syn = [](std::uint32_t sequence, std::uint32_t value) {
    TcpSegment s = segment(sequence, kTcpSyn);
    s.has_timestamps = true;
    s.ts_value = value;
    return s;
  };
  EXPECT_EQ(old.judge(syn(10, 0)), Verdict::kReuse) << "later, across the wrap";
  EXPECT_EQ(old.judge(syn(6000, 0xFFFFFFFE)), Verdict::kAcknowledge) << "earlier";
  EXPECT_EQ(old.judge(syn(6000, 0xFFFFFFFF)), Verdict::kReuse) << "equal: the number decides";
  EXPECT_EQ(old.judge(syn(4000, 0xFFFFFFFF)), Verdict::kAcknowledge);
  EXPECT_EQ(old.judge(segment(6000, kTcpSyn)), Verdict::kReuse) << "none: the number decides";
  EXPECT_EQ(old.acknowledgment(Time{5ms}).ts_echo, 0xFFFFFFFF);
  EXPECT_EQ(old.acknowledgment(Time{5ms}).ts_value, 6U);
}

// RFC 9293, figures 12 and 13: TIME-WAIT is for an end that sent its FIN before it got the peer's.
TEST(TimeWait, IsForTheEndsThatClosedFirst) {
  for (const Duration server_closes : {0us, 500us}) {
    TwoEnds t({.config = datacentre()});
    t.client().open(t.now());
    t.run_for(300us);
    t.client().stream().finish();
    if (server_closes != 0us) t.run_for(server_closes);
    t.server().stream().finish();
    t.run();
    ASSERT_TRUE(is_over(t.client().state()) && is_over(t.server().state()));
    const auto state = t.client().time_wait();
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(state->sequence, 1002U) << "behind the FIN";
    EXPECT_EQ(state->expected, 2002U);
    EXPECT_EQ(t.server().time_wait().has_value(), server_closes == 0us) << "both, or one";
  }
}

TEST(TimeWait, IsNotForResetsOrIfItIsOff) {
  TwoEnds::Options o{.config = datacentre()};
  o.config.time_wait = {};
  TwoEnds off(std::move(o));
  two_ends::transfer(off, 1000);
  EXPECT_FALSE(off.client().time_wait() || off.server().time_wait());
  TwoEnds t({.config = datacentre()});
  t.client().open(t.now());
  t.run_for(300us);
  t.client().stream().finish();
  t.run_for(300us);
  t.client().on_segment(segment(2001, kTcpRst), t.now());
  EXPECT_EQ(t.client().state(), ConnectionState::kReset);
  EXPECT_FALSE(t.client().time_wait());
}

// The last ACK is lost, so the peer sends its FIN again, and the kept state answers it.
TEST(TimeWait, AnswersTheFinThatComesAgain) {
  TwoEnds::Options o{.config = datacentre()};
  o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n >= 3; };  // SYN, ACK, FIN leave
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.run_for(300us);
  t.client().stream().finish();
  t.run_for(300us);
  t.server().stream().finish();
  t.run_for(300us);
  ASSERT_TRUE(is_over(t.client().state()));
  ASSERT_FALSE(is_over(t.server().state()));
  const TimeWait kept = *t.client().time_wait();
  const Time again = t.server().next_timer();
  t.server().on_timer(again);
  const TcpSegment fin = next_segment(t.server(), again);
  ASSERT_TRUE(fin.has(kTcpFin));
  ASSERT_EQ(kept.judge(fin), Verdict::kAcknowledge);
  t.server().on_segment(kept.acknowledgment(again), again);
  EXPECT_EQ(t.server().state(), ConnectionState::kClosed);
}

}  // namespace
}  // namespace outrider::time_wait_test
