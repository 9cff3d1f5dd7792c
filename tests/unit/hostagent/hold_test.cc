// Goal: a held window never moves a right edge left and always lets two segments go; bursts hold
// for as long as they last, and never beyond what their sender and all together may.
#include "tools/hostagent/bpf/hold.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace outrider::hold_test {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr HoldRules kRules{.lead_ns = 50 * kMs,
                           .wait_ns = 100 * kMs,
                           .idle_ns = 20 * kMs,
                           .longest_ns = 500 * kMs,
                           .window_ns = 10'000 * kMs,
                           .sender_ns = 5'000 * kMs,
                           .host_ns = 7'500 * kMs};
constexpr std::uint64_t kStart = 1'000'000 * kMs;  // a window begins

TEST(HoldWindow, SharesAFullPathAndIsNeverBelowTwoSegments) {
  // 100 Mbit/s and 4 ms: 50,000 bytes on the wire, of which 1448 of 1514 are payload.
  EXPECT_EQ(hold_path_bytes(12'500'000, 4 * kMs, 1448), 47'820U);
  EXPECT_EQ(hold_path_bytes(12'500'000'000, 1000 * kMs, 65'483), 12'487'413'995U) << "no overflow";
  EXPECT_EQ(hold_share(47'820, 3, 1448), 15'940U);
  EXPECT_EQ(hold_share(47'820, 0, 1448), 47'820U);
  EXPECT_EQ(hold_share(47'820, 100, 1448), 2'896U);
  EXPECT_EQ(hold_share(0, 1, 8948), 17'896U);
}

TEST(HoldWindow, FieldIsRoundedUpAndNeverMovesTheEdgeLeftNorBeyondTheOffer) {
  struct Row {
    std::uint32_t acknowledged, edge;
    std::uint64_t bytes;
    std::uint8_t scale;
    std::uint16_t offered, expected;
    const char* why;
  };
  constexpr std::uint32_t kNearWrap = 0xFFFFFF00;
  constexpr Row kRows[] = {
      {1000, 1000, 2896, 7, 500, 23, "22.6 units"},
      {1000, 1000, 2944, 7, 500, 23, "23 units exactly"},
      {1000, 13'800, 2896, 7, 500, 100, "12,800 bytes were told already"},
      {1000, 13'801, 2896, 7, 500, 101, "and one more: an edge between two units"},
      {13'800, 1000, 2896, 7, 500, 23, "the edge is behind"},
      {1000, 1000, 2896, 7, 10, 10, "the receiver has less room"},
      {1000, 13'800, 2896, 7, 10, 10, "the receiver itself takes it back"},
      {kNearWrap, 0x00000100, 100, 0, 65'535, 512, "across the wrap"},
      {1000, 1000, std::uint64_t{1} << 40, 14, 65'535, 65'535, "unlimited"},
      {1000, 1000, 2896, 0, 0, 0, "a closed window stays closed"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(hold_field(row.acknowledged, row.edge, row.bytes, row.scale, row.offered),
              row.expected)
        << row.why;
}

/// A table, and the bursts of its senders.
class HoldTableTest : public testing::Test {
 protected:
  static AgentFlowKey flow_of(std::uint32_t sender, std::uint16_t port = 1) {
    return {.source_address = sender,
            .destination_address = 9,
            .source_port = port,
            .destination_port = 5000};
  }
  HoldVerdict start(std::uint32_t sender, std::uint64_t now, std::uint64_t due_in_ns = 0,
                    std::uint32_t bytes = 1000, std::uint16_t threshold = 10) {
    const HoldStart said{.flow = flow_of(sender),
                         .sequence = 1,
                         .bytes = bytes,
                         .threshold = threshold,
                         .due_in_ns = due_in_ns};
    return hold_start(&table(), &kRules, &said, now, &slot_);
  }
  void payload(std::uint32_t sender, std::uint32_t end, std::uint64_t now) {
    const AgentFlowKey flow = flow_of(sender);
    hold_payload(&table(), &kRules, slot_, &flow, end, now);
  }
  void acknowledged(std::uint32_t sender, std::uint32_t number, std::uint64_t now) {
    const AgentFlowKey flow = flow_of(sender);
    hold_acknowledged(&table(), &kRules, slot_, &flow, number, now);
  }
  HoldTable& table() { return *table_; }
  bool held(std::uint64_t now) { return now < table().held_until_ns; }

  std::uint8_t slot_ = 0;

 private:
  std::unique_ptr<HoldTable> table_ = std::make_unique<HoldTable>();
};

TEST_F(HoldTableTest, HoldsFromTheLeadUntilAllIsAcknowledged) {
  ASSERT_EQ(start(1, kStart, 90 * kMs), kHoldTaken);
  EXPECT_FALSE(held(kStart));
  ASSERT_EQ(table().look_at_ns, kStart + 40 * kMs);
  hold_look(&table(), &kRules, kStart + 40 * kMs);
  EXPECT_TRUE(held(kStart + 40 * kMs));
  EXPECT_EQ(table().running_until_ns, 0U);
  payload(1, 1, kStart + 80 * kMs);  // the byte before the burst
  EXPECT_EQ(table().running_until_ns, 0U);
  payload(1, 500, kStart + 90 * kMs);
  EXPECT_EQ(table().running_until_ns, kStart + 110 * kMs);
  acknowledged(1, 1000, kStart + 95 * kMs);
  EXPECT_TRUE(held(kStart + 95 * kMs)) << "a byte is missing";
  acknowledged(1, 1001, kStart + 96 * kMs);
  EXPECT_EQ(table().held_until_ns, kStart + 96 * kMs);
  EXPECT_EQ(table().ended[kHoldComplete], 1U);
  EXPECT_EQ(table().held_ns, 56 * kMs);
  EXPECT_EQ(table().senders[table().found_sender].used_ns, 56 * kMs);
}

TEST_F(HoldTableTest, ABurstThatDoesNotComeOrFallsSilentEnds) {
  ASSERT_EQ(start(1, kStart), kHoldTaken);
  EXPECT_EQ(table().held_until_ns, kStart + 100 * kMs);
  hold_look(&table(), &kRules, kStart + 100 * kMs);
  EXPECT_EQ(table().ended[kHoldNeverCame], 1U);
  ASSERT_EQ(start(2, kStart + 200 * kMs, 0, 0), kHoldTaken);
  payload(2, 10'000, kStart + 210 * kMs);
  payload(2, 20'000, kStart + 220 * kMs);
  EXPECT_EQ(table().held_until_ns, kStart + 240 * kMs);
  acknowledged(2, 20'000, kStart + 230 * kMs);
  EXPECT_TRUE(held(kStart + 230 * kMs)) << "nobody has said how long it is";
  hold_look(&table(), &kRules, kStart + 240 * kMs);
  EXPECT_EQ(table().ended[kHoldIdle], 1U);
}

TEST_F(HoldTableTest, NoBurstHoldsLongerThanTheLongest) {
  ASSERT_EQ(start(1, kStart, 0, 0), kHoldTaken);
  for (std::uint64_t t = 0; t < 600; ++t) payload(1, 1000, kStart + t * kMs);
  EXPECT_EQ(table().held_until_ns, kStart + 500 * kMs);
  hold_look(&table(), &kRules, kStart + 600 * kMs);
  EXPECT_EQ(table().ended[kHoldCut], 1U);
}

TEST_F(HoldTableTest, TheLeastThresholdOfBurstsThatHoldCounts) {
  ASSERT_EQ(start(1, kStart, 0, 1000, 20), kHoldTaken);
  ASSERT_EQ(start(2, kStart, 0, 1000, 5), kHoldTaken);
  ASSERT_EQ(start(3, kStart, 1000 * kMs, 1000, 1), kHoldTaken);
  EXPECT_EQ(table().threshold, 5U);
}

/// STARTs without bursts for ten windows, one per millisecond.
struct Flood {
  std::uint32_t senders = 1;
  std::uint64_t far_every_ms = 0;  ///< a START due in 59 s before the others; 0: none
  bool comes = false;              ///< payload comes for each START
};

/// @return ms that were held in each window
std::array<std::uint64_t, 10> flood(HoldTable& table, const Flood& flood) {
  std::array<std::uint64_t, 10> held{};
  std::uint32_t sequence = 0;
  const auto start = [&](std::uint64_t t, std::uint64_t now, std::uint64_t due_in_ns) {
    const HoldStart said{
        .flow = {.source_address = 1 + static_cast<std::uint32_t>(t) % flood.senders,
                 .destination_address = 9,
                 .source_port = 1,
                 .destination_port = 5000},
        .sequence = ++sequence,
        .bytes = 0,
        .threshold = 5,
        .due_in_ns = due_in_ns};
    std::uint8_t slot = 0;
    if (hold_start(&table, &kRules, &said, now, &slot) == kHoldTaken && flood.comes && !due_in_ns)
      hold_payload(&table, &kRules, slot, &said.flow, sequence + 1000, now);
  };
  for (std::uint64_t t = 0; t < 100'000; ++t) {
    const std::uint64_t now = kStart + t * kMs;
    if (flood.far_every_ms != 0 && t % flood.far_every_ms == 0) start(t, now, 59'000 * kMs);
    start(t, now, 0);
    held[t / 10'000] += now < table.held_until_ns;
  }
  return held;
}

TEST_F(HoldTableTest, SendersHoldForTheirSharesOnlyWhateverTheyAnnounceBefore) {
  constexpr Flood kFloods[] = {{},
                               {.far_every_ms = 5000},
                               {.far_every_ms = 1},
                               {.far_every_ms = 5000, .comes = true},
                               {.comes = true},
                               {.senders = 1000},
                               {.senders = 1000, .far_every_ms = 5000},
                               {.senders = 3, .far_every_ms = 100, .comes = true}};
  for (const auto& one : kFloods) {
    SCOPED_TRACE(testing::Message() << one.senders << " senders, a far START every "
                                    << one.far_every_ms << " ms, bursts come: " << one.comes);
    const auto owner = std::make_unique<HoldTable>();
    HoldTable& table = *owner;
    std::uint64_t sum = 0;
    for (const auto held : flood(table, one)) {
      EXPECT_LE(held, one.senders == 1 ? 5'000U : 7'500U);
      sum += held;
    }
    const bool has_places = one.far_every_ms == 0 || one.far_every_ms >= 5000;
    EXPECT_GT(sum, has_places ? 20'000U : 0U) << "what may hold does";
    EXPECT_NEAR(static_cast<double>(table.held_ns) / kMs, static_cast<double>(sum),
                1e-2 * static_cast<double>(sum))
        << "the report says how long was held";
  }
}

TEST_F(HoldTableTest, AFarBurstIsChargedWhenItBegins) {
  ASSERT_EQ(start(1, kStart, 9'050 * kMs), kHoldTaken);
  EXPECT_EQ(table().senders[table().found_sender].used_ns, 0U);
  hold_look(&table(), &kRules, kStart + 9'000 * kMs);
  EXPECT_TRUE(held(kStart + 9'000 * kMs));
  hold_look(&table(), &kRules, kStart + 9'200 * kMs);  // it did not come: over at 9,150
  EXPECT_EQ(table().held_ns, 150 * kMs);
  EXPECT_EQ(table().host.used_ns, 150 * kMs);
}

TEST_F(HoldTableTest, AFarBurstWhoseBudgetIsUsedUpDoesNotHold) {
  ASSERT_EQ(start(1, kStart, 9'050 * kMs), kHoldTaken);
  for (std::uint64_t t = 0; t < 9'000; ++t) start(1, kStart + t * kMs);
  EXPECT_EQ(table().ended[kHoldPoor], 0U);
  hold_look(&table(), &kRules, kStart + 9'000 * kMs);
  EXPECT_FALSE(held(kStart + 9'000 * kMs));
  EXPECT_EQ(table().ended[kHoldPoor], 1U);
}

TEST_F(HoldTableTest, ABurstThatComesBeforeItWasDueHoldsFromThen) {
  ASSERT_EQ(start(1, kStart, 9'050 * kMs), kHoldTaken);
  payload(1, 500, kStart + 10 * kMs);
  EXPECT_EQ(table().held_until_ns, kStart + 30 * kMs);
  hold_look(&table(), &kRules, kStart + 40 * kMs);
  EXPECT_EQ(table().held_ns, 20 * kMs);
  EXPECT_EQ(table().ended[kHoldIdle], 1U);
}

TEST_F(HoldTableTest, OneSenderLeavesPlacesToTheOthers) {
  for (int i = 0; i < HOLD_SENDER_BURSTS; ++i)
    ASSERT_EQ(start(1, kStart, 59'000 * kMs), kHoldTaken);
  EXPECT_EQ(start(1, kStart), kHoldNoRoom);
  EXPECT_EQ(start(2, kStart), kHoldTaken);
}

TEST_F(HoldTableTest, AFloodDoesNotKeepAnotherSenderFromItsShare) {
  flood(table(), {.comes = true});
  EXPECT_EQ(start(2, kStart + 99'990 * kMs), kHoldTaken);
}

TEST_F(HoldTableTest, ASenderKeepsItsAccountBesideUnusedOnes) {
  ASSERT_EQ(start(7, kStart), kHoldTaken);
  const auto first = table().found_sender;
  ASSERT_EQ(start(7, kStart + 1000 * kMs), kHoldTaken);
  EXPECT_EQ(table().found_sender, first);
}

TEST_F(HoldTableTest, NoSenderTakesTheAccountOfALiveBurst) {
  ASSERT_EQ(start(1, kStart, 0, 0), kHoldTaken);
  const auto place = table().found_sender;
  payload(1, 1000, kStart + 90 * kMs);
  const auto slot = slot_;
  for (std::uint32_t sender = 2; sender <= HOLD_SENDERS; ++sender)
    ASSERT_EQ(start(sender, kStart + 10 * kMs), kHoldTaken);  // over at 110 ms, and charged longer
  slot_ = slot;
  payload(1, 2000, kStart + 105 * kMs);
  ASSERT_EQ(start(1000, kStart + 120 * kMs), kHoldTaken);
  EXPECT_EQ(table().senders[place].address, 1U);
}

TEST_F(HoldTableTest, AFullTableRefusesAndRecovers) {
  for (std::uint32_t sender = 1; sender <= HOLD_BURSTS; ++sender)
    ASSERT_EQ(start(sender, kStart), kHoldTaken);
  EXPECT_EQ(start(1000, kStart), kHoldNoRoom);
  EXPECT_EQ(start(1000, kStart + 100 * kMs), kHoldTaken);
}

}  // namespace
}  // namespace outrider::hold_test
