// Goal: where Linux decides otherwise than the RFCs, a sender does what its settings say. Method:
// literal timelines against a scripted peer, and losses that are chosen by segment, with each
// setting and without.
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_stack_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::Application;
using two_ends::datacentre;
using two_ends::establish;
using two_ends::TwoEnds;

constexpr std::uint32_t kMss = 1448;

/// A Reno client without ECN, established at 1 ms, with an initial window of 20. Segments count
/// from the first one.
struct Client {
  explicit Client(const TcpConfig& settings) : config(settings) {
    establish(c);
    c.on_segment(ack_of(0), now);  // carries the scaled window
  }
  static TcpConfig settings() {
    TcpConfig config = datacentre(Controller::kReno);
    config.control.initial_window_segments = 20;
    return config;
  }
  static TcpSegment ack_of(std::uint32_t segments) {
    return {.sequence = 2001,
            .acknowledgment = 1001 + segments * kMss,
            .flags = kTcpAck,
            .window = 60'000};
  }
  /// Writes so many segments. @return the number that leave
  int write(std::uint32_t segments) {
    c.stream().write(segments * kMss);
    return departures();
  }
  int departures() {
    int n = 0;
    while (c.has_segment(now)) n += next_segment(c, now).payload_bytes != 0 ? 1 : 0;
    return n;
  }
  int acked(std::uint32_t segments) {
    c.on_segment(ack_of(segments), now);
    return departures();
  }
  /// SACKs [begin, end) above a hole at `una`.
  int sacked(std::uint32_t una, std::uint32_t begin, std::uint32_t end) {
    TcpSegment s = ack_of(una);
    s.sack_blocks = 1;
    s.sack[0] = {.begin = 1001 + begin * kMss, .end = 1001 + end * kMss};
    c.on_segment(s, now);
    return departures();
  }
  void time_out() {
    now = c.next_timer();
    c.on_timer(now);
    departures();
  }
  [[nodiscard]] std::uint32_t window() const { return c.sender().state().window.bytes() / kMss; }
  [[nodiscard]] std::uint32_t ssthresh() const {
    return c.sender().state().window.control().ssthresh_bytes() / kMss;
  }

  TcpConfig config;
  Time now{1ms};
  TransportMemory memory{{.flights = 1, .segments = 1024, .disorders = 1}};
  Application application;
  TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
};

TcpConfig with(SsthreshBase base) {
  TcpConfig config = Client::settings();
  config.ssthresh_base = base;
  return config;
}

// The application has filled 8 of 20 segments when the first is lost.
TEST(ConnectionStack, AReductionTakesItsShareOfFlightOrWindow) {
  for (const auto& [base, left] :
       {std::pair{SsthreshBase::kFlight, 4U}, std::pair{SsthreshBase::kWindow, 10U}}) {
    Client loss(with(base)), timeout(with(base));
    for (Client* t : {&loss, &timeout}) EXPECT_EQ(t->write(8), 8);
    loss.sacked(0, 1, 4);
    EXPECT_EQ(loss.c.counters().fast_recoveries, 1U);
    EXPECT_EQ(loss.ssthresh(), left);
    timeout.time_out();
    EXPECT_EQ(timeout.c.counters().rtos_data, 1U);
    EXPECT_EQ(timeout.ssthresh(), left);
    EXPECT_EQ(timeout.window(), 1U);
  }
}

// A window of 20 is full. Its first segment is lost, and lost again until the time-out.
TEST(ConnectionStack, ATimeoutWithinARecoveryLeavesTheThresholdOfAWindow) {
  for (const auto& [base, left] :
       {std::pair{SsthreshBase::kFlight, 5U}, std::pair{SsthreshBase::kWindow, 10U}}) {
    Client t(with(base));
    EXPECT_EQ(t.write(100), 20);
    t.sacked(0, 1, 4);
    EXPECT_EQ(t.ssthresh(), 10U);
    t.time_out();
    EXPECT_EQ(t.ssthresh(), left) << "half the flight, which is at most the window of 10";
    // Once the losses are repaired, a time-out is a first one again.
    t.acked(static_cast<std::uint32_t>(t.c.sender().state().stream.nxt() / kMss));
    const std::uint32_t window = t.window();
    t.time_out();
    EXPECT_EQ(t.ssthresh(), std::max(window / 2, 2U));
  }
}

TcpConfig with(WindowUse validation) {
  TcpConfig config = Client::settings();
  config.control.initial_window_segments = 10;
  config.window_validation = validation;
  return config;
}

/// Writes a window of 20 full of segments, so that slow start has it grow to 40. @pre nothing sent
std::uint32_t fill_windows(Client& t) {
  EXPECT_EQ(t.write(30), 10);
  for (std::uint32_t n = 1; n <= 30; ++n) t.acked(n);
  EXPECT_EQ(t.c.stream().acked_bytes(), 30 * kMss);
  return 30;
}

// Slow start grows to twice what is outstanding, but not beyond.
TEST(ConnectionStack, SlowStartGrowsWithoutAFullWindowInLinux) {
  for (const auto rule : {WindowUse::kOff, WindowUse::kLinux}) {
    Client six(with(rule)), five(with(rule));
    EXPECT_EQ(six.write(6), 6);
    EXPECT_EQ(five.write(5), 5);
    for (std::uint32_t n = 1; n <= 4; ++n) {
      six.acked(n);
      five.acked(n);
    }
    EXPECT_EQ(six.window(), rule == WindowUse::kLinux ? 12U : 10U);
    EXPECT_EQ(five.window(), 10U);
  }
}

// The application writes two segments a millisecond into a window of 30 or more. After an RTO of
// that, Linux takes half of what is not used, but no more than down to the initial window.
TEST(ConnectionStack, AWindowThatIsNotUsedFallsInLinux) {
  for (const auto rule : {WindowUse::kOff, WindowUse::kLinux}) {
    Client t(with(rule));
    std::uint32_t sent = fill_windows(t);
    const std::uint32_t before = t.window(), threshold = t.ssthresh();
    ASSERT_GT(before, 20U);
    const auto write_for = [&](int ms) {
      for (int i = 0; i < ms; ++i) {
        EXPECT_EQ(t.write(2), 2);
        t.now += 1ms;
        t.acked(sent += 2);
      }
    };
    write_for(9);
    EXPECT_EQ(t.window(), before) << "less than the RTO of 10 ms";
    write_for(3);
    const bool like_linux = rule == WindowUse::kLinux;
    EXPECT_EQ(t.window(), like_linux ? (before + 10) / 2 : before);
    EXPECT_EQ(t.ssthresh(), threshold) << "above three quarters of the window";
    write_for(200);
    EXPECT_EQ(t.window(), like_linux ? 10 : before);
  }
}

// The peer's window holds 2 of many segments: the application is not slow.
TEST(ConnectionStack, AWindowThatThePeerHoldsStays) {
  Client t(with(WindowUse::kLinux));
  std::uint32_t sent = fill_windows(t);
  const std::uint32_t before = t.window();
  TcpSegment held = Client::ack_of(sent);
  held.window = 2 * kMss / 4;
  t.c.on_segment(held, t.now);
  EXPECT_EQ(t.write(1000), 2);
  for (int i = 0; i < 50; ++i) {
    t.now += 1ms;
    held.acknowledgment += 2 * kMss;
    t.c.on_segment(held, t.now);
    EXPECT_EQ(t.departures(), 2);
  }
  EXPECT_EQ(t.window(), before);
}

struct LossesOf {
  std::uint32_t segment;
  int times;  ///< its first so many transmissions are lost
};

/// Sends `segments` with RACK-TLP, of which some are lost. @return the client
class Repaired {
 public:
  Repaired(LostRetransmission rule, std::uint32_t segments, std::initializer_list<LossesOf> losses)
      : losses_(losses), ends_(options(rule)) {
    ends_.client().open(ends_.now());
    ends_.client().stream().write(segments * kMss);
    ends_.run_for(1s);
    EXPECT_EQ(ends_.server().receiver().delivered_bytes(), std::uint64_t{segments} * kMss);
  }
  [[nodiscard]] std::uint32_t ssthresh() {
    return ends_.client().sender().state().window.control().ssthresh_bytes() / kMss;
  }
  [[nodiscard]] TcpCounters counters() { return ends_.client().counters(); }

