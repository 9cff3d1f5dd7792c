// Goal: two real ends deliver every byte once and in order over wires that lose and
// reorder, and they recover by the intended means.
#include "trafficgen/transport/connection/connection.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/core/random.h"
#include "tests/unit/transport/connection/two_ends.h"

namespace outrider::connection_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::Impairment;
using two_ends::transfer;
using two_ends::TwoEnds;

std::uint64_t seeds() {
  const char* full = std::getenv("OUTRIDER_FULL");
  return full != nullptr && std::string_view(full) == "1" ? 1000 : 50;
}

TEST(Connection, TransfersWithoutLossAndWithoutSurprise) {
  TwoEnds t({.config = datacentre()});
  transfer(t, 3'000'000, 500);
  expect_done(t, 3'000'000, 500);
  for (TcpConnection* c : {&t.client(), &t.server()}) {
    EXPECT_EQ(c->counters().retransmitted, 0U);
    EXPECT_EQ(c->counters().duplicates_received, 0U);
    EXPECT_EQ(c->counters().rtos_data, 0U);
  }
  EXPECT_EQ(t.memory(0).events.invalid() + t.memory(1).events.invalid(), 0U);
  EXPECT_GE(t.client().sender().state().timer.srtt(), 100us);
  EXPECT_LT(t.client().sender().state().timer.srtt(), 5ms);
  // With delayed ACKs there is about one for two segments.
  EXPECT_LT(t.departed(1), t.departed(0) * 6 / 10);
}

