// Goal: two ends of the real thing deliver every byte once and in order over
// wires that lose and reorder, and recover by the means they should.
#include "trafficgen/transport/connection.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/unit/transport/two_ends.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;
using testing::Impairment;
using testing::TwoEnds;

TcpConfig datacentre(Controller controller = Controller::kCubic) {
  TcpConfig c;
  c.control.controller = controller;
  c.min_rto = 10ms;
  c.initial_rto = 100ms;
  c.delayed_ack = 1ms;
  return c;
}

std::uint64_t seeds() {
  const char* full = std::getenv("OUTRIDER_FULL");
  return full != nullptr && std::string_view(full) == "1" ? 1000 : 50;
}

// Sends `bytes` from the client, closes both ends, runs to rest.
void transfer(TwoEnds& t, std::uint64_t bytes, std::uint64_t reply = 0) {
  t.client().open(t.now());
  t.client().send(bytes, t.now());
  t.client().close(t.now());
  t.server().send(reply, t.now());
  t.server().close(t.now());
  t.run();
}

void expect_done(TwoEnds& t, std::uint64_t bytes, std::uint64_t reply = 0) {
  EXPECT_EQ(t.server().delivered_bytes(), bytes);
  EXPECT_EQ(t.client().delivered_bytes(), reply);
  EXPECT_EQ(t.client().acked_bytes(), bytes);
  EXPECT_EQ(t.client().in_flight_bytes(), 0U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(t.application(i).established);
    EXPECT_EQ(t.application(i).closed, 1);
  }
  EXPECT_TRUE(t.client().closed() && !t.client().reset());
  EXPECT_TRUE(t.server().closed() && !t.server().reset());
}

TEST(Connection, TransfersWithoutLossAndWithoutSurprise) {
  TwoEnds t({.config = datacentre()});
  transfer(t, 3'000'000, 500);
  expect_done(t, 3'000'000, 500);
  for (TcpConnection* c : {&t.client(), &t.server()}) {
    EXPECT_EQ(c->counters().retransmitted, 0U);
    EXPECT_EQ(c->counters().invalid_received, 0U);
    EXPECT_EQ(c->counters().duplicates_received, 0U);
    EXPECT_EQ(c->counters().rtos_data, 0U);
  }
  EXPECT_GE(t.client().srtt(), 100us);
  EXPECT_LT(t.client().srtt(), 5ms);
  // Delayed ACKs: about one for two segments.
  EXPECT_LT(t.departed(1), t.departed(0) * 6 / 10);
}

TEST(Connection, TransfersNothing) {
  TwoEnds t({.config = datacentre()});
  transfer(t, 0);
  expect_done(t, 0);
  EXPECT_EQ(t.departed(0), 3U) << "SYN, FIN with the ACK, ACK of the peer's FIN";
}

TEST(Connection, SequenceNumbersWrap) {
  for (std::uint32_t before = 0; before < 3000; before += 149) {
    TwoEnds::Options o{.config = datacentre(), .initial_sequence = {0U - before, 0xFFFFFFFFU}};
    o.wires[0].loss = 0.02;
    TwoEnds t(std::move(o));
    transfer(t, 200'000, 20'000);
    expect_done(t, 200'000, 20'000);
    EXPECT_EQ(t.client().counters().invalid_received, 0U);
  }
}

