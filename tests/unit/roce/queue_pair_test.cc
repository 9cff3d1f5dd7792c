// Goal: a requester and a responder move every byte once and in order, whatever packets are lost,
// with the answers and times that the transport has.
#include <gtest/gtest.h>

#include "tests/unit/roce/queue_pair_ends.h"

namespace outrider::queue_pair_test {
using namespace tg;
using roce::Opcode;
namespace {

using namespace std::chrono_literals;

TEST(RoceQueuePair, AWriteHasItsOpcodesAndPsnsWrap) {
  Ends e;
  e.requester.append(4 * kMtu + 1, 42, e.now);
  e.run_for(1ms);
  ASSERT_EQ(e.log.size(), 5U);
  EXPECT_EQ(e.log[0].opcode, Opcode::kWriteFirst);
  EXPECT_EQ(e.log[0].length_bytes, 4 * kMtu + 1);
  EXPECT_EQ(e.log[1].opcode, Opcode::kWriteMiddle);
  EXPECT_EQ(e.log[4].opcode, Opcode::kWriteLastImmediate);
  EXPECT_EQ(e.log[4].immediate, 42U);
  EXPECT_EQ(e.log[4].payload_bytes, 1U);
  EXPECT_TRUE(e.log[4].asks);
  EXPECT_EQ(e.log[2].psn, roce::kPsnMask);
  EXPECT_EQ(e.log[3].psn, 0U) << "after 2^24 - 1";
  EXPECT_EQ(e.responder.delivered_bytes(), 4 * kMtu + 1);
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.requester.next_timer(), kNever);
}

TEST(RoceQueuePair, WhatHasNotBegunToLeaveIsOneWrite) {
  Ends e;
  e.requester.append(100, std::nullopt, e.now);
  e.requester.append(200, 1, e.now);
  e.run_for(1ms);
  e.requester.append(300, std::nullopt, e.now);
  e.run_for(1ms);
  ASSERT_EQ(e.log.size(), 2U);
  EXPECT_EQ(e.log[0].opcode, Opcode::kWriteOnlyImmediate);
  EXPECT_EQ(e.log[0].payload_bytes, 300U);
  EXPECT_EQ(e.log[1].opcode, Opcode::kWriteOnly);
  EXPECT_EQ(e.log[1].address, 300U);
}

TEST(RoceQueuePair, AcksAreCoalesced) {
  RoceConfig config;
  config.ack_packets = 4;
  Ends e(config);
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.count(roce::kAckSyndrome), 3U) << "after 4, 8 and the last";
  RoceCounters counters;
  Responder alone(config, {.path_mtu = kMtu, .own_queue_pair = 7}, counters);
  int acks = 0;
  for (std::uint32_t psn = 0; psn < 10; ++psn) {
    roce::Message m{.opcode = psn == 0 ? Opcode::kWriteFirst : Opcode::kWriteMiddle, .psn = psn};
    m.key = 7;
    m.length_bytes = 20 * kMtu;
    m.payload_bytes = kMtu;
    EXPECT_EQ(alone.on_data(m, false, e.now), kMtu);
    if (alone.has_answer()) {
      EXPECT_EQ(alone.next_answer().psn, psn);
      ++acks;
    }
  }
  EXPECT_EQ(acks, 2);
}

TEST(RoceQueuePair, ALostPacketIsRepairedByGoBackN) {
  Ends e({}, 1e15);  // all leave before the NAK comes
  e.lose = [](std::size_t n) { return n == 3; };
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
  EXPECT_EQ(e.count(roce::kNakSequenceSyndrome), 1U) << "one for the gap";
  EXPECT_EQ(e.taken.out_of_order, 6U);
  EXPECT_EQ(e.sent.retransmitted, 7U) << "everything from the gap on";
  EXPECT_EQ(e.log[10].psn, e.log[3].psn);
  EXPECT_EQ(e.sent.timeouts, 0U);
}

TEST(RoceQueuePair, ALostLastPacketWaitsForTheTimeout) {
  Ends e;
  e.lose = [](std::size_t n) { return n == 9; };
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(66ms);
  EXPECT_FALSE(e.requester.requests().idle());
  e.run_for(2ms);
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.sent.timeouts, 1U);
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
}

