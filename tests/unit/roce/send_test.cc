// Goal: SENDs carry bytes as WRITEs do, with opcodes of their own and no address, and a responder
// takes both but no packet that does not continue its message.
#include <gtest/gtest.h>

#include "tests/unit/roce/queue_pair_ends.h"

namespace outrider::roce_send_test {
using namespace tg;
using roce::Opcode;
namespace {

using namespace std::chrono_literals;

constexpr RoceConfig kSends{.operation = roce::Operation::kSend};

TEST(RoceSend, HasItsOpcodesAndNoAddress) {
  Ends e(kSends);
  e.requester.append(4 * kMtu + 1, 42, e.now);
  e.run_for(1ms);
  ASSERT_EQ(e.log.size(), 5U);
  EXPECT_EQ(e.log[0].opcode, Opcode::kSendFirst);
  EXPECT_EQ(e.log[0].length_bytes + e.log[0].key, 0U);
  EXPECT_EQ(e.log[1].opcode, Opcode::kSendMiddle);
  EXPECT_EQ(e.log[4].opcode, Opcode::kSendLastImmediate);
  EXPECT_EQ(e.log[4].immediate, 42U);
  EXPECT_EQ(e.responder.delivered_bytes(), 4 * kMtu + 1);
  EXPECT_TRUE(e.requester.requests().idle());
  e.requester.append(2 * kMtu, std::nullopt, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.log[6].opcode, Opcode::kSendLast);
  e.requester.append(3, std::nullopt, e.now);
  e.run_for(1ms);
  e.requester.append(3, 7, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.log[7].opcode, Opcode::kSendOnly);
  EXPECT_EQ(e.log[8].opcode, Opcode::kSendOnlyImmediate);
  EXPECT_EQ(e.answers.back().message_number, 4U);
  EXPECT_EQ(e.taken.refused, 0U);
}

TEST(RoceSend, ALostPacketIsRepairedByGoBackN) {
  Ends e(kSends, 1e15);
  e.lose = [](std::size_t n) { return n == 3; };
  e.requester.append(10 * kMtu, 1, e.now);
  e.run_for(1ms);
  EXPECT_EQ(e.responder.delivered_bytes(), 10 * kMtu);
  EXPECT_EQ(e.sent.retransmitted, 7U);
}

/// A responder that is handed one packet after another, each with the PSN that it expects.
struct Alone {
  std::uint32_t hand_in(Opcode opcode, std::uint32_t bytes, std::uint32_t length = 0) {
    roce::Message m{.opcode = opcode, .psn = psn, .length_bytes = length};
    m.payload_bytes = static_cast<std::uint16_t>(bytes);
    if (roce::has_reth(opcode)) m.key = 7;
    const std::uint32_t taken = responder.on_data(m, false, Time{} + 1s);
    if (taken > 0) ++psn;
    return taken;
  }

  RoceConfig config;
  RoceCounters counters;
  Responder responder{config, {.path_mtu = kMtu, .own_queue_pair = 7}, counters};
  std::uint32_t psn = 0;
};

TEST(RoceSend, AResponderTakesWritesAndSends) {
  Alone a;
  EXPECT_EQ(a.hand_in(Opcode::kWriteFirst, kMtu, kMtu + 4), kMtu);
  EXPECT_EQ(a.hand_in(Opcode::kWriteLast, 4), 4U);
  EXPECT_EQ(a.hand_in(Opcode::kSendFirst, kMtu), kMtu);
  EXPECT_EQ(a.hand_in(Opcode::kSendMiddle, kMtu), kMtu);
  EXPECT_EQ(a.hand_in(Opcode::kSendLastImmediate, kMtu), kMtu);
  EXPECT_EQ(a.hand_in(Opcode::kSendOnly, 1), 1U);
  EXPECT_EQ(a.hand_in(Opcode::kWriteOnly, 8, 8), 8U);
  EXPECT_EQ(a.counters.refused, 0U);
}

TEST(RoceSend, AWrongOrderOfOpcodesIsRefusedAndCounted) {
  using enum Opcode;
  Alone a;
  for (const Opcode o : {kSendMiddle, kSendLast, kSendLastImmediate, kWriteMiddle, kWriteLast})
    EXPECT_EQ(a.hand_in(o, kMtu), 0U) << "no message has begun";
  EXPECT_EQ(a.hand_in(kSendFirst, 8), 0U) << "shorter than the path's MTU, and not the last";
  EXPECT_EQ(a.hand_in(kSendOnly, kMtu + 4), 0U) << "longer";
  EXPECT_EQ(a.hand_in(kSendOnly, 0), 0U) << "brings nothing";
  EXPECT_EQ(a.counters.refused, 8U);
  ASSERT_EQ(a.hand_in(kSendFirst, kMtu), kMtu);
  for (const Opcode o : {kSendFirst, kSendOnly, kWriteMiddle, kWriteLastImmediate})
    EXPECT_EQ(a.hand_in(o, kMtu), 0U) << "in a SEND";
  EXPECT_EQ(a.hand_in(kWriteOnly, kMtu, kMtu), 0U) << "in a SEND";
  ASSERT_EQ(a.hand_in(kSendLast, 5), 5U);
  ASSERT_EQ(a.hand_in(kWriteFirst, kMtu, 3 * kMtu), kMtu);
  for (const Opcode o : {kSendMiddle, kSendLast, kSendOnly, kSendFirst})
    EXPECT_EQ(a.hand_in(o, kMtu), 0U) << "in a WRITE";
  EXPECT_EQ(a.hand_in(kWriteLast, kMtu), 0U) << "before its length";
  EXPECT_EQ(a.counters.refused, 18U);
  EXPECT_EQ(a.hand_in(kWriteMiddle, kMtu), kMtu);
  EXPECT_EQ(a.hand_in(kWriteMiddle, kMtu), 0U) << "beyond its length";
  EXPECT_EQ(a.hand_in(kWriteLast, kMtu), kMtu);
  EXPECT_EQ(a.responder.delivered_bytes(), 4 * kMtu + 5);
}

}  // namespace
}  // namespace outrider::roce_send_test