TEST(Connection, MoreThan4GibibytesWrapTheStreamOffset) {
  TcpConfig config = datacentre();
  config.control.mss_bytes = 60'000;
  config.receive_buffer_bytes = 64U << 20;
  TwoEnds t({.config = config});
  transfer(t, 5'000'000'000);
  expect_done(t, 5'000'000'000);
}

TEST(Connection, OneLossIsRepairedBySackWithoutTimeout) {
  TwoEnds::Options o{.config = datacentre()};
  o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n == 20; };
  TwoEnds t(std::move(o));
  transfer(t, 1'000'000);
  expect_done(t, 1'000'000);
  EXPECT_EQ(t.client().counters().retransmitted, 1U);
  EXPECT_EQ(t.client().counters().fast_recoveries, 1U);
  EXPECT_EQ(t.client().counters().rtos_data, 0U);
  EXPECT_EQ(t.server().counters().duplicates_received, 0U);
}

TEST(Connection, ManyLossesOfOneWindowAreOneRecovery) {
  TwoEnds::Options o{.config = datacentre(Controller::kReno)};
  o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n >= 40 && n < 60 && n % 3 == 0; };
  TwoEnds t(std::move(o));
  transfer(t, 1'000'000);
  expect_done(t, 1'000'000);
  EXPECT_EQ(t.client().counters().retransmitted, 6U);
  EXPECT_EQ(t.client().counters().fast_recoveries, 1U);
  EXPECT_EQ(t.client().counters().rtos_data, 0U);
}

TEST(Connection, LossOfEachHandshakeAndClosingSegment) {
  // {end, its n-th departure}: SYN, third ACK, FIN; SYN-ACK, ACK, FIN
  const std::pair<std::size_t, std::uint64_t> kLost[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4},
                                                         {1, 0}, {1, 1}, {1, 2}, {1, 3}};
  for (const std::uint64_t bytes : {0ULL, 1000ULL}) {
    for (const auto& [end, number] : kLost) {
      TwoEnds::Options o{.config = datacentre()};
      o.wires[end].drop = [number](TcpSegment&, std::uint64_t n) { return n == number; };
      TwoEnds t(std::move(o));
      transfer(t, bytes);
      expect_done(t, bytes);
      if (number == 0) {
        EXPECT_GT(t.client().counters().rtos_handshake + t.server().counters().rtos_handshake, 0U);
      }
    }
  }
}

TEST(Connection, LostAcksAreCoveredByLaterOnes) {
  TwoEnds::Options o{.config = datacentre()};
  o.wires[1].drop = [](TcpSegment&, std::uint64_t n) { return n != 0 && n % 2 == 0; };
  TwoEnds t(std::move(o));
  transfer(t, 1'000'000);
  expect_done(t, 1'000'000);
  EXPECT_LE(t.client().counters().retransmitted, 1U) << "at most the FIN";
}