TEST(RoceQueuePair, LostAnswersAreAskedForAgain) {
  Ends e;
  e.lose_answers = true;
  e.requester.append(3 * kMtu, 1, e.now);
  e.run_for(10ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 3 * kMtu);
  e.lose_answers = false;
  e.run_for(60ms);
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.taken.duplicate, 3U);
  EXPECT_EQ(e.responder.delivered_bytes(), 3 * kMtu) << "nothing is delivered twice";
}

TEST(RoceQueuePair, GivesUpAfterItsRetries) {
  RoceConfig config;
  config.retry_limit = 3;
  config.timeout = 1ms;
  Ends e(config);
  e.lose = [](std::size_t) { return true; };
  e.requester.append(1, 1, e.now);
  e.run_for(3500us);
  EXPECT_FALSE(e.requester.gave_up());
  e.run_for(1ms);
  EXPECT_TRUE(e.requester.gave_up());
  EXPECT_EQ(e.log.size(), 4U);
  EXPECT_EQ(e.requester.next_timer(), kNever);
}

/// An answer to the packet `place` of those that an Ends sends first.
roce::Message answer(std::uint8_t syndrome, std::uint32_t place) {
  return {.opcode = Opcode::kAcknowledge,
          .psn = (kNearWrap + place) & roce::kPsnMask,
          .syndrome = syndrome};
}

// Nothing that is sent again would fare better.
TEST(RoceQueuePair, ANakOfAnErrorEndsTheConnectionAtOnce) {
  struct Row {
    std::uint8_t syndrome;
    GaveUp why;
    std::uint64_t RoceCounters::*counted;
  };
  constexpr Row kRows[] = {
      {0x61, GaveUp::kInvalidRequest, &RoceCounters::ended_invalid_request},
      {0x62, GaveUp::kRemoteAccess, &RoceCounters::ended_remote_access},
      {0x63, GaveUp::kRemoteOperation, &RoceCounters::ended_remote_operation},
  };
  for (const RoceRepair repair : {RoceRepair::kGoBackN, RoceRepair::kSelective}) {
    for (const Row& row : kRows) {
      Ends e({.repair = repair});
      e.lose = [](std::size_t) { return true; };
      e.requester.append(10 * kMtu, 1, e.now);
      e.run_for(1ms);
      EXPECT_FALSE(e.requester.on_acknowledge(answer(row.syndrome, 10), e.now)) << "never sent";
      EXPECT_TRUE(e.requester.on_acknowledge(answer(row.syndrome, 0xFFFFFF), e.now)) << "the past";
      EXPECT_FALSE(e.requester.gave_up());
      EXPECT_TRUE(e.requester.on_acknowledge(answer(row.syndrome, 2), e.now));
      EXPECT_EQ(e.requester.requests().acknowledged_bytes(), 2 * kMtu)
          << "what is before it has come";
      EXPECT_EQ(e.requester.state().gave_up, row.why);
      e.run_for(10s);
      EXPECT_EQ(e.log.size(), 10U);
      EXPECT_EQ(e.sent.*row.counted, 1U);
      EXPECT_EQ(e.sent.timeouts, 0U);
      EXPECT_EQ(e.requester.next_timer(), kNever);
    }
  }
  Ends e;
  e.requester.append(1, 1, e.now);
  (void)e.requester.next_packet(e.now);
  for (const int reserved : {0x40, 0x5F, 0x64, 0x65, 0x7F, 0x80, 0xFF})
    EXPECT_FALSE(e.requester.on_acknowledge(answer(static_cast<std::uint8_t>(reserved), 0), e.now))
        << reserved;
  EXPECT_FALSE(e.requester.gave_up());
}

