// Goal: with selective repeat only what is missing leaves again, whatever is lost, doubled or comes
// out of order, and the memory for it is bounded.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "tests/unit/roce/queue_pair_ends.h"
#include "trafficgen/roce/packet_bits.h"

namespace outrider::selective_repeat_test {
using namespace tg;
using roce::Opcode;
namespace {

using namespace std::chrono_literals;

RoceConfig selective(std::uint32_t window_packets = 1024) {
  RoceConfig c{.repair = RoceRepair::kSelective};
  c.window_packets = window_packets;
  c.ack_packets = std::min(c.ack_packets, window_packets);
  return c;
}

/// All of a burst leave before the first NAK comes.
constexpr double kAtOnce = 1e15;

TEST(RoceSelectiveRepeat, OnlyTheLostPacketIsSentAgain) {
  Ends e(selective(), kAtOnce);
  e.lose = [](std::size_t n) { return n == 3; };
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.sent.retransmitted, 1U);
  EXPECT_EQ(e.sent.recoveries, 1U);
  EXPECT_EQ(e.sent.timeouts, 0U);
  ASSERT_EQ(e.log.size(), 11U);
  EXPECT_EQ(e.log[10].psn, e.log[3].psn);
  EXPECT_EQ(e.taken.kept, 6U);
  EXPECT_EQ(e.taken.in_order, 4U);
  ASSERT_EQ(e.count(roce::kNakSelectiveSyndrome), 6U) << "one for each packet behind the gap";
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(e.answers[i].psn, e.log[3].psn) << "expected";
    EXPECT_EQ(e.answers[i].message_number, e.log[4 + i].psn) << "arrived";
  }
}

TEST(RoceSelectiveRepeat, SeveralGapsAreOneRecovery) {
  Ends e(selective(), kAtOnce);
  e.lose = [](std::size_t n) { return n == 0 || n == 3 || n == 5 || n == 6; };
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
  EXPECT_EQ(e.sent.retransmitted, 4U);
  EXPECT_EQ(e.sent.recoveries, 1U);
  EXPECT_EQ(e.sent.timeouts, 0U);
}

