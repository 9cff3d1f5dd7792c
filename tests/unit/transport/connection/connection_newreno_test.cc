// Goal: without SACK, losses are repaired as in NewReno (RFC 6582), one per round trip, with
// one reduction per window and none for duplicates that recovery itself causes.
// Method: literal timelines against a scripted peer; then random losses between two ends.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_newreno_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::Application;
using two_ends::datacentre;
using two_ends::establish;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

constexpr std::uint32_t kMss = 1448;
constexpr std::uint16_t kWindow = 60'000;  ///< scaled by 4, more than all data

/// A Reno client, established at 1 ms with 100 segments to send and 10 in flight, whose
/// peer has no SACK.
struct Client {
  Client() {
    establish(c, kWindow, false);
    c.stream().write(100 * kMss);
    c.on_segment(ack_of(0), Time{1ms});  // carries the scaled window
    EXPECT_EQ(departures(Time{1ms}).size(), 10U);
  }
  static TcpSegment ack_of(std::uint32_t segments) {
    return {.sequence = 2001,
            .acknowledgment = 1001 + segments * kMss,
            .flags = kTcpAck,
            .window = kWindow};
  }
  /// Returns the indices of the segments that leave now.
  std::vector<std::uint32_t> departures(Time now) {
    std::vector<std::uint32_t> out;
    while (c.has_segment(now)) {
      const TcpSegment s = next_segment(c, now);
      if (s.payload_bytes != 0) out.push_back((s.sequence - 1001) / kMss);
    }
    return out;
  }
  /// Delivers an ACK. @return the segments that leave then
  std::vector<std::uint32_t> ack(std::uint32_t segments, Time now) {
    c.on_segment(ack_of(segments), now);
    return departures(now);
  }
  TcpConfig config = datacentre(Controller::kReno);
  TransportMemory memory{{.flights = 1, .segments = 1024, .disorders = 1}};
  Application application;
  TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
};

using Segments = std::vector<std::uint32_t>;

TEST(NewReno, TwoLossesTakeTwoRoundTripsAndOneReduction) {
  Client t;
  // Segments 0 and 4 are lost; 1, 2, 3, 5, ... 9 arrive, and 10 and 11 after them.
  EXPECT_EQ(t.ack(0, Time{2ms}), (Segments{10})) << "limited transmit (RFC 3042)";
  EXPECT_EQ(t.ack(0, Time{2ms}), (Segments{11}));
  EXPECT_EQ(t.c.counters().fast_recoveries, 0U);
  EXPECT_EQ(t.ack(0, Time{2ms}), (Segments{0})) << "fast retransmit";
  EXPECT_EQ(t.c.sender().state().window.bytes(), 5 * kMss) << "half the window that the loss found";
  EXPECT_EQ(t.c.sender().state().scoreboard.pipe_bytes(), 9 * kMss)
      << "12 less 3 that have arrived";
  for (int n = 4; n <= 7; ++n) EXPECT_EQ(t.ack(0, Time{2ms}), Segments{}) << n;
  EXPECT_EQ(t.ack(0, Time{2ms}), (Segments{12})) << "8 have arrived, 12 <= 5 + 8 leave one";
  EXPECT_EQ(t.ack(0, Time{3ms}), (Segments{13}));
  EXPECT_EQ(t.ack(0, Time{3ms}), (Segments{14})) << "10: all but 0 and 4";
  // The resent 0 arrives: a partial ACK. Inflation 10 - 4 + 1 = 7.
  EXPECT_EQ(t.ack(4, Time{4ms}), (Segments{4, 15})) << "the next hole, and what 5 + 7 allow";
  EXPECT_EQ(t.c.sender().state().window.bytes(), 5 * kMss) << "no second reduction";
  EXPECT_EQ(t.ack(4, Time{4ms}), (Segments{16})) << "for 12";
  // The resent 4 arrives. The recovery point is 12, and 13 has arrived as well.
  EXPECT_EQ(t.ack(13, Time{5ms}), (Segments{17})) << "full: 4 in flight of 5";
  EXPECT_EQ(t.c.sender().state().window.bytes(), 5 * kMss);
  EXPECT_EQ(t.c.counters().fast_recoveries, 1U);
  EXPECT_EQ(t.c.counters().retransmitted, 2U);
  EXPECT_EQ(t.c.counters().rtos_data, 0U);
}