TEST(RoceQueuePair, AnRnrNakWaitsAsItSays) {
  EXPECT_EQ(roce::not_ready_wait(0x20), 655'360us) << "0 is the longest";
  EXPECT_EQ(roce::not_ready_wait(0x21), 10us);
  EXPECT_EQ(roce::not_ready_wait(0x20 | 12), 640us);
  EXPECT_EQ(roce::not_ready_wait(0x3F), 491'520us);
  for (const RoceRepair repair : {RoceRepair::kGoBackN, RoceRepair::kSelective}) {
    for (const int timer : {0, 1, 12, 31}) {  // 0 and 31 outlast the time-out of 67 ms
      const auto syndrome = static_cast<std::uint8_t>(0x20 | timer);
      const Duration wait = roce::not_ready_wait(syndrome);
      Ends e({.repair = repair, .rnr_retry = 2}, 1e15);
      e.lose = [](std::size_t) { return true; };
      e.requester.append(5 * kMtu, 1, e.now);
      e.run_for(Duration{1});
      ASSERT_EQ(e.log.size(), 5U);
      EXPECT_TRUE(e.requester.on_acknowledge(answer(syndrome, 1), e.now));
      const Time until = e.now + wait;
      EXPECT_TRUE(e.requester.on_acknowledge(answer(syndrome, 1), e.now + Duration{5}))
          << "another for packets of the same flight";
      e.run_for(wait - Duration{1});
      EXPECT_EQ(e.log.size(), 5U) << "not before";
      e.run_for(Duration{2});
      ASSERT_EQ(e.log.size(), 9U);
      EXPECT_EQ(e.log[5].psn, e.log[1].psn) << "from the packet that it names";
      EXPECT_GE(e.now, until);
      // The second in a row, without progress; the third is one too many.
      EXPECT_TRUE(e.requester.on_acknowledge(answer(syndrome, 1), e.now));
      e.run_for(wait + Duration{2});
      ASSERT_EQ(e.log.size(), 13U);
      EXPECT_FALSE(e.requester.gave_up());
      EXPECT_TRUE(e.requester.on_acknowledge(answer(syndrome, 1), e.now));
      EXPECT_EQ(e.requester.state().gave_up, GaveUp::kNotReady);
      EXPECT_EQ(e.sent.timeouts, 0U);
      EXPECT_EQ(e.sent.ended_not_ready, 1U);
    }
  }
}

// Progress forgives the earlier ones, and 7 is no limit.
TEST(RoceQueuePair, RnrNaksAreCountedWithoutProgress) {
  Ends e({.rnr_retry = 1}, 1e15);
  e.lose = [](std::size_t) { return true; };
  e.requester.append(5 * kMtu, 1, e.now);
  for (std::uint32_t place = 1; place < 5; ++place) {
    e.run_for(11us);
    EXPECT_TRUE(e.requester.on_acknowledge(answer(0x21, place), e.now));
  }
  EXPECT_FALSE(e.requester.gave_up());
  EXPECT_TRUE(e.requester.state().awaits_receiver);
  Ends endless({}, 1e15);
  endless.lose = [](std::size_t) { return true; };
  endless.requester.append(kMtu, 1, endless.now);
  for (int i = 0; i < 1000; ++i) {
    endless.run_for(11us);
    EXPECT_TRUE(endless.requester.on_acknowledge(answer(0x21, 0), endless.now));
  }
  EXPECT_FALSE(endless.requester.gave_up());
  EXPECT_EQ(endless.log.size(), 1000U);
  EXPECT_EQ(endless.sent.timeouts, 0U);
  endless.run_for(11us);
  EXPECT_TRUE(endless.requester.on_acknowledge(answer(roce::kAckSyndrome, 0), endless.now));
  EXPECT_TRUE(endless.requester.requests().idle());
  EXPECT_FALSE(endless.requester.state().awaits_receiver);
}

TEST(RoceQueuePair, PacketsLeaveAtTheControllersRate) {
  Ends e({}, 8e9);  // a byte a nanosecond
  e.requester.append(100 * kMtu, 1, e.now);
  const Time begin = e.now;
  e.run_for(100us);
  // A middle packet is 1,024 + 12 + 4 + 8 + 20 + 14 bytes, with 24 of FCS, preamble and gap.
  EXPECT_NEAR(static_cast<double>(e.log.size()), 100'000.0 / (1024 + 82), 1.5);
  EXPECT_EQ(e.now, begin + 100us);
}

TEST(RoceQueuePair, TheWindowIsALimit) {
  RoceConfig config;
  config.window_packets = 16;
  Ends e(config);
  e.lose_answers = true;
  e.requester.append(100 * kMtu, 1, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.log.size(), 16U);
  EXPECT_TRUE(e.log[15].asks);
  e.lose_answers = false;
  e.run_for(1s);
  EXPECT_EQ(e.responder.delivered_bytes(), 100 * kMtu);
}

TEST(RoceQueuePair, CnpsKeepTheirDistance) {
  RoceConfig config;
  Ends e(config, 8e9);
  e.ce = true;
  e.requester.append(1000 * kMtu, 1, e.now);
  e.run_for(501us);
  EXPECT_EQ(e.taken.cnps_sent, 10U) << "of 500 us";
  EXPECT_GT(e.taken.marked, 400U);
}

TEST(RoceQueuePair, RandomLossDeliversEveryByteOnce) {
  Ends e;
  std::uint32_t state = 1;
  e.lose = [&state](std::size_t) { return (state = state * 1664525 + 1013904223) >> 28 == 0; };
  std::uint64_t appended = 0;
  for (std::uint64_t bytes = 1; bytes < 200'000; bytes = bytes * 3 + 5) {
    e.requester.append(bytes, 1, e.now);
    appended += bytes;
    e.run_for(500us);
  }
  e.run_for(20s);
  EXPECT_EQ(e.responder.delivered_bytes(), appended);
  EXPECT_EQ(e.requester.requests().acknowledged_bytes(), appended);
  EXPECT_GT(e.sent.retransmitted, 10U);
  EXPECT_FALSE(e.requester.gave_up());
}

TEST(RoceQueuePair, WhatContradictsIsRefused) {
  Ends e;
  roce::Message m{.opcode = Opcode::kWriteOnly, .psn = kNearWrap, .key = 8, .length_bytes = 4};
  m.payload_bytes = 4;
  EXPECT_EQ(e.responder.on_data(m, false, e.now), 0U) << "a wrong key";
  m.key = 7;
  m.payload_bytes = 8;
  EXPECT_EQ(e.responder.on_data(m, false, e.now), 0U) << "longer than it says";
  m.opcode = Opcode::kWriteMiddle;
  EXPECT_EQ(e.responder.on_data(m, false, e.now), 0U) << "no message has begun";
  EXPECT_EQ(e.taken.refused, 3U);
  const roce::Message unsent{
      .opcode = Opcode::kAcknowledge, .psn = kNearWrap, .syndrome = roce::kAckSyndrome};
  EXPECT_FALSE(e.requester.on_acknowledge(unsent, e.now)) << "nothing was sent";
}

// A queue pair that gave up is used again: what was abandoned never arrives, and late packets of it
// are duplicates.
TEST(RoceQueuePair, WhatIsAbandonedNeverArrivesAndTheNextMessageDoes) {
  Ends e({.timeout = 1ms, .retry_limit = 1});
  e.requester.append(3 * kMtu, std::nullopt, e.now);
  e.lose = [](std::size_t packet) { return packet > 0; };
  e.run_for(10ms);
  ASSERT_TRUE(e.requester.gave_up());
  EXPECT_EQ(e.responder.delivered_bytes(), kMtu) << "part of the message";
  const roce::Message late = e.log[2];
  e.requester.abandon();
  e.responder.skip_to(e.requester.next_psn());
  EXPECT_FALSE(e.requester.gave_up());
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.requester.next_timer(), kNever);
  e.lose = [](std::size_t) { return false; };
  const std::uint64_t refused = e.taken.refused;
  EXPECT_EQ(e.responder.on_data(late, false, e.now), 0U);
  e.requester.append(2 * kMtu, std::nullopt, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 3 * kMtu);
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.taken.duplicate, 1U);
  EXPECT_EQ(e.taken.refused, refused);
}

// A packet that was kept behind a gap must not be taken for one of a later message, whose PSN has
// the same place in the window.
TEST(RoceQueuePair, WhatWasKeptIsForgottenWithWhatIsAbandoned) {
  Ends e({.repair = RoceRepair::kSelective, .window_packets = 4, .timeout = 1ms, .retry_limit = 1});
  e.requester.append(3 * kMtu, std::nullopt, e.now);
  e.lose = [](std::size_t packet) { return packet != 2; };
  e.run_for(10ms);
  ASSERT_TRUE(e.requester.gave_up());
  ASSERT_EQ(e.taken.kept, 1U);
  e.requester.abandon();
  e.responder.skip_to(e.requester.next_psn());
  e.lose = [](std::size_t) { return false; };
  e.requester.append(6 * kMtu, std::nullopt, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 6 * kMtu);
  EXPECT_TRUE(e.requester.requests().idle());
  EXPECT_EQ(e.taken.contradicted, 0U);
  EXPECT_EQ(e.taken.duplicate, 0U);
}

}  // namespace
}  // namespace outrider::queue_pair_test