TEST(RoceSelectiveRepeat, ALostRetransmissionWaitsForTheTimeout) {
  Ends e(selective(), kAtOnce);
  e.lose = [](std::size_t n) { return n == 3 || n == 10; };
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(66ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 3 * kMtu);
  EXPECT_EQ(e.log.size(), 11U);
  e.run_for(2ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
  EXPECT_EQ(e.sent.timeouts, 1U);
  EXPECT_EQ(e.sent.retransmitted, 2U) << "what has arrived is not sent again";
  EXPECT_TRUE(e.requester.requests().idle());
}

TEST(RoceSelectiveRepeat, LostNaksCostPacketsAndNoBytes) {
  Ends e(selective(), kAtOnce);
  e.lose = [](std::size_t n) { return n == 3; };
  e.lose_answers = true;
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(10ms);
  e.lose_answers = false;
  e.run_for(60ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.taken.kept, 6U);
  EXPECT_EQ(e.taken.duplicate, 9U) << "all but the lost one";
}

// First PSNs are three before the wrap, and the ring of the window of 5 has 8 places.
TEST(RoceSelectiveRepeat, PsnsWrapBehindAGap) {
  for (std::size_t lost = 0; lost < 8; ++lost) {
    Ends e(selective(5), kAtOnce);
    e.lose = [lost](std::size_t n) { return n == lost; };
    e.requester.append(40 * kMtu, 1, e.now);
    e.run_for(100ms);
    EXPECT_EQ(e.responder.delivered_bytes(), 40 * kMtu) << lost;
    const bool last = lost == 4;  // of a window: nothing says that those before it have come
    EXPECT_EQ(e.sent.retransmitted, last ? 5U : 1U) << lost;
    EXPECT_EQ(e.sent.timeouts, last ? 1U : 0U) << lost;
    EXPECT_EQ(e.taken.refused + e.sent.refused, 0U);
  }
}

/// Packets of one SEND as a requester with PSN 0 first makes them.
roce::Message packet(std::uint32_t psn, Opcode opcode = Opcode::kSendMiddle) {
  roce::Message m{.opcode = psn == 0 ? Opcode::kSendFirst : opcode, .psn = psn};
  m.payload_bytes = kMtu;
  return m;
}

struct Alone {
  explicit Alone(std::uint32_t window) : config(selective(window)) {}
  std::uint32_t take(const roce::Message& m) {
    ++handed;
    const std::uint32_t bytes = responder.on_data(m, false, Time{} + 1s);
    EXPECT_EQ(counters.in_order + counters.out_of_order + counters.duplicate + counters.refused,
              handed);
    return bytes;
  }

  RoceConfig config;
  RoceCounters counters;
  Responder responder{config, {.path_mtu = kMtu, .own_queue_pair = 7}, counters};
  std::uint64_t handed = 0;
};

TEST(RoceSelectiveRepeat, DuplicatesAreTakenOnce) {
  Alone a(16);
  EXPECT_EQ(a.take(packet(2)), 0U);
  EXPECT_EQ(a.take(packet(2)), 0U);
  EXPECT_EQ(a.take(packet(1)), 0U);
  EXPECT_EQ(a.counters.kept, 2U);
  EXPECT_EQ(a.counters.duplicate, 1U);
  EXPECT_EQ(a.take(packet(0)), 3 * kMtu);
  EXPECT_EQ(a.take(packet(1)), 0U);
  EXPECT_EQ(a.counters.duplicate, 2U);
  EXPECT_EQ(a.responder.next_answer().psn, 2U);
  EXPECT_FALSE(a.responder.has_answer()) << "no NAK is left when no gap is";
}

TEST(RoceSelectiveRepeat, WhatIsBeyondTheWindowIsNotKept) {
  Alone a(5);
  EXPECT_EQ(a.take(packet(4)), 0U);
  EXPECT_EQ(a.counters.kept, 1U);
  EXPECT_EQ(a.take(packet(5)), 0U);
  EXPECT_EQ(a.take(packet(13)), 0U) << "has the place of 5 in the ring";
  EXPECT_EQ(a.counters.kept, 1U);
  EXPECT_EQ(a.counters.out_of_order, 3U);
  EXPECT_EQ(a.responder.next_answer().message_number, 4U);
  EXPECT_FALSE(a.responder.has_answer());
}

TEST(RoceSelectiveRepeat, NaksThatWaitAreBounded) {
  Alone a(4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.take(packet(3)), 0U);
  int naks = 0;
  for (; a.responder.has_answer(); ++naks)
    EXPECT_EQ(a.responder.next_answer().syndrome, roce::kNakSelectiveSyndrome);
  EXPECT_EQ(naks, 4);
}

TEST(RoceSelectiveRepeat, AKeptPacketThatContradictsIsForgotten) {
  Alone a(16);
  EXPECT_EQ(a.take(packet(1, Opcode::kWriteMiddle)), 0U);
  EXPECT_EQ(a.counters.kept, 1U) << "only what comes before it can contradict";
  EXPECT_EQ(a.take(packet(2)), 0U);
  EXPECT_EQ(a.take(packet(0)), kMtu);
  EXPECT_EQ(a.counters.contradicted, 1U);
  EXPECT_EQ(a.take(packet(1)), 2 * kMtu) << "the right one";
  roce::Message small = packet(5);
  small.payload_bytes = 8;
  EXPECT_EQ(a.take(small), 0U);
  EXPECT_EQ(a.counters.refused, 1U) << "by itself no packet of any message";
}

TEST(RoceSelectiveRepeat, ANakOfWhatWasNotSentIsRefused) {
  Ends e(selective(), kAtOnce);
  e.lose = [](std::size_t) { return true; };
  e.requester.append(4 * kMtu, 1, e.now);
  e.exchange();
  roce::Message nak{.opcode = Opcode::kAcknowledge, .psn = e.log[1].psn};
  nak.syndrome = roce::kNakSelectiveSyndrome;
  nak.message_number = (e.log[3].psn + 1) & roce::kPsnMask;
  EXPECT_FALSE(e.requester.on_acknowledge(nak, e.now)) << "not sent";
  nak.message_number = nak.psn;
  EXPECT_FALSE(e.requester.on_acknowledge(nak, e.now)) << "arrived and expected";
  EXPECT_EQ(e.requester.requests().acknowledged_bytes(), 0U);
  nak.message_number = e.log[3].psn;
  EXPECT_TRUE(e.requester.on_acknowledge(nak, e.now));
  EXPECT_EQ(e.requester.requests().acknowledged_bytes(), kMtu);
  EXPECT_TRUE(e.requester.has_packet(e.now));
}

// Both ends need the same setting. Where they differ the time-out repairs, or all is sent again.
TEST(RoceSelectiveRepeat, AGoBackNPeerIsServed) {
  Ends e({}, kAtOnce);
  RoceCounters counters;
  const RoceConfig config = selective();
  Requester requester(config, {.path_mtu = kMtu, .peer_queue_pair = 7, .first_psn = kNearWrap},
                      std::make_unique<FixedRate>(kAtOnce), counters);
  requester.append(10 * kMtu, 1, e.now);
  for (int n = 0; !requester.requests().idle() && n < 30; ++n) {
    while (requester.has_packet(e.now)) {
      const roce::Message m = requester.next_packet(e.now);
      if (counters.sent != 4) (void)e.responder.on_data(m, false, e.now);
    }
    while (e.responder.has_answer())
      EXPECT_TRUE(requester.on_acknowledge(e.responder.next_answer(), e.now));
  }
  EXPECT_TRUE(requester.requests().idle());
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
  EXPECT_EQ(counters.retransmitted, 7U);
}

/// Both ends on a wire that loses, doubles and reorders in both directions.
struct WildWire {
  WildWire(const RoceConfig& config, unsigned seed) : e(config, 1e11), random(seed) {}

  [[nodiscard]] bool by_chance(int percent) { return static_cast<int>(random() % 100) < percent; }
  void put(std::deque<roce::Message>& wire, const roce::Message& m) {
    if (by_chance(3)) return;
    if (by_chance(3)) wire.push_back(m);
    wire.push_back(m);
    if (wire.size() > 1 && by_chance(5)) std::swap(wire.back(), wire[random() % wire.size()]);
  }
  void step() {
    if (e.requester.has_packet(e.now)) put(data, e.requester.next_packet(e.now));
    if (e.responder.has_answer()) put(answers, e.responder.next_answer());
    if (data.size() > 20 || (!data.empty() && !e.requester.has_packet(e.now))) {
      (void)e.responder.on_data(data.front(), false, e.now);
      data.pop_front();
    }
    if (!answers.empty()) {
      (void)e.requester.on_acknowledge(answers.front(), e.now);
      answers.pop_front();
    }
    e.now += 100ns;
    if (data.empty() && answers.empty() && !e.responder.has_answer() &&
        e.requester.next_timer() != kNever)
      e.now = std::max(e.now, e.requester.next_timer());
    if (e.requester.next_timer() <= e.now) e.requester.on_timer(e.now);
  }

  Ends e;
  std::mt19937 random;
  std::deque<roce::Message> data, answers;
};

TEST(RoceSelectiveRepeat, EveryByteArrivesOnceOverAWildWire) {
  std::uint64_t recoveries = 0, kept = 0;
  for (const auto operation : {roce::Operation::kWrite, roce::Operation::kSend})
    for (unsigned seed = 1; seed <= 40; ++seed) {
      RoceConfig config = selective(1 + seed % 70);
      config.operation = operation;
      config.retry_limit = 1000;
      WildWire wire(config, seed);
      Ends& e = wire.e;
      std::uint64_t appended = 0;
      for (int step = 0; step < 200'000; ++step) {
        if (step % 500 == 0 && step < 20'000) {
          const std::uint64_t bytes = 1 + wire.random() % (40 * kMtu);
          e.requester.append(bytes, step % 1000 == 0 ? std::optional(1U) : std::nullopt, e.now);
          appended += bytes;
        }
        wire.step();
        ASSERT_LE(e.requester.requests().acknowledged_bytes(), e.responder.delivered_bytes())
            << seed;
        if (step > 20'000 && e.requester.requests().idle()) break;
      }
      ASSERT_EQ(e.responder.delivered_bytes(), appended) << seed;
      ASSERT_EQ(e.requester.requests().acknowledged_bytes(), appended) << seed;
      ASSERT_EQ(e.taken.refused + e.taken.contradicted, 0U) << seed;
      recoveries += e.sent.recoveries;
      kept += e.taken.kept;
    }
  EXPECT_GT(recoveries, 500U);
  EXPECT_GT(kept, 1000U);
}

TEST(PacketBits, FindsWhatAPlainListFinds) {
  std::mt19937 random(1);
  constexpr std::uint32_t kWindow = 200;
  PacketBits bits(kWindow);
  std::deque<bool> plain(kWindow);
  std::uint64_t first = 1'000'000;
  for (int round = 0; round < 20'000; ++round) {
    const auto below = [&random](std::uint64_t n) {
      return static_cast<std::uint32_t>(random() % n);
    };
    const std::uint32_t at = below(kWindow);
    plain[at] = random() % 4 != 0;
    plain[at] ? bits.set(first + at) : bits.clear(first + at);
    const std::uint32_t from = below(kWindow), end = from + below(kWindow - from + 1);
    std::uint32_t found = from;
    while (found < end && plain[found]) ++found;
    ASSERT_EQ(bits.first_clear(first + from, first + end), first + found) << round;
    if (random() % 3 != 0) continue;
    bits.clear(first++);
    plain.pop_front();
    plain.push_back(false);
  }
}

}  // namespace
}  // namespace outrider::selective_repeat_test