TEST(NewReno, OnlyTrueDuplicatesCount) {
  Client t;
  TcpSegment s = Client::ack_of(0);
  s.payload_bytes = 10;
  t.c.on_segment(s, Time{2ms});
  EXPECT_EQ(t.departures(Time{2ms}), Segments{}) << "carries data";
  s = Client::ack_of(0);
  s.sequence += 10;
  ++s.window;
  t.c.on_segment(s, Time{2ms});
  EXPECT_EQ(t.departures(Time{2ms}), Segments{}) << "moves the window";
  t.c.on_segment(Client::ack_of(0), Time{2ms});
  EXPECT_EQ(t.departures(Time{2ms}), Segments{}) << "an older window";
  EXPECT_EQ(t.ack(1, Time{3ms}), (Segments{10, 11})) << "slow start";
  s.acknowledgment = 1001;
  t.c.on_segment(s, Time{3ms});
  EXPECT_EQ(t.departures(Time{3ms}), Segments{}) << "an overtaken ACK";
}

// RFC 6582, 3.2, step 2: duplicate ACKs that answer a time-out's unnecessary segments.
TEST(NewReno, ATimeoutsOwnDuplicatesStartNothing) {
  Client t;
  const Time rto = t.c.next_timer();
  t.c.on_timer(rto);
  EXPECT_EQ(t.departures(rto), (Segments{0}));
  EXPECT_EQ(t.ack(1, rto + 1ms), (Segments{1, 2}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(t.ack(1, rto + 1ms), Segments{}) << "below the point";
  // All data had arrived and only ACKs were lost, so 1 and 2 are duplicates for the peer.
  EXPECT_EQ(t.ack(10, rto + 2ms), (Segments{10, 11, 12}));
  for (int i = 0; i < 2; ++i) t.ack(10, rto + 2ms);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(t.ack(10, rto + 2ms), Segments{}) << "at the point";
  EXPECT_EQ(t.c.counters().fast_recoveries, 0U);
  // Beyond the recovery point, duplicate ACKs mean a loss again.
  t.ack(11, rto + 3ms);
  for (int i = 0; i < 2; ++i) t.ack(11, rto + 3ms);
  EXPECT_EQ(t.ack(11, rto + 3ms), (Segments{11}));
  EXPECT_EQ(t.c.counters().fast_recoveries, 1U);
}

TEST(NewReno, ALostRetransmissionWaitsForTheTimeout) {
  Client t;
  for (int i = 0; i < 12; ++i) t.ack(0, Time{2ms});
  EXPECT_EQ(t.c.counters().retransmitted, 1U);
  const Time rto = t.c.next_timer();
  t.c.on_timer(rto);
  EXPECT_EQ(t.c.counters().rtos_data, 1U);
  EXPECT_EQ(t.departures(rto), (Segments{0}));
  EXPECT_EQ(t.c.sender().state().scoreboard.pipe_bytes(), kMss)
      << "nothing is taken to have arrived";
}

/// Transfers a megabyte with losses. @return the client's counters
TcpCounters lossy_transfer(bool sack, std::uint64_t seed, double loss) {
  TwoEnds::Options o{.config = datacentre(static_cast<Controller>(seed % 3)), .seed = seed};
  o.config.sack = sack;
  o.wires[0].loss = loss;
  o.wires[1].loss = loss / 4;
  o.wires[0].reorder = seed % 2 == 0 ? 0.01 : 0;
  TwoEnds t(std::move(o));
  transfer(t, 1'000'000, 50'000);
  expect_done(t, 1'000'000, 50'000);
  EXPECT_EQ(t.memory(0).events.invalid() + t.memory(1).events.invalid(), 0U);
  EXPECT_EQ(t.memory(0).flights.lent(), 0U);
  return t.client().counters();
}

TEST(NewReno, DeliversWhateverIsLost) {
  std::uint64_t recoveries = 0, rtos = 0, retransmitted = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const TcpCounters n = lossy_transfer(false, seed, 0.03 * static_cast<double>(seed % 4) / 3);
    recoveries += n.fast_recoveries;
    rtos += n.rtos_data;
    retransmitted += n.retransmitted;
  }
  EXPECT_GT(recoveries, 200U);
  EXPECT_GT(rtos, 10U);
  EXPECT_GT(retransmitted, 500U);
}

// The control: a single loss costs a recovery but no time-out, with SACK and without.
TEST(NewReno, SingleLossesNeedNoTimeout) {
  for (const bool sack : {false, true}) {
    for (std::uint64_t lost = 3; lost < 300; lost += 13) {
      TwoEnds::Options o{.config = datacentre()};
      o.config.sack = sack;
      o.wires[0].drop = [lost](TcpSegment&, std::uint64_t n) { return n == lost; };
      TwoEnds t(std::move(o));
      transfer(t, 1'000'000);
      expect_done(t, 1'000'000);
      EXPECT_EQ(t.client().counters().retransmitted, 1U) << lost;
      EXPECT_EQ(t.client().counters().fast_recoveries, 1U) << lost;
      EXPECT_EQ(t.client().counters().rtos_data, 0U) << lost;
    }
  }
}

}  // namespace
}  // namespace outrider::connection_newreno_test
