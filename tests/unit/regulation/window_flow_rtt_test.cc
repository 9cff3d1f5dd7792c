// Goal: the base round trip of a followed connection is measured as long as it lives: it follows a
// path that becomes longer, and takes neither a silent sender nor a delayed acknowledgment for a
// long path. Method: one flow whose sender and receiver answer after given delays, by a clock of 1
// ms.
#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "switch/regulation/windows/window_flow.h"

namespace outrider::window_flow_rtt_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kSegment = 1000;
constexpr std::uint32_t kFirst = 5000;  // of the data, after the SYN

/// A connection whose ends are `up` and `down` of a round trip away from the switch.
class Connection {
 public:
  Connection(Duration up, Duration down, bool timestamps)
      : up_(up), down_(down), timestamps_(timestamps) {
    data(kFirst - 1, 0, {.flow = {}, .syn = true, .window_scale = 0});
    now_ += down_;
    answer(kFirst, {.flow = {}, .syn = true, .ack = true, .window_scale = 0});
    now_ += up_;
    echo_ = stamp();
    data(kFirst, 0, {.flow = {}, .ack = true});
  }

  void move(Duration up, Duration down) { up_ = up, down_ = down; }
  /// Every answer has been echoed, and the next one is somebody else's: with a timestamp that the
  /// sender never gets.
  void forge_answer() {
    for (const std::uint32_t ahead : {0U, 1'000'000U}) {
      now_ += 5ms;
      echo_ = stamp();
      data(next_, kSegment, {.flow = {}, .ack = true});
      next_ += kSegment;
      answer(next_, {.flow = {}, .ack = true}, stamp() + ahead);
    }
  }

  /// A window of `segments` passes, `gap` apart; each is acknowledged, and what the sender sends
  /// next it sends when that comes. Nothing is on its way in the end.
  void run(std::uint32_t segments, Duration gap, Duration how_long) {
    std::deque<Coming> data_coming, answers_coming;
    for (std::uint32_t i = 0; i < segments; ++i) data_coming.push_back({now_ + i * gap, echo_});
    const Time end = now_ + how_long;
    while (!data_coming.empty() || !answers_coming.empty()) {
      const bool answers_next =
          data_coming.empty() ||
          (!answers_coming.empty() && answers_coming.front().at <= data_coming.front().at);
      auto& coming = answers_next ? answers_coming : data_coming;
      const Coming next = coming.front();
      coming.pop_front();
      now_ = next.at;
      if (answers_next) {
        answer(next.number, {.flow = {}, .ack = true});
        if (now_ < end) data_coming.push_back({now_ + up_, stamp()});
      } else {
        echo_ = next.number;
        data(next_, kSegment, {.flow = {}, .ack = true});
        next_ += kSegment;
        answers_coming.push_back({now_ + down_, next_});
      }
    }
  }
  /// Single segments, `gap` apart, each of which the receiver acknowledges after `delayed`.
  void ask(Duration gap, Duration delayed, Duration how_long) {
    for (const Time end = now_ + how_long; now_ < end; now_ += gap - down_ - delayed) {
      data(next_, kSegment, {.flow = {}, .ack = true});
      next_ += kSegment;
      now_ += down_ + delayed;
      answer(next_, {.flow = {}, .ack = true});
      echo_ = stamp();
    }
  }

  [[nodiscard]] Duration rtt() const { return flow.base_rtt().value(); }
  WindowFlow flow;

 private:
  struct Coming {
    Time at;
    std::uint32_t number;  ///< data: the timestamp echoed; an answer: what it acknowledges
  };

  [[nodiscard]] std::uint32_t stamp() const {
    return static_cast<std::uint32_t>(now_.time_since_epoch() / 1ms);
  }
  void data(std::uint32_t sequence, std::uint16_t bytes, TcpView s) {
    s.sequence = sequence;
    s.acknowledgment = 1;
    s.payload_bytes = bytes;
    s.frame_bytes = bytes + 66U;
    s.timestamps = timestamps_;
    s.ts_value = stamp();
    s.ts_echo = echo_;
    EXPECT_TRUE(flow.on_data(s, now_, now_));
  }
  void answer(std::uint32_t number, TcpView s) { answer(number, s, stamp()); }
  void answer(std::uint32_t number, TcpView s, std::uint32_t ts_value) {
    s.acknowledgment = number;
    s.window = 60'000;
    s.timestamps = timestamps_;
    s.ts_value = ts_value;
    EXPECT_TRUE(flow.on_answer(s, now_));
    if (!s.syn) flow.leave_alone(s);
  }

  Duration up_, down_;
  bool timestamps_;
  Time now_{1s};
  std::uint32_t next_ = kFirst, echo_ = 0;
};

TEST(WindowFlowRtt, BeginsWithTheHandshake) { EXPECT_EQ(Connection(3ms, 2ms, true).rtt(), 5ms); }

TEST(WindowFlowRtt, FollowsThePath) {
  struct Row {
    const char* what;
    bool timestamps;
    Duration up, down;          ///< from the sixth second on
    Duration later, shows_rtt;  ///< how much later the round trip is read
  };
  constexpr std::array kRows{
      Row{"longer, after two spans", true, 9ms, 4ms, 150s, 13ms},
      Row{"longer, not yet", true, 9ms, 4ms, 10s, 5ms},
      Row{"shorter, at once", true, 1ms, 1ms, 1s, 2ms},
      Row{"without timestamps the upper half stays", false, 9ms, 4ms, 150s, 7ms},
  };
  for (const Row& row : kRows) {
    Connection c(3ms, 2ms, row.timestamps);
    c.run(20, 250us, 5s);
    EXPECT_EQ(c.rtt(), 5ms) << row.what;
    c.move(row.up, row.down);
    c.run(20, 250us, row.later);
    EXPECT_EQ(c.rtt(), row.shows_rtt) << row.what;
  }
}

TEST(WindowFlowRtt, ATimestampThatIsNeverEchoedEndsNothing) {
  Connection c(3ms, 2ms, true);
  c.run(20, 250us, 500ms);
  c.forge_answer();
  c.move(9ms, 4ms);
  c.run(20, 250us, 150s);
  EXPECT_EQ(c.rtt(), 13ms);
}

TEST(WindowFlowRtt, ASilentSenderIsNoLongPath) {
  Connection c(3ms, 2ms, true);
  c.ask(100ms, 0ms, 200s);
  EXPECT_EQ(c.rtt(), 5ms);
}

TEST(WindowFlowRtt, ADelayedAcknowledgmentIsNoLongPath) {
  Connection c(3ms, 2ms, true);
  c.ask(100ms, 40ms, 200s);
  EXPECT_EQ(c.rtt(), 5ms);
}

// Several answers bear one timestamp, and what echoes it may answer the first of them.
TEST(WindowFlowRtt, ACoarseClockDoesNotShortenThePath) {
  Connection c(300us, 200us, true);
  c.run(20, 25us, 130s);
  EXPECT_EQ(c.rtt(), 500us);
}

}  // namespace
}  // namespace outrider::window_flow_rtt_test