TEST(Connection, TransfersNothing) {
  TwoEnds t({.config = datacentre()});
  transfer(t, 0);
  expect_done(t, 0);
  EXPECT_EQ(t.departed(0), 3U) << "SYN, FIN with the ACK, ACK of the peer's FIN";
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
    for (const auto& lost : kLost) {
      const auto number = lost.second;
      TwoEnds::Options o{.config = datacentre()};
      o.wires[lost.first].drop = [number](TcpSegment&, std::uint64_t n) { return n == number; };
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
  // All ACKs of one period take 60 ms, so the RTO expires although all data have arrived.
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
      EXPECT_EQ(t.memory(i).events.invalid(), 0U) << "seed " << seed;
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

TEST(Connection, IdleRestartOrKeep) {
  for (const ConnectionReuse reuse : {ConnectionReuse::kIdleRestart, ConnectionReuse::kKeep}) {
    TcpConfig config = datacentre(Controller::kReno);
    config.reuse = reuse;
    TwoEnds t({.config = config});
    t.client().open(t.now());
    t.client().stream().write(1'000'000);
    t.run_for(1s);
    ASSERT_EQ(t.server().receiver().delivered_bytes(), 1'000'000U);
    const std::uint32_t grown = t.client().sender().state().window.bytes();
    ASSERT_GT(grown, 50 * 1448U);
    t.client().stream().write(100);
    t.run_for(1us);
    const std::uint32_t initial = initial_window_bytes(config.control, 1448);
    EXPECT_EQ(t.client().sender().state().window.bytes(),
              reuse == ConnectionReuse::kKeep ? grown : initial);
    t.run_for(1s);
    EXPECT_EQ(t.server().receiver().delivered_bytes(), 1'000'100U);
  }
}

TEST(Connection, ObeysThePeersWindow) {
  constexpr std::uint32_t kWindow = 14 * 1448 - 1;  // one byte short of a segment
  TcpConfig config = datacentre();
  config.receive_buffer_bytes = kWindow;
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
  EXPECT_LE(most, kWindow);
  EXPECT_GT(most, kWindow - 1448) << "the window was the limit";
}

// With a minimum RTO far below the RTT, the retransmission itself must not time out.
TEST(Connection, ResendingTheOldestSegmentRestartsTheRto) {
  TwoEnds::Options o{.config = datacentre(Controller::kReno)};
  o.config.min_rto = 1us;
  o.config.ack_every_segments = 1;
  o.config.receive_buffer_bytes = 20 * 1448;
  o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n == 2000; };
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.client().stream().write(4'000'000);
  t.run_for(1s);
  EXPECT_EQ(t.client().stream().acked_bytes(), 4'000'000U);
  EXPECT_EQ(t.client().counters().fast_recoveries, 1U);
  EXPECT_EQ(t.client().counters().rtos_data, 0U);
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
    t.client().application().set_identity(BurstIdentity{.job = 1, .worker = 2, .iteration = 3});
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

TEST(Connection, WatchesWhenAByteFirstLeaves) {
  TwoEnds::Options o{.config = datacentre()};
  o.wires[0].drop = [](TcpSegment&, std::uint64_t n) { return n == 2; };
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.client().stream().watch(1447);
  t.client().stream().write(100'000);
  EXPECT_FALSE(t.client().stream().watched_sent_at());
  t.run_for(1s);
  ASSERT_TRUE(t.client().stream().watched_sent_at());
  // SYN at 0, SYN-ACK back at 100 us; the ACK leaves with the first segment.
  EXPECT_EQ(*t.client().stream().watched_sent_at(), Time{100us});
}

TEST(Connection, AnswersFromTheApplicationWithinTheCallback) {
  TwoEnds t({.config = datacentre()});
  t.application(1).delivered_hook = [](TcpConnection& c, Time) {
    if (c.receiver().delivered_bytes() == 100'000) c.stream().write(50'000);
  };
  t.client().open(t.now());
  t.client().stream().write(100'000);
  t.run();
  EXPECT_EQ(t.client().receiver().delivered_bytes(), 50'000U);
}

/// Everything that a test can see of a connection between two events.
struct Visible {
  std::uint64_t written, acked, delivered;
  std::uint32_t window, in_flight, next_sequence;
  Time deadline, next_timer;
  bool has_segment, closed;
  std::uint64_t old_acks, unsent, out_of_window, duplicates;
  bool operator==(const Visible&) const = default;
};

Visible visible(TcpConnection& c, const TcpEvents& e, Time now) {
  const bool has_segment = c.has_segment(now);
  return {c.stream().written_bytes(),
          c.stream().acked_bytes(),
          c.receiver().delivered_bytes(),
          c.sender().state().window.bytes(),
          c.sender().state().scoreboard.pipe_bytes(),
          c.stream().next_sequence(),
          c.sender().state().timer.deadline(),
          c.next_timer(),
          has_segment,
          is_over(c.state()),
          e.old_acks,
          e.acks_of_unsent,
          e.out_of_window,
          c.counters().duplicates_received};
}

/// A segment of the peer: mostly data in order with nothing new acknowledged, at times an older
/// one, a hole, another acknowledgment, a window that shrinks or a SACK block.
TcpSegment next_of_peer(RandomStream& random, const TcpConnection& c) {
  const auto in = static_cast<std::uint32_t>(2001 + c.receiver().delivered_bytes());
  const auto una = static_cast<std::uint32_t>(1001 + c.stream().acked_bytes());
  TcpSegment s;
  s.sequence = in + (random.next_u32() % 8 == 0 ? random.next_u32() % 3 * 700 - 700 : 0);
  s.payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 3 * 700);
  s.flags = kTcpAck;
  s.window = static_cast<std::uint16_t>(random.next_u32() % 4 == 0 ? random.next_u32() : 60'000);
  const std::uint32_t kind = random.next_u32() % 16;
  s.acknowledgment = kind < 8    ? una
                     : kind < 14 ? c.stream().next_sequence()
                                 : una + kind * 100 - 1450;
  if (kind == 7 && c.stream().next_sequence() - una > 2000) {
    s.sack_blocks = 1;
    s.sack[0] = {c.stream().next_sequence() - 1000, c.stream().next_sequence()};
  }
  return s;
}

// While nothing is in flight, an acknowledgment of nothing new takes a short way, whose effect
// must be that of the long one. ECE makes a segment take the long one, and is ignored without ECN.
TEST(Connection, AnIdleAcknowledgmentsShortWayHasTheEffectOfTheLongOne) {
  TcpConfig config = datacentre();
  config.ecn = false;
  config.control.controller = Controller::kReno;
  std::uint64_t short_ways = 0, resent = 0, shrunk = 0;
  for (std::uint32_t seed = 0; seed < seeds(); ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    TransportMemory memories[2]{TransportMemory({}), TransportMemory({})};
    two_ends::Application apps[2];
    const TcpConnection::Setup setup{{}, TcpConnection::Role::kClient, 1000};
    TcpConnection plain(config, setup, memories[0], apps[0]);
    TcpConnection echoed(config, setup, memories[1], apps[1]);
    two_ends::establish(plain);
    two_ends::establish(echoed);
    Time now{1ms};
    for (int step = 0; step < 2000; ++step) {
      now += Duration{random.next_u32() % 200'000};
      if (random.next_u32() % 6 == 0) {
        const std::uint64_t bytes = random.next_u32() % 30'000;
        plain.stream().write(bytes);
        echoed.stream().write(bytes);
      }
      TcpSegment s = next_of_peer(random, plain);
      const bool idle =
          plain.sender().state().scoreboard.pipe_bytes() == 0 && s.sack_blocks == 0 &&
          s.acknowledgment == 1001 + static_cast<std::uint32_t>(plain.stream().acked_bytes());
      short_ways += idle;
      shrunk += idle && s.window < 1000;
      plain.on_segment(s, now);
      s.flags |= kTcpEce;
      echoed.on_segment(s, now);
      if (plain.next_timer() <= now) {
        plain.on_timer(now);
        echoed.on_timer(now);
      }
      ASSERT_EQ(plain.has_segment(now), echoed.has_segment(now)) << seed << ", " << step;
      for (int i = 0; i < 12 && plain.has_segment(now); ++i) {
        const TcpSegment a = next_segment(plain, now);
        const TcpSegment b = next_segment(echoed, now);
        ASSERT_TRUE(a.sequence == b.sequence && a.acknowledgment == b.acknowledgment &&
                    a.flags == b.flags && a.window == b.window &&
                    a.payload_bytes == b.payload_bytes)
            << seed << ", " << step;
      }
      ASSERT_EQ(visible(plain, memories[0].events, now), visible(echoed, memories[1].events, now))
          << seed << ", " << step;
    }
    resent += plain.counters().retransmitted;
  }
  EXPECT_GT(short_ways, 1000U);
  EXPECT_GT(resent, 0U) << "recoveries lie between the idle times";
  EXPECT_GT(shrunk, 0U);
}

}  // namespace
}  // namespace outrider::connection_test
