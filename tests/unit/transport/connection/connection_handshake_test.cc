// Goal: a lost SYN or SYN-ACK has the right effect on the data that follow.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_handshake_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::TwoEnds;

struct FirstFlight {
  std::uint64_t segments = 0;  ///< data segments before any ACK of data can arrive
  Duration rto{};              ///< RTO of the first of these
};

/// Returns the first flight when `writer` writes 30 segments.
/// @param client,server whether the first segment of this end is lost
FirstFlight first_flight(Controller controller, bool client, bool server, std::size_t writer) {
  TwoEnds::Options o{.config = datacentre(controller)};
  o.config.initial_rto = 1s;
  if (controller == Controller::kUnresponsive) o.config.control.rate = BitRate{10'000'000'000};
  o.wires[0].drop = [client](TcpSegment&, std::uint64_t n) { return client && n == 0; };
  o.wires[1].drop = [server](TcpSegment&, std::uint64_t n) { return server && n == 0; };
  std::uint64_t data = 0;
  o.wires[writer].extra = [&data](const TcpSegment& s, std::uint64_t) {
    data += s.payload_bytes != 0 ? 1 : 0;
    return s.payload_bytes != 0 ? Duration{100s} : Duration{};  // no data arrives
  };
  TwoEnds t(std::move(o));
  TcpConnection& c = writer == 0 ? t.client() : t.server();
  t.client().open(t.now());
  c.stream().write(30 * 1448);
  while (c.state() != ConnectionState::kEstablished) t.run_for(1us);
  const Time established = t.now();
  t.run_for(100us);
  EXPECT_EQ(c.counters().rtos_data, 0U);
  return {data, c.next_timer() - established};
}

TEST(ConnectionHandshake, ALostSynLeavesAWindowOfOneSegment) {
  for (const auto controller : {Controller::kReno, Controller::kCubic, Controller::kDctcp}) {
    for (const std::size_t writer : {0U, 1U}) {
      const FirstFlight usual = first_flight(controller, false, false, writer);
      EXPECT_EQ(usual.segments, 10U);
      EXPECT_LT(usual.rto, 20ms);
      const FirstFlight after = first_flight(controller, writer == 0, writer == 1, writer);
      EXPECT_EQ(after.segments, 1U) << "RFC 5681, 3.1";
      EXPECT_NEAR(seconds(after.rto), 3.0, 0.001) << "RFC 6298, 5.7";
    }
  }
}

// If a SYN-ACK is lost, the client does not know why it took long, but has sent a second SYN by
// then. A server does not notice that its client's first SYN was lost.
TEST(ConnectionHandshake, OnlyWhoTimedOutRestarts) {
  EXPECT_EQ(first_flight(Controller::kReno, true, false, 1).segments, 10U);
  EXPECT_EQ(first_flight(Controller::kReno, false, true, 0).segments, 1U);
}

TEST(ConnectionHandshake, AnUnresponsiveSenderDoesNotMind) {
  EXPECT_EQ(first_flight(Controller::kUnresponsive, true, false, 0).segments, 10U);
}

TEST(ConnectionHandshake, SlowStartFollows) {
  TwoEnds::Options o{.config = datacentre(Controller::kReno)};
  o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n == 0; };
  TwoEnds t(std::move(o));
  two_ends::transfer(t, 1'000'000);
  two_ends::expect_done(t, 1'000'000);
  EXPECT_EQ(t.client().counters().retransmitted, 0U);
  EXPECT_GT(t.client().sender().state().window.bytes(), 100U * 1448U);
}

}  // namespace
}  // namespace outrider::connection_handshake_test
