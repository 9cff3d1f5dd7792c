// Goal: a peer whose window is closed is probed until it opens, without giving up.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_window_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::Application;
using two_ends::datacentre;

/// A client with a scripted peer. It is established at 1 ms, so its RTO is the minimum of
/// 10 ms. The peer has room for 1000 bytes, and 3000 are written.
struct Client {
  Client() {
    c.open(Time{});
    (void)next_segment(c, Time{});
    c.on_segment(
        {.sequence = 2000, .acknowledgment = 1001, .flags = kTcpSyn | kTcpAck, .window = 1000},
        Time{1ms});
    c.stream().write(3000);
    while (c.has_segment(Time{1ms})) sent.push_back(next_segment(c, Time{1ms}));
  }
  void ack(std::uint32_t bytes, std::uint16_t window, Time now) {
    c.on_segment(
        {.sequence = 2001, .acknowledgment = 1001 + bytes, .flags = kTcpAck, .window = window},
        now);
  }
  /// Fires the next timer. @return the segments that leave then
  std::vector<TcpSegment> fire(Time& now) {
    EXPECT_FALSE(c.has_segment(now));
    now = c.next_timer();
    if (now == kNever) return {};
    c.on_timer(now);
    std::vector<TcpSegment> out;
    while (!is_over(c.state()) && c.has_segment(now)) out.push_back(next_segment(c, now));
    return out;
  }
  TcpConfig config = datacentre();
  TransportMemory memory{{.flights = 1, .segments = 64, .disorders = 1}};
  Application application;
  TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
  std::vector<TcpSegment> sent;
};

TEST(ConnectionWindow, ProbesAClosedWindowAtDoublingIntervals) {
  Client t;
  ASSERT_EQ(t.sent.size(), 1U);
  EXPECT_EQ(t.sent[0].payload_bytes, 1000U) << "what the window leaves";
  t.ack(1000, 0, Time{2ms});
  Time now{2ms};
  EXPECT_EQ(t.memory.flights.lent(), 0U) << "waiting borrows nothing";
  constexpr Duration kProbes[] = {12ms, 32ms, 72ms, 152ms};  // 2 + 10, + 20, + 40, + 80
  for (const Duration at : kProbes) {
    const auto out = t.fire(now);
    EXPECT_EQ(now, Time{at});
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(out[0].sequence, 2000U) << "just below the window";
    EXPECT_EQ(out[0].payload_bytes, 0U);
    t.ack(1000, 0, now);  // still closed
  }
  EXPECT_EQ(t.memory.events.window_probes, 4U);
  EXPECT_EQ(t.c.counters().rtos_data, 0U);
  t.ack(1000, 5000, now);
  ASSERT_TRUE(t.c.has_segment(now)) << "open: no need to wait for a timer";
  EXPECT_EQ(next_segment(t.c, now).sequence, 2001U);
}

// RFC 9293, 3.10.7.4: only SND.UNA =< SEG.ACK says something of the window. Somebody else may have
// written the other kind.
TEST(ConnectionWindow, AnOldAcknowledgmentOpensNothing) {
  Client t;
  t.ack(1000, 0, Time{2ms});
  t.ack(500, 60'000, Time{3ms});
  EXPECT_FALSE(t.c.has_segment(Time{3ms}));
  t.ack(1000, 60'000, Time{4ms});
  EXPECT_TRUE(t.c.has_segment(Time{4ms}));
}

TEST(ConnectionWindow, AnsweredProbesGoOnForEver) {
  Client t;
  t.ack(1000, 0, Time{2ms});
  Time now{2ms};
  Time before{};
  for (int i = 0; i < 200; ++i) {
    before = now;
    ASSERT_EQ(t.fire(now).size(), 1U);
    t.ack(1000, 0, now);
  }
  EXPECT_FALSE(is_over(t.c.state()));
  EXPECT_EQ(now - before, t.config.max_rto);
}

TEST(ConnectionWindow, UnansweredProbesEnd) {
  Client t;
  t.ack(1000, 0, Time{2ms});
  Time now{2ms};
  for (int i = 0; i < 15; ++i) ASSERT_EQ(t.fire(now).size(), 1U) << i;
  EXPECT_TRUE(t.fire(now).empty());
  EXPECT_EQ(t.c.state(), ConnectionState::kReset);
  EXPECT_EQ(t.application.closed, 1);
}

// RFC 9293, 3.8.6: the sender sends no new data, repeats data in flight, and does not give up
// while the peer answers.
TEST(ConnectionWindow, APeerMayTakeItsWindowBack) {
  Client t;
  t.ack(1000, 5000, Time{2ms});
  while (t.c.has_segment(Time{2ms})) t.sent.push_back(next_segment(t.c, Time{2ms}));
  ASSERT_EQ(t.c.sender().state().scoreboard.pipe_bytes(), 2000U) << "all that is written";
  t.c.stream().write(10'000);
  t.ack(1000, 0, Time{2ms});
  Time now{2ms};
  for (int i = 0; i < 40; ++i) {
    const auto out = t.fire(now);
    ASSERT_EQ(out.size(), 1U) << i;
    EXPECT_EQ(out[0].sequence, 2001U) << "the oldest, nothing new";
    t.ack(1000, 0, now);
  }
  EXPECT_FALSE(is_over(t.c.state()));
  t.ack(3000, 4000, now);
  ASSERT_TRUE(t.c.has_segment(now));
  EXPECT_EQ(next_segment(t.c, now).sequence, 4001U);
}

// Neither an overtaken ACK nor an old segment shrinks the window.
TEST(ConnectionWindow, OldSegmentsDoNotCloseIt) {
  Client t;
  t.ack(1000, 5000, Time{2ms});
  while (t.c.has_segment(Time{2ms})) t.sent.push_back(next_segment(t.c, Time{2ms}));
  t.ack(500, 0, Time{2ms});
  t.c.on_segment({.sequence = 2000, .acknowledgment = 2001, .flags = kTcpAck, .window = 0},
                 Time{2ms});
  t.c.stream().write(1000);
  EXPECT_TRUE(t.c.can_send_data(Time{2ms}));
}

TEST(ConnectionWindow, AReceiverAnswersAProbe) {
  two_ends::TwoEnds t({.config = datacentre()});
  t.client().open(t.now());
  t.client().stream().write(1000);
  t.run_for(50ms);
  TcpSegment probe{.sequence = t.client().stream().next_sequence() - 1,
                   .acknowledgment = t.server().stream().next_sequence(),
                   .flags = kTcpAck,
                   .window = 100};
  t.server().on_segment(probe, t.now());
  ASSERT_TRUE(t.server().has_segment(t.now()));
  EXPECT_EQ(next_segment(t.server(), t.now()).acknowledgment, t.client().stream().next_sequence());
  ++probe.sequence;
  t.server().on_segment(probe, t.now());
  EXPECT_FALSE(t.server().has_segment(t.now())) << "a plain ACK is not answered";
}

}  // namespace
}  // namespace outrider::connection_window_test
