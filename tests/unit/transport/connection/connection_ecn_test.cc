// Goal: marks are echoed and obeyed once per window, as in RFC 3168 and RFC 8257.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_ecn_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

// The echo continues until CWR has arrived. ACKs of the window that was already reduced
// cause no other reduction, not even the ACK that completes it.
TEST(ConnectionEcn, EchoOfTheReducedWindowIsNoNews) {
  TwoEnds::Options o{.config = datacentre(Controller::kReno)};
  o.wires[0].drop = [](TcpSegment& s, std::uint64_t n) {
    if (n == 1) s.ecn = Ecn::kCe;
    return false;
  };
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.client().stream().write(10 * 1448);
  t.run_for(50ms);
  EXPECT_EQ(t.client().stream().acked_bytes(), 10 * 1448U);
  EXPECT_EQ(t.client().counters().ece_reductions, 1U);
  EXPECT_EQ(t.client().sender().state().window.bytes(), 5 * 1448U);
}

TEST(ConnectionEcn, LossAndMarkOfOneWindowAreOneReduction) {
  TwoEnds::Options o{.config = datacentre(Controller::kReno)};
  o.config.control.initial_window_segments = 20;
  o.wires[0].drop = [](TcpSegment& s, std::uint64_t n) {
    if (n == 1) s.ecn = Ecn::kCe;
    return n == 10;
  };
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.client().stream().write(20 * 1448);
  t.run_for(8ms);
  EXPECT_EQ(t.client().stream().acked_bytes(), 20 * 1448U);
  EXPECT_EQ(t.client().counters().ece_reductions, 1U);
  EXPECT_EQ(t.client().counters().fast_recoveries, 1U);
  EXPECT_EQ(t.client().sender().state().window.bytes(), 10 * 1448U);
}

// RFC 3168, 6.1.1: a SYN-ACK that reflects both flags comes from a broken peer.
TEST(ConnectionEcn, ReflectedEcnFlagsNegotiateNothing) {
  TwoEnds::Options o{.config = datacentre()};
  std::uint64_t ect = 0;
  o.wires[0].drop = [&](TcpSegment& s, std::uint64_t) {
    ect += s.ecn != Ecn::kNotEct;
    return false;
  };
  o.wires[1].drop = [](TcpSegment& s, std::uint64_t n) {
    if (n == 0) s.flags |= kTcpCwr;
    return false;
  };
  TwoEnds t(std::move(o));
  transfer(t, 100'000);
  expect_done(t, 100'000);
  EXPECT_EQ(ect, 0U);
}

TEST(ConnectionEcn, RetransmissionsAreNotEctUnlessDctcp) {
  for (const Controller c : {Controller::kReno, Controller::kDctcp}) {
    TwoEnds::Options o{.config = datacentre(c)};
    std::vector<Ecn> seen;
    std::uint32_t lost = 0;
    o.wires[0].drop = [&](TcpSegment& s, std::uint64_t n) {
      if (n == 5) lost = s.sequence;
      if (lost != 0 && s.sequence == lost) seen.push_back(s.ecn);
      return n == 5;
    };
    TwoEnds t(std::move(o));
    transfer(t, 100'000);
    expect_done(t, 100'000);
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], Ecn::kEct0);
    EXPECT_EQ(seen[1], c == Controller::kDctcp ? Ecn::kEct0 : Ecn::kNotEct);
  }
}

// After one CE the echo lasts until CWR, and the window is reduced once.
TEST(ConnectionEcn, OneMarkIsOneReductionAndOneCwr) {
  for (const bool obey : {true, false}) {
    TcpConfig config = datacentre(Controller::kReno);
    config.obey_ece = obey;
    TwoEnds::Options o{.config = config};
    std::uint64_t cwrs = 0, eces = 0;
    o.wires[0].drop = [&](TcpSegment& s, std::uint64_t n) {
      if (n == 30) s.ecn = Ecn::kCe;
      if (s.has(kTcpCwr) && !s.has(kTcpSyn)) ++cwrs;
      return false;
    };
    o.wires[1].drop = [&](TcpSegment& s, std::uint64_t) {
      if (s.has(kTcpEce) && !s.has(kTcpSyn)) ++eces;
      return false;
    };
    TwoEnds t(std::move(o));
    transfer(t, 1'000'000);
    expect_done(t, 1'000'000);
    EXPECT_EQ(t.server().counters().ce_received, 1U);
    EXPECT_EQ(t.client().counters().ece_reductions, obey ? 1U : 0U);
    EXPECT_EQ(cwrs, obey ? 1U : 0U);
    EXPECT_GT(eces, 1U);
  }
}

TEST(ConnectionEcn, DctcpEchoesExactlyTheMarkedBytes) {
  TwoEnds::Options o{.config = datacentre(Controller::kDctcp)};
  std::uint64_t marked = 0, echoed = 0;
  std::uint32_t last_ack = 1001;
  o.wires[0].drop = [&](TcpSegment& s, std::uint64_t n) {
    if (s.ecn == Ecn::kEct0 && (n % 7 == 3 || n % 11 < 3)) {
      s.ecn = Ecn::kCe;
      marked += s.payload_bytes;
    }
    return false;
  };
  o.wires[1].drop = [&](TcpSegment& s, std::uint64_t) {
    if (s.has(kTcpSyn)) return false;
    if (s.has(kTcpEce)) echoed += s.acknowledgment - last_ack;
    last_ack = s.acknowledgment;
    return false;
  };
  TwoEnds t(std::move(o));
  transfer(t, 144'800 * 5);
  expect_done(t, 144'800 * 5);
  EXPECT_GT(marked, 100'000U);
  EXPECT_GE(echoed, marked);
  EXPECT_LE(echoed, marked + 1) << "the FIN may share the last segment's ACK";
}

}  // namespace
}  // namespace outrider::connection_ecn_test
