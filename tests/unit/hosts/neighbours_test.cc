// Goal: who is asked for when, and what becomes of packets meanwhile. Method:
// literal timelines on the table alone, no packet and no clock.
#include "trafficgen/neighbours/neighbours.h"

#include <gtest/gtest.h>

namespace outrider::neighbours_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Verdict = NeighbourTable::Verdict;
using State = NeighbourTable::State;

constexpr std::uint32_t kPeer = 0x0A000002;
constexpr MacAddress kMac{0x02, 1, 2, 3, 4, 5};
constexpr MacAddress kOtherMac{0x02, 9, 9, 9, 9, 9};

constexpr Time at(Duration d) { return Time{} + d; }

TEST(NeighbourTable, AsksAtOnceAgainAfterOneAndThreeSecondsAndGivesUpAtSeven) {
  for (const Duration shift : {0ns, 1ns, Duration(24h * 365)}) {
    NeighbourTable table({.ask = true});
    EXPECT_EQ(table.next_timer(), kNever);
    EXPECT_EQ(table.resolve(kPeer, at(shift)).verdict, Verdict::kAskAndHold);
    EXPECT_EQ(table.resolve(kPeer, at(shift + 10ms)).verdict, Verdict::kHold);
    struct Row {
      Duration at;
      bool given_up;
      Duration next;
    };
    for (const auto& row : {Row{1s, false, 3s}, Row{3s, false, 7s}, Row{7s, true, 0s}}) {
      EXPECT_EQ(table.next_timer(), at(shift + row.at));
      EXPECT_FALSE(table.next_due(at(shift + row.at - 1ns)));
      const auto due = table.next_due(at(shift + row.at));
      ASSERT_TRUE(due);
      EXPECT_EQ(due->given_up, row.given_up) << row.at.count();
      EXPECT_FALSE(table.next_due(at(shift + row.at)));
      EXPECT_EQ(table.next_timer(), row.given_up ? kNever : at(shift + row.next));
    }
    EXPECT_EQ(table.entry(0).requests, 3U);
    EXPECT_EQ(table.resolve(kPeer, at(shift + 15s - 1ns)).verdict, Verdict::kUnreachable);
    EXPECT_EQ(table.resolve(kPeer, at(shift + 15s)).verdict, Verdict::kAskAndHold);
    EXPECT_FALSE(table.next_due(at(shift + 23s - 1ns)));
    const auto due = table.next_due(at(shift + 23s));
    ASSERT_TRUE(due);
    EXPECT_TRUE(due->given_up) << "one request is enough for one that was silent";
    EXPECT_EQ(table.entry(0).requests, 4U);
  }
}

TEST(NeighbourTable, OneAnswerResolvesAndALaterOneReplaces) {
  NeighbourTable table({.ask = true});
  EXPECT_FALSE(table.learn(kPeer, kMac, false)) << "RFC 826: nobody asked, we are not the target";
  EXPECT_EQ(table.resolve(kPeer, at(0s)).verdict, Verdict::kAskAndHold);
  EXPECT_EQ(table.learn(kPeer, kMac, false), 0U);
  EXPECT_EQ(table.next_timer(), kNever);
  auto decision = table.resolve(kPeer, at(1h));
  EXPECT_EQ(decision.verdict, Verdict::kSend);
  EXPECT_EQ(table.entry(decision.entry).mac, kMac);
  EXPECT_FALSE(table.learn(kPeer, kOtherMac, false)) << "known before: nothing waits";
  EXPECT_EQ(table.entry(0).mac, kOtherMac);
}

TEST(NeighbourTable, ASilentNeighbourIsBackWithOneAnswer) {
  NeighbourTable table({.ask = true});
  table.resolve(kPeer, at(0s));
  for (const Duration d : {1s, 3s, 7s}) ASSERT_TRUE(table.next_due(at(d)));
  ASSERT_EQ(table.entry(0).state, State::kSilent);
  EXPECT_EQ(table.learn(kPeer, kMac, false), 0U);
  EXPECT_EQ(table.resolve(kPeer, at(7s)).verdict, Verdict::kSend);
}

TEST(NeighbourTable, GoesThroughTheGatewayOutsideTheSubnet) {
  constexpr std::uint32_t kGateway = 0x0A0000FE;
  NeighbourTable table({.ask = true, .subnet = Prefix{0x0A000000, 24}, .gateway = kGateway});
  const auto far = table.resolve(0x0B000001, at(0s));
  EXPECT_EQ(far.verdict, Verdict::kAskAndHold);
  EXPECT_EQ(table.entry(far.entry).address, kGateway);
  const auto other_far = table.resolve(0x0C000001, at(0s));
  EXPECT_EQ(other_far.verdict, Verdict::kHold);
  EXPECT_EQ(other_far.entry, far.entry);
  const auto near = table.resolve(kPeer, at(0s));
  EXPECT_EQ(table.entry(near.entry).address, kPeer);
}

TEST(NeighbourTable, FixedOnesAreNeitherAskedForNorOverwritten) {
  NeighbourTable table({.fixed = {{kPeer, kMac}}});
  EXPECT_FALSE(table.learn(kPeer, kOtherMac, true));
  const auto decision = table.resolve(kPeer, at(0s));
  EXPECT_EQ(decision.verdict, Verdict::kSend);
  EXPECT_EQ(table.entry(decision.entry).mac, kMac);
  EXPECT_EQ(table.resolve(kPeer + 1, at(0s)).verdict, Verdict::kImplied) << "not asked without ARP";
}

TEST(NeighbourTable, IsBounded) {
  NeighbourTable table({.ask = true, .fixed = {{kPeer, kMac}}});
  for (std::uint32_t i = 0; i < NeighbourTable::kMaxLearned; ++i)
    ASSERT_EQ(table.resolve(0x0B000000 + i, at(0s)).verdict, Verdict::kAskAndHold);
  const auto decision = table.resolve(0x0C000000, at(0s));
  EXPECT_EQ(decision.verdict, Verdict::kUnreachable);
  EXPECT_EQ(decision.entry, NeighbourTable::kNoEntry);
  table.learn(0x0C000001, kMac, true);
  EXPECT_EQ(table.table_full(), 2U);
  EXPECT_EQ(table.resolve(kPeer, at(0s)).verdict, Verdict::kSend) << "who is known still is";
}

}  // namespace
}  // namespace outrider::neighbours_test