 private:
  TwoEnds::Options options(LostRetransmission rule) {
    TwoEnds::Options o{.config = datacentre(Controller::kReno)};
    o.config.loss_detection = LossDetection::kRackTlp;
    o.config.lost_retransmission = rule;
    o.wires[0].drop = [this](TcpSegment& s, std::uint64_t) {
      for (LossesOf& l : losses_)
        if (s.payload_bytes != 0 && s.sequence == 1001 + l.segment * kMss) return l.times-- > 0;
      return false;
    };
    return o;
  }

  std::vector<LossesOf> losses_;
  TwoEnds ends_;
};

TEST(ConnectionStack, ALostRetransmissionReducesOnceMoreOrNot) {
  Repaired twice(LostRetransmission::kReduces, 200, {{40, 2}});
  Repaired once(LostRetransmission::kLinux, 200, {{40, 2}});
  for (Repaired* t : {&twice, &once}) {
    EXPECT_EQ(t->counters().rtos_data, 0U);
    EXPECT_EQ(t->counters().retransmitted, 2U);
    EXPECT_EQ(t->counters().fast_recoveries, 1U);
  }
  EXPECT_EQ(once.ssthresh(), Repaired(LostRetransmission::kLinux, 200, {{40, 1}}).ssthresh());
  EXPECT_EQ(twice.ssthresh(), once.ssthresh() / 2);
}

// The tail is lost, and the probe of it. After the time-out the seventh segment is lost again,
// which the eighth shows.
TEST(ConnectionStack, ALostRetransmissionAfterATimeoutBeginsARecoveryInLinux) {
  for (const auto rule : {LostRetransmission::kReduces, LostRetransmission::kLinux}) {
    Repaired t(rule, 10, {{5, 1}, {6, 2}, {7, 1}, {8, 1}, {9, 2}});
    EXPECT_EQ(t.counters().rtos_data, 1U);
    EXPECT_EQ(t.counters().fast_recoveries, rule == LostRetransmission::kLinux ? 1U : 0U);
    EXPECT_EQ(t.ssthresh(), 2U);
  }
}

}  // namespace
}  // namespace outrider::connection_stack_test