TEST(Connection, SpuriousTimeoutLosesNothing) {
  // All ACKs of one period take 60 ms: the RTO expires although all data arrived.
  TwoEnds::Options o{.config = datacentre(Controller::kReno)};
  o.wires[1].reorder = 0.3;
  o.wires[1].late = 60ms;
  TwoEnds t(std::move(o));
  transfer(t, 300'000);
  expect_done(t, 300'000);
  TwoEnds::Options p{.config = datacentre(Controller::kReno)};
  p.wires[0].reorder = 0.05;
  p.wires[0].late = 60ms;
  TwoEnds u(std::move(p));
  transfer(u, 300'000);
  expect_done(u, 300'000);
  EXPECT_GT(u.client().counters().rtos_data + u.client().counters().fast_recoveries, 0U);
  EXPECT_GT(u.server().counters().duplicates_received, 0U);
}

TEST(Connection, RandomLossAndReorderingDeliverEveryByteOnce) {
  TcpCounters sum[2];
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    RandomStream draw(seed, 1, RandomPurpose::kTest);
    TwoEnds::Options o{.config = datacentre(static_cast<Controller>(seed % 3)), .seed = seed};
    for (Impairment& wire : o.wires) {
      wire.loss = draw.uniform() * 0.05;
      wire.reorder = draw.uniform() * 0.05;
      wire.late = Duration{static_cast<std::int64_t>(draw.uniform() * 100'000)};
    }
    const bool congested = seed % 2 == 0;
    if (congested) {
      o.wires[0].drop = [n = 0](TcpSegment& s, std::uint64_t) mutable {
        if (s.ecn == Ecn::kEct0 && ++n % 50 < 3) s.ecn = Ecn::kCe;
        return false;
      };
    }
    o.initial_sequence = {draw.next_u32(), draw.next_u32()};
    o.config.ack_every_segments = 1 + draw.next_u32() % 3;
    const std::uint64_t bytes = draw.next_u32() % 600'000;
    const std::uint64_t reply = draw.next_u32() % 100'000;
    TwoEnds t(std::move(o));
    transfer(t, bytes, reply);
    expect_done(t, bytes, reply);
    if (HasFailure()) FAIL() << "seed " << seed;
    for (std::size_t i = 0; i < 2; ++i) {
      const TcpCounters& c = i == 0 ? t.client().counters() : t.server().counters();
      EXPECT_EQ(c.invalid_received, 0U) << "seed " << seed;
      sum[i].retransmitted += c.retransmitted;
      sum[i].rtos_data += c.rtos_data;
      sum[i].rtos_handshake += c.rtos_handshake;
      sum[i].fast_recoveries += c.fast_recoveries;
      sum[i].out_of_order_received += c.out_of_order_received;
      sum[i].duplicates_received += c.duplicates_received;
      sum[i].ece_reductions += c.ece_reductions;
      sum[i].ce_received += c.ce_received;
    }
  }
  EXPECT_GT(sum[0].retransmitted, 100U);
  EXPECT_GT(sum[0].rtos_data, 5U);
  EXPECT_GT(sum[0].rtos_handshake + sum[1].rtos_handshake, 0U);
  EXPECT_GT(sum[0].fast_recoveries, 50U);
  EXPECT_GT(sum[0].ece_reductions, 50U);
  EXPECT_GT(sum[1].ce_received, 50U);
  EXPECT_GT(sum[1].out_of_order_received, 100U);
  EXPECT_GT(sum[1].duplicates_received, 10U);
}

// Shifting every instant must change nothing.
TEST(Connection, DecisionsDoNotDependOnTheEpoch) {
  std::vector<std::pair<std::uint64_t, Duration>> results;
  for (const Duration shift : {Duration{0}, Duration{1}, Duration{1h}, Duration{24h * 365}}) {
    TwoEnds::Options o{.config = datacentre(), .seed = 7};
    o.start = Time{shift};
    o.wires[0].loss = 0.03;
    o.wires[0].reorder = 0.03;
    TwoEnds t(std::move(o));
    transfer(t, 400'000);
    expect_done(t, 400'000);
    results.emplace_back(t.client().counters().segments_sent, t.now() - Time{shift});
  }
  for (const auto& r : results) EXPECT_EQ(r, results.front());
}

TEST(Connection, IdleRestartOrKeep) {
  for (const ConnectionReuse reuse : {ConnectionReuse::kIdleRestart, ConnectionReuse::kKeep}) {
    TcpConfig config = datacentre(Controller::kReno);
    config.reuse = reuse;
    TwoEnds t({.config = config});
    t.client().open(t.now());
    t.client().send(1'000'000, t.now());
    t.run_for(1s);
    ASSERT_EQ(t.server().delivered_bytes(), 1'000'000U);
    const std::uint32_t grown = t.client().cwnd_bytes();
    ASSERT_GT(grown, 50 * 1448U);
    t.client().send(100, t.now());
    t.run_for(1us);
    const std::uint32_t initial = config.control.initial_window_segments * 1448;
    EXPECT_EQ(t.client().cwnd_bytes(), reuse == ConnectionReuse::kKeep ? grown : initial);
    t.run_for(1s);
    EXPECT_EQ(t.server().delivered_bytes(), 1'000'100U);
  }
}

TEST(Connection, ObeysThePeersWindow) {
  TcpConfig config = datacentre();
  config.receive_buffer_bytes = 20'000;
  TwoEnds::Options o{.config = config};
  std::uint32_t highest_ack = 1001;
  std::uint32_t most = 0;
  o.wires[0].drop = [&](TcpSegment& s, std::uint64_t) {
    if (s.payload_bytes != 0) most = std::max(most, s.sequence + s.payload_bytes - highest_ack);
    return false;
  };
  o.wires[1].drop = [&](TcpSegment& s, std::uint64_t) {
    highest_ack = s.acknowledgment;
    return false;
  };
  TwoEnds t(std::move(o));
  transfer(t, 300'000);
  expect_done(t, 300'000);
  EXPECT_LE(most, 20'000U);
  EXPECT_GT(most, 18'000U) << "the window was the limit";
}

TEST(Connection, NegotiatesWhatBothWant) {
  for (const bool ecn : {true, false}) {
    TcpConfig config = datacentre();
    config.ecn = ecn;
    TwoEnds::Options o{.config = config};
    std::vector<TcpSegment> sent[2];
    for (std::size_t i = 0; i < 2; ++i) {
      o.wires[i].drop = [&sent, i](TcpSegment& s, std::uint64_t) {
        sent[i].push_back(s);
        return false;
      };
    }
    TwoEnds t(std::move(o));
    t.client().set_identity(BurstIdentity{.job = 1, .worker = 2, .iteration = 3});
    transfer(t, 10'000);
    expect_done(t, 10'000);
    const TcpSegment& syn = sent[0][0];
    EXPECT_EQ(syn.flags, ecn ? kTcpSyn | kTcpEce | kTcpCwr : kTcpSyn);
    EXPECT_EQ(syn.mss, 1460);
    EXPECT_EQ(syn.window_scale, 7);
    EXPECT_TRUE(syn.sack_permitted);
    EXPECT_EQ(syn.ecn, Ecn::kNotEct);
    EXPECT_EQ(sent[1][0].flags, ecn ? kTcpSyn | kTcpAck | kTcpEce : kTcpSyn | kTcpAck);
    for (const auto& direction : sent) {
      for (const TcpSegment& s : direction) {
        const bool data = s.payload_bytes != 0;
        EXPECT_EQ(s.ecn, data && ecn ? Ecn::kEct0 : Ecn::kNotEct);
        EXPECT_EQ(s.has_identity, data);
      }
    }
  }
}

TEST(Connection, RetransmissionsAreNotEctUnlessDctcp) {
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

// One CE: the echo lasts until CWR, the window is reduced once.
TEST(Connection, OneMarkIsOneReductionAndOneCwr) {
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

TEST(Connection, DctcpEchoesExactlyTheMarkedBytes) {
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

TEST(Connection, WatchesWhenAByteFirstLeaves) {
  TwoEnds::Options o{.config = datacentre()};
  o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n == 2; };
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.client().watch_offset(1447);
  t.client().send(100'000, t.now());
  EXPECT_FALSE(t.client().watched_sent_at());
  t.run_for(1s);
  ASSERT_TRUE(t.client().watched_sent_at());
  // SYN at 0, SYN-ACK back at 100 us; the ACK leaves with the first segment.
  EXPECT_EQ(*t.client().watched_sent_at(), Time{100us});
}

TEST(Connection, AnswersFromTheApplicationWithinTheCallback) {
  TwoEnds t({.config = datacentre()});
  t.application(1).delivered_hook = [](TcpConnection& c, Time now) {
    if (c.delivered_bytes() == 100'000) c.send(50'000, now);
  };
  t.client().open(t.now());
  t.client().send(100'000, t.now());
  t.run();
  EXPECT_EQ(t.client().delivered_bytes(), 50'000U);
}

TEST(Connection, ResetClosesAndStaysClosed) {
  TwoEnds t({.config = datacentre()});
  t.client().open(t.now());
  t.client().send(10'000, t.now());
  t.run_for(10ms);
  TcpSegment rst{.sequence = 2001 + (1U << 29), .flags = kTcpRst};
  t.client().on_segment(rst, t.now());
  EXPECT_FALSE(t.client().closed()) << "out of window";
  rst.sequence = 2001;
  t.client().on_segment(rst, t.now());
  EXPECT_TRUE(t.client().reset());
  EXPECT_EQ(t.application(0).closed, 1);
  EXPECT_FALSE(t.client().has_segment(t.now()));
  EXPECT_EQ(t.client().next_timer(), kNever);
}

TEST(Connection, GivesUpOnASilentPeer) {
  for (const std::uint64_t from : {0ULL, 2ULL}) {
    TwoEnds::Options o{.config = datacentre()};
    o.wires[0].drop = [from](TcpSegment&, std::uint64_t n) { return n >= from; };
    TwoEnds t(std::move(o));
    t.client().open(t.now());
    t.client().send(10'000, t.now());
    t.run();
    EXPECT_TRUE(t.client().reset());
    EXPECT_EQ(t.application(0).closed, 1);
    EXPECT_EQ(t.client().counters().rtos_data + t.client().counters().rtos_handshake, 15U);
  }
}

// Anything may arrive; what cannot be is counted and moves nothing.
TEST(Connection, SurvivesForgedSegments) {
  std::uint64_t invalid = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 2, RandomPurpose::kTest);
    TwoEnds t({.config = datacentre(static_cast<Controller>(seed % 3))});
    t.client().open(t.now());
    t.client().send(200'000, t.now());
    for (int i = 0; i < 2000; ++i) {
      t.run_for(1us);
      TcpSegment s;
      const std::uint32_t draw = random.next_u32();
      s.sequence = 2001 + ((draw & 1) != 0 ? random.next_u32() : random.next_u32() % 3000);
      s.acknowledgment =
          (draw & 2) != 0 ? random.next_u32() : t.client().next_sequence() + 1 + draw % 5000;
      s.flags = static_cast<std::uint8_t>(random.next_u32() & ~std::uint32_t{kTcpRst});
      s.window = static_cast<std::uint16_t>(random.next_u32());
      s.payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 2000);
      s.ecn = static_cast<Ecn>(random.next_u32() % 4);
      s.sack_blocks = static_cast<std::uint8_t>(random.next_u32() % 5);
      for (auto& block : s.sack) block = {random.next_u32(), 1001 + random.next_u32() % 300'000};
      t.client().on_segment(s, t.now());
      ASSERT_LE(t.client().acked_bytes(), 200'000U);
    }
    invalid += t.client().counters().invalid_received;
  }
  EXPECT_GT(invalid, 1000U);
}

TEST(Connection, ImpossibleAckMovesNothing) {
  TwoEnds t({.config = datacentre()});
  t.client().open(t.now());
  t.client().send(1'000'000, t.now());
  t.run_for(300us);
  const std::uint64_t acked = t.client().acked_bytes();
  const std::uint32_t in_flight = t.client().in_flight_bytes();
  ASSERT_GT(in_flight, 0U);
  TcpSegment s{.sequence = 2001, .acknowledgment = t.client().next_sequence() + 1,
               .flags = kTcpAck, .window = 65535};
  t.client().on_segment(s, t.now());
  EXPECT_EQ(t.client().counters().invalid_received, 1U);
  s.acknowledgment = 1001;
  s.sack_blocks = 2;
  s.sack[0] = {t.client().next_sequence() - 10, t.client().next_sequence() + 10};
  s.sack[1] = {t.client().next_sequence() - 10, t.client().next_sequence() - 20};
  t.client().on_segment(s, t.now());
  EXPECT_EQ(t.client().counters().invalid_received, 3U);
  EXPECT_EQ(t.client().acked_bytes(), acked);
  EXPECT_EQ(t.client().in_flight_bytes(), in_flight);
}

}  // namespace
}  // namespace outrider
