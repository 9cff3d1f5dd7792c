// Goal: a paced sender's segments leave at its rate, and it wakes for them in time. It makes up
// only for delays that it did not cause. Method: literal timelines.
#include <gtest/gtest.h>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_pacing_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::Application;
using two_ends::datacentre;
using two_ends::establish;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

/// Returns an unresponsive sender: 1000 bytes at 80 Mbit/s, one segment every 100 us.
TcpConfig unresponsive() {
  TcpConfig c = datacentre(Controller::kUnresponsive);
  c.control.rate = BitRate{80'000'000};
  c.mss_bytes = 1000;
  return c;
}

/// A client whose connection is established at 1 ms.
struct Client {
  explicit Client(const TcpConfig& tcp, std::uint64_t bytes) : config(tcp) {
    establish(c);
    c.stream().write(bytes);
  }
  void ack(std::uint32_t bytes, Time now) {
    c.on_segment(
        {.sequence = 2001, .acknowledgment = 1001 + bytes, .flags = kTcpAck, .window = 65535}, now);
  }
  /// Returns the number of data segments that leave now.
  std::size_t departures(Time now) {
    if (now >= c.next_timer()) c.on_timer(now);
    std::size_t n = 0;
    while (c.has_segment(now)) n += next_segment(c, now).payload_bytes != 0 ? 1 : 0;
    return n;
  }
  TcpConfig config;
  TransportMemory memory{{.flights = 1, .segments = 1024, .disorders = 1}};
  Application application;
  TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
};

TEST(ConnectionPacing, OneEachGapAndATimerForIt) {
  Client t(unresponsive(), 100'000);
  EXPECT_EQ(t.departures(Time{1ms}), 1U);
  for (int i = 1; i <= 4; ++i) {
    const Time due{1ms + i * 100us};
    EXPECT_EQ(t.c.next_timer(), due);
    EXPECT_EQ(t.departures(due - 1ns), 0U);
    EXPECT_EQ(t.departures(due), 1U);
  }
}

TEST(ConnectionPacing, AnOwnersLatenessIsMadeUpFor) {
  Client t(unresponsive(), 100'000);
  EXPECT_EQ(t.departures(Time{1ms}), 1U);
  EXPECT_EQ(t.departures(Time{1ms + 199us}), 1U) << "99 us late";
  EXPECT_EQ(t.departures(Time{1ms + 200us}), 1U) << "on schedule again";
  EXPECT_EQ(t.departures(Time{1ms + 600us}), 1U) << "300 us late: 200 are lost";
  EXPECT_EQ(t.c.next_timer(), Time{1ms + 700us});
}

TEST(ConnectionPacing, AnIdleSendersTimeIsNot) {
  Client t(unresponsive(), 2'000);
  EXPECT_EQ(t.departures(Time{1ms}), 1U);
  EXPECT_EQ(t.departures(Time{1100us}), 1U);
  EXPECT_NE(t.c.next_timer(), Time{1200us}) << "nothing to send";
  t.c.stream().write(5'000);
  EXPECT_EQ(t.departures(Time{1250us}), 1U) << "free since 1.2 ms";
  EXPECT_EQ(t.c.next_timer(), Time{1350us}) << "the 50 us are gone";
}

TEST(ConnectionPacing, AcksDoNotWait) {
  Client t(unresponsive(), 100'000);
  EXPECT_EQ(t.departures(Time{1ms}), 1U);
  TcpSegment s{.sequence = 2001, .acknowledgment = 1001, .flags = kTcpAck, .window = 65535};
  s.payload_bytes = 100;
  s.sequence += 100;  // after a hole, so it is acknowledged at once
  t.c.on_segment(s, Time{1010us});
  ASSERT_TRUE(t.c.has_segment(Time{1010us}));
  EXPECT_EQ(next_segment(t.c, Time{1010us}).payload_bytes, 0U);
  EXPECT_EQ(t.departures(Time{1099us}), 0U);
  EXPECT_EQ(t.departures(Time{1100us}), 1U);
}

// Linux's ratios: 2 windows per round trip in slow start, 1.2 above half of ssthresh.
TEST(ConnectionPacing, ThePaceIsThatOfTheWindow) {
  TcpConfig tcp = datacentre(Controller::kReno);
  tcp.mss_bytes = 1000;
  tcp.pacing = true;
  Client t(tcp, 100'000);
  EXPECT_EQ(t.departures(Time{1ms}), 1U);
  EXPECT_EQ(t.c.next_timer(), Time{1050us}) << "10 segments, 1 ms: 20 a millisecond";
  Time now{1ms};
  for (int i = 1; i < 10; ++i) EXPECT_EQ(t.departures(now += 50us), 1U);
  EXPECT_EQ(t.departures(now += 50us), 0U) << "the window";
  // Three duplicates halve the window to 5 segments, which is above half of ssthresh.
  for (std::uint32_t i = 1; i <= 9; ++i) {
    TcpSegment s{.sequence = 2001, .acknowledgment = 1001, .flags = kTcpAck, .window = 65535};
    s.sack_blocks = 1;
    s.sack[0] = {2001, 2001 + i * 1000};
    t.c.on_segment(s, Time{2ms});
  }
  EXPECT_EQ(t.c.sender().state().window.bytes(), 5000U);
  EXPECT_EQ(t.departures(Time{2ms}), 1U) << "the lost one";
  EXPECT_EQ(t.c.next_timer(), Time{2ms} + Duration{166'667}) << "1000 / (1.2 * 5000 / 1 ms)";
}

TEST(ConnectionPacing, WithoutItNothingWaits) {
  TcpConfig tcp = datacentre(Controller::kReno);
  Client t(tcp, 100'000);
  EXPECT_EQ(t.departures(Time{1ms}), 10U);
}

TEST(ConnectionPacing, DeliversWhateverIsLost) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    TwoEnds::Options o{.config = datacentre(static_cast<Controller>(seed % 4)), .seed = seed};
    if (seed % 4 == 3) o.config.control.rate = BitRate{2'000'000'000};
    o.config.pacing = true;
    o.config.sack = seed % 3 != 0;
    if (seed % 3 == 1) o.config.loss_detection = LossDetection::kRackTlp;
    o.wires[0].loss = 0.02;
    o.wires[1].loss = 0.01;
    TwoEnds t(std::move(o));
    transfer(t, 500'000, 50'000);
    expect_done(t, 500'000, 50'000);
  }
}

}  // namespace
}  // namespace outrider::connection_pacing_test
